/** Selects a range of days in a calendar, or a preset. Loaded where it is shown: the calendar is a library of its own. */
import '@mantine/dates/styles.css';
import { DatePickerInput } from '@mantine/dates';
import { useMediaQuery } from '@mantine/hooks';
import { useState } from 'react';
import type { DayRange } from './day-ranges.js';

interface DateRangePickerProps extends DayRange {
  readonly label: string;
  readonly presets: readonly { readonly label: string; readonly range: DayRange }[];
  readonly onChange: (range: DayRange) => void;
}

export function DateRangePicker({ label, start, end, presets, onChange }: DateRangePickerProps) {
  // The first click begins a range, which is no range yet.
  // On a phone the presets would be wider than the screen.
  const isWide = useMediaQuery('(min-width: 48em)', false, { getInitialValueInEffect: false });
  const [begun, setBegun] = useState<[string | null, string | null] | null>(null);
  return (
    <DatePickerInput
      type="range"
      label={label}
      valueFormat="D MMM YYYY"
      allowSingleDateInRange
      hideOutsideDates
      ariaLabels={{
        previousMonth: 'Previous month',
        nextMonth: 'Next month',
        previousYear: 'Previous year',
        nextYear: 'Next year',
        previousDecade: 'Previous decade',
        nextDecade: 'Next decade',
      }}
      miw={230}
      popoverProps={{ withinPortal: true }}
      presets={
        isWide
          ? presets.map(({ label: name, range }) => ({
              label: name,
              value: [range.start, range.end] as [string, string],
            }))
          : []
      }
      value={begun ?? [start === '' ? null : start, end === '' ? null : end]}
      onChange={([from, to]) => {
        if (from !== null && to !== null) {
          setBegun(null);
          onChange({ start: from, end: to });
        } else setBegun([from, to]);
      }}
    />
  );
}
