/** The Gateway tokens page: all tokens with their scope, use and expiry. */
import { Code, Stack, Text } from '@mantine/core';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { showToast } from '../../components/feedback/toast.js';
import { ConfirmDialog } from '../../components/forms/confirm-dialog.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { CodeSnippetTabs } from '../../components/secrets/code-snippet-tabs.js';
import { SecretDialog } from '../../components/secrets/secret-dialog.js';
import { DataTable } from '../../components/tables/data-table.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { useAgentAccounts, useProjects } from '../../resources/agent-account-and-key-hooks.js';
import { DEFAULT_KEY_FILTERS, fetchKeys, type Key, PAGE_SIZE, refreshKeys } from './fetch-keys-and-describe-status.js';
import { keyColumns } from './key-columns.js';
import { KeyFilters } from './key-filters.js';

const NewKeyDialog = lazy(async () => ({ default: (await import('./new-key-dialog.js')).NewKeyDialog }));
const EditKeyDialog = lazy(async () => ({ default: (await import('./edit-key-dialog.js')).EditKeyDialog }));
const RotateKeyDialog = lazy(async () => ({ default: (await import('./rotate-key-dialog.js')).RotateKeyDialog }));

interface CreatedSecret {
  readonly text: string;
  /** Null: the token is not limited to one agent. */
  readonly agentId: string | null;
}

type OpenDialog = 'new' | { readonly action: 'edit' | 'rotate'; readonly key: Key } | null;

export function KeysPage() {
  const { values, set, clear } = useUrlState(DEFAULT_KEY_FILTERS);
  const [open, setOpen] = useFormDraft<OpenDialog>('key', null);
  const [secret, setSecret] = useState<CreatedSecret | null>(null);
  const [toRevoke, setToRevoke] = useState<Key | null>(null);
  const projects = useProjects();
  const keys = useQuery({
    queryKey: ['keys', 'all', values],
    queryFn: () => fetchKeys(values),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
  const close = () => setOpen(null);
  const onCreated = (text: string, agentId: string | null) => {
    close();
    setSecret({ text, agentId });
  };
  const button = (
    <RoleGuardedButton requiredRole="admin" leftSection={<Plus size={16} aria-hidden />} onClick={() => setOpen('new')}>
      New gateway token
    </RoleGuardedButton>
  );
  return (
    <>
      <PageHeader
        title="Gateway tokens"
        description="Agents call the gateway with these tokens instead of the provider’s API key. Only the prefix of a token can be shown again."
        actions={button}
      />
      <KeyFilters values={values} set={set} />
      <DataTable
        label="Gateway tokens"
        query={keys}
        rows={(data) => data.keys}
        rowKey={({ id }) => id}
        filtered={values.search !== '' || values.project !== '' || values.status !== ''}
        onClearFilters={clear}
        paging={({ total }) => ({ page: values.page, pageSize: PAGE_SIZE, total, onPage: (page) => set({ page }) })}
        columns={keyColumns({
          projectName: (id) => projects.data?.find((project) => project.id === id)?.name ?? null,
          onEdit: (key) => setOpen({ action: 'edit', key }),
          onRotate: (key) => setOpen({ action: 'rotate', key }),
          onRevoke: setToRevoke,
        })}
        empty={
          <EmptyState
            title="No gateway tokens yet"
            text="An agent needs one to call through the gateway."
            action={button}
          />
        }
      />
      <Suspense>
        {open === 'new' && <NewKeyDialog onClose={close} onCreated={onCreated} />}
        {open !== null && open !== 'new' && open.action === 'rotate' && (
          <RotateKeyDialog
            rotatedKey={open.key}
            onClose={close}
            onRotated={(text) => onCreated(text, open.key.agentId)}
          />
        )}
        {open !== null && open !== 'new' && open.action === 'edit' && (
          <EditKeyDialog
            editedKey={open.key}
            onClose={close}
            onSaved={(name) => {
              close();
              showToast(`${name} saved`);
            }}
          />
        )}
      </Suspense>
      <SecretDialog title="New gateway token" secret={secret?.text ?? null} onStored={() => setSecret(null)}>
        {secret !== null && <UsageInstructions secret={secret} />}
      </SecretDialog>
      {toRevoke !== null && <RevokeKeyDialog revokedKey={toRevoke} onClose={() => setToRevoke(null)} />}
    </>
  );
}

function UsageInstructions({ secret }: { readonly secret: CreatedSecret }) {
  const accounts = useAgentAccounts(secret.agentId ?? '');
  return (
    <Stack gap="sm">
      {secret.agentId === null && (
        <Text size="sm">
          Each call must name its agent, by id or slug, in the header <code>x-gateway-agent</code>.
        </Text>
      )}
      <CodeSnippetTabs providerSlug={accounts.data?.[0]?.providerSlug ?? 'openai'} token={secret.text} />
    </Stack>
  );
}

function RevokeKeyDialog({ revokedKey, onClose }: { readonly revokedKey: Key; readonly onClose: () => void }) {
  const revoke = useMutation({
    mutationFn: () => api.delete('/v1/api-keys/{id}', { params: { path: { id: revokedKey.id } } }),
    onSuccess: () => {
      refreshKeys();
      onClose();
      showToast(`${revokedKey.name} revoked`);
    },
  });
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={`Revoke ${revokedKey.name}`}
      action="Revoke token"
      requiredText={revokedKey.name}
      pending={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate()}
    >
      Calls with this token (<Code>{revokedKey.keyPrefix}…</Code>) are rejected within a second. This cannot be undone.
      To replace a token without downtime, rotate it instead.
    </ConfirmDialog>
  );
}
