/** Rotates a shared credential for all agents that use it. */

import { showToast } from '../../components/feedback/toast.js';
import { formatAgentCount } from '../../format/format.js';
import { type SharedCredential, useRotateSharedCredential } from '../../resources/shared-credential-hooks.js';
import { ReplaceCredentialDialog } from './replace-credential-dialog.js';

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
          ? 'No agent uses it yet. The previous credential is deleted from the gateway. Revoke it at the provider, too.'
          : `${formatAgentCount(accounts)} ${accounts === 1 ? 'uses' : 'use'} the new credential as soon as it is stored. The previous one is deleted from the gateway. Revoke it at the provider, too.`
      }
      providerSlug={providerSlug}
      replace={useRotateSharedCredential(id)}
      onClose={onClose}
      onReplaced={() => {
        showToast(`${name} rotated for ${formatAgentCount(accounts)}`);
        onClose();
      }}
    />
  );
}
