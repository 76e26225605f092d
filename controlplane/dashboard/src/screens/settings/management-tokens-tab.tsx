/** Management tokens: for CI, Terraform and other programs that manage the organization. */
import { Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts.js';
import { queryClient } from '../../api/query-client.js';
import { useMissingRoleReason } from '../../api/role-check.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { showToast } from '../../components/feedback/toast.js';
import { ConfirmDialog } from '../../components/forms/confirm-dialog.js';
import { SecretDialog } from '../../components/secrets/secret-dialog.js';
import { DataTable } from '../../components/tables/data-table.js';
import { RowActionButton } from '../../components/tables/row-action-button.js';
import { NewManagementTokenDialog } from './new-management-token-dialog.js';

const PAGE_SIZE = 20;

interface ManagementTokensTabProps {
  readonly page: number;
  readonly onPage: (page: number) => void;
}

export function ManagementTokensTab({ page, onPage }: ManagementTokensTabProps) {
  const whyNot = useMissingRoleReason('admin');
  const [isCreating, setIsCreating] = useFormDraft('new token', false);
  const [secret, setSecret] = useState<string | null>(null);
  const [toDelete, setToDelete] = useState<{ readonly id: string; readonly name: string } | null>(null);
  const query = { limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE };
  const tokens = useQuery({
    queryKey: ['management-tokens', page],
    queryFn: () => api.get('/v1/management-tokens', { params: { query } }),
    enabled: whyNot === null,
  });
  const refresh = (): void => void queryClient.invalidateQueries({ queryKey: ['management-tokens'] });
  const remove = useMutation({
    mutationFn: ({ id }: { readonly id: string }) =>
      api.delete('/v1/management-tokens/{id}', { params: { path: { id } } }),
    onSuccess: () => {
      refresh();
      setToDelete(null);
      showToast('The token works no more');
    },
  });
  if (whyNot !== null) return <EmptyState title="Not for your role" text={whyNot} />;
  return (
    <Stack gap="md">
      <Group justify="space-between" gap="sm">
        <Text size="sm" c="dimmed" maw={560}>
          For programs that manage this organization through the API. A token never may more than whoever made it.
        </Text>
        <RoleGuardedButton requiredRole="admin" onClick={() => setIsCreating(true)}>
          New token
        </RoleGuardedButton>
      </Group>
      <DataTable
        label="Management tokens"
        query={tokens}
        rows={(data) => data.tokens}
        rowKey={({ id }) => id}
        paging={({ total }) => ({ page, pageSize: PAGE_SIZE, total, onPage })}
        empty={<EmptyState title="No management tokens" text="Make one for CI instead of using a person’s session." />}
        columns={[
          { header: 'Name', cell: ({ name }) => name },
          { header: 'Token', cell: ({ tokenPrefix }) => `${tokenPrefix}…` },
          { header: 'Role', cell: ({ role }) => role },
          { header: 'Reach', cell: ({ projectId }) => (projectId === null ? 'organization' : 'one project') },
          { header: 'Used', cell: ({ lastUsedAt }) => <RelativeTime at={lastUsedAt} never="never" /> },
          { header: 'Ends', cell: ({ expiresAt }) => <RelativeTime at={expiresAt} never="never" /> },
          {
            header: 'Actions',
            cell: (token) => (
              <Group justify="flex-end">
                <RowActionButton
                  requiredRole="admin"
                  verb="Delete"
                  rowName={token.name}
                  isDestructive
                  onClick={() => {
                    remove.reset();
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
          onCreated={(made) => {
            refresh();
            setIsCreating(false);
            setSecret(made);
          }}
        />
      )}
      <SecretDialog title="Your management token" secret={secret} onStored={() => setSecret(null)} />
      <ConfirmDialog
        opened={toDelete !== null}
        onClose={() => setToDelete(null)}
        title="Delete token"
        action="Delete token"
        onConfirm={() => toDelete !== null && remove.mutate(toDelete)}
        pending={remove.isPending}
        error={remove.error}
      >
        Programs that use {toDelete?.name} are refused from now on.
      </ConfirmDialog>
    </Stack>
  );
}
