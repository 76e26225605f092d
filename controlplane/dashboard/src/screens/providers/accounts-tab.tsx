/** The Accounts tab: which agent has a credential at which provider. */
import { Button, Group, NativeSelect, Stack } from '@mantine/core';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { CredentialBadge } from '../../components/credentials/credential-badge.js';
import { CREDENTIAL_TEST_TOASTS } from '../../components/feedback/credential-test-toasts.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { showToast } from '../../components/feedback/toast.js';
import { lazyComponent } from '../../components/layout/lazy-component-no-suspense-delay.js';
import { PageLink } from '../../components/layout/page-link.js';
import { DataTable } from '../../components/tables/data-table.js';
import { RowActionButton } from '../../components/tables/row-action-button.js';
import { useUrlSorting } from '../../hooks/use-url-sorting.js';
import { useProjects, useProviders } from '../../resources/agent-account-and-key-hooks.js';
import { useTestAccount } from '../../resources/provider-account-mutations.js';
import { useSharedCredentials } from '../../resources/shared-credential-hooks.js';
import { RemoveAccountDialog } from './remove-account-dialog.js';
import { RotateAccountDialog } from './rotate-account-dialog.js';
import { ACCOUNT_SORTS, type Account, useAccountList, useProviderName } from './use-account-list.js';

const NewAccountDialog = lazyComponent(async () => (await import('./new-account-dialog.js')).NewAccountDialog, null);

const PAGE_SIZE = 50;
/** Shared credentials whose names the list has; others are called `shared`. */
const CREDENTIALS_NAMED = 100;
const STATUSES = [
  { value: '', label: 'Any status' },
  { value: 'active', label: 'Stored' },
  { value: 'needs_credentials', label: 'Needs credential' },
] as const;

interface AccountFilters {
  readonly project: string;
  /** Slug. */
  readonly provider: string;
  readonly status: string;
  readonly page: number;
}

interface AccountsTabProps {
  readonly values: AccountFilters;
  readonly onChange: (changes: Partial<AccountFilters>) => void;
  readonly onClear: () => void;
  readonly filtered: boolean;
}

