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
import { DataTable } from '../../components/tables/data-table.js';
import { RowActionButton } from '../../components/tables/row-action-button.js';
import { useProjects } from '../../resources/agent-account-and-key-hooks.js';
import { useTestAccount } from '../../resources/provider-account-mutations.js';
import { RemoveAccountDialog } from './remove-account-dialog.js';
import { RotateAccountDialog } from './rotate-account-dialog.js';
import { type Account, useAccountList, useProviderName } from './use-account-list.js';

const NewAccountDialog = lazyComponent(async () => (await import('./new-account-dialog.js')).NewAccountDialog, null);

const PAGE_SIZE = 50;
const STATUSES = [
  { value: '', label: 'Any status' },
  { value: 'active', label: 'Stored' },
  { value: 'needs_credentials', label: 'Needs credential' },
] as const;

interface AccountFilters {
  readonly project: string;
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
  const { project, page } = values;
  const status = STATUSES.find(({ value }) => value === values.status)?.value ?? '';
  const projects = useProjects();
  const accounts = useAccountList({
    limit: PAGE_SIZE,
    offset: (page - 1) * PAGE_SIZE,
    ...(project === '' ? {} : { projectId: project }),
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
  const accountLabel = ({ agentName, providerSlug }: Account): string => `${agentName} at ${nameOf(providerSlug)}`;
  return (
    <Stack gap="md">
      <Group gap="sm" align="flex-end">
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
            cell: ({ agentName }) => <span className="acg-name">{agentName}</span>,
          },
          { header: 'Provider', cell: ({ providerSlug }) => nameOf(providerSlug) },
          {
            header: 'Credential',
            cell: (account) => (
              <CredentialBadge
                status={account.status}
                minted={account.minted}
                isShared={account.credentialId !== null}
              />
            ),
          },
          {
            header: 'Sensitive calls',
            cell: ({ allowSensitivePaths }) => (allowSensitivePaths ? 'allowed' : 'rejected'),
            wideOnly: true,
          },
          {
            header: 'Opaque calls',
            cell: ({ allowOpaque }) => (allowOpaque ? 'allowed' : 'rejected'),
            wideOnly: true,
          },
          { header: 'Added', cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
          {
            header: 'Actions',
            cell: (account) => (
              <Group gap="xs" justify="flex-end">
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
