/** The filters of a list. On a phone a button opens them, because they would fill the screen. */
import { Button, Group } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { ListFilter } from 'lucide-react';
import type { ReactNode } from 'react';

interface FilterBarProps {
  /** The button says so. */
  readonly isFiltered: boolean;
  readonly children: ReactNode;
}

export function FilterBar({ isFiltered, children }: FilterBarProps) {
  const isNarrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const [isOpen, { toggle }] = useDisclosure(false);
  const filters = (
    <Group gap="sm" mb="md" align="flex-end" className="acg-filters">
      {children}
    </Group>
  );
  if (!isNarrow) return filters;
  return (
    <>
      <Button
        variant="default"
        mb="md"
        leftSection={<ListFilter size={14} aria-hidden />}
        aria-expanded={isOpen}
        onClick={toggle}
      >
        {isFiltered ? 'Filters (active)' : 'Filters'}
      </Button>
      {isOpen && filters}
    </>
  );
}
