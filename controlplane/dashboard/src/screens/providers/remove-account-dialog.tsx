/** Confirms the removal of a provider account. */
import { ConfirmDialog } from '../../components/forms/confirm-dialog.js';
import { useRemoveAccount } from '../../resources/provider-account-mutations.js';
import type { Account } from './use-account-list.js';

interface RemoveAccountDialogProps {
  readonly account: Account;
  /** E.g. `Support bot at OpenAI`. */
  readonly title: string;
  readonly onClose: () => void;
  readonly onRemoved: () => void;
}

export function RemoveAccountDialog({ account, title, onClose, onRemoved }: RemoveAccountDialogProps) {
  const removal = useRemoveAccount();
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={`Remove ${title}`}
      action="Remove account"
      onConfirm={() => removal.mutate(account.id, { onSuccess: onRemoved })}
      pending={removal.isPending}
      error={removal.error}
    >
      {account.credentialId === null ? 'Deletes the credential' : 'The shared credential stays for other agents'}. The
      agent’s calls to this provider are rejected from now on.
    </ConfirmDialog>
  );
}
