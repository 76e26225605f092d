/** The spend of the calendar month, summed by day, with the budget as a line and the projection to the month's end. */
import { keepPreviousData } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';
import { formatUsd, formatUsdTick } from '../../format/format.js';
import { FAILED_COLOR, PROJECTION_COLOR } from '../charts/chart-props-and-colors.js';
import { TimeSeriesChart } from '../charts/time-series-chart.js';
import { ErrorAlert } from '../feedback/error-alert.js';
import { monthBounds, monthSpend } from './month-spend.js';

const REFETCH_MS = 60_000;
const DAY_CHARS = 10;
const CENTS_PER_USD = 100;
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, DAY_CHARS);

interface MonthSpendChartProps {
  /** Empty: the organization. */
  readonly scope: { readonly projectId?: string; readonly agentId?: string };
}

export function MonthSpendChart({ scope }: MonthSpendChartProps) {
  const nowMs = Date.now();
  const query = {
    ...scope,
    start: dayOf(monthBounds(nowMs).firstMs),
    end: dayOf(nowMs),
    interval: 'day',
  } as const;
  const series = useQuery({
    queryKey: ['usage', 'month', query],
    queryFn: async () => {
      const [{ timeseries }, { budgetCents, forecast }] = await Promise.all([
        api.get('/v1/usage/timeseries', { params: { query } }),
        api.get('/v1/usage/summary', { params: { query: { ...scope, period: '24h' } } }),
      ]);
      return { timeseries, budgetCents, projectedCents: forecast?.projectedMonthlyCents ?? null };
    },
    placeholderData: keepPreviousData,
    refetchInterval: REFETCH_MS,
  });
  const data = series.data;
  const today = query.end;
  const chart = useMemo(() => {
    if (data === undefined) return null;
    const { timeseries, budgetCents, projectedCents } = data;
    const month = monthSpend({ nowMs: Date.parse(today), days: timeseries, projectedCents });
    const budget = {
      label: 'Budget',
      values: month.buckets.map(() => (budgetCents ?? 0) / CENTS_PER_USD),
      color: FAILED_COLOR,
    };
    const projection = { label: 'Projection', values: month.projected, color: PROJECTION_COLOR };
    return {
      buckets: month.buckets,
      series: [{ label: 'Spend', values: month.spent }],
      lines: [...(budgetCents === null ? [] : [budget]), ...(projectedCents === null ? [] : [projection])],
    };
  }, [data, today]);
  if (series.error !== null) return <ErrorAlert error={series.error} onRetry={series.refetch} />;
  // Without spend the charts of the period say so.
  if (chart === null || chart.series[0]?.values.every((value) => value === 0) !== false) return null;
  return (
    <TimeSeriesChart
      title="Spend this month"
      {...chart}
      interval="day"
      stale={series.isPlaceholderData}
      format={formatUsd}
      axis={formatUsdTick}
    />
  );
}
