/** The Usage & cost page: totals, chart and table by group, budgets, and a CSV export. */
import { Button, Checkbox, Group, NativeSelect, SegmentedControl, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { BASE_PATH } from '../../api/page-meta-tags.js';
import { AgentComparison } from '../../components/agents/agent-comparison.js';
import { showErrorToast, showToast } from '../../components/feedback/toast.js';
import { AgentSelect } from '../../components/forms/agent-select.js';
import { FilterBar } from '../../components/forms/filter-bar.js';
import { parseTimeRange, TIME_RANGE_DEFAULTS, TimeRangeControl } from '../../components/forms/time-range-control.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { formatCount } from '../../format/format.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { useProjects } from '../../resources/agent-account-and-key-hooks.js';
import { type BreakdownQuery, parseSort } from './fetch-breakdown.js';
import { GROUPINGS, METRICS, parseGrouping, parseMetric, parseSecondGrouping } from './groupings-and-metrics.js';
import { UsageBreakdownTable } from './usage-breakdown-table.js';
import { UsageChart } from './usage-chart.js';
import { EXPORT_ROWS_MAX, exportBreakdown } from './usage-export.js';
import { UsageSummary } from './usage-summary.js';

const DEFAULTS = {
  ...TIME_RANGE_DEFAULTS,
  by: 'provider',
  show: 'spend',
  agent: '',
  project: '',
  compare: '',
  second: '',
  previous: '',
  sort: 'costUsd',
  order: 'desc',
  page: 1,
};

export function UsagePage() {
  const { values, set, clear } = useUrlState(DEFAULTS);
  const projects = useProjects();
  const by = parseGrouping(values.by);
  const metric = parseMetric(values.show, by);
  const query = {
    ...parseTimeRange(values),
    ...(values.agent === '' ? {} : { agentId: values.agent }),
    ...(values.project === '' ? {} : { projectId: values.project }),
  };
  const thenBy = parseSecondGrouping(values.second, by);
  const breakdown: BreakdownQuery =
    by === 'status'
      ? { ...query, by }
      : {
          ...query,
          by,
          ...(thenBy === null ? {} : { thenBy }),
          ...(values.previous === '' ? {} : { compare: 'previous' as const }),
          sort: parseSort(values.sort),
          order: values.order === 'asc' ? 'asc' : 'desc',
        };
  const exportTable = useMutation({
    mutationFn: () => exportBreakdown(breakdown),
    onSuccess: (isComplete) => isComplete || showToast(`The file has the first ${formatCount(EXPORT_ROWS_MAX)} rows`),
    onError: showErrorToast,
  });
  const file = `${BASE_PATH}/v1/usage/export?${new URLSearchParams({ ...query, format: 'csv' })}`;
  return (
    <>
      <PageHeader
        title="Usage & cost"
        description="Cost of calls as recorded by the gateway, including deleted agents. Days are UTC."
        actions={
          <Group gap="sm">
            <Button
              variant="default"
              leftSection={<Download size={16} aria-hidden />}
              loading={exportTable.isPending}
              onClick={() => exportTable.mutate()}
              title="The table below with all its pages and the total"
            >
              Export table as CSV
            </Button>
            <Button
              variant="default"
              component="a"
              href={file}
              download
              leftSection={<Download size={16} aria-hidden />}
              title="Every call of this period and these filters"
            >
              Export calls as CSV
            </Button>
          </Group>
        }
      />
      <FilterBar isFiltered={values.agent + values.project !== ''}>
        <NativeSelect
          label="Group by"
          data={[...GROUPINGS]}
          value={by}
          onChange={(event) => set({ by: event.currentTarget.value })}
        />
        {by !== 'status' && (
          <NativeSelect
            label="Then by"
            data={[
              { value: '', label: 'Nothing' },
              ...GROUPINGS.filter(({ value }) => value !== 'status' && value !== by),
            ]}
            value={thenBy ?? ''}
            onChange={(event) => set({ second: event.currentTarget.value })}
          />
        )}
        <NativeSelect
          label="Project"
          data={[
            { value: '', label: 'All projects' },
            ...(projects.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
          ]}
          value={values.project}
          onChange={(event) => set({ project: event.currentTarget.value, agent: '' })}
        />
        <AgentSelect
          label="Agent"
          placeholder="All agents"
          w={200}
          value={values.agent}
          onChange={(agent) => set({ agent, project: '' })}
        />
        <TimeRangeControl values={values} onChange={set} />
        {by !== 'status' && (
          <Checkbox
            label="Compare with the previous period"
            mb={8}
            checked={values.previous !== ''}
            onChange={(event) => set({ previous: event.currentTarget.checked ? 'on' : '', page: values.page })}
          />
        )}
      </FilterBar>
      <Stack gap="lg">
        <UsageSummary query={query}>
          <Stack gap="sm">
            {by !== 'status' && (
              <Group>
                <SegmentedControl
                  aria-label="Chart metric"
                  size="xs"
                  data={METRICS.map(({ value, label }) => ({ value, label }))}
                  value={metric.value}
                  onChange={(show) => set({ show, page: values.page })}
                />
              </Group>
            )}
            <UsageChart query={query} by={by} metric={metric} onDays={set} />
          </Stack>
          <UsageBreakdownTable
            query={breakdown}
            page={values.page}
            filtered={values.agent !== '' || values.project !== ''}
            onPage={(page) => set({ page })}
            onSort={(sort, order) => set({ sort, order })}
            onProject={(project) => set({ project, agent: '', by: 'agent' })}
            onClear={clear}
          />
        </UsageSummary>
        <AgentComparison
          title="Compare agents"
          range={parseTimeRange(values)}
          metric={metric.value === 'requests' ? 'requests' : 'spend'}
          ids={values.compare === '' ? [] : values.compare.split(',')}
          onChange={(ids) => set({ compare: ids.join(','), page: values.page })}
        />
      </Stack>
    </>
  );
}
