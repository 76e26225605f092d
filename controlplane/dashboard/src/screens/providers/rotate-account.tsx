/** Sets an account's credential anew; one that it shares, for all that share it. */
import { toast } from '../../parts/toast.js';
import { useRotateAccount } from '../../resources/accounts.js';
import { useSharedCredential } from '../../resources/credentials.js';
import { type Account, useProviderName } from './account-list.js';
import { ReplaceCredential } from './replace-credential.js';
import { RotateShared } from './rotate-shared.js';

interface RotateAccountProps {
  readonly account: Account;
  readonly onClose: () => void;
}

export function RotateAccount({ account, onClose }: RotateAccountProps) {
  const shared = useSharedCredential(account.credentialId ?? '');
  if (account.credentialId === null) return <RotateOwn account={account} onClose={onClose} />;
  return shared.data === undefined ? null : <RotateShared credential={shared.data} onClose={onClose} />;
}

function RotateOwn({ account, onClose }: RotateAccountProps) {
  const { id, providerSlug, agentName } = account;
  const nameOf = useProviderName();
  return (
    <ReplaceCredential
      title={`New credential at ${nameOf(providerSlug)}`}
      text={`${agentName} goes on with the same token. The old credential is then gone from the gateway; end it with the provider too.`}
      providerSlug={providerSlug}
      replace={useRotateAccount(id)}
      onClose={onClose}
      onReplaced={() => {
        toast(`${agentName} calls with the new credential from now on`);
        onClose();
      }}
    />
  );
}
