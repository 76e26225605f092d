/** All agents with their spend, errors, rejections and budgets. */
import { Select } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { useQuery } from '../../api/use-query.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { Sparkline } from '../../components/charts/sparkline.js';
import { BudgetBar } from '../../components/feedback/budget-bar.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { FilterBar } from '../../components/forms/filter-bar.js';
import { PeriodControl, parsePeriod } from '../../components/forms/period-control.js';
import { SearchInput } from '../../components/forms/search-input.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { type Column, DataTable } from '../../components/tables/data-table.js';
import { formatCount, formatPercent, formatUsd, NO_VALUE } from '../../format/format.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { useProjects } from '../../resources/agent-account-and-key-hooks.js';
import { AgentStatusBadge } from './agent-status-badge.js';
import { BulkActionsBar } from './bulk-actions-bar.js';

const NewAgentDialog = lazy(async () => ({
  default: (await import('./new-agent-account-and-token-dialog.js')).NewAgentDialog,
}));

const PAGE_SIZE = 25;
const DEFAULTS = { search: '', status: '', project: '', sort: 'costCents', order: 'desc', period: '7d', page: 1 };
const SORTS = [
  'name',
  'createdAt',
  'costCents',
  'budgetUsedPercent',
  'requests',
  'errorRate',
  'rejectedRequests',
  'lastCallAt',
] as const;
const STATUSES = ['active', 'paused', 'revoked'] as const;

