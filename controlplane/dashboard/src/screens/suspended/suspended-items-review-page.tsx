/** Items created before the founder's e-mail address was confirmed; an owner keeps or revokes each. */
import { Group, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { ME_QUERY_KEY, queryClient } from '../../api/query-client.js';
import { useQuery } from '../../api/use-query.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { showErrorToast, showToast } from '../../components/feedback/toast.js';
import { ConfirmDialog } from '../../components/forms/confirm-dialog.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { DataTable } from '../../components/tables/data-table.js';
import { useUrlState } from '../../hooks/use-url-state.js';

const DEFAULTS = { page: 1 };
const PAGE_SIZE = 50;
const KIND_LABELS: Readonly<Record<SuspendedItem['kind'], string>> = {
  member: 'Member',
  management_token: 'Management token',
  invitation: 'Invitation',
  run: 'Run',
  api_key: 'Gateway token',
  webhook: 'Webhook',
  account: 'Provider account',
  credential: 'Shared credential',
  custom_provider: 'Custom provider',
  sso: 'Identity provider',
  trust_rule: 'Trust rule',
  scim_token: 'SCIM token',
};

const fetchSuspendedItems = (page: number) =>
  api.get('/v1/suspended-items', { params: { query: { limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE } } });
type SuspendedItem = Awaited<ReturnType<typeof fetchSuspendedItems>>['items'][number];

export function SuspendedItemsReviewPage() {
  const { values, set } = useUrlState(DEFAULTS);
  const [revoking, setRevoking] = useState<SuspendedItem | null>(null);
  const items = useQuery({
    queryKey: ['suspended-items', values.page],
    queryFn: () => fetchSuspendedItems(values.page),
  });
  // Refetches everything: kept items appear on other screens again.
  const onDecided = (text: string): void => {
    showToast(text);
    void queryClient.invalidateQueries({ queryKey: ME_QUERY_KEY });
    void queryClient.invalidateQueries();
  };
  const keep = useMutation({
    mutationFn: ({ id }: SuspendedItem) => api.post('/v1/suspended-items/{id}/keep', { params: { path: { id } } }),
    onSuccess: (_, { name }) => onDecided(`${name} restored`),
    onError: showErrorToast,
  });
  const revoke = useMutation({
    mutationFn: ({ id }: SuspendedItem) => api.delete('/v1/suspended-items/{id}', { params: { path: { id } } }),
    onSuccess: (_, { name }) => {
      setRevoking(null);
      onDecided(`${name} revoked`);
    },
  });
  return (
    <>
      <PageHeader
        title="Suspended items"
        description="Created before the founder’s e-mail address was confirmed, possibly by another person. Items do not work until you keep them."
      />
      <DataTable
        label="Suspended items"
        query={items}
        rows={(data) => data.items}
        rowKey={({ id }) => id}
        paging={({ total }) => ({ page: values.page, pageSize: PAGE_SIZE, total, onPage: (page) => set({ page }) })}
        empty={<EmptyState title="No suspended items" />}
        columns={[
          { header: 'Type', cell: ({ kind }) => KIND_LABELS[kind] },
          {
            header: 'Item',
            cell: ({ name, detail }) => (
              <>
                <Text size="sm" fw={500} span display="block" className="acg-break-anywhere">
                  {name}
                </Text>
                <Text size="xs" c="dimmed" span display="block" className="acg-break-anywhere">
                  {detail}
                </Text>
              </>
            ),
          },
          { header: 'Created', cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
          {
            header: 'Actions',
            cell: (item) => (
              <Group gap="xs" wrap="nowrap" justify="flex-end">
                <RoleGuardedButton
                  requiredRole="owner"
                  size="xs"
                  variant="default"
                  aria-label={`Keep ${item.name}`}
                  loading={keep.isPending && keep.variables.id === item.id}
                  onClick={() => keep.mutate(item)}
                >
                  Keep
                </RoleGuardedButton>
                <RoleGuardedButton
                  requiredRole="owner"
                  size="xs"
                  variant="subtle"
                  color="red"
                  aria-label={`Revoke ${item.name}`}
                  onClick={() => {
                    revoke.reset();
                    setRevoking(item);
                  }}
                >
                  Revoke
                </RoleGuardedButton>
              </Group>
            ),
          },
        ]}
      />
      <ConfirmDialog
        opened={revoking !== null}
        onClose={() => setRevoking(null)}
        title={`Revoke ${revoking?.name ?? ''}`}
        action="Revoke"
        onConfirm={() => revoking !== null && revoke.mutate(revoking)}
        pending={revoke.isPending}
        error={revoke.error}
      >
        Deletes it permanently.
      </ConfirmDialog>
    </>
  );
}
