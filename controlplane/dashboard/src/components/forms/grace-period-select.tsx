/** For how long what is replaced works on beside what replaces it. */
import { NativeSelect } from '@mantine/core';

/** Seconds. */
const GRACE_SECONDS_OPTIONS = [
  { value: '0', label: 'not at all: it ends now' },
  { value: '3600', label: 'an hour' },
  { value: '86400', label: 'a day' },
  { value: '604800', label: '7 days' },
  { value: '2592000', label: '30 days' },
];

export const ONE_DAY_SECONDS = '86400';

interface GracePeriodSelectProps {
  readonly label: string;
  /** The longest that may be chosen, seconds. */
  readonly maxSeconds: number;
  readonly value: string;
  readonly onChange: (seconds: string) => void;
  readonly error: string | undefined;
}

export function GracePeriodSelect({ label, maxSeconds: max, value, onChange, error }: GracePeriodSelectProps) {
  return (
    <NativeSelect
      label={label}
      data={GRACE_SECONDS_OPTIONS.filter((one) => Number(one.value) <= max)}
      data-autofocus
      error={error}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
