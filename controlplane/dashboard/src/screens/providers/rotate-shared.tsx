/** Sets a shared credential anew, for all agents that use it. */
import { count } from '../../format/format.js';
import { toast } from '../../parts/toast.js';
import { type SharedCredential, useRotateShared } from '../../resources/credentials.js';
import { ReplaceCredential } from './replace-credential.js';

interface RotateSharedProps {
  readonly credential: SharedCredential;
  readonly onClose: () => void;
}

export const agentsCount = (accounts: number): string => `${count(accounts)} ${accounts === 1 ? 'agent' : 'agents'}`;

export function RotateShared({ credential, onClose }: RotateSharedProps) {
  const { id, name, providerSlug, accounts } = credential;
  return (
    <ReplaceCredential
      title={`Rotate ${name}`}
      text={
        accounts === 0
          ? 'No agent uses it yet. The old credential is then gone from the gateway; end it with the provider too.'
          : `${agentsCount(accounts)} ${accounts === 1 ? 'calls' : 'call'} with the new one as soon as it is stored. The old one is then gone from the gateway; end it with the provider too.`
      }
      providerSlug={providerSlug}
      replace={useRotateShared(id)}
      onClose={onClose}
      onReplaced={() => {
        toast(`${name} is rotated for ${agentsCount(accounts)}`);
        onClose();
      }}
    />
  );
}
