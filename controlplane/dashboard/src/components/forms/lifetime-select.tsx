/** For how long a key or a token is good, in words that nobody has to calculate with. */
import { NativeSelect } from '@mantine/core';

const LIFETIME_DAYS_OPTIONS = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'a year' },
  { value: '', label: 'no end' },
];

/** Null: no end. */
export function expiryInDays(days: string): string | null {
  if (days === '') return null;
  const at = new Date();
  at.setDate(at.getDate() + Number(days));
  return at.toISOString();
}

interface LifetimeSelectProps {
  /** Days; empty: no end. */
  readonly value: string;
  readonly onChange: (days: string) => void;
  readonly error?: string | undefined;
}

export const LifetimeSelect = ({ value, onChange, error }: LifetimeSelectProps) => (
  <NativeSelect
    label="Good for"
    data={LIFETIME_DAYS_OPTIONS}
    error={error}
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
  />
);
