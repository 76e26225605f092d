/** Selects the lifetime of a token. */
import { NativeSelect } from '@mantine/core';

const LIFETIME_DAYS_OPTIONS = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
  { value: '', label: 'No expiration' },
];

/** Returns the expiry as an ISO time; null: no expiration. */
export function expiryInDays(days: string): string | null {
  if (days === '') return null;
  const at = new Date();
  at.setDate(at.getDate() + Number(days));
  return at.toISOString();
}

interface LifetimeSelectProps {
  /** Days; empty: no expiration. */
  readonly value: string;
  readonly onChange: (days: string) => void;
  readonly error?: string | undefined;
}

export const LifetimeSelect = ({ value, onChange, error }: LifetimeSelectProps) => (
  <NativeSelect
    label="Expiration"
    data={LIFETIME_DAYS_OPTIONS}
    error={error}
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
  />
);
