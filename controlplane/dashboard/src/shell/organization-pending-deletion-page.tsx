/** Replaces every screen while the organization is being deleted: the date, and a button to restore it. */
import { Alert, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../api/api-client.js';
import { BASE_PATH } from '../api/page-meta-tags.js';
import { RoleGuardedButton } from '../components/buttons/role-guarded-button.js';
import { showErrorToast } from '../components/feedback/toast.js';
import { PageHeader } from '../components/layout/page-header.js';
import { formatDateTime } from '../format/format.js';

interface OrganizationPendingDeletionPageProps {
  readonly org: { readonly id: string; readonly name: string };
  /** ISO 8601. */
  readonly purgeAt: string;
}

export function OrganizationPendingDeletionPage({ org, purgeAt }: OrganizationPendingDeletionPageProps) {
  const restore = useMutation({
    mutationFn: () => api.post('/v1/orgs/{id}/restore', { params: { path: { id: org.id } } }),
    // A full page load: no data could be read before.
    onSuccess: () => location.assign(`${BASE_PATH}/`),
    onError: showErrorToast,
  });
  return (
    <>
      <PageHeader title={`${org.name} is being deleted`} />
      <Alert color="red" variant="light" title={`All its data will be deleted on ${formatDateTime(purgeAt)}`}>
        <Stack gap="md" align="flex-start">
          <Text size="sm">
            Its calls have stopped. An owner can restore it until then. Revoked tokens stay revoked.
          </Text>
          <RoleGuardedButton requiredRole="owner" loading={restore.isPending} onClick={() => restore.mutate()}>
            Restore organization
          </RoleGuardedButton>
        </Stack>
      </Alert>
    </>
  );
}
