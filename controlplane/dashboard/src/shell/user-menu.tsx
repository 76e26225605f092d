/** The user menu: user, organizations, help and log out. */
import { Button, Menu, Text } from '@mantine/core';
import { BookOpen, Check, ChevronDown, Clock, Keyboard, LogOut, Plus, Rocket } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { Link } from 'wouter';
import { BASE_PATH } from '../api/page-meta-tags.js';
import { useMe, useSignOut, useSwitchOrganization } from '../api/session.js';
import { showErrorToast } from '../components/feedback/toast.js';
import { browserTimeZone, chooseTimeZone, onTimeZoneChange, timeZoneChoice } from '../format/time-zone.js';

const TIME_ZONES = ['local', 'utc'] as const;

export function UserMenu({ onHelp }: { readonly onHelp: () => void }) {
  useSyncExternalStore(onTimeZoneChange, timeZoneChoice);
  const me = useMe().data;
  const switchTo = useSwitchOrganization();
  const signOut = useSignOut();
  if (me === null || me === undefined) return null;
  const current = me.orgs.find(({ id }) => id === me.orgId);
  return (
    <Menu position="bottom-end" width={264}>
      <Menu.Target>
        <Button
          variant="default"
          h={34}
          px="sm"
          maw={220}
          miw={0}
          rightSection={<ChevronDown size={14} aria-hidden />}
          aria-label={`Account and organization: ${current?.name ?? ''}`}
        >
          <Text size="sm" truncate>
            {current?.name}
          </Text>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {me.user?.email}, {me.role}
        </Menu.Label>
        {me.orgs.length > 1 && <Menu.Divider />}
        {me.orgs.length > 1 &&
          me.orgs.map(({ id, name, role, purgeAt }) => (
            <Menu.Item
              key={id}
              rightSection={id === me.orgId ? <Check size={14} aria-label="current" /> : <Text size="xs">{role}</Text>}
              onClick={() => id !== me.orgId && switchTo.mutate(id, { onError: showErrorToast })}
            >
              {name}
              {purgeAt !== undefined && ' (being deleted)'}
            </Menu.Item>
          ))}
        <Menu.Item
          component={Link}
          href="/settings?tab=organization&dialog=new"
          leftSection={<Plus size={16} aria-hidden />}
        >
          New organization
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>Times</Menu.Label>
        {TIME_ZONES.map((choice) => (
          <Menu.Item
            key={choice}
            leftSection={<Clock size={16} aria-hidden />}
            rightSection={choice === timeZoneChoice() ? <Check size={14} aria-label="selected" /> : null}
            onClick={() => chooseTimeZone(choice)}
          >
            {choice === 'utc' ? 'UTC' : `Local time (${browserTimeZone()})`}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item component={Link} href="/setup" leftSection={<Rocket size={16} aria-hidden />}>
          Set up an agent
        </Menu.Item>
        <Menu.Item leftSection={<Keyboard size={16} aria-hidden />} onClick={onHelp}>
          Keyboard shortcuts
        </Menu.Item>
        <Menu.Item component="a" href={`${BASE_PATH}/docs`} leftSection={<BookOpen size={16} aria-hidden />}>
          API reference
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item
          leftSection={<LogOut size={16} aria-hidden />}
          onClick={() => signOut.mutate(undefined, { onError: showErrorToast })}
        >
          Log out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
