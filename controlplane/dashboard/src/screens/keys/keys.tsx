/** All keys that agents call with: whose they are, whether they are used, and when they end. */
import { Code, Stack, Text } from '@mantine/core';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { api } from '../../api/api.js';
import { useDraft } from '../../api/drafts.js';
import { Confirm } from '../../parts/confirm.js';
import { DataTable } from '../../parts/data-table.js';
import { GuardedButton } from '../../parts/guarded-button.js';
import { Nothing } from '../../parts/nothing.js';
import { PageHeader } from '../../parts/page-header.js';
import { useSearchState } from '../../parts/search-state.js';
import { SecretOnce } from '../../parts/secret-once.js';
import { SnippetTabs } from '../../parts/snippet-tabs.js';
import { toast } from '../../parts/toast.js';
import { useAccounts, useProjects } from '../../resources/agents.js';
import { keyColumns } from './key-columns.js';
import { KeyFilters } from './key-filters.js';
import { KEY_FILTERS, type Key, PAGE_SIZE, readKeys, refreshKeys } from './key-list.js';

const NewKey = lazy(async () => ({ default: (await import('./new-key.js')).NewKey }));
const EditKey = lazy(async () => ({ default: (await import('./edit-key.js')).EditKey }));
const RotateKey = lazy(async () => ({ default: (await import('./rotate-key.js')).RotateKey }));

interface Secret {
  readonly text: string;
  /** Null: not of one agent. */
  readonly agentId: string | null;
}

type Open = 'new' | { readonly act: 'edit' | 'rotate'; readonly key: Key } | null;

export function Keys() {
  const { values, set, clear } = useSearchState(KEY_FILTERS);
  const [open, setOpen] = useDraft<Open>('key', null);
  const [secret, setSecret] = useState<Secret | null>(null);
  const [doomed, setDoomed] = useState<Key | null>(null);
  const projects = useProjects();
  const keys = useQuery({
    queryKey: ['keys', 'all', values],
    queryFn: () => readKeys(values),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
  const close = () => setOpen(null);
  const made = (text: string, agentId: string | null) => {
    close();
    setSecret({ text, agentId });
  };
  const button = (
    <GuardedButton needs="admin" leftSection={<Plus size={16} aria-hidden />} onClick={() => setOpen('new')}>
      New key
    </GuardedButton>
  );
  return (
    <>
      <PageHeader
        title="Keys"
        description="What agents call the gateway with, in the place of the provider’s own key. Only the beginning is kept to be shown."
        actions={button}
      />
      <KeyFilters values={values} set={set} />
      <DataTable
        label="Keys"
        query={keys}
        rows={(data) => data.keys}
        rowKey={({ id }) => id}
        filtered={values.search !== '' || values.project !== '' || values.status !== ''}
        onClearFilters={clear}
        paging={({ total }) => ({ page: values.page, pageSize: PAGE_SIZE, total, onPage: (page) => set({ page }) })}
        columns={keyColumns({
          projectName: (id) => projects.data?.find((project) => project.id === id)?.name ?? null,
          onEdit: (key) => setOpen({ act: 'edit', key }),
          onRotate: (key) => setOpen({ act: 'rotate', key }),
          onRevoke: setDoomed,
        })}
        empty={<Nothing title="No key yet" text="An agent needs one to call through the gateway." action={button} />}
      />
      <Suspense>
        {open === 'new' && <NewKey onClose={close} onMade={made} />}
        {open !== null && open !== 'new' && open.act === 'rotate' && (
          <RotateKey rotated={open.key} onClose={close} onMade={(text) => made(text, open.key.agentId)} />
        )}
        {open !== null && open !== 'new' && open.act === 'edit' && (
          <EditKey
            edited={open.key}
            onClose={close}
            onSaved={(name) => {
              close();
              toast(`${name} is saved.`);
            }}
          />
        )}
      </Suspense>
      <SecretOnce title="Your new key" secret={secret?.text ?? null} onStored={() => setSecret(null)}>
        {secret !== null && <HowToUse secret={secret} />}
      </SecretOnce>
      {doomed !== null && <Revoke doomed={doomed} onClose={() => setDoomed(null)} />}
    </>
  );
}

function HowToUse({ secret }: { readonly secret: Secret }) {
  const accounts = useAccounts(secret.agentId ?? '');
  return (
    <Stack gap="sm">
      {secret.agentId === null && (
        <Text size="sm">
          Each call with it also names its agent, by id or slug, in the header <code>x-gateway-agent</code>.
        </Text>
      )}
      <SnippetTabs providerSlug={accounts.data?.[0]?.providerSlug ?? 'openai'} token={secret.text} />
    </Stack>
  );
}

function Revoke({ doomed, onClose }: { readonly doomed: Key; readonly onClose: () => void }) {
  const revoke = useMutation({
    mutationFn: () => api.delete('/v1/api-keys/{id}', { params: { path: { id: doomed.id } } }),
    onSuccess: () => {
      refreshKeys();
      onClose();
      toast(`${doomed.name} is revoked.`);
    },
  });
  return (
    <Confirm
      opened
      onClose={onClose}
      title={`Revoke ${doomed.name}`}
      action="Revoke key"
      typed={doomed.name}
      pending={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate()}
    >
      Whoever holds this key (<Code>{doomed.keyPrefix}…</Code>) can no longer call with it, within a second. That cannot
      be taken back; to change a key without a stop, rotate it.
    </Confirm>
  );
}
