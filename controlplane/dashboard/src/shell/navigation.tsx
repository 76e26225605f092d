import { NavLink, ScrollArea, Stack, Text } from '@mantine/core';
import { Link, useLocation } from 'wouter';
import { NAVIGATION } from '../screens/registry.js';

/** Whether the address is of that entry or of a page below it. */
const within = (path: string, entry: string): boolean =>
  path === entry || (entry !== '/' && path.startsWith(`${entry}/`));

export function Navigation() {
  const [path] = useLocation();
  return (
    <ScrollArea type="auto" className="acg-nav" flex={1}>
      <Stack gap="md">
        {NAVIGATION.map(({ section, items }) => (
          <Stack key={section} gap={2} role="group" aria-label={section === '' ? 'Start' : section}>
            {section !== '' && (
              <Text className="acg-label" px="sm" aria-hidden>
                {section}
              </Text>
            )}
            {items.map(({ path: entry, label, icon: Icon }) => (
              <NavLink
                key={entry}
                component={Link}
                href={entry}
                label={label}
                aria-current={within(path, entry) ? 'page' : undefined}
                leftSection={<Icon size={16} aria-hidden />}
                py={6}
              />
            ))}
          </Stack>
        ))}
      </Stack>
    </ScrollArea>
  );
}
