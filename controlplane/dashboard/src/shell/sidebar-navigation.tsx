import { Box, NavLink, ScrollArea, Stack, Text } from '@mantine/core';
import { memo } from 'react';
import { Link, useLocation } from 'wouter';
import { useHasUnseenAlerts } from '../resources/has-unseen-alerts-in-this-browser.js';
import { NAVIGATION } from '../screens/screen-registry.js';

/** Whether `path` is the entry's page or a page below it. */
const isActivePath = (path: string, entry: string): boolean =>
  path === entry || (entry !== '/' && path.startsWith(`${entry}/`));

const ALERTS = '/alerts';

const UnseenDot = () => (
  <Box w={8} h={8} bdrs="50%" bg="var(--acg-error)" role="img" aria-label="unseen alerts" title="Unseen alerts" />
);

interface EntryProps {
  readonly item: (typeof NAVIGATION)[number]['items'][number];
  readonly isActive: boolean;
  readonly isUnseen: boolean;
}

/** When the screen changes, two of them are rendered again, and not all. */
const Entry = memo(({ item: { path, label, icon: Icon }, isActive, isUnseen }: EntryProps) => (
  <NavLink
    component={Link}
    href={path}
    label={label}
    aria-current={isActive ? 'page' : undefined}
    leftSection={<Icon size={16} aria-hidden />}
    py={6}
    rightSection={isUnseen ? <UnseenDot /> : null}
  />
));

export function SidebarNavigation() {
  const [path] = useLocation();
  const unseen = useHasUnseenAlerts();
  return (
    <ScrollArea type="auto" className="acg-sidebar" flex={1}>
      <Stack gap="md">
        {NAVIGATION.map(({ section, items }) => (
          <Stack key={section} gap={2} role="group" aria-label={section === '' ? 'Start' : section}>
            {section !== '' && (
              <Text className="acg-label" px="sm" aria-hidden>
                {section}
              </Text>
            )}
            {items.map((item) => (
              <Entry
                key={item.path}
                item={item}
                isActive={isActivePath(path, item.path)}
                isUnseen={unseen && item.path === ALERTS}
              />
            ))}
          </Stack>
        ))}
      </Stack>
    </ScrollArea>
  );
}
