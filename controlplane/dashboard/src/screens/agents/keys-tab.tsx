/** The Gateway tokens tab of an agent. */
import { Button, Group, Modal, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { queryClient } from '../../api/query-client.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { StatusBadge } from '../../components/feedback/status-badge.js';
import { showToast } from '../../components/feedback/toast.js';
import { ConfirmDialog } from '../../components/forms/confirm-dialog.js';
import { Form } from '../../components/forms/form-with-server-errors.js';
import { NameInput } from '../../components/forms/name-input.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { CodeSnippetTabs } from '../../components/secrets/code-snippet-tabs.js';
import { SecretDialog } from '../../components/secrets/secret-dialog.js';
import { DataTable } from '../../components/tables/data-table.js';
import { formatDateTime } from '../../format/format.js';
import {
  type Agent,
  useAgentAccounts,
  useAgentKeys,
  useCreateKey,
} from '../../resources/agent-account-and-key-hooks.js';

export function KeysTab({ agent }: { readonly agent: Agent }) {
  const keys = useAgentKeys(agent.id);
  const accounts = useAgentAccounts(agent.id);
  const create = useCreateKey();
  const errors = formErrors(create.error, { name: 'Name' });
  const [creating, setCreating] = useFormDraft(`new key of ${agent.id}`, false);
  const [name, setName] = useFormDraft(`new key of ${agent.id} name`, '');
  const [secret, setSecret] = useState<string | null>(null);
  const [revoking, setRevoking] = useState<{ readonly id: string; readonly name: string } | null>(null);
  const revoke = useMutation({
    mutationFn: (id: string) => api.delete('/v1/api-keys/{id}', { params: { path: { id } } }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['keys'] }),
  });
  const button = (
    <RoleGuardedButton
      requiredRole="admin"
      leftSection={<Plus size={16} aria-hidden />}
      onClick={() => setCreating(true)}
    >
      New gateway token
    </RoleGuardedButton>
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
          {
            header: 'Name',
            sortValue: ({ name }) => name,
            cell: ({ name }) => <span className="acg-name">{name}</span>,
          },
          { header: 'Prefix', cell: ({ keyPrefix }) => <code>{keyPrefix}</code> },
          {
            header: 'Status',
            isBesideTitle: true,
            cell: ({ status, lastUsedAt }) =>
              status === 'expired' ? (
                <StatusBadge tone="error">expired</StatusBadge>
              ) : lastUsedAt === null ? (
                <StatusBadge tone="neutral">never used</StatusBadge>
              ) : (
                <StatusBadge tone="success">in use</StatusBadge>
              ),
          },
          {
            header: 'Last used',
            sortValue: ({ lastUsedAt }) => lastUsedAt,
            cell: ({ lastUsedAt }) => <RelativeTime at={lastUsedAt} never="Never" />,
          },
          {
            header: 'Expires',
            sortValue: ({ expiresAt }) => expiresAt,
            cell: ({ expiresAt }) => (expiresAt === null ? 'Never' : formatDateTime(expiresAt)),
          },
          {
            header: 'Actions',
            cell: (key) => (
              <Group justify="flex-end">
                <RoleGuardedButton
                  requiredRole="admin"
                  size="compact-sm"
                  variant="subtle"
                  color="red"
                  onClick={() => setRevoking(key)}
                >
                  Revoke
                </RoleGuardedButton>
              </Group>
            ),
          },
        ]}
        empty={
          <EmptyState
            title="No gateway tokens yet"
            text="The agent needs a gateway token to call. It replaces the provider’s API key."
            action={button}
          />
        }
      />
      <Modal opened={creating} onClose={() => setCreating(false)} title="New gateway token">
        <Form
          errors={errors}
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
            error={errors.fieldError('name')}
            description="Where the token will be used, so that you recognize it later."
            placeholder="production"
            withAsterisk={false}
            value={name}
            onChange={setName}
          />
          <Group justify="flex-end">
            <Button type="submit" loading={create.isPending}>
              Create token
            </Button>
          </Group>
        </Form>
      </Modal>
      <SecretDialog title="Gateway token" secret={secret} onStored={() => setSecret(null)}>
        {secret !== null && (
          <CodeSnippetTabs
            providerSlug={accounts.data?.[0]?.providerSlug ?? 'openai'}
            token={secret}
            agent={agent.slug}
          />
        )}
      </SecretDialog>
      <ConfirmDialog
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
              showToast(`${revoking.name} revoked`);
              setRevoking(null);
            },
          })
        }
      >
        Calls with this token are rejected within a second. This cannot be undone.
      </ConfirmDialog>
    </Stack>
  );
}
