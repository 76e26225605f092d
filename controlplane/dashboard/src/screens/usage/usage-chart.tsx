/** A metric over time, by group. */
import { Skeleton } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';
import { groupsToSeries } from '../../components/charts/groups-to-series.js';
import { TimeSeriesChart } from '../../components/charts/time-series-chart.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { barInterval } from '../../components/reports/bar-interval.js';
import { onDaysSelected, useOpenCallsOfBar } from '../../components/reports/use-open-calls-of-bar.js';
import { formatUsdTick } from '../../format/format.js';
import { groupLabel } from '../../messages/group-label.js';
import { GROUPINGS, type Grouping, type parseMetric, type UsageQuery } from './groupings-and-metrics.js';

interface UsageChartProps {
  readonly query: UsageQuery;
  readonly by: Grouping;
  readonly metric: ReturnType<typeof parseMetric>;
  readonly onDays: Parameters<typeof onDaysSelected>[1];
}

export function UsageChart({ query, by, metric: measure, onDays }: UsageChartProps) {
  const timeseriesParams = { ...query, groupBy: by, interval: barInterval(query) };
  const series = useQuery({
    queryKey: ['usage', 'timeseries', timeseriesParams],
    queryFn: async () => ({ by, ...(await api.get('/v1/usage/timeseries', { params: { query: timeseriesParams } })) }),
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  });
  const openCalls = useOpenCallsOfBar({ agent: query.agentId, project: query.projectId });
  const data = series.data;
  const buckets = useMemo(() => data?.timeseries.map(({ bucket }) => bucket) ?? [], [data]);
  const groups = useMemo(
    () =>
      data === undefined
        ? []
        : groupsToSeries(data.groups ?? [], (value, name) => groupLabel(data.by, value, name), measure.of),
    [data, measure],
  );
  if (series.error !== null) return <ErrorAlert error={series.error} onRetry={series.refetch} />;
  if (data === undefined) return <Skeleton h={320} />;
  const name = GROUPINGS.find(({ value }) => value === data.by)?.label.toLowerCase();
  return (
    <TimeSeriesChart
      title={`${measure.label} by ${name}`}
      stale={series.isPlaceholderData}
      buckets={buckets}
      interval={data.interval}
      series={groups}
      format={measure.format}
      {...(measure.value === 'spend' ? { axis: formatUsdTick } : {})}
      onBucket={openCalls}
      {...onDaysSelected(data.interval, onDays)}
    />
  );
}
