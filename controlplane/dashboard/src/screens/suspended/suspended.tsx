/** What was made before the founder proved to read the mailbox: keep or revoke each. */
import { Group, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api.js';
import { ME, queryClient } from '../../api/query-client.js';
import { Ago } from '../../parts/ago.js';
import { Confirm } from '../../parts/confirm.js';
import { DataTable } from '../../parts/data-table.js';
import { GuardedButton } from '../../parts/guarded-button.js';
import { Nothing } from '../../parts/nothing.js';
import { PageHeader } from '../../parts/page-header.js';
import { useSearchState } from '../../parts/search-state.js';
import { toast, toastFailure } from '../../parts/toast.js';

const DEFAULTS = { page: 1 };
const PAGE_SIZE = 50;
const KINDS: Readonly<Record<Item['kind'], string>> = {
  member: 'Member',
  management_token: 'Management token',
  invitation: 'Invitation',
  api_key: 'Gateway token',
  webhook: 'Webhook',
  account: 'Provider account',
  credential: 'Shared credential',
  custom_provider: 'Custom provider',
};

const readItems = (page: number) =>
  api.get('/v1/suspended-items', { params: { query: { limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE } } });
type Item = Awaited<ReturnType<typeof readItems>>['items'][number];

export function Suspended() {
  const { values, set } = useSearchState(DEFAULTS);
  const [revoking, setRevoking] = useState<Item | null>(null);
  const items = useQuery({ queryKey: ['suspended-items', values.page], queryFn: () => readItems(values.page) });
  // What is kept shows on other screens again.
  const decided = (text: string): void => {
    toast(text);
    void queryClient.invalidateQueries({ queryKey: ME });
    void queryClient.invalidateQueries();
  };
  const keep = useMutation({
    mutationFn: ({ id }: Item) => api.post('/v1/suspended-items/{id}/keep', { params: { path: { id } } }),
    onSuccess: (_, { name }) => decided(`${name} works again`),
    onError: toastFailure,
  });
  const revoke = useMutation({
    mutationFn: ({ id }: Item) => api.delete('/v1/suspended-items/{id}', { params: { path: { id } } }),
    onSuccess: (_, { name }) => {
      setRevoking(null);
      decided(`${name} is revoked`);
    },
  });
  return (
    <>
      <PageHeader
        title="Suspended items"
        description="Made before the address of the founder's account was confirmed, maybe by somebody else. None of them works until you keep it."
      />
      <DataTable
        label="Suspended items"
        query={items}
        rows={(data) => data.items}
        rowKey={({ id }) => id}
        paging={({ total }) => ({ page: values.page, pageSize: PAGE_SIZE, total, onPage: (page) => set({ page }) })}
        empty={<Nothing title="Nothing is suspended" />}
        columns={[
          { header: 'Kind', cell: ({ kind }) => KINDS[kind] },
          {
            header: 'What',
            cell: ({ name, detail }) => (
              <>
                <Text size="sm" fw={600} span display="block" className="acg-break">
                  {name}
                </Text>
                <Text size="xs" c="dimmed" span display="block" className="acg-break">
                  {detail}
                </Text>
              </>
            ),
          },
          { header: 'Created', cell: ({ createdAt }) => <Ago at={createdAt} /> },
          {
            header: 'Actions',
            cell: (item) => (
              <Group gap="xs" wrap="nowrap" justify="flex-end">
                <GuardedButton
                  needs="owner"
                  size="xs"
                  variant="default"
                  aria-label={`Keep ${item.name}`}
                  loading={keep.isPending && keep.variables.id === item.id}
                  onClick={() => keep.mutate(item)}
                >
                  Keep
                </GuardedButton>
                <GuardedButton
                  needs="owner"
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
                </GuardedButton>
              </Group>
            ),
          },
        ]}
      />
      <Confirm
        opened={revoking !== null}
        onClose={() => setRevoking(null)}
        title={`Revoke ${revoking?.name ?? ''}`}
        action="Revoke"
        onConfirm={() => revoking !== null && revoke.mutate(revoking)}
        pending={revoke.isPending}
        error={revoke.error}
      >
        It is deleted for good.
      </Confirm>
    </>
  );
}
