/** The Shared credentials tab: credentials stored once for many agents. */
import { Group, Stack, Text } from '@mantine/core';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { CredentialBadge } from '../../components/credentials/credential-badge.js';
import { CREDENTIAL_TEST_TOASTS } from '../../components/feedback/credential-test-toasts.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { showToast } from '../../components/feedback/toast.js';
import { ConfirmDialog } from '../../components/forms/confirm-dialog.js';
import { lazyComponent } from '../../components/layout/lazy-component-no-suspense-delay.js';
import { DataTable } from '../../components/tables/data-table.js';
import { RowActionButton } from '../../components/tables/row-action-button.js';
import { formatAgentCount } from '../../format/format.js';
import { useUrlSorting } from '../../hooks/use-url-sorting.js';
import { useProjects } from '../../resources/agent-account-and-key-hooks.js';
import {
  CREDENTIAL_SORTS,
  type SharedCredential,
  useDeleteSharedCredential,
  useSharedCredentials,
  useTestSharedCredential,
} from '../../resources/shared-credential-hooks.js';
import { RenameSharedCredentialDialog } from './rename-shared-credential-dialog.js';
import { RotateSharedCredentialDialog } from './rotate-shared-credential-dialog.js';
import { useProviderName } from './use-account-list.js';

const NewSharedCredentialDialog = lazyComponent(
  async () => (await import('./new-shared-credential-dialog.js')).NewSharedCredentialDialog,
  null,
);

const SharedCredentialDrawer = lazyComponent(
  async () => (await import('./shared-credential-agents-drawer.js')).SharedCredentialDrawer,
  null,
);

const PAGE_SIZE = 50;

interface SharedCredentialsTabProps {
  readonly page: number;
  readonly onPage: (page: number) => void;
  /** Id of the credential in the drawer; empty: none. */
  readonly opened: string;
  readonly onOpen: (id: string) => void;
}

export function SharedCredentialsTab({ page, onPage, opened, onOpen }: SharedCredentialsTabProps) {
  const { query, sorting } = useUrlSorting(CREDENTIAL_SORTS);
  const credentials = useSharedCredentials(page, PAGE_SIZE, query);
  const projects = useProjects();
  const nameOf = useProviderName();
  const test = useTestSharedCredential();
  const deleteCredential = useDeleteSharedCredential();
  const [adding, setAdding] = useFormDraft('new shared', false);
  const [toRotate, setToRotate] = useState<SharedCredential | null>(null);
  const [toRename, setToRename] = useState<SharedCredential | null>(null);
  const [toDelete, setToDelete] = useState<SharedCredential | null>(null);
  const projectName = (id: string | null): string =>
    id === null ? 'All projects' : (projects.data?.find((project) => project.id === id)?.name ?? 'One project');
  const add = (
    <RoleGuardedButton
      requiredRole="admin"
      leftSection={<Plus size={16} aria-hidden />}
      onClick={() => setAdding(true)}
    >
      New shared credential
    </RoleGuardedButton>
  );
  return (
    <Stack gap="md">
      <Group justify="space-between" gap="sm">
        <Text size="sm" c="dimmed" maw={560}>
          Stored once, used by many agents, and rotated for all of them at once.
        </Text>
        {(credentials.data?.total ?? 0) > 0 && add}
      </Group>
      <DataTable
        label="Shared credentials"
        query={credentials}
        rows={(data) => data.credentials}
        rowKey={({ id }) => id}
        href={({ id }) => `/providers?tab=shared&credential=${id}${page === 1 ? '' : `&page=${page}`}`}
        sorting={sorting}
        paging={({ total }) => ({ page, pageSize: PAGE_SIZE, total, onPage })}
        empty={
          <EmptyState
            title="No shared credentials yet"
            text="Store a provider credential once and use it for any number of agents."
            action={add}
          />
        }
        columns={[
          { header: 'Name', sortKey: 'name', cell: ({ name }) => name },
          {
            header: 'Provider',
            sortKey: 'providerSlug',
            cell: ({ providerSlug }) => nameOf(providerSlug),
          },
          {
            header: 'Credential',
            cell: ({ status, minted }) => <CredentialBadge status={status} minted={minted} />,
          },
          {
            header: 'Used by',
            sortKey: 'accounts',
            cell: ({ accounts }) => formatAgentCount(accounts),
          },
          { header: 'Projects', cell: ({ projectId }) => projectName(projectId), wideOnly: true },
          {
            header: 'Rotated',
            sortKey: 'rotatedAt',
            cell: ({ rotatedAt }) => <RelativeTime at={rotatedAt} never="Never" />,
            wideOnly: true,
          },
          {
            header: 'Actions',
            cell: (credential) => (
              <Group gap="xs" justify="flex-end" wrap="nowrap">
                <RowActionButton
                  requiredRole="admin"
                  label="Test"
                  rowName={credential.name}
                  loading={test.isPending && test.variables === credential.id}
                  onClick={() => test.mutate(credential.id, CREDENTIAL_TEST_TOASTS)}
                />
                <RowActionButton
                  requiredRole="admin"
                  label="Rotate"
                  rowName={credential.name}
                  onClick={() => setToRotate(credential)}
                />
                <RowActionButton
                  requiredRole="admin"
                  label="Rename"
                  rowName={credential.name}
                  onClick={() => setToRename(credential)}
                />
                <RowActionButton
                  requiredRole="admin"
                  label="Delete"
                  rowName={credential.name}
                  isDestructive
                  disabledReason={
                    credential.accounts === 0 ? null : 'Agents use this credential. Remove it from them first.'
                  }
                  onClick={() => {
                    deleteCredential.reset();
                    setToDelete(credential);
                  }}
                />
              </Group>
            ),
          },
        ]}
      />
      {opened !== '' && <SharedCredentialDrawer key={opened} id={opened} onClose={() => onOpen('')} />}
      {adding && (
        <NewSharedCredentialDialog
          onClose={() => setAdding(false)}
          onAdded={({ id, name }) => {
            setAdding(false);
            showToast(`${name} stored`);
            onOpen(id);
          }}
        />
      )}
      {toRotate !== null && <RotateSharedCredentialDialog credential={toRotate} onClose={() => setToRotate(null)} />}
      {toRename !== null && <RenameSharedCredentialDialog credential={toRename} onClose={() => setToRename(null)} />}
      {toDelete !== null && (
        <ConfirmDialog
          opened
          onClose={() => setToDelete(null)}
          title={`Delete ${toDelete.name}`}
          action="Delete credential"
          onConfirm={() =>
            deleteCredential.mutate(toDelete.id, {
              onSuccess: () => {
                showToast(`${toDelete.name} deleted`);
                setToDelete(null);
              },
            })
          }
          pending={deleteCredential.isPending}
          error={deleteCredential.error}
        >
          Deletes the credential from the gateway. Revoke it at the provider, too.
        </ConfirmDialog>
      )}
    </Stack>
  );
}
