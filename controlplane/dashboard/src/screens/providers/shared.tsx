/** Credentials that are stored once for the accounts of many agents. */
import { Group, Stack, Text } from '@mantine/core';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { useDraft } from '../../api/drafts.js';
import { Ago } from '../../parts/ago.js';
import { Confirm } from '../../parts/confirm.js';
import { DataTable } from '../../parts/data-table.js';
import { GuardedButton } from '../../parts/guarded-button.js';
import { Nothing } from '../../parts/nothing.js';
import { RowButton } from '../../parts/row-button.js';
import { StatusBadge } from '../../parts/status-badge.js';
import { TEST_NEWS } from '../../parts/test-news.js';
import { toast } from '../../parts/toast.js';
import { useProjects } from '../../resources/agents.js';
import {
  type SharedCredential,
  useRemoveShared,
  useSharedCredentials,
  useTestShared,
} from '../../resources/credentials.js';
import { useProviderName } from './account-list.js';
import { NewShared } from './new-shared.js';
import { agentsCount, RotateShared } from './rotate-shared.js';
import { SharedDrawer } from './shared-drawer.js';

const PAGE_SIZE = 50;

interface SharedProps {
  readonly page: number;
  readonly onPage: (page: number) => void;
  /** The one whose agents are shown; empty: none. */
  readonly opened: string;
  readonly onOpen: (id: string) => void;
}

export function Shared({ page, onPage, opened, onOpen }: SharedProps) {
  const credentials = useSharedCredentials(page, PAGE_SIZE);
  const projects = useProjects();
  const nameOf = useProviderName();
  const test = useTestShared();
  const remove = useRemoveShared();
  const [adding, setAdding] = useDraft('new shared', false);
  const [rotated, setRotated] = useState<SharedCredential | null>(null);
  const [doomed, setDoomed] = useState<SharedCredential | null>(null);
  const projectName = (id: string | null): string =>
    id === null ? 'all' : (projects.data?.find((project) => project.id === id)?.name ?? 'one project');
  const add = (
    <GuardedButton needs="admin" leftSection={<Plus size={16} aria-hidden />} onClick={() => setAdding(true)}>
      New shared credential
    </GuardedButton>
  );
  return (
    <Stack gap="md">
      <Group justify="space-between" gap="sm">
        <Text size="sm" c="dimmed" maw={560}>
          Stored once, used by many agents, rotated for all of them at once.
        </Text>
        {(credentials.data?.total ?? 0) > 0 && add}
      </Group>
      <DataTable
        label="Shared credentials"
        query={credentials}
        rows={(data) => data.credentials}
        rowKey={({ id }) => id}
        href={({ id }) => `/providers?tab=shared&credential=${id}${page === 1 ? '' : `&page=${page}`}`}
        paging={({ total }) => ({ page, pageSize: PAGE_SIZE, total, onPage })}
        empty={
          <Nothing
            title="Nothing is shared yet"
            text="Store a provider’s credential here once, then let as many agents as you like call with it."
            action={add}
          />
        }
        columns={[
          { header: 'Name', cell: ({ name }) => name },
          { header: 'Provider', cell: ({ providerSlug }) => nameOf(providerSlug) },
          {
            header: 'Credential',
            cell: ({ status }) =>
              status === 'active' ? (
                <StatusBadge tone="good">stored</StatusBadge>
              ) : (
                <StatusBadge tone="bad">needs to be set again</StatusBadge>
              ),
          },
          { header: 'Used by', cell: ({ accounts }) => agentsCount(accounts) },
          { header: 'Projects', cell: ({ projectId }) => projectName(projectId), wideOnly: true },
          { header: 'Rotated', cell: ({ rotatedAt }) => <Ago at={rotatedAt} never="never" />, wideOnly: true },
          {
            header: 'Actions',
            cell: (credential) => (
              <Group gap="xs" justify="flex-end" wrap="nowrap">
                <RowButton
                  needs="admin"
                  verb="Test"
                  of={credential.name}
                  loading={test.isPending && test.variables === credential.id}
                  onClick={() => test.mutate(credential.id, TEST_NEWS)}
                />
                <RowButton needs="admin" verb="Rotate" of={credential.name} onClick={() => setRotated(credential)} />
                <RowButton
                  needs="admin"
                  verb="Delete"
                  of={credential.name}
                  grave
                  whyNot={credential.accounts === 0 ? null : 'Agents use it: take it from them first.'}
                  onClick={() => {
                    remove.reset();
                    setDoomed(credential);
                  }}
                />
              </Group>
            ),
          },
        ]}
      />
      <SharedDrawer key={opened} id={opened} onClose={() => onOpen('')} />
      {adding && (
        <NewShared
          onClose={() => setAdding(false)}
          onAdded={({ id, name }) => {
            setAdding(false);
            toast(`${name} is stored`);
            onOpen(id);
          }}
        />
      )}
      {rotated !== null && <RotateShared credential={rotated} onClose={() => setRotated(null)} />}
      {doomed !== null && (
        <Confirm
          opened
          onClose={() => setDoomed(null)}
          title={`Delete ${doomed.name}`}
          action="Delete credential"
          onConfirm={() =>
            remove.mutate(doomed.id, {
              onSuccess: () => {
                toast(`${doomed.name} is deleted`);
                setDoomed(null);
              },
            })
          }
          pending={remove.isPending}
          error={remove.error}
        >
          It is gone from the gateway; end it with the provider too.
        </Confirm>
      )}
    </Stack>
  );
}
