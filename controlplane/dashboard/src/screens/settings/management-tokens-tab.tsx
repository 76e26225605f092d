/** The Management tokens tab: tokens for CI, Terraform and other programs that manage the organization. */
import { Group, Stack, Text } from '@mantine/core';
import { keepPreviousData, useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { queryClient } from '../../api/query-client.js';
import { useMissingRoleReason } from '../../api/session.js';
import { useQuery } from '../../api/use-query.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { showToast } from '../../components/feedback/toast.js';
import { ConfirmDialog } from '../../components/forms/confirm-dialog.js';
import { SecretDialog } from '../../components/secrets/secret-dialog.js';
import { DataTable } from '../../components/tables/data-table.js';
import { RowActionButton } from '../../components/tables/row-action-button.js';
import { useUrlSorting } from '../../hooks/use-url-sorting.js';
import { NewManagementTokenDialog } from './new-management-token-dialog.js';

const PAGE_SIZE = 20;
const SORTS = ['createdAt', 'name', 'role', 'lastUsedAt', 'expiresAt'] as const;

interface ManagementTokensTabProps {
  readonly page: number;
  readonly onPage: (page: number) => void;
}

export function ManagementTokensTab({ page, onPage }: ManagementTokensTabProps) {
  const missingRoleReason = useMissingRoleReason('admin');
  const [isCreating, setIsCreating] = useFormDraft('new token', false);
  const [secret, setSecret] = useState<string | null>(null);
  const [toDelete, setToDelete] = useState<{ readonly id: string; readonly name: string } | null>(null);
  const { query: order, sorting } = useUrlSorting(SORTS);
  const query = { ...order, limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE };
  const tokens = useQuery({
    queryKey: ['management-tokens', query],
    queryFn: () => api.get('/v1/management-tokens', { params: { query } }),
    enabled: missingRoleReason === null,
    placeholderData: keepPreviousData,
  });
  const refresh = (): void => void queryClient.invalidateQueries({ queryKey: ['management-tokens'] });
  const deleteToken = useMutation({
    mutationFn: ({ id }: { readonly id: string }) =>
      api.delete('/v1/management-tokens/{id}', { params: { path: { id } } }),
    onSuccess: () => {
      refresh();
      setToDelete(null);
      showToast('Management token deleted');
    },
  });
  if (missingRoleReason !== null) return <EmptyState title="Not available for your role" text={missingRoleReason} />;
  return (
    <Stack gap="md">
      <Group justify="space-between" gap="sm">
        <Text size="sm" c="dimmed" maw={560}>
          For programs that manage this organization through the API. A token never has more rights than its creator.
        </Text>
        <RoleGuardedButton requiredRole="admin" onClick={() => setIsCreating(true)}>
          New management token
        </RoleGuardedButton>
      </Group>
      <DataTable
        label="Management tokens"
        query={tokens}
        rows={(data) => data.tokens}
        rowKey={({ id }) => id}
        sorting={sorting}
        paging={({ total }) => ({ page, pageSize: PAGE_SIZE, total, onPage })}
        empty={<EmptyState title="No management tokens" text="Create one for CI instead of using a user’s session." />}
        columns={[
          { header: 'Name', sortKey: 'name', cell: ({ name }) => name },
          { header: 'Token', cell: ({ tokenPrefix }) => `${tokenPrefix}…` },
          { header: 'Role', sortKey: 'role', cell: ({ role }) => role },
          { header: 'Scope', cell: ({ projectId }) => (projectId === null ? 'organization' : 'one project') },
          {
            header: 'Last used',
            sortKey: 'lastUsedAt',
            cell: ({ lastUsedAt }) => <RelativeTime at={lastUsedAt} never="Never" />,
          },
          {
            header: 'Expires',
            sortKey: 'expiresAt',
            cell: ({ expiresAt }) => <RelativeTime at={expiresAt} never="Never" />,
          },
          {
            header: 'Actions',
            cell: (token) => (
              <Group justify="flex-end">
                <RowActionButton
                  requiredRole="admin"
                  label="Delete"
                  rowName={token.name}
                  isDestructive
                  onClick={() => {
                    deleteToken.reset();
                    setToDelete(token);
                  }}
                />
              </Group>
            ),
          },
        ]}
      />
      {isCreating && (
        <NewManagementTokenDialog
          onClose={() => setIsCreating(false)}
          onCreated={(newSecret) => {
            refresh();
            setIsCreating(false);
            setSecret(newSecret);
          }}
        />
      )}
      <SecretDialog title="New management token" secret={secret} onStored={() => setSecret(null)} />
      <ConfirmDialog
        opened={toDelete !== null}
        onClose={() => setToDelete(null)}
        title="Delete management token"
        action="Delete token"
        onConfirm={() => toDelete !== null && deleteToken.mutate(toDelete)}
        pending={deleteToken.isPending}
        error={deleteToken.error}
      >
        Requests with {toDelete?.name} are rejected from now on.
      </ConfirmDialog>
    </Stack>
  );
}
