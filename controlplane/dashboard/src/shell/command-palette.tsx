/**
 * The command palette: screens, agents, gateway tokens, projects, people, runs, a call by its request id, themes, log out. Loaded on
 * first use.
 */
import '@mantine/spotlight/styles.css';
import { useMantineColorScheme } from '@mantine/core';
import { createSpotlight, Spotlight, type SpotlightActionData } from '@mantine/spotlight';
import { History, LogOut, Moon, Rocket, Search, Sun } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { useSignOut } from '../api/session.js';
import { showErrorToast } from '../components/feedback/toast.js';
import { redactTokensInText } from '../components/forms/redact-tokens-in-text.js';
import { NAVIGATION } from '../screens/screen-registry.js';
import { usePaletteSearch } from './use-palette-search.js';

const [store, spotlight] = createSpotlight();
const ICON_SIZE = 18;

export function CommandPalette({ onClose }: { readonly onClose: () => void }) {
  const [path, navigate] = useLocation();
  const { setColorScheme } = useMantineColorScheme();
  const signOut = useSignOut();
  const [typed, setTyped] = useState('');
  const results = usePaletteSearch(typed, navigate);
  useEffect(() => spotlight.open(), []);
  const { complete } = results;
  useEffect(() => {
    if (complete) selectFirst();
  }, [complete]);
  const screens: SpotlightActionData[] = NAVIGATION.flatMap(({ items }) =>
    items.map(({ path, label, icon: Icon }) => ({
      id: path,
      label,
      leftSection: <Icon size={ICON_SIZE} aria-hidden />,
      onClick: () => navigate(path),
    })),
  );
  const isAgentPage = /^\/agents\/[\da-f-]{36}$/.test(path);
  const commands: SpotlightActionData[] = [
    ...(isAgentPage
      ? [
          {
            id: 'replay',
            label: 'Replay limits of this agent',
            leftSection: <History size={ICON_SIZE} aria-hidden />,
            onClick: () => navigate(`${path}?tab=limits&replay=open`),
          },
        ]
      : []),
    {
      id: 'setup',
      label: 'Set up an agent',
      leftSection: <Rocket size={ICON_SIZE} aria-hidden />,
      onClick: () => navigate('/setup'),
    },
    {
      id: 'light',
      label: 'Light theme',
      leftSection: <Sun size={ICON_SIZE} aria-hidden />,
      onClick: () => setColorScheme('light'),
    },
    {
      id: 'dark',
      label: 'Dark theme',
      leftSection: <Moon size={ICON_SIZE} aria-hidden />,
      onClick: () => setColorScheme('dark'),
    },
    {
      id: 'sign-out',
      label: 'Log out',
      leftSection: <LogOut size={ICON_SIZE} aria-hidden />,
      onClick: () => signOut.mutate(undefined, { onError: showErrorToast }),
    },
  ];
  return (
    <Spotlight
      store={store}
      actions={[...results.groups, { group: 'Pages', actions: screens }, { group: 'Commands', actions: commands }]}
      query={typed}
      onQueryChange={(text) => setTyped(redactTokensInText(text))}
      nothingFound={results.emptyMessage}
      highlightQuery
      scrollable
      maxHeight={400}
      shortcut={null}
      onSpotlightClose={onClose}
      searchProps={{
        leftSection: <Search size={ICON_SIZE} aria-hidden />,
        placeholder: 'Search or run a command',
        'aria-label': 'Search and commands',
      }}
    />
  );
}

/**
 * Selects the first result for Enter: the UI library does so while the user types, but results of the server arrive
 * later.
 */
function selectFirst(): void {
  if (document.querySelector('[data-action][data-selected]') !== null) return;
  document.querySelector('[data-action]')?.setAttribute('data-selected', 'true');
  store.updateState((state) => ({ ...state, selected: 0 }));
}
