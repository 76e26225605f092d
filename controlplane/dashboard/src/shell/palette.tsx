/** Search and commands: screens, agents, keys, projects, a call by its request id, the theme, the way out. Loaded when it is first asked for. */
import '@mantine/spotlight/styles.css';
import { useMantineColorScheme } from '@mantine/core';
import { createSpotlight, Spotlight, type SpotlightActionData } from '@mantine/spotlight';
import { LogOut, Moon, Rocket, Search, Sun } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { useSignOut } from '../api/session.js';
import { toastFailure } from '../parts/toast.js';
import { withoutSecret } from '../parts/without-secret.js';
import { NAVIGATION } from '../screens/registry.js';
import { useFound } from './found.js';

const [store, spotlight] = createSpotlight();
const ICON = 18;

export function Palette({ onClose }: { readonly onClose: () => void }) {
  const [, navigate] = useLocation();
  const { setColorScheme } = useMantineColorScheme();
  const signOut = useSignOut();
  const [typed, setTyped] = useState('');
  const found = useFound(typed, navigate);
  useEffect(() => spotlight.open(), []);
  const { complete } = found;
  useEffect(() => {
    if (complete) selectFirst();
  }, [complete]);
  const screens: SpotlightActionData[] = NAVIGATION.flatMap(({ items }) =>
    items.map(({ path, label, icon: Icon }) => ({
      id: path,
      label,
      leftSection: <Icon size={ICON} aria-hidden />,
      onClick: () => navigate(path),
    })),
  );
  const commands: SpotlightActionData[] = [
    {
      id: 'setup',
      label: 'Set up an agent',
      leftSection: <Rocket size={ICON} aria-hidden />,
      onClick: () => navigate('/setup'),
    },
    {
      id: 'light',
      label: 'Light theme',
      leftSection: <Sun size={ICON} aria-hidden />,
      onClick: () => setColorScheme('light'),
    },
    {
      id: 'dark',
      label: 'Dark theme',
      leftSection: <Moon size={ICON} aria-hidden />,
      onClick: () => setColorScheme('dark'),
    },
    {
      id: 'sign-out',
      label: 'Sign out',
      leftSection: <LogOut size={ICON} aria-hidden />,
      onClick: () => signOut.mutate(undefined, { onError: toastFailure }),
    },
  ];
  return (
    <Spotlight
      store={store}
      actions={[...found.groups, { group: 'Go to', actions: screens }, { group: 'Do', actions: commands }]}
      query={typed}
      onQueryChange={(text) => setTyped(withoutSecret(text))}
      nothingFound={found.none}
      highlightQuery
      scrollable
      maxHeight={400}
      shortcut={null}
      onSpotlightClose={onClose}
      searchProps={{
        leftSection: <Search size={ICON} aria-hidden />,
        placeholder: 'Where to, or what?',
        'aria-label': 'Search and commands',
      }}
    />
  );
}

/** For Enter: the kit does it when somebody types, and what the server finds comes later. */
function selectFirst(): void {
  if (document.querySelector('[data-action][data-selected]') !== null) return;
  document.querySelector('[data-action]')?.setAttribute('data-selected', 'true');
  store.updateState((state) => ({ ...state, selected: 0 }));
}
