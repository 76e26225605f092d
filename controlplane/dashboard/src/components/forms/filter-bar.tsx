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
  return (
    <>
      {isNarrow && (
        <Button
          variant="default"
          mb="md"
          leftSection={<ListFilter size={14} aria-hidden />}
          aria-expanded={isOpen}
          onClick={toggle}
        >
          {isFiltered ? 'Filters (active)' : 'Filters'}
        </Button>
      )}
      {/* Hidden, not removed: an open field keeps its state while the window changes its width. */}
      <Group
        gap="sm"
        mb="md"
        align="flex-end"
        className="acg-filters"
        {...(isNarrow && !isOpen ? { display: 'none' } : {})}
      >
        {children}
      </Group>
    </>
  );
}
