/** The Overview page: spend, traffic, errors and rejections of a period, with rankings and events. */
import { Button, Card, SimpleGrid, Skeleton, Stack } from '@mantine/core';
import { useMemo } from 'react';
import { Link } from 'wouter';
import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';
import { groupsToSeries } from '../../components/charts/groups-to-series.js';
import { TimeSeriesChart } from '../../components/charts/time-series-chart.js';
import { BudgetBar } from '../../components/feedback/budget-bar.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { MetricTile } from '../../components/feedback/metric-tile.js';
import { Trend } from '../../components/feedback/trend.js';
import { PeriodControl, parsePeriod } from '../../components/forms/period-control.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { useOpenCallsOfBar } from '../../components/reports/use-open-calls-of-bar.js';
import {
  formatCents,
  formatCount,
  formatMilliseconds,
  formatPercent,
  formatUsd,
  formatUsdTick,
  NO_VALUE,
} from '../../format/format.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { providerLabel } from '../../messages/provider-labels.js';
import { AgentOrProviderSpendRanking, useSpendRanking } from './agent-or-provider-spend-ranking.js';
import { AttentionList } from './attention-list.js';
import { LatestEvents } from './latest-events.js';
import { ProviderHealth } from './provider-health.js';

const DEFAULTS = { period: '7d' };
const REFETCH_MS = 30_000;

export function OverviewPage() {
  const { values, set } = useUrlState(DEFAULTS);
  const period = parsePeriod(values.period);
  const query = { period };
  const summary = useQuery({
    queryKey: ['usage', 'summary', query],
    queryFn: () => api.get('/v1/usage/summary', { params: { query } }),
    refetchInterval: REFETCH_MS,
  });
  const before = useSpendRanking('provider', period).data?.totals?.previous;
  const against = `previous ${period}`;
  const figures = summary.data;
  // On an error the tiles show a dash, not a loading state.
  const missingValue = summary.error === null ? undefined : NO_VALUE;
  return (
    <>
      <PageHeader
        title="Overview"
        description="All agents of the organization."
        actions={<PeriodControl value={period} onChange={(value) => set({ period: value })} />}
      />
      <Stack gap="lg">
        {summary.error !== null && <ErrorAlert error={summary.error} onRetry={summary.refetch} />}
        <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="md">
          <MetricTile label="Spend" value={figures ? formatUsd(figures.costUsd) : missingValue}>
            {figures && <Trend now={figures.costUsd} before={before?.costUsd} against={against} />}
          </MetricTile>
          <MetricTile label="This month" value={figures ? formatCents(figures.monthCents) : missingValue}>
            {figures !== undefined && figures.budgetCents !== null && (
              <BudgetBar spentCents={figures.monthCents} budgetCents={figures.budgetCents} isCompact />
            )}
          </MetricTile>
          <MetricTile label="Calls" value={figures ? formatCount(figures.requests) : missingValue}>
            {figures && <Trend now={figures.requests} before={before?.requests} against={against} />}
          </MetricTile>
          <MetricTile label="Errors" value={figures ? formatPercent(figures.errorRate) : missingValue} />
          <MetricTile label="Rejected" value={figures ? formatCount(figures.rejectedRequests) : missingValue} />
          <MetricTile
            label="p95 latency"
            value={figures ? formatMilliseconds(figures.requests === 0 ? null : figures.p95Latency) : missingValue}
          />
        </SimpleGrid>
        {figures?.requests === 0 && figures.rejectedRequests === 0 && <NoTraffic />}
        <AttentionList />
        <SpendByProviderChart period={period} />
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
          <AgentOrProviderSpendRanking
            by="agent"
            title="Agents by spend"
            period={period}
            hrefOf={(id) => `/agents/${id}`}
          />
          <AgentOrProviderSpendRanking by="provider" title="Providers by spend" period={period} />
        </SimpleGrid>
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
          <ProviderHealth period={period} />
          <LatestEvents />
        </SimpleGrid>
      </Stack>
    </>
  );
}

const NoTraffic = () => (
  <Card>
    <EmptyState
      title="No calls in this period"
      text="Create an agent and its gateway token. Its first call appears here within a second."
      action={
        <Button component={Link} href="/setup" mt="xs">
          Set up an agent
        </Button>
      }
    />
  </Card>
);

function SpendByProviderChart({ period }: { readonly period: ReturnType<typeof parsePeriod> }) {
  const query = { period, groupBy: 'provider', interval: period === '24h' ? 'hour' : 'day' } as const;
  const series = useQuery({
    queryKey: ['usage', 'timeseries', query],
    queryFn: () => api.get('/v1/usage/timeseries', { params: { query } }),
    refetchInterval: REFETCH_MS,
  });
  const openCalls = useOpenCallsOfBar({});
  const data = series.data;
  const groups = useMemo(
    () =>
      groupsToSeries(
        data?.groups ?? [],
        (value, name) => name ?? providerLabel(value),
        ({ costUsd }) => costUsd,
      ),
    [data],
  );
  const buckets = useMemo(() => data?.timeseries.map(({ bucket }) => bucket) ?? [], [data]);
  if (data === undefined) {
    return series.error === null ? <Skeleton h={320} /> : <ErrorAlert error={series.error} onRetry={series.refetch} />;
  }
  return (
    <TimeSeriesChart
      title="Spend by provider"
      buckets={buckets}
      interval={data.interval}
      series={groups}
      format={formatUsd}
      axis={formatUsdTick}
      onBucket={openCalls}
    />
  );
}
