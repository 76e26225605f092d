/** Selects how long the previous token or secret stays valid after a rotation. */
import { NativeSelect } from '@mantine/core';

/** Seconds. */
const GRACE_SECONDS_OPTIONS = [
  { value: '0', label: 'None: it stops working now' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
  { value: '2592000', label: '30 days' },
];

export const ONE_DAY_SECONDS = '86400';

interface GracePeriodSelectProps {
  readonly label: string;
  /** Longest period offered, seconds. */
  readonly maxSeconds: number;
  readonly value: string;
  readonly onChange: (seconds: string) => void;
  readonly error: string | undefined;
}

export function GracePeriodSelect({ label, maxSeconds, value, onChange, error }: GracePeriodSelectProps) {
  return (
    <NativeSelect
      label={label}
      data={GRACE_SECONDS_OPTIONS.filter((one) => Number(one.value) <= maxSeconds)}
      data-autofocus
      error={error}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
