/** Chooses the time that figures are of: a period until now, or days of UTC. */
import { Group, SegmentedControl } from '@mantine/core';
import { DateRangeInputs } from './date-range-inputs.js';
import { PERIODS, type Period, parsePeriod } from './period-control.js';

/** Of an address; to be spread into the defaults of a screen's own. */
export const TIME_RANGE_DEFAULTS = { period: '7d', start: '', end: '' };
type TimeRangeValues = Readonly<Record<keyof typeof TIME_RANGE_DEFAULTS, string>>;

/** In the place of a period: the days that are given. */
const DAYS = 'days';
const DAY_PATTERN = /^\d{4}-\d\d-\d\d$/;
const DAY_CHARS = 10;
const MONTH_CHARS = 7;

const today = (): string => new Date().toISOString().slice(0, DAY_CHARS);
const firstOfMonth = (): string => `${today().slice(0, MONTH_CHARS)}-01`;

/** As reports are asked; what an address has instead of a day is left out. */
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
        data={[...PERIODS, { value: DAYS, label: 'Days' }]}
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
