/** The filters in force, each with a button that removes it: a list must not be filtered without saying so. */
import { Button, Group, UnstyledButton } from '@mantine/core';
import { X } from 'lucide-react';

export interface FilterChip {
  /** E.g. `Gateway token: nightly`. */
  readonly text: string;
  readonly onRemove: () => void;
}

interface FilterChipsProps {
  readonly chips: readonly FilterChip[];
  readonly onClear: () => void;
}

export function FilterChips({ chips, onClear }: FilterChipsProps) {
  if (chips.length === 0) return null;
  return (
    <Group gap="xs" mb="sm" role="group" aria-label="Active filters">
      {chips.map(({ text, onRemove }) => (
        <UnstyledButton key={text} className="acg-filter-chip" aria-label={`Remove filter ${text}`} onClick={onRemove}>
          {text} <X size={12} aria-hidden />
        </UnstyledButton>
      ))}
      <Button variant="subtle" size="compact-sm" onClick={onClear}>
        Clear filters
      </Button>
    </Group>
  );
}