export function AgentsPage() {
  const { values, set, clear } = useUrlState(DEFAULTS);
  const [isCreating, setIsCreating] = useFormDraft('new agent', false);
  // Separate state: the agent exists by then, so its form must not return when the session ends.
  const [tokenShown, setTokenShown] = useState(false);
  const [selected, setSelected] = useState<ReadonlyMap<string, AgentRow>>(new Map());
  const period = parsePeriod(values.period);
  const status = STATUSES.find((name) => name === values.status);
  const query = {
    period,
    series: period === '24h' ? ('hour' as const) : ('day' as const),
    order: values.order === 'asc' ? ('asc' as const) : ('desc' as const),
    sort: SORTS.find((name) => name === values.sort) ?? 'costCents',
    limit: PAGE_SIZE,
    offset: (values.page - 1) * PAGE_SIZE,
    ...(values.search === '' ? {} : { search: values.search }),
    ...(status === undefined ? {} : { status }),
    ...(values.project === '' ? {} : { projectId: values.project }),
  };
  const agents = useQuery({
    queryKey: ['agents', 'list', query],
    queryFn: () => api.get('/v1/usage/agents', { params: { query } }),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
  // The current state of the selected agents, not their state at the time of the selection.
  const selectedAgents = [...selected.values()].map(
    (row) => agents.data?.agents.find(({ id }) => id === row.id) ?? row,
  );
  const button = (
    <RoleGuardedButton
      requiredRole="admin"
      leftSection={<Plus size={16} aria-hidden />}
      onClick={() => setIsCreating(true)}
    >
      New agent
    </RoleGuardedButton>
  );
  return (
    <>
      <PageHeader
        title="Agents"
        description="Programs that call providers through the gateway, with their limits and spend."
        actions={button}
      />
      <AgentFilters values={values} set={set} period={period} />
      <BulkActionsBar agents={selectedAgents} period={period} onClear={() => setSelected(new Map())} />
      <DataTable
        label="Agents"
        query={agents}
        rows={(data) => data.agents}
        rowKey={({ id }) => id}
        columns={agentColumns(period)}
        sorting={{ sort: query.sort, order: query.order, onSort: (sort, order) => set({ sort, order }) }}
        href={({ id }) => `/agents/${id}`}
        selection={{
          isSelected: ({ id }) => selected.has(id),
          nameOf: ({ name }) => name,
          set: (rows, on) =>
            setSelected((before) => {
              const next = new Map(before);
              for (const row of rows) on ? next.set(row.id, row) : next.delete(row.id);
              return next;
            }),
        }}
        filtered={values.search !== '' || values.status !== '' || values.project !== ''}
        onClearFilters={clear}
        paging={({ total }) => ({ page: values.page, pageSize: PAGE_SIZE, total, onPage: (page) => set({ page }) })}
        empty={
          <EmptyState
            title="No agents yet"
            text="An agent is one program with its own gateway tokens, limits and spend."
            action={button}
          />
        }
      />
      <Suspense>
        {(isCreating || tokenShown) && (
          <NewAgentDialog
            projectId={values.project}
            onToken={() => {
              setTokenShown(true);
              setIsCreating(false);
            }}
            onClose={() => {
              setTokenShown(false);
              setIsCreating(false);
            }}
          />
        )}
      </Suspense>
    </>
  );
}

interface AgentFiltersProps {
  readonly values: ReturnType<typeof useUrlState<typeof DEFAULTS>>['values'];
  readonly set: ReturnType<typeof useUrlState<typeof DEFAULTS>>['set'];
  readonly period: ReturnType<typeof parsePeriod>;
}

function AgentFilters({ values, set, period }: AgentFiltersProps) {
  const projects = useProjects();
  return (
    <FilterBar isFiltered={values.search + values.status + values.project !== ''}>
      <SearchInput
        label="Search agents"
        placeholder="Name or id"
        value={values.search}
        onChange={(search) => set({ search }, { replace: true })}
      />
      <Select
        aria-label="Project"
        placeholder="All projects"
        clearable
        clearButtonProps={{ 'aria-label': 'All projects' }}
        data={(projects.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
        value={values.project === '' ? null : values.project}
        onChange={(value) => set({ project: value ?? '' })}
        w={180}
      />
      <Select
        aria-label="Status"
        placeholder="Any status"
        clearable
        clearButtonProps={{ 'aria-label': 'Any status' }}
        data={[...STATUSES]}
        value={values.status === '' ? null : values.status}
        onChange={(value) => set({ status: value ?? '' })}
        w={140}
      />
      <PeriodControl value={period} onChange={(value) => set({ period: value })} />
    </FilterBar>
  );
}

type AgentRow = Awaited<ReturnType<typeof fetchAgents>>['agents'][number];
const fetchAgents = () => api.get('/v1/usage/agents');

const agentColumns = (period: string): readonly Column<AgentRow>[] => [
  {
    header: 'Agent',
    sortKey: 'name',
    cell: ({ name, projectName, ownerUserId }) => (
      <span className="acg-name">
        {name}
        <span className="acg-second-line">{ownerUserId === null ? projectName : `${projectName} · personal`}</span>
      </span>
    ),
  },
  {
    header: 'Status',
    isBesideTitle: true,
    cell: ({ status, monthCents, budgetCentsMonthly }) => (
      <AgentStatusBadge status={status} monthCents={monthCents} budgetCents={budgetCentsMonthly} />
    ),
  },
  { header: 'Spend', numeric: true, sortKey: 'costCents', cell: ({ costUsd }) => formatUsd(costUsd) },
  {
    header: 'This month',
    sortKey: 'budgetUsedPercent',
    cell: ({ monthCents, budgetCentsMonthly }) => (
      <BudgetBar spentCents={monthCents} budgetCents={budgetCentsMonthly} />
    ),
  },
  {
    header: 'Calls',
    sortKey: 'requests',
    numeric: true,
    cell: ({ requests, series }) => (
      <span className="acg-sparkline-cell">
        {series !== undefined && (
          <Sparkline
            values={series.requests}
            label={`Calls over ${period}, at most ${formatCount(Math.max(...series.requests, 0))} in ${period === '24h' ? 'an hour' : 'a day'}`}
          />
        )}
        {formatCount(requests)}
      </span>
    ),
  },
  {
    header: 'Errors',
    sortKey: 'errorRate',
    numeric: true,
    cell: ({ requests, errorRate }) => (requests === 0 ? NO_VALUE : formatPercent(errorRate)),
  },
  {
    header: 'Rejected',
    sortKey: 'rejectedRequests',
    numeric: true,
    cell: ({ rejectedRequests }) => (
      <span className={rejectedRequests > 0 ? 'acg-deviation' : undefined}>{formatCount(rejectedRequests)}</span>
    ),
  },
  {
    header: 'Last call',
    sortKey: 'lastCallAt',
    cell: ({ lastCallAt }) => <RelativeTime at={lastCallAt} never="Never" />,
  },
  {
    header: 'Created',
    sortKey: 'createdAt',
    isOptional: true,
    cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
  },
];
