/** Every agent with what it spent, how it does, and who has used up its budget. */
import { Group, Select, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { api } from '../../api/api.js';
import { useDraft } from '../../api/drafts.js';
import { count, NONE, percent, usd } from '../../format/format.js';
import { Ago } from '../../parts/ago.js';
import { BudgetBar } from '../../parts/budget-bar.js';
import { type Column, DataTable } from '../../parts/data-table.js';
import { GuardedButton } from '../../parts/guarded-button.js';
import { Nothing } from '../../parts/nothing.js';
import { PageHeader } from '../../parts/page-header.js';
import { PeriodControl, periodOf } from '../../parts/period-control.js';
import { SearchInput } from '../../parts/search-input.js';
import { useSearchState } from '../../parts/search-state.js';
import { Sparkline } from '../../parts/sparkline.js';
import { useProjects } from '../../resources/agents.js';
import { AgentStatus } from './agent-status.js';
import { Bulk } from './bulk.js';

const NewAgent = lazy(async () => ({ default: (await import('./new-agent.js')).NewAgent }));

const PAGE_SIZE = 25;
const DEFAULTS = { search: '', status: '', project: '', sort: 'costCents', period: '7d', page: 1 };
const SORTS = [
  { value: 'costCents', label: 'Most spend' },
  { value: 'requests', label: 'Most calls' },
  { value: 'errorRate', label: 'Most errors' },
  { value: 'rejectedRequests', label: 'Most refused' },
  { value: 'budgetUsedPercent', label: 'Least budget left' },
  { value: 'lastCallAt', label: 'Last call' },
  { value: 'createdAt', label: 'Newest' },
] as const;
const STATUSES = ['active', 'paused', 'revoked'] as const;

export function Agents() {
  const { values, set, clear } = useSearchState(DEFAULTS);
  const [creating, setCreating] = useDraft('new agent', false);
  // Apart: the agent is made then, and a form for it does not come back when the session ends.
  const [tokenShown, setTokenShown] = useState(false);
  const [selected, setSelected] = useState<ReadonlyMap<string, Row>>(new Map());
  const period = periodOf(values.period);
  const status = STATUSES.find((name) => name === values.status);
  const query = {
    period,
    series: period === '24h' ? ('hour' as const) : ('day' as const),
    order: 'desc' as const,
    sort: SORTS.find(({ value }) => value === values.sort)?.value ?? 'costCents',
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
  // As they are now, not as they were when they were ticked.
  const ticked = [...selected.values()].map((row) => agents.data?.agents.find(({ id }) => id === row.id) ?? row);
  const button = (
    <GuardedButton needs="admin" leftSection={<Plus size={16} aria-hidden />} onClick={() => setCreating(true)}>
      New agent
    </GuardedButton>
  );
  return (
    <>
      <PageHeader
        title="Agents"
        description="Who calls providers through the gateway, with which limits."
        actions={button}
      />
      <Filters values={values} set={set} period={period} />
      <Bulk agents={ticked} period={period} onClear={() => setSelected(new Map())} />
      <DataTable
        label="Agents"
        query={agents}
        rows={(data) => data.agents}
        rowKey={({ id }) => id}
        columns={columnsOf(period)}
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
          <Nothing
            title="No agent yet"
            text="An agent is one program with its own token, its own limits and its own bill."
            action={button}
          />
        }
      />
      <Suspense>
        {(creating || tokenShown) && (
          <NewAgent
            onToken={() => {
              setTokenShown(true);
              setCreating(false);
            }}
            onClose={() => {
              setTokenShown(false);
              setCreating(false);
            }}
          />
        )}
      </Suspense>
    </>
  );
}

interface FiltersProps {
  readonly values: ReturnType<typeof useSearchState<typeof DEFAULTS>>['values'];
  readonly set: ReturnType<typeof useSearchState<typeof DEFAULTS>>['set'];
  readonly period: ReturnType<typeof periodOf>;
}

function Filters({ values, set, period }: FiltersProps) {
  const projects = useProjects();
  return (
    <Group gap="sm" mb="md" align="flex-end" className="acg-filters">
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
      <Select
        aria-label="Sort by"
        data={[...SORTS]}
        allowDeselect={false}
        value={values.sort}
        onChange={(value) => set({ sort: value ?? DEFAULTS.sort })}
        w={170}
      />
      <PeriodControl value={period} onChange={(value) => set({ period: value })} />
    </Group>
  );
}

type Row = Awaited<ReturnType<typeof readAgents>>['agents'][number];
const readAgents = () => api.get('/v1/usage/agents');

const columnsOf = (period: string): readonly Column<Row>[] => [
  {
    header: 'Agent',
    cell: ({ name, projectName }) => (
      <span className="acg-name">
        {name}
        <Text size="xs" c="dimmed" span display="block">
          {projectName}
        </Text>
      </span>
    ),
  },
  { header: 'Status', cell: ({ status }) => <AgentStatus status={status} /> },
  { header: 'Spend', numeric: true, cell: ({ costUsd }) => usd(costUsd) },
  {
    header: 'This month',
    cell: ({ monthCents, budgetCentsMonthly }) => (
      <BudgetBar spentCents={monthCents} budgetCents={budgetCentsMonthly} />
    ),
  },
  {
    header: 'Calls',
    numeric: true,
    cell: ({ requests, series }) => (
      <Group component="span" gap="xs" justify="flex-end" wrap="nowrap">
        {series !== undefined && (
          <Sparkline
            values={series.requests}
            label={`Calls over ${period}, at most ${count(Math.max(...series.requests, 0))} in ${period === '24h' ? 'an hour' : 'a day'}`}
          />
        )}
        {count(requests)}
      </Group>
    ),
  },
  { header: 'Errors', numeric: true, cell: ({ requests, errorRate }) => (requests === 0 ? NONE : percent(errorRate)) },
  {
    header: 'Refused',
    numeric: true,
    cell: ({ rejectedRequests }) => (
      <Text span inherit {...(rejectedRequests > 0 ? { c: 'var(--acg-warn)', fw: 600 } : {})}>
        {count(rejectedRequests)}
      </Text>
    ),
  },
  { header: 'Last call', cell: ({ lastCallAt }) => <Ago at={lastCallAt} never="never" /> },
];
