/** The agent's gateway tokens. */
import { Button, Group, Modal, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/api.js';
import { useDraft } from '../../api/drafts.js';
import { queryClient } from '../../api/query-client.js';
import { date } from '../../format/format.js';
import { Ago } from '../../parts/ago.js';
import { Confirm } from '../../parts/confirm.js';
import { DataTable } from '../../parts/data-table.js';
import { Form } from '../../parts/form.js';
import { formProblem } from '../../parts/form-problem.js';
import { GuardedButton } from '../../parts/guarded-button.js';
import { NameInput } from '../../parts/name-input.js';
import { Nothing } from '../../parts/nothing.js';
import { SecretOnce } from '../../parts/secret-once.js';
import { SnippetTabs } from '../../parts/snippet-tabs.js';
import { StatusBadge } from '../../parts/status-badge.js';
import { toast } from '../../parts/toast.js';
import { type Agent, useAccounts, useCreateKey, useKeys } from '../../resources/agents.js';

export function KeysTab({ agent }: { readonly agent: Agent }) {
  const keys = useKeys(agent.id);
  const accounts = useAccounts(agent.id);
  const create = useCreateKey();
  const problem = formProblem(create.error, { name: 'Name' });
  const [creating, setCreating] = useDraft(`new key of ${agent.id}`, false);
  const [name, setName] = useDraft(`new key of ${agent.id} name`, '');
  const [secret, setSecret] = useState<string | null>(null);
  const [revoking, setRevoking] = useState<{ readonly id: string; readonly name: string } | null>(null);
  const revoke = useMutation({
    mutationFn: (id: string) => api.delete('/v1/api-keys/{id}', { params: { path: { id } } }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['keys'] }),
  });
  const button = (
    <GuardedButton needs="admin" leftSection={<Plus size={16} aria-hidden />} onClick={() => setCreating(true)}>
      New key
    </GuardedButton>
  );
  return (
    <Stack gap="md">
      <Group justify="flex-end">{button}</Group>
      <DataTable
        label="Gateway tokens"
        query={keys}
        rows={(data) => data}
        rowKey={({ id }) => id}
        columns={[
          { header: 'Name', cell: ({ name }) => <span className="acg-name">{name}</span> },
          { header: 'Begins with', cell: ({ keyPrefix }) => <code>{keyPrefix}</code> },
          {
            header: 'Status',
            cell: ({ status, lastUsedAt }) =>
              status === 'expired' ? (
                <StatusBadge tone="bad">expired</StatusBadge>
              ) : lastUsedAt === null ? (
                <StatusBadge tone="quiet">never used</StatusBadge>
              ) : (
                <StatusBadge tone="good">in use</StatusBadge>
              ),
          },
          { header: 'Last used', cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} never="never" /> },
          { header: 'Expires', cell: ({ expiresAt }) => (expiresAt === null ? 'never' : date(expiresAt)) },
          {
            header: 'Actions',
            cell: (key) => (
              <Group justify="flex-end">
                <GuardedButton
                  needs="admin"
                  size="compact-sm"
                  variant="subtle"
                  color="red"
                  onClick={() => setRevoking(key)}
                >
                  Revoke
                </GuardedButton>
              </Group>
            ),
          },
        ]}
        empty={
          <Nothing
            title="No key yet"
            text="The agent needs one to call: it stands where the provider's key stood."
            action={button}
          />
        }
      />
      <Modal opened={creating} onClose={() => setCreating(false)} title="New key">
        <Form
          problem={problem}
          onSubmit={() => {
            create.mutate(
              { name: name.trim(), agentId: agent.id },
              {
                onSuccess: ({ secretKey }) => {
                  setSecret(secretKey);
                  setName('');
                  create.reset();
                  setCreating(false);
                },
              },
            );
          }}
        >
          <NameInput
            error={problem.at('name')}
            description="Where it will be used, so that you know it again."
            placeholder="production"
            withAsterisk={false}
            value={name}
            onChange={setName}
          />
          <Group justify="flex-end">
            <Button type="submit" loading={create.isPending}>
              Make the key
            </Button>
          </Group>
        </Form>
      </Modal>
      <SecretOnce title="Gateway token" secret={secret} onStored={() => setSecret(null)}>
        {secret !== null && (
          <SnippetTabs providerSlug={accounts.data?.[0]?.providerSlug ?? 'openai'} token={secret} agent={agent.slug} />
        )}
      </SecretOnce>
      <Confirm
        opened={revoking !== null}
        onClose={() => setRevoking(null)}
        title={`Revoke ${revoking?.name ?? ''}`}
        action="Revoke token"
        pending={revoke.isPending}
        error={revoke.error}
        onConfirm={() =>
          revoking !== null &&
          revoke.mutate(revoking.id, {
            onSuccess: () => {
              toast(`${revoking.name} is revoked.`);
              setRevoking(null);
            },
          })
        }
      >
        Whoever holds this token can no longer call with it, within a second. That cannot be taken back.
      </Confirm>
    </Stack>
  );
}
