/** Figures of one agent in a period. */
import { Group, SimpleGrid, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from '../../api/api.js';
import { cents, count, milliseconds, NONE, percent, usd, usdTick } from '../../format/format.js';
import { BudgetBar } from '../../parts/budget-bar.js';
import { Chart } from '../../parts/chart.js';
import { FAILED_COLOR } from '../../parts/chart-props.js';
import { Failure } from '../../parts/failure.js';
import { PeriodControl, periodOf } from '../../parts/period-control.js';
import { useSearchState } from '../../parts/search-state.js';
import { Tile } from '../../parts/tile.js';
import type { Agent } from '../../resources/agents.js';

const DEFAULTS = { period: '7d' };
const EVERY_MS = 30_000;

export function OverviewTab({ agent }: { readonly agent: Agent }) {
  const { values, set } = useSearchState(DEFAULTS);
  const period = periodOf(values.period);
  const query = { agentId: agent.id, period };
  const summary = useQuery({
    queryKey: ['usage', 'summary', query],
    queryFn: () => api.get('/v1/usage/summary', { params: { query } }),
    refetchInterval: EVERY_MS,
  });
  const listed = useQuery({
    queryKey: ['agents', 'month', agent.id],
    queryFn: () => api.get('/v1/usage/agents', { params: { query: { search: agent.id, limit: 1 } } }),
    refetchInterval: EVERY_MS,
  });
  const series = useQuery({
    queryKey: ['usage', 'timeseries', query],
    queryFn: () => api.get('/v1/usage/timeseries', { params: { query } }),
    refetchInterval: EVERY_MS,
  });
  const points = series.data?.timeseries;
  const buckets = useMemo(() => points?.map(({ bucket }) => bucket) ?? [], [points]);
  const spend = useMemo(() => [{ label: 'Spend', values: points?.map(({ costUsd }) => costUsd) ?? [] }], [points]);
  const calls = useMemo(
    () => [
      { label: 'Answered', values: points?.map(({ requests, errors }) => requests - errors) ?? [] },
      { label: 'Failed', values: points?.map(({ errors }) => errors) ?? [], color: FAILED_COLOR },
    ],
    [points],
  );
  const figures = summary.data;
  // Figures that are not to be had do not look as if they came.
  const none = summary.error === null ? undefined : NONE;
  const month = listed.data?.agents[0];
  return (
    <Stack gap="lg">
      <Group justify="flex-end">
        <PeriodControl value={period} onChange={(value) => set({ period: value })} />
      </Group>
      {summary.error !== null && <Failure error={summary.error} onRetry={summary.refetch} />}
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="md">
        <Tile label="Spend" value={figures ? usd(figures.costUsd) : none} />
        <Tile label="This month" value={month ? cents(month.monthCents) : listed.isPending ? undefined : NONE}>
          {month !== undefined && agent.budgetCentsMonthly !== null && (
            <BudgetBar spentCents={month.monthCents} budgetCents={agent.budgetCentsMonthly} short />
          )}
        </Tile>
        <Tile label="Calls" value={figures ? count(figures.requests) : none} />
        <Tile label="Errors" value={figures ? percent(figures.errorRate) : none} />
        <Tile label="Refused" value={figures ? count(figures.rejectedRequests) : none} />
        <Tile
          label="p95 latency"
          value={figures ? milliseconds(figures.requests === 0 ? null : figures.p95Latency) : none}
        />
      </SimpleGrid>
      {series.error !== null && <Failure error={series.error} onRetry={series.refetch} />}
      {series.data !== undefined && (
        <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
          <Chart
            title="Spend"
            buckets={buckets}
            interval={series.data.interval}
            series={spend}
            format={usd}
            axis={usdTick}
          />
          <Chart title="Calls" buckets={buckets} interval={series.data.interval} series={calls} format={count} />
        </SimpleGrid>
      )}
    </Stack>
  );
}
