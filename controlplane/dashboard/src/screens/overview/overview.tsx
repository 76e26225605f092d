/** What matters now: spend, traffic, errors and refusals of a period, and who makes them. */
import { Button, Card, SimpleGrid, Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Link } from 'wouter';
import { api } from '../../api/api.js';
import { cents, count, milliseconds, NONE, percent, usd, usdTick } from '../../format/format.js';
import { BudgetBar } from '../../parts/budget-bar.js';
import { Chart } from '../../parts/chart.js';
import { Failure } from '../../parts/failure.js';
import { Nothing } from '../../parts/nothing.js';
import { PageHeader } from '../../parts/page-header.js';
import { PeriodControl, periodOf } from '../../parts/period-control.js';
import { useSearchState } from '../../parts/search-state.js';
import { Tile } from '../../parts/tile.js';
import { Attention } from './attention.js';
import { LatestEvents } from './latest-events.js';
import { ProviderHealth } from './provider-health.js';
import { Ranking } from './ranking.js';

const DEFAULTS = { period: '7d' };
const EVERY_MS = 30_000;

export function Overview() {
  const { values, set } = useSearchState(DEFAULTS);
  const period = periodOf(values.period);
  const query = { period };
  const summary = useQuery({
    queryKey: ['usage', 'summary', query],
    queryFn: () => api.get('/v1/usage/summary', { params: { query } }),
    refetchInterval: EVERY_MS,
  });
  const figures = summary.data;
  // Figures that are not to be had do not look as if they came.
  const none = summary.error === null ? undefined : NONE;
  return (
    <>
      <PageHeader
        title="Overview"
        description="All agents of the organization."
        actions={<PeriodControl value={period} onChange={(value) => set({ period: value })} />}
      />
      <Stack gap="lg">
        {summary.error !== null && <Failure error={summary.error} onRetry={summary.refetch} />}
        <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="md">
          <Tile label="Spend" value={figures ? usd(figures.costUsd) : none} />
          <Tile label="This month" value={figures ? cents(figures.monthCents) : none}>
            {figures !== undefined && figures.budgetCents !== null && (
              <BudgetBar spentCents={figures.monthCents} budgetCents={figures.budgetCents} short />
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
        {figures?.requests === 0 && figures.rejectedRequests === 0 && <NoTraffic />}
        <Attention />
        <Spend period={period} />
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
          <Ranking by="agent" title="Agents by spend" period={period} hrefOf={(id) => `/agents/${id}`} />
          <Ranking by="provider" title="Providers by spend" period={period} />
        </SimpleGrid>
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
          <ProviderHealth />
          <LatestEvents />
        </SimpleGrid>
      </Stack>
    </>
  );
}

const NoTraffic = () => (
  <Card>
    <Nothing
      title="No call in this time"
      text="Give an agent its token, and see its first call within a second."
      action={
        <Button component={Link} href="/setup" mt="xs">
          Set up an agent
        </Button>
      }
    />
  </Card>
);

function Spend({ period }: { readonly period: ReturnType<typeof periodOf> }) {
  const query = { period, groupBy: 'provider' } as const;
  const series = useQuery({
    queryKey: ['usage', 'timeseries', query],
    queryFn: () => api.get('/v1/usage/timeseries', { params: { query } }),
    refetchInterval: EVERY_MS,
  });
  const data = series.data;
  const groups = useMemo(
    () =>
      (data?.groups ?? []).map(({ value, name, timeseries }) => ({
        label: name ?? value ?? 'others',
        values: timeseries.map(({ costUsd }) => costUsd ?? 0),
      })),
    [data],
  );
  const buckets = useMemo(() => data?.timeseries.map(({ bucket }) => bucket) ?? [], [data]);
  if (data === undefined) {
    return series.error === null ? <Skeleton h={320} /> : <Failure error={series.error} onRetry={series.refetch} />;
  }
  return (
    <Chart
      title="Spend by provider"
      buckets={buckets}
      interval={data.interval}
      series={groups}
      format={usd}
      axis={usdTick}
    />
  );
}
