/** Selects a period until now, yesterday, a calendar month, or a custom range of UTC days. */
import { Group, NativeSelect, Skeleton } from '@mantine/core';
import { lazyComponent } from '../layout/lazy-component-no-suspense-delay.js';
import { dayRangePresets, monthBefore, thisMonth, yesterday } from './day-ranges.js';
import { type Period, parsePeriod } from './period-control.js';

const DateRangePicker = lazyComponent(
  async () => (await import('./date-range-picker.js')).DateRangePicker,
  <Skeleton h={36} w={230} />,
);

/** Default URL values; spread into the defaults of a screen. */
export const TIME_RANGE_DEFAULTS = { period: '7d', start: '', end: '' };
type TimeRangeValues = Readonly<Record<keyof typeof TIME_RANGE_DEFAULTS, string>>;

/** Value of `period` for a custom range. */
export const CUSTOM_DAYS = 'days';
/** Periods that are days of the calendar, by the value of `period`. */
const CALENDAR = {
  yesterday: (nowMs: number) => yesterday(nowMs),
  month: (nowMs: number) => thisMonth(nowMs),
  'last-month': (nowMs: number) => monthBefore(nowMs),
};
const DAY_PATTERN = /^\d{4}-\d\d-\d\d$/;

const OPTIONS = [
  { value: '24h', label: 'Last 24 hours' },
  { value: 'yesterday', label: 'Yesterday' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
  { value: '90d', label: 'Last 90 days' },
  { value: 'month', label: 'This month' },
  { value: 'last-month', label: 'Last month' },
  { value: CUSTOM_DAYS, label: 'Custom days' },
];

const isCalendar = (period: string): period is keyof typeof CALENDAR => Object.hasOwn(CALENDAR, period);

/** Converts URL values to query parameters of reports; invalid days are dropped. */
export function parseTimeRange({
  period,
  start,
  end,
}: TimeRangeValues): { period: Period } | { start: string; end?: string } {
  if (isCalendar(period)) return CALENDAR[period](Date.now());
  if (period !== CUSTOM_DAYS) return { period: parsePeriod(period) };
  return {
    start: DAY_PATTERN.test(start) ? start : thisMonth(Date.now()).start,
    ...(DAY_PATTERN.test(end) ? { end } : {}),
  };
}

interface TimeRangeControlProps {
  readonly values: TimeRangeValues;
  readonly onChange: (changes: Partial<TimeRangeValues>) => void;
}

export function TimeRangeControl({ values, onChange }: TimeRangeControlProps) {
  const { period, start, end } = values;
  const days = period === CUSTOM_DAYS;
  return (
    <Group gap="sm" align="flex-end">
      <NativeSelect
        label="Period"
        data={OPTIONS}
        value={days || isCalendar(period) ? period : parsePeriod(period)}
        onChange={({ currentTarget: { value } }) =>
          onChange(
            value === CUSTOM_DAYS
              ? { period: CUSTOM_DAYS, ...thisMonth(Date.now()) }
              : { period: value, start: TIME_RANGE_DEFAULTS.start, end: TIME_RANGE_DEFAULTS.end },
          )
        }
      />
      {days && (
        <DateRangePicker
          label="Days (UTC)"
          start={start}
          end={end}
          presets={dayRangePresets(Date.now())}
          onChange={onChange}
        />
      )}
    </Group>
  );
}
