/** The Rejections page: calls that the gateway rejected, by reason and by agent. */
import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Link } from 'wouter';
import { api } from '../../api/api-client.js';
import { useMissingRoleReason } from '../../api/session.js';
import { useQuery } from '../../api/use-query.js';
import { groupsToSeries } from '../../components/charts/groups-to-series.js';
import { TimeSeriesChart } from '../../components/charts/time-series-chart.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { RejectionAdvice } from '../../components/feedback/rejection-advice.js';
import { AgentSelect } from '../../components/forms/agent-select.js';
import { parseTimeRange, TIME_RANGE_DEFAULTS, TimeRangeControl } from '../../components/forms/time-range-control.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { PageLink } from '../../components/layout/page-link.js';
import { barInterval } from '../../components/reports/bar-interval.js';
import { onDaysSelected, useOpenCallsOfBar } from '../../components/reports/use-open-calls-of-bar.js';
import { DataTable } from '../../components/tables/data-table.js';
import { formatCount } from '../../format/format.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { rejectionLabel } from '../../messages/rejection-label.js';
import { RejectedAgentsTable } from './rejected-agents-table.js';

const DEFAULTS = { ...TIME_RANGE_DEFAULTS, agent: '' };
/** Rejections are counted every few seconds. */
const REFETCH_MS = 5_000;

export function RejectionsPage() {
  const { values, set, clear } = useUrlState(DEFAULTS);
  const mayListCalls = useMissingRoleReason('admin') === null;
  const range = parseTimeRange(values);
  const query = { ...range, ...(values.agent === '' ? {} : { agentId: values.agent }) };
  const rejections = useQuery({
    queryKey: ['usage', 'refusals', query],
    queryFn: () => api.get('/v1/usage/refusals', { params: { query } }),
    placeholderData: keepPreviousData,
    refetchInterval: REFETCH_MS,
  });
  return (
    <>
      <PageHeader
        title="Rejections"
        description="Calls that the gateway rejected, counted within about five seconds. They cost nothing. Calls with an unknown token belong to no organization and are not counted."
        actions={
          mayListCalls && (
            <Button component={Link} href={callsHref(values.agent, rejections.data)} variant="default">
              View rejected calls
            </Button>
          )
        }
      />
      <Group gap="sm" mb="md" align="flex-end" className="acg-filters">
        <AgentSelect
          label="Agent"
          placeholder="Any agent"
          w={220}
          value={values.agent}
          onChange={(agent) => set({ agent })}
        />
        <TimeRangeControl values={values} onChange={set} />
        {values.agent !== '' && (
          <Button variant="subtle" onClick={() => set({ agent: '' })}>
            All agents
          </Button>
        )}
      </Group>
      <Stack gap="lg">
        <DataTable
          label="Rejections by reason"
          query={rejections}
          rows={(data) => data.refusals}
          rowKey={({ reason }) => reason}
          filtered={values.agent !== ''}
          onClearFilters={clear}
          columns={[
            {
              header: 'Reason',
              sortValue: ({ reason }) => reason,
              cell: ({ reason }) => (
                <>
                  {rejectionLabel(reason)}
                  <Text size="xs" c="dimmed" ff="monospace" span display="block">
                    {reason}
                  </Text>
                </>
              ),
            },
            {
              header: 'Rejected',
              numeric: true,
              sortValue: ({ count }) => count,
              cell: ({ reason, count }) =>
                mayListCalls ? (
                  <PageLink href={callsHref(values.agent, rejections.data, reason)}>{formatCount(count)}</PageLink>
                ) : (
                  formatCount(count)
                ),
            },
            {
              header: 'What to do',
              wraps: true,
              cell: ({ reason }) => (
                <RejectionAdvice reason={reason} agentId={values.agent === '' ? null : values.agent} />
              ),
            },
          ]}
          empty={<EmptyState title="No rejections in this period" text="Every call was forwarded." />}
        />
        {rejections.data !== undefined && rejections.data.refusals.length > 0 && (
          <RejectionChart query={query} onDays={set} />
        )}
        {values.agent === '' && (
          <section aria-labelledby="rejected-agents">
            <Title order={2} id="rejected-agents" mb="sm">
              Agents with the most rejections
            </Title>
            <RejectedAgentsTable range={range} onChoose={(agent) => set({ agent })} />
          </section>
        )}
      </Stack>
    </>
  );
}

interface CountedRange {
  /** ISO. */
  readonly from: string;
  readonly to: string;
}

/** The list of rejected calls of the counted time. `agent`: '' for all. `range` undefined: not loaded yet. */
const callsHref = (agent: string, range: CountedRange | undefined, reason?: string): string =>
  `/calls?${new URLSearchParams({
    state: 'rejected',
    ...(agent === '' ? {} : { agent }),
    ...(reason === undefined ? {} : { reason }),
    ...(range === undefined ? {} : { from: range.from }),
    // A period that lasts stays open, so that the list goes on.
    ...(range === undefined || Date.parse(range.to) > Date.now() ? {} : { to: range.to }),
  })}`;

interface RejectionChartProps {
  readonly query: ReturnType<typeof parseTimeRange> & { readonly agentId?: string };
  readonly onDays: Parameters<typeof onDaysSelected>[1];
}

function RejectionChart({ query, onDays }: RejectionChartProps) {
  const timeseriesParams = { ...query, groupBy: 'reason' as const, interval: barInterval(query) };
  const openCalls = useOpenCallsOfBar({ agent: query.agentId, state: 'rejected' });
  const mayListCalls = useMissingRoleReason('admin') === null;
  const series = useQuery({
    queryKey: ['usage', 'timeseries', timeseriesParams],
    queryFn: () => api.get('/v1/usage/timeseries', { params: { query: timeseriesParams } }),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
  const data = series.data;
  const buckets = useMemo(() => data?.timeseries.map(({ bucket }) => bucket) ?? [], [data]);
  const groups = useMemo(
    () => groupsToSeries(data?.groups ?? [], rejectionLabel, ({ rejectedRequests }) => rejectedRequests),
    [data],
  );
  if (data === undefined)
    return series.error === null ? null : <ErrorAlert error={series.error} onRetry={series.refetch} />;
  return (
    <TimeSeriesChart
      title="Rejections over time"
      stale={series.isPlaceholderData}
      buckets={buckets}
      interval={data.interval}
      series={groups}
      format={formatCount}
      {...(mayListCalls ? { onBucket: openCalls } : {})}
      {...onDaysSelected(data.interval, onDays)}
    />
  );
}
