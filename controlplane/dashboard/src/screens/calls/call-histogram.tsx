/**
 * Calls over time above the list, by success; for the filters that reports know. A click on a bar
 * or a drag over several selects their time.
 */
import { DAY_MS, HOUR_MS } from '@acg/base/time-and-money-units';
import { Skeleton } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';
import { FAILED_COLOR } from '../../components/charts/chart-props-and-colors.js';
import { TimeSeriesChart } from '../../components/charts/time-series-chart.js';
import { bucketStartMs, formatCount } from '../../format/format.js';
import type { CallFilters } from './fetch-calls-and-format-fields.js';

const WIDTH_MS = { hour: HOUR_MS, day: DAY_MS } as const;
const DAY_CHARS = 10;
/** Pixels; about the height of the card with the chart. */
const SKELETON_HEIGHT = 240;

interface CallHistogramProps {
  /** `from` empty: the last 24 hours. */
  readonly filters: CallFilters;
  readonly onSelect: (from: string, to: string) => void;
}

export function CallHistogram({ filters, onSelect }: CallHistogramProps) {
  const { agent: agentId, project: projectId, key: keyId, from, to } = filters;
  const scope = {
    ...(agentId === '' ? {} : { agentId }),
    ...(projectId === '' ? {} : { projectId }),
    ...(keyId === '' ? {} : { keyId }),
  };
  const query = { ...scope, ...rangeOf(from, to) };
  const series = useQuery({
    queryKey: ['usage', 'timeseries', query],
    queryFn: () => api.get('/v1/usage/timeseries', { params: { query } }),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
  const points = series.data?.timeseries;
  const buckets = useMemo(() => points?.map(({ bucket }) => bucket) ?? [], [points]);
  const shown = useMemo(
    () => [
      { label: 'Successful', values: points?.map(({ requests, errors }) => requests - errors) ?? [] },
      { label: 'Failed', values: points?.map(({ errors }) => errors) ?? [], color: FAILED_COLOR },
      ...(keyId === ''
        ? [
            {
              label: 'Rejected',
              values: points?.map(({ rejectedRequests }) => rejectedRequests) ?? [],
              color: '#868e96',
            },
          ]
        : []),
    ],
    [points, keyId],
  );
  const interval = series.data?.interval ?? 'hour';
  const select = (first: string, last: string, width: keyof typeof WIDTH_MS): void =>
    onSelect(
      new Date(bucketStartMs(first)).toISOString(),
      new Date(bucketStartMs(last) + WIDTH_MS[width]).toISOString(),
    );
  if (series.isPending) return <Skeleton h={SKELETON_HEIGHT} />;
  // Without calls the empty list below says so.
  if (points === undefined || points.every(({ requests, rejectedRequests }) => requests + rejectedRequests === 0))
    return null;
  return (
    <TimeSeriesChart
      title={isNarrower(filters) ? 'All calls over time, without the other filters' : 'Calls over time'}
      stale={series.isPlaceholderData}
      height={110}
      buckets={buckets}
      interval={interval}
      series={shown}
      format={formatCount}
      onBucket={(bucket, width) => select(bucket, bucket, width)}
      onRange={select}
      {...(keyId === '' ? {} : { note: 'Rejections are not counted by gateway token.' })}
    />
  );
}

/** Whether the list has filters that reports do not know, so that the chart counts more calls than the list has. */
const isNarrower = ({ provider, model, status, state, reason, run, minCost, search }: CallFilters): boolean =>
  provider + model + status + state + reason + run + minCost + search !== '';

/** Reports take whole days. */
function rangeOf(from: string, to: string): { period: '24h' } | { start: string; end: string } {
  const start = Date.parse(from);
  if (Number.isNaN(start)) return { period: '24h' };
  const end = Number.isNaN(Date.parse(to)) ? Date.now() : Date.parse(to) - 1;
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, DAY_CHARS);
  return { start: day(start), end: day(Math.max(start, end)) };
}
