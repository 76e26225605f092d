import { Button, Group } from '@mantine/core';
import type { CallFilters } from './fetch-calls-and-format-fields.js';

interface CallFilterButtonsProps {
  /** What the list is restricted to, and its name. Null: the call has none. */
  readonly filters: readonly (readonly [name: string, filter: keyof CallFilters, value: string | null])[];
  readonly onFilter: (changes: Partial<CallFilters>) => void;
}

/** Buttons that restrict the list of calls to calls like the shown one. */
export const CallFilterButtons = ({ filters, onFilter }: CallFilterButtonsProps) => (
  <Group gap="sm">
    {filters.map(
      ([name, filter, value]) =>
        value !== null && (
          <Button key={filter} size="xs" variant="default" onClick={() => onFilter({ [filter]: value })}>
            Only this {name}
          </Button>
        ),
    )}
  </Group>
);
