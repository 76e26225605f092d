/** Inputs that the dialogs for new and existing trust rules share. */
import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';

export const LABELS = {
  name: 'Name',
  agentId: 'Agent',
  issuer: 'Issuer',
  conditions: 'Conditions',
  jwks: 'Public keys',
  keyLifetimeSeconds: 'Lifetime of a gateway token',
};
export const LIFETIMES = [
  { value: '300', label: '5 minutes' },
  { value: '900', label: '15 minutes' },
  { value: '3600', label: '1 hour' },
];

export interface ConditionRow {
  readonly claim: string;
  readonly value: string;
}

/** Rows of the same claim are alternatives. Rows without a value are left out. */
export function toConditions(rows: readonly ConditionRow[]): { claim: string; values: string[] }[] {
  const values = new Map<string, string[]>();
  for (const { claim, value } of rows) {
    const name = claim.trim();
    if (name !== '' && value.trim() !== '') values.set(name, [...(values.get(name) ?? []), value.trim()]);
  }
  return [...values].map(([claim, list]) => ({ claim, values: list }));
}

/** Null: not JSON. */
export function parseKeys(text: string): { keys: Record<string, unknown>[] } | null {
  try {
    return JSON.parse(text) as { keys: Record<string, unknown>[] };
  } catch {
    return null;
  }
}

interface ConditionsInputProps {
  readonly rows: readonly ConditionRow[];
  readonly onChange: (rows: readonly ConditionRow[]) => void;
  readonly hint?: string;
  readonly error: ReactNode;
}

export function ConditionsInput({ rows, onChange, hint = '', error }: ConditionsInputProps) {
  const setRow = (at: number, row: ConditionRow): void =>
    onChange(rows.map((one, index) => (index === at ? row : one)));
  return (
    <Stack gap="xs">
      <Text size="sm" fw={500}>
        Conditions
      </Text>
      <Text size="xs" c="dimmed">
        A token must meet all of them. Values are compared whole; two rows of one claim are alternatives. {hint}
      </Text>
      {rows.map(({ claim, value }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other identity
        <Group key={at} gap="xs" grow align="flex-start">
          <TextInput
            aria-label={`Claim ${at + 1}`}
            placeholder="claim"
            value={claim}
            onChange={(event) => setRow(at, { claim: event.currentTarget.value, value })}
          />
          <TextInput
            aria-label={`Value ${at + 1}`}
            placeholder="value"
            value={value}
            onChange={(event) => setRow(at, { claim, value: event.currentTarget.value })}
          />
        </Group>
      ))}
      {error !== undefined && error !== null && (
        <Text size="xs" c="red.9" role="alert">
          {error}
        </Text>
      )}
      <Group>
        <Button variant="default" size="xs" onClick={() => onChange([...rows, { claim: '', value: '' }])}>
          Add condition
        </Button>
      </Group>
    </Stack>
  );
}
