/** Charts of the spend and the calls of one object in a period. */
import { SimpleGrid } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';
import { formatCount, formatUsd, formatUsdTick } from '../../format/format.js';
import { FAILED_COLOR } from '../charts/chart-props-and-colors.js';
import { TimeSeriesChart } from '../charts/time-series-chart.js';
import { ErrorAlert } from '../feedback/error-alert.js';
import type { parsePeriod } from '../forms/period-control.js';
import { useOpenCallsOfBar } from './use-open-calls-of-bar.js';

const REFETCH_MS = 30_000;
const CENTS_PER_USD = 100;
const NO_BUDGETS: readonly BudgetOfWindow[] = [];

export interface SpendAndCallsChartsProps {
  readonly scope: { readonly projectId?: string; readonly agentId?: string; readonly keyId?: string };
  readonly period: ReturnType<typeof parsePeriod>;
  /** Budgets of the object; one of a day for all its calls is a line in the chart of the days. */
  readonly budgets?: readonly BudgetOfWindow[];
}

interface BudgetOfWindow {
  readonly window: string;
  readonly cents: number;
  readonly models: readonly string[];
  readonly tag?: string;
}

/** While another period loads, it shows the previous one. Callers give it a key where its scope can change. */
export function SpendAndCallsCharts({ scope, period, budgets = NO_BUDGETS }: SpendAndCallsChartsProps) {
  const query = { ...scope, period, interval: period === '24h' ? 'hour' : 'day' } as const;
  const series = useQuery({
    queryKey: ['usage', 'timeseries', query],
    queryFn: () => api.get('/v1/usage/timeseries', { params: { query } }),
    placeholderData: keepPreviousData,
    refetchInterval: REFETCH_MS,
  });
  const openCalls = useOpenCallsOfBar({ agent: scope.agentId, project: scope.projectId, key: scope.keyId });
  const points = series.data?.timeseries;
  const buckets = useMemo(() => points?.map(({ bucket }) => bucket) ?? [], [points]);
  const spend = useMemo(() => [{ label: 'Spend', values: points?.map(({ costUsd }) => costUsd) ?? [] }], [points]);
  const dayCents = budgets.find(
    ({ window, models, tag }) => window === 'day' && models.length === 0 && tag === undefined,
  )?.cents;
  const interval = series.data?.interval;
  const budgetLine = useMemo(
    () =>
      dayCents === undefined || interval !== 'day'
        ? []
        : [{ label: 'Budget per day', values: buckets.map(() => dayCents / CENTS_PER_USD), color: FAILED_COLOR }],
    [dayCents, interval, buckets],
  );
  const calls = useMemo(
    () => [
      { label: 'Successful', values: points?.map(({ requests, errors }) => requests - errors) ?? [] },
      { label: 'Failed', values: points?.map(({ errors }) => errors) ?? [], color: FAILED_COLOR },
    ],
    [points],
  );
  return (
    <>
      {series.error !== null && <ErrorAlert error={series.error} onRetry={series.refetch} />}
      {series.data !== undefined && (
        <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
          <TimeSeriesChart
            title="Spend"
            buckets={buckets}
            interval={series.data.interval}
            stale={series.isPlaceholderData}
            series={spend}
            lines={budgetLine}
            format={formatUsd}
            axis={formatUsdTick}
            onBucket={openCalls}
          />
          <TimeSeriesChart
            title="Calls"
            buckets={buckets}
            interval={series.data.interval}
            stale={series.isPlaceholderData}
            series={calls}
            format={formatCount}
            onBucket={openCalls}
          />
        </SimpleGrid>
      )}
    </>
  );
}
