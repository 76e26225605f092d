/** Search and commands: screens, agents by name or id, the theme, the way out. Loaded when it is first asked for. */
import '@mantine/spotlight/styles.css';
import { useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { createSpotlight, Spotlight, type SpotlightActionData } from '@mantine/spotlight';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Bot, LogOut, Moon, Rocket, Search, Sun } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { api } from '../api/api.js';
import { useSignOut } from '../api/session.js';
import { toastFailure } from '../parts/toast.js';
import { NAVIGATION } from '../screens/registry.js';

const [store, spotlight] = createSpotlight();
const ICON = 18;
const TYPING_MS = 200;
const FOUND_MAX = 5;
/** What is shorter is in every name. */
const SEARCH_LENGTH_MIN = 2;

export function Palette({ onClose }: { readonly onClose: () => void }) {
  const [, navigate] = useLocation();
  const { setColorScheme } = useMantineColorScheme();
  const signOut = useSignOut();
  const [typed, setTyped] = useState('');
  const agents = useFoundAgents(typed, navigate);
  useEffect(() => spotlight.open(), []);
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
      actions={[
        { group: 'Agents', actions: agents },
        { group: 'Go to', actions: screens },
        { group: 'Do', actions: commands },
      ]}
      query={typed}
      onQueryChange={setTyped}
      nothingFound="Nothing found"
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

function useFoundAgents(typed: string, navigate: (path: string) => void): SpotlightActionData[] {
  const [search] = useDebouncedValue(typed.trim(), TYPING_MS);
  const found = useQuery({
    queryKey: ['agents', 'found', search],
    queryFn: () => api.get('/v1/usage/agents', { params: { query: { search, limit: FOUND_MAX } } }),
    enabled: search.length >= SEARCH_LENGTH_MIN,
    placeholderData: keepPreviousData,
  });
  if (search.length < SEARCH_LENGTH_MIN) return [];
  return (found.data?.agents ?? []).map(({ id, name, slug, projectName }) => ({
    id,
    label: name,
    description: projectName,
    // The palette looks for what was typed in these as well.
    keywords: [slug, id],
    leftSection: <Bot size={ICON} aria-hidden />,
    onClick: () => navigate(`/agents/${id}`),
  }));
}
