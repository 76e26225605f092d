/** In the place of every screen while the organization is being deleted: when, and the way back. */
import { Alert, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../api/api.js';
import { BASE_PATH } from '../api/page-facts.js';
import { GuardedButton } from '../parts/guarded-button.js';
import { PageHeader } from '../parts/page-header.js';
import { toastFailure } from '../parts/toast.js';

interface BeingDeletedProps {
  readonly org: { readonly id: string; readonly name: string };
  /** ISO 8601. */
  readonly purgeAt: string;
}

export function BeingDeleted({ org, purgeAt }: BeingDeletedProps) {
  const restore = useMutation({
    mutationFn: () => api.post('/v1/orgs/{id}/restore', { params: { path: { id: org.id } } }),
    // Reloads the page: nothing could be read before.
    onSuccess: () => location.assign(`${BASE_PATH}/`),
    onError: toastFailure,
  });
  return (
    <>
      <PageHeader title={`${org.name} is being deleted`} />
      <Alert
        color="red"
        variant="light"
        title={`Everything in it will be deleted on ${new Date(purgeAt).toLocaleString()}`}
      >
        <Stack gap="md" align="flex-start">
          <Text size="sm">
            Its calls have stopped. An owner can restore it until then. Revoked keys and management tokens stay revoked.
          </Text>
          <GuardedButton needs="owner" loading={restore.isPending} onClick={() => restore.mutate()}>
            Restore organization
          </GuardedButton>
        </Stack>
      </Alert>
    </>
  );
}
