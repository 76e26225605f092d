import { Group, Kbd, Modal, Stack, Text } from '@mantine/core';
import { NAVIGATION } from '../screens/screen-registry.js';

const GENERAL = [
  { keys: ['Ctrl', 'K'], what: 'Search and commands' },
  { keys: ['/'], what: 'Focus the search field' },
  { keys: ['?'], what: 'Show keyboard shortcuts' },
] as const;

export function KeyboardShortcutsHelp({ onClose }: { readonly onClose: () => void }) {
  const goTo = NAVIGATION.flatMap(({ items }) => items.map(({ key, label }) => ({ keys: ['g', key], what: label })));
  return (
    <Modal opened onClose={onClose} title="Keyboard shortcuts">
      <Stack gap="xs">
        {[...GENERAL, ...goTo].map(({ keys, what }) => (
          <Group key={what} justify="space-between" wrap="nowrap">
            <Text size="sm">{what}</Text>
            <Group gap={4} wrap="nowrap">
              {keys.map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
            </Group>
          </Group>
        ))}
      </Stack>
    </Modal>
  );
}
