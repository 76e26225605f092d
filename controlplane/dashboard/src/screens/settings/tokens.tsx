/** Management tokens: for CI, Terraform and other programs that manage the organization. */
import { Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api.js';
import { useDraft } from '../../api/drafts.js';
import { queryClient } from '../../api/query-client.js';
import { useWhyNot } from '../../api/role.js';
import { Ago } from '../../parts/ago.js';
import { Confirm } from '../../parts/confirm.js';
import { DataTable } from '../../parts/data-table.js';
import { GuardedButton } from '../../parts/guarded-button.js';
import { Nothing } from '../../parts/nothing.js';
import { RowButton } from '../../parts/row-button.js';
import { SecretOnce } from '../../parts/secret-once.js';
import { toast } from '../../parts/toast.js';
import { NewToken } from './new-token.js';

const PAGE_SIZE = 20;

interface TokensProps {
  readonly page: number;
  readonly onPage: (page: number) => void;
}

export function Tokens({ page, onPage }: TokensProps) {
  const whyNot = useWhyNot('admin');
  const [making, setMaking] = useDraft('new token', false);
  const [secret, setSecret] = useState<string | null>(null);
  const [doomed, setDoomed] = useState<{ readonly id: string; readonly name: string } | null>(null);
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
      setDoomed(null);
      toast('The token works no more');
    },
  });
  if (whyNot !== null) return <Nothing title="Not for your role" text={whyNot} />;
  return (
    <Stack gap="md">
      <Group justify="space-between" gap="sm">
        <Text size="sm" c="dimmed" maw={560}>
          For programs that manage this organization through the API. A token never may more than whoever made it.
        </Text>
        <GuardedButton needs="admin" onClick={() => setMaking(true)}>
          New token
        </GuardedButton>
      </Group>
      <DataTable
        label="Management tokens"
        query={tokens}
        rows={(data) => data.tokens}
        rowKey={({ id }) => id}
        paging={({ total }) => ({ page, pageSize: PAGE_SIZE, total, onPage })}
        empty={<Nothing title="No management tokens" text="Make one for CI instead of using a person’s session." />}
        columns={[
          { header: 'Name', cell: ({ name }) => name },
          { header: 'Token', cell: ({ tokenPrefix }) => `${tokenPrefix}…` },
          { header: 'Role', cell: ({ role }) => role },
          { header: 'Reach', cell: ({ projectId }) => (projectId === null ? 'organization' : 'one project') },
          { header: 'Used', cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} never="never" /> },
          { header: 'Ends', cell: ({ expiresAt }) => <Ago at={expiresAt} never="never" /> },
          {
            header: 'Actions',
            cell: (token) => (
              <Group justify="flex-end">
                <RowButton
                  needs="admin"
                  verb="Delete"
                  of={token.name}
                  grave
                  onClick={() => {
                    remove.reset();
                    setDoomed(token);
                  }}
                />
              </Group>
            ),
          },
        ]}
      />
      {making && (
        <NewToken
          onClose={() => setMaking(false)}
          onMade={(made) => {
            refresh();
            setMaking(false);
            setSecret(made);
          }}
        />
      )}
      <SecretOnce title="Your management token" secret={secret} onStored={() => setSecret(null)} />
      <Confirm
        opened={doomed !== null}
        onClose={() => setDoomed(null)}
        title="Delete token"
        action="Delete token"
        onConfirm={() => doomed !== null && remove.mutate(doomed)}
        pending={remove.isPending}
        error={remove.error}
      >
        Programs that use {doomed?.name} are refused from now on.
      </Confirm>
    </Stack>
  );
}
