/** Rotates a shared credential for all agents that use it. */

import { showToast } from '../../components/feedback/toast.js';
import { formatAgentCount } from '../../format/format.js';
import { type SharedCredential, useRotateSharedCredential } from '../../resources/shared-credential-hooks.js';
import { allowsOverlap, ReplaceCredentialDialog } from './replace-credential-dialog.js';

interface RotateSharedCredentialDialogProps {
  readonly credential: SharedCredential;
  readonly onClose: () => void;
}

export function RotateSharedCredentialDialog({ credential, onClose }: RotateSharedCredentialDialogProps) {
  const { id, name, providerSlug, accounts } = credential;
  return (
    <ReplaceCredentialDialog
      title={`Rotate ${name}`}
      text={
        accounts === 0
          ? 'No agent uses it yet.'
          : `${formatAgentCount(accounts)} ${accounts === 1 ? 'uses' : 'use'} the new credential, all from the same moment on.`
      }
      providerSlug={providerSlug}
      allowsOverlap={allowsOverlap(credential)}
      replace={useRotateSharedCredential(id)}
      onClose={onClose}
      onReplaced={({ testFirst }) => {
        showToast(
          testFirst
            ? `Rotation of ${name} started. Its page shows the state.`
            : `${name} rotated for ${formatAgentCount(accounts)}`,
        );
        onClose();
      }}
    />
  );
}
