/** The changed fields of an audit entry: one line, which opens to before → after. */
import { Stack, Text } from '@mantine/core';
import { NO_VALUE } from '../../format/format.js';

/** Formats a value for display. */
function formatValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return NO_VALUE;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function FieldChanges({ changes }: { readonly changes: Readonly<Record<string, readonly unknown[]>> }) {
  const fields = Object.entries(changes);
  if (fields.length === 0) return NO_VALUE;
  return (
    <details>
      <summary>{fields.map(([field]) => field).join(', ')}</summary>
      <Stack gap={2} miw={200}>
        {fields.map(([field, [before, after]]) => (
          <Text key={field} size="xs" component="div" className="acg-break-anywhere">
            <Text span size="xs" fw={600}>
              {field}
            </Text>{' '}
            {formatValue(before)} → {formatValue(after)}
          </Text>
        ))}
      </Stack>
    </details>
  );
}
