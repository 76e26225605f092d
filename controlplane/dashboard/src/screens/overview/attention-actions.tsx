/** Buttons of "Needs attention" items that solve the problem without leaving the overview. */
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { queryClient } from '../../api/query-client.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { showErrorToast, showToast } from '../../components/feedback/toast.js';
import { lazyComponent } from '../../components/layout/lazy-component-no-suspense-delay.js';

/** Loaded on the first click: dialogs are no part of the first view. */
const ConfirmDialog = lazyComponent(
  async () => (await import('../../components/forms/confirm-dialog.js')).ConfirmDialog,
  null,
);

/** Refetches what the action has changed. */
const refetchOf = (key: string) =>
  queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === key || queryKey[0] === 'attention' });

export function RevokeTokenButton({ id, name }: { readonly id: string; readonly name: string }) {
  const [opened, dialog] = useDisclosure(false);
  const revoke = useMutation({
    mutationFn: () => api.delete('/v1/api-keys/{id}', { params: { path: { id } } }),
    onSuccess: () => {
      dialog.close();
      showToast(`${name} revoked`);
      return refetchOf('keys');
    },
  });
  return (
    <>
      <RoleGuardedButton
        requiredRole="admin"
        size="xs"
        color="red"
        variant="light"
        aria-label={`Revoke: ${name}`}
        onClick={dialog.open}
      >
        Revoke
      </RoleGuardedButton>
      {opened && (
        <ConfirmDialog
          opened
          onClose={dialog.close}
          title={`Revoke ${name}`}
          action="Revoke token"
          pending={revoke.isPending}
          error={revoke.error}
          onConfirm={() => revoke.mutate()}
        >
          Calls with this token are rejected within a second, and calls in progress end. This cannot be undone.
        </ConfirmDialog>
      )}
    </>
  );
}

interface CloseBreakerButtonProps {
  readonly name: string;
  readonly providerSlug: string;
  readonly origin: string | null;
}

export function CloseBreakerButton({ name, providerSlug, origin }: CloseBreakerButtonProps) {
  const close = useMutation({
    mutationFn: () =>
      api.put('/v1/circuits', { body: { providerSlug, state: 'CLOSED', ...(origin === null ? {} : { origin }) } }),
    onSuccess: () => {
      showToast(`Breaker of ${name} closed`);
      return refetchOf('circuits');
    },
    onError: showErrorToast,
  });
  return (
    <RoleGuardedButton
      requiredRole="admin"
      size="xs"
      variant="default"
      loading={close.isPending}
      aria-label={`Close breaker: ${name}`}
      onClick={() => close.mutate()}
    >
      Close breaker
    </RoleGuardedButton>
  );
}
