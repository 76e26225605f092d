/** For how long what is replaced works on beside what replaces it. */
import { NativeSelect } from '@mantine/core';

/** Seconds. */
const OVERLAPS = [
  { value: '0', label: 'not at all: it ends now' },
  { value: '3600', label: 'an hour' },
  { value: '86400', label: 'a day' },
  { value: '604800', label: '7 days' },
  { value: '2592000', label: '30 days' },
];

export const A_DAY = '86400';

interface OverlapProps {
  readonly label: string;
  /** The longest that may be chosen, seconds. */
  readonly max: number;
  readonly value: string;
  readonly onChange: (seconds: string) => void;
  readonly error: string | undefined;
}

export function Overlap({ label, max, value, onChange, error }: OverlapProps) {
  return (
    <NativeSelect
      label={label}
      data={OVERLAPS.filter((one) => Number(one.value) <= max)}
      data-autofocus
      error={error}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
