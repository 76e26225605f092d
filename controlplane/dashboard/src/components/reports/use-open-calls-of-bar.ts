/** A click on a bar of a chart opens the calls of its hour or day. */
import { DAY_MS, HOUR_MS } from '@acg/base/time-and-money-units';
import { useLocation } from 'wouter';
import { bucketStartMs } from '../../format/format.js';
import type { ChartProps } from '../charts/chart-props-and-colors.js';
import { CUSTOM_DAYS } from '../forms/time-range-control.js';

const DAY_CHARS = 10;

/** A drag over days of a chart selects them as the period of the page. Hours are no period, so the chart itself zooms. */
export const onDaysSelected = (
  interval: 'hour' | 'day',
  onChange: (range: { readonly period: string; readonly start: string; readonly end: string }) => void,
): Pick<ChartProps, 'onRange'> =>
  interval === 'hour'
    ? {}
    : {
        onRange: (first, last) =>
          onChange({ period: CUSTOM_DAYS, start: first.slice(0, DAY_CHARS), end: last.slice(0, DAY_CHARS) }),
      };

/** Filters of the Calls page, by their names in its address; undefined: not set. */
type CallFilters = Readonly<Partial<Record<'agent' | 'project' | 'key' | 'provider' | 'state', string | undefined>>>;

export function useOpenCallsOfBar(filters: CallFilters): NonNullable<ChartProps['onBucket']> {
  const [, navigate] = useLocation();
  return (bucket, interval) => {
    const startMs = bucketStartMs(bucket);
    const endMs = startMs + (interval === 'hour' ? HOUR_MS : DAY_MS);
    const set = Object.entries(filters).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const period = { from: new Date(startMs).toISOString(), to: new Date(endMs).toISOString(), live: 'off' };
    navigate(`/calls?${new URLSearchParams({ ...Object.fromEntries(set), ...period })}`);
  };
}
