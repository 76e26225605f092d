/** One figure over time, by groups. */
import { Skeleton } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from '../../api/api.js';
import { usdTick } from '../../format/format.js';
import { Chart } from '../../parts/chart.js';
import { Failure } from '../../parts/failure.js';
import { seriesOfGroups } from '../../parts/group-series.js';
import { GROUPS, type GroupName, labelOf, type measureOf } from './groups.js';
import type { UsageQuery } from './usage-query.js';

interface OverTimeProps {
  readonly query: UsageQuery;
  readonly by: GroupName;
  readonly measure: ReturnType<typeof measureOf>;
}

export function OverTime({ query, by, measure }: OverTimeProps) {
  const asked = { ...query, groupBy: by };
  const series = useQuery({
    queryKey: ['usage', 'timeseries', asked],
    queryFn: async () => ({ by, ...(await api.get('/v1/usage/timeseries', { params: { query: asked } })) }),
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  });
  const data = series.data;
  const buckets = useMemo(() => data?.timeseries.map(({ bucket }) => bucket) ?? [], [data]);
  const groups = useMemo(
    () =>
      data === undefined
        ? []
        : seriesOfGroups(data.groups ?? [], (value, name) => labelOf(data.by, value, name), measure.of),
    [data, measure],
  );
  if (series.error !== null) return <Failure error={series.error} onRetry={series.refetch} />;
  if (data === undefined) return <Skeleton h={320} />;
  const name = GROUPS.find(({ value }) => value === data.by)?.label.toLowerCase();
  return (
    <Chart
      title={`${measure.label} by ${name}`}
      stale={series.isPlaceholderData}
      buckets={buckets}
      interval={data.interval}
      series={groups}
      format={measure.format}
      {...(measure.value === 'spend' ? { axis: usdTick } : {})}
    />
  );
}
