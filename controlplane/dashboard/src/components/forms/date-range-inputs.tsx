/** A range of days, both included; empty: unbounded. */
import { TextInput } from '@mantine/core';

interface DateRangeInputsProps {
  /** `YYYY-MM-DD` */
  readonly start: string;
  readonly end: string;
  /** Suffix of the labels, e.g. `(UTC)`. */
  readonly zone?: string;
  readonly onChange: (changed: { readonly start: string } | { readonly end: string }) => void;
}

export function DateRangeInputs({ start, end, zone = '', onChange }: DateRangeInputsProps) {
  return (
    <>
      <TextInput
        type="date"
        label={`From ${zone}`.trimEnd()}
        value={start}
        onChange={(event) => onChange({ start: event.currentTarget.value })}
      />
      <TextInput
        type="date"
        label={`To ${zone}`.trimEnd()}
        value={end}
        onChange={(event) => onChange({ end: event.currentTarget.value })}
      />
    </>
  );
}