export function AccountsTab({ values, onChange, onClear, filtered }: AccountsTabProps) {
  const { project, provider, page } = values;
  const status = STATUSES.find(({ value }) => value === values.status)?.value ?? '';
  const projects = useProjects();
  const providers = useProviders();
  const credentials = useSharedCredentials(1, CREDENTIALS_NAMED);
  const { query, sorting } = useUrlSorting(ACCOUNT_SORTS);
  const accounts = useAccountList({
    ...query,
    limit: PAGE_SIZE,
    offset: (page - 1) * PAGE_SIZE,
    ...(project === '' ? {} : { projectId: project }),
    ...(provider === '' ? {} : { providerSlug: provider }),
    ...(status === '' ? {} : { status }),
  });
  const nameOf = useProviderName();
  const test = useTestAccount();
  const [toRotate, setToRotate] = useState<Account | null>(null);
  const [toRemove, setToRemove] = useState<Account | null>(null);
  const [adding, setAdding] = useFormDraft('new account', false);
  const add = (
    <RoleGuardedButton
      requiredRole="admin"
      leftSection={<Plus size={16} aria-hidden />}
      onClick={() => setAdding(true)}
    >
      Add account
    </RoleGuardedButton>
  );
  const credentialName = (id: string): string | undefined =>
    credentials.data?.credentials.find((credential) => credential.id === id)?.name;
  const accountLabel = ({ agentName, providerSlug }: Account): string => `${agentName} at ${nameOf(providerSlug)}`;
  return (
    <Stack gap="md">
      <Group gap="sm" align="flex-end" className="acg-filters">
        <NativeSelect
          label="Project"
          data={[
            { value: '', label: 'All projects' },
            ...(projects.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
          ]}
          value={project}
          onChange={(event) => onChange({ project: event.currentTarget.value })}
        />
        <NativeSelect
          label="Provider"
          data={[
            { value: '', label: 'All providers' },
            ...(providers.data ?? []).map(({ slug, displayName }) => ({ value: slug, label: displayName })),
          ]}
          value={provider}
          onChange={(event) => onChange({ provider: event.currentTarget.value })}
        />
        <NativeSelect
          label="Credential"
          data={[...STATUSES]}
          value={status}
          onChange={(event) => onChange({ status: event.currentTarget.value })}
        />
        {filtered && (
          <Button variant="subtle" onClick={onClear}>
            Clear filters
          </Button>
        )}
        {(filtered || (accounts.data?.total ?? 0) > 0) && <Group ml="auto">{add}</Group>}
      </Group>
      <DataTable
        label="Accounts"
        query={accounts}
        rows={(data) => data.accounts}
        rowKey={({ id }) => id}
        href={({ id }) => `/providers/accounts/${id}`}
        sorting={sorting}
        filtered={filtered}
        onClearFilters={onClear}
        paging={({ total }) => ({ page, pageSize: PAGE_SIZE, total, onPage: (next) => onChange({ page: next }) })}
        empty={
          <EmptyState
            title="No accounts yet"
            text="An account lets an agent call a provider with a credential that the agent never sees."
            action={add}
          />
        }
        columns={[
          {
            header: 'Agent',
            sortKey: 'agentName',
            cell: ({ agentName }) => <span className="acg-name">{agentName}</span>,
          },
          {
            header: 'Provider',
            sortKey: 'providerSlug',
            cell: ({ providerSlug }) => nameOf(providerSlug),
          },
          {
            header: 'Credential',
            cell: (account) => (
              <>
                <CredentialBadge status={account.status} minted={account.minted} />
                {account.credentialId !== null && (
                  <>
                    , <SharedCredentialLink id={account.credentialId} name={credentialName(account.credentialId)} />
                  </>
                )}
              </>
            ),
          },
          {
            header: 'Sensitive calls',
            cell: ({ allowSensitivePaths }) => (allowSensitivePaths ? 'allowed' : 'rejected'),
            isOptional: true,
          },
          {
            header: 'Opaque calls',
            cell: ({ allowOpaque }) => (allowOpaque ? 'allowed' : 'rejected'),
            isOptional: true,
          },
          {
            header: 'Last used',
            sortKey: 'lastUsedAt',
            cell: ({ lastUsedAt }) => <RelativeTime at={lastUsedAt} never="Never" />,
          },
          {
            header: 'Added',
            sortKey: 'createdAt',
            cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
          },
          {
            header: 'Actions',
            cell: (account) => (
              <Group gap="xs" justify="flex-end" wrap="nowrap">
                <RowActionButton
                  requiredRole="admin"
                  label="Test"
                  rowName={accountLabel(account)}
                  loading={test.isPending && test.variables === account.id}
                  onClick={() => test.mutate(account.id, CREDENTIAL_TEST_TOASTS)}
                />
                <RowActionButton
                  requiredRole="admin"
                  label="Rotate"
                  rowName={accountLabel(account)}
                  onClick={() => setToRotate(account)}
                />
                <RowActionButton
                  requiredRole="admin"
                  label="Remove"
                  rowName={accountLabel(account)}
                  isDestructive
                  onClick={() => setToRemove(account)}
                />
              </Group>
            ),
          },
        ]}
      />
      {adding && (
        <NewAccountDialog
          onClose={() => setAdding(false)}
          onAdded={() => {
            setAdding(false);
            showToast('Account added: the agent can call the provider');
          }}
        />
      )}
      {toRotate !== null && <RotateAccountDialog account={toRotate} onClose={() => setToRotate(null)} />}
      {toRemove !== null && (
        <RemoveAccountDialog
          account={toRemove}
          title={accountLabel(toRemove)}
          onClose={() => setToRemove(null)}
          onRemoved={() => {
            showToast(`${accountLabel(toRemove)} removed`);
            setToRemove(null);
          }}
        />
      )}
    </Stack>
  );
}

/** Leads to all agents that call with the credential. */
const SharedCredentialLink = ({ id, name }: { readonly id: string; readonly name: string | undefined }) => (
  <PageLink href={`/providers?tab=shared&credential=${id}`}>{name ?? 'shared'}</PageLink>
);
