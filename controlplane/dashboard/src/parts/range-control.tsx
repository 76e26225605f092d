/** Chooses the time that figures are of: a period until now, or days of UTC. */
import { Group, SegmentedControl } from '@mantine/core';
import { DayRange } from './day-range.js';
import { PERIODS, type Period, periodOf } from './period-control.js';

/** Of an address; to be spread into the defaults of a screen's own. */
export const RANGE_DEFAULTS = { period: '7d', start: '', end: '' };
type RangeValues = Readonly<Record<keyof typeof RANGE_DEFAULTS, string>>;

/** In the place of a period: the days that are given. */
const DAYS = 'days';
const DAY = /^\d{4}-\d\d-\d\d$/;
const DAY_CHARS = 10;
const MONTH_CHARS = 7;

const today = (): string => new Date().toISOString().slice(0, DAY_CHARS);
const firstOfMonth = (): string => `${today().slice(0, MONTH_CHARS)}-01`;

/** As reports are asked; what an address has instead of a day is left out. */
export function rangeOf({ period, start, end }: RangeValues): { period: Period } | { start: string; end?: string } {
  if (period !== DAYS) return { period: periodOf(period) };
  return { start: DAY.test(start) ? start : firstOfMonth(), ...(DAY.test(end) ? { end } : {}) };
}

interface RangeControlProps {
  readonly values: RangeValues;
  readonly onChange: (changes: Partial<RangeValues>) => void;
}

export function RangeControl({ values, onChange }: RangeControlProps) {
  const days = values.period === DAYS;
  return (
    <Group gap="sm" align="flex-end">
      <SegmentedControl
        aria-label="Period"
        data={[...PERIODS, { value: DAYS, label: 'Days' }]}
        value={days ? DAYS : periodOf(values.period)}
        onChange={(period) =>
          onChange(
            period === DAYS
              ? { period, start: firstOfMonth(), end: today() }
              : { period, start: RANGE_DEFAULTS.start, end: RANGE_DEFAULTS.end },
          )
        }
      />
      {days && <DayRange start={values.start} end={values.end} zone="(UTC)" onChange={onChange} />}
    </Group>
  );
}
