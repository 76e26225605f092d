/** Which agent has a credential with which provider. */
import { Anchor, Button, Group, NativeSelect, Stack } from '@mantine/core';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
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
import { useRemoveAccount, useTestAccount } from '../../resources/accounts.js';
import { useProjects } from '../../resources/agents.js';
import { type Account, useAccountList, useProviderName } from './account-list.js';
import { NewAccount } from './new-account.js';
import { RotateAccount } from './rotate-account.js';

const PAGE_SIZE = 50;
const STATUSES = [
  { value: '', label: 'Any state' },
  { value: 'active', label: 'Stored' },
  { value: 'needs_credentials', label: 'Needs credentials' },
] as const;

interface Filters {
  readonly project: string;
  readonly status: string;
  readonly page: number;
}

interface AccountsProps {
  readonly values: Filters;
  readonly onChange: (changes: Partial<Filters>) => void;
  readonly onClear: () => void;
  readonly filtered: boolean;
}

export function Accounts({ values, onChange, onClear, filtered }: AccountsProps) {
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
  const remove = useRemoveAccount();
  const [rotated, setRotated] = useState<Account | null>(null);
  const [doomed, setDoomed] = useState<Account | null>(null);
  const [adding, setAdding] = useDraft('new account', false);
  const add = (
    <GuardedButton needs="admin" leftSection={<Plus size={16} aria-hidden />} onClick={() => setAdding(true)}>
      Add account
    </GuardedButton>
  );
  const called = ({ agentName, providerSlug }: Account): string => `${agentName} at ${nameOf(providerSlug)}`;
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
        filtered={filtered}
        onClearFilters={onClear}
        paging={({ total }) => ({ page, pageSize: PAGE_SIZE, total, onPage: (next) => onChange({ page: next }) })}
        empty={
          <Nothing
            title="No credential is stored yet"
            text="An account lets an agent call a provider, with a credential that the agent never sees."
            action={add}
          />
        }
        columns={[
          {
            header: 'Agent',
            cell: ({ agentId, agentName }) => (
              <Anchor
                component={Link}
                href={`/agents/${agentId}?tab=providers`}
                inherit
                underline="always"
                className="acg-name"
              >
                {agentName}
              </Anchor>
            ),
          },
          { header: 'Provider', cell: ({ providerSlug }) => nameOf(providerSlug) },
          {
            header: 'Credential',
            cell: (account) =>
              account.status === 'active' ? (
                <StatusBadge tone="good">{account.credentialId === null ? 'stored' : 'stored, shared'}</StatusBadge>
              ) : (
                <StatusBadge tone="bad">needs to be set again</StatusBadge>
              ),
          },
          {
            header: 'Sensitive calls',
            cell: ({ allowSensitivePaths }) => (allowSensitivePaths ? 'allowed' : 'refused'),
            wideOnly: true,
          },
          { header: 'Added', cell: ({ createdAt }) => <Ago at={createdAt} /> },
          {
            header: 'Actions',
            cell: (account) => (
              <Group gap="xs" justify="flex-end">
                <RowButton
                  needs="admin"
                  verb="Test"
                  of={called(account)}
                  loading={test.isPending && test.variables === account.id}
                  onClick={() => test.mutate(account.id, TEST_NEWS)}
                />
                <RowButton needs="admin" verb="Rotate" of={called(account)} onClick={() => setRotated(account)} />
                <RowButton
                  needs="admin"
                  verb="Remove"
                  of={called(account)}
                  grave
                  onClick={() => {
                    remove.reset();
                    setDoomed(account);
                  }}
                />
              </Group>
            ),
          },
        ]}
      />
      {adding && (
        <NewAccount
          onClose={() => setAdding(false)}
          onAdded={() => {
            setAdding(false);
            toast('The agent may call the provider from now on');
          }}
        />
      )}
      {rotated !== null && <RotateAccount account={rotated} onClose={() => setRotated(null)} />}
      {doomed !== null && (
        <Confirm
          opened
          onClose={() => setDoomed(null)}
          title={`Remove ${called(doomed)}`}
          action="Remove account"
          onConfirm={() =>
            remove.mutate(doomed.id, {
              onSuccess: () => {
                toast(`${called(doomed)} is removed`);
                setDoomed(null);
              },
            })
          }
          pending={remove.isPending}
          error={remove.error}
        >
          {doomed.credentialId === null ? 'The credential is deleted' : 'The shared credential stays for others'}, and
          the agent’s calls to this provider are refused from now on.
        </Confirm>
      )}
    </Stack>
  );
}
