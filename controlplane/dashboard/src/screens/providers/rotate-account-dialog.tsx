/** Rotates the credential of an account; a shared credential changes for all its accounts. */
import { showToast } from '../../components/feedback/toast.js';
import { useRotateAccount } from '../../resources/provider-account-mutations.js';
import { useSharedCredential } from '../../resources/shared-credential-hooks.js';
import { allowsOverlap, ReplaceCredentialDialog } from './replace-credential-dialog.js';
import { RotateSharedCredentialDialog } from './rotate-shared-credential-dialog.js';
import { type Account, useProviderName } from './use-account-list.js';

interface RotateAccountDialogProps {
  readonly account: Account;
  readonly onClose: () => void;
}

export function RotateAccountDialog({ account, onClose }: RotateAccountDialogProps) {
  const shared = useSharedCredential(account.credentialId ?? '');
  if (account.credentialId === null) return <RotateOwnCredentialDialog account={account} onClose={onClose} />;
  return shared.data === undefined ? null : <RotateSharedCredentialDialog credential={shared.data} onClose={onClose} />;
}

function RotateOwnCredentialDialog({ account, onClose }: RotateAccountDialogProps) {
  const { id, providerSlug, agentName } = account;
  const nameOf = useProviderName();
  return (
    <ReplaceCredentialDialog
      title={`New credential at ${nameOf(providerSlug)}`}
      text={`${agentName} keeps its gateway token.`}
      providerSlug={providerSlug}
      agentId={account.agentId}
      allowsOverlap={allowsOverlap(account)}
      replace={useRotateAccount(id)}
      onClose={onClose}
      onReplaced={({ testFirst }) => {
        showToast(
          testFirst
            ? `Rotation started. The page of the account shows its state.`
            : `${agentName} now uses the new credential`,
        );
        onClose();
      }}
    />
  );
}
