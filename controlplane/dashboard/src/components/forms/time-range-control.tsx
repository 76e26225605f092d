/** Selects a period until now, or a custom range of UTC days. */
import { Group, SegmentedControl } from '@mantine/core';
import { DateRangeInputs } from './date-range-inputs.js';
import { PERIODS, type Period, parsePeriod } from './period-control.js';

/** Default URL values; spread into the defaults of a screen. */
export const TIME_RANGE_DEFAULTS = { period: '7d', start: '', end: '' };
type TimeRangeValues = Readonly<Record<keyof typeof TIME_RANGE_DEFAULTS, string>>;

/** Value of `period` for a custom range. */
const DAYS = 'days';
const DAY_PATTERN = /^\d{4}-\d\d-\d\d$/;
const DAY_CHARS = 10;
const MONTH_CHARS = 7;

const today = (): string => new Date().toISOString().slice(0, DAY_CHARS);
const firstOfMonth = (): string => `${today().slice(0, MONTH_CHARS)}-01`;

/** Converts URL values to query parameters of reports; invalid days are dropped. */
export function parseTimeRange({
  period,
  start,
  end,
}: TimeRangeValues): { period: Period } | { start: string; end?: string } {
  if (period !== DAYS) return { period: parsePeriod(period) };
  return { start: DAY_PATTERN.test(start) ? start : firstOfMonth(), ...(DAY_PATTERN.test(end) ? { end } : {}) };
}

interface TimeRangeControlProps {
  readonly values: TimeRangeValues;
  readonly onChange: (changes: Partial<TimeRangeValues>) => void;
}

export function TimeRangeControl({ values, onChange }: TimeRangeControlProps) {
  const days = values.period === DAYS;
  return (
    <Group gap="sm" align="flex-end">
      <SegmentedControl
        aria-label="Period"
        data={[...PERIODS, { value: DAYS, label: 'Custom' }]}
        value={days ? DAYS : parsePeriod(values.period)}
        onChange={(period) =>
          onChange(
            period === DAYS
              ? { period, start: firstOfMonth(), end: today() }
              : { period, start: TIME_RANGE_DEFAULTS.start, end: TIME_RANGE_DEFAULTS.end },
          )
        }
      />
      {days && <DateRangeInputs start={values.start} end={values.end} zone="(UTC)" onChange={onChange} />}
    </Group>
  );
}
