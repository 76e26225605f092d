/** The Gateway tokens page: all tokens with their scope, use and expiry. */
import { keepPreviousData } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useQuery } from '../../api/use-query.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { DataTable } from '../../components/tables/data-table.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { useProjects } from '../../resources/agent-account-and-key-hooks.js';
import { DEFAULT_KEY_FILTERS, fetchKeys, PAGE_SIZE } from './fetch-keys-and-describe-status.js';
import { keyColumns } from './key-columns.js';
import { KeyFilters } from './key-filters.js';
import { useKeyDialogs } from './use-key-dialogs.js';

export function KeysPage() {
  const { values, set, clear } = useUrlState(DEFAULT_KEY_FILTERS);
  const keyDialogs = useKeyDialogs();
  const projects = useProjects();
  const keys = useQuery({
    queryKey: ['keys', 'all', values],
    queryFn: () => fetchKeys(values),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
  const button = (
    <RoleGuardedButton requiredRole="admin" leftSection={<Plus size={16} aria-hidden />} onClick={keyDialogs.onNew}>
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
        href={({ id }) => `/keys/${id}`}
        filtered={values.search !== '' || values.project !== '' || values.status !== ''}
        onClearFilters={clear}
        paging={({ total }) => ({ page: values.page, pageSize: PAGE_SIZE, total, onPage: (page) => set({ page }) })}
        sorting={{
          sort: values.sort,
          order: values.order === 'asc' ? 'asc' : 'desc',
          onSort: (sort, order) => set({ sort, order }),
        }}
        columns={keyColumns({
          projectName: (id) => projects.data?.find((project) => project.id === id)?.name ?? null,
          ...keyDialogs,
        })}
        empty={
          <EmptyState
            title="No gateway tokens yet"
            text="An agent needs one to call through the gateway."
            action={button}
          />
        }
      />
      {keyDialogs.dialogs}
    </>
  );
}
