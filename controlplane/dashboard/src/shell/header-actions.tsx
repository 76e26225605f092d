/** The right side of the header: search, theme and user menu. */
import { ActionIcon, Group, Kbd, Tooltip } from '@mantine/core';
import { Search } from 'lucide-react';
import { ThemeSwitch } from './theme-switch.js';
import { UserMenu } from './user-menu.js';

interface HeaderActionsProps {
  readonly onSearch: () => void;
  readonly onHelp: () => void;
}

export const HeaderActions = ({ onSearch, onHelp }: HeaderActionsProps) => (
  <Group gap="xs" wrap="nowrap" miw={0}>
    <Tooltip
      label={
        <>
          Search and commands <Kbd size="xs">Ctrl K</Kbd>
        </>
      }
    >
      <ActionIcon variant="default" size="lg" aria-label="Search and commands" onClick={onSearch}>
        <Search size={16} aria-hidden />
      </ActionIcon>
    </Tooltip>
    <ThemeSwitch />
    <UserMenu onHelp={onHelp} />
  </Group>
);
