/** Search results of the palette: agents, gateway tokens, projects, people, runs, and a call by its request id. */
import { useDebouncedValue } from '@mantine/hooks';
import type { SpotlightActionGroupData } from '@mantine/spotlight';
import { Activity, Bot, Folder, KeyRound, ListTree, User } from 'lucide-react';
import { api } from '../api/api-client.js';
import { useQuery } from '../api/use-query.js';

const ICON_SIZE = 18;
const DEBOUNCE_MS = 200;
const RESULTS_MAX = 5;
/** Shorter texts match almost every name. */
const SEARCH_LENGTH_MIN = 2;
const REQUEST_ID = /^[0-9a-f-]{36}$/i;

interface PaletteSearchResults {
  readonly groups: SpotlightActionGroupData[];
  /** No further results can appear above the current ones. */
  readonly complete: boolean;
  /** Shown when there are no results. */
  readonly emptyMessage: string;
}

export function usePaletteSearch(typed: string, navigate: (path: string) => void): PaletteSearchResults {
  const [search] = useDebouncedValue(typed.trim(), DEBOUNCE_MS);
  const query = { search, limit: RESULTS_MAX };
  const searchOptions = { enabled: search.length >= SEARCH_LENGTH_MIN };
  const agents = useQuery({
    ...searchOptions,
    queryKey: ['agents', 'found', search],
    queryFn: () => api.get('/v1/usage/agents', { params: { query } }),
  });
  const keys = useQuery({
    ...searchOptions,
    queryKey: ['keys', 'found', search],
    queryFn: async () => {
      const find = (status: { status?: 'revoked' }) =>
        api.get('/v1/api-keys', { params: { query: { ...query, ...status } } });
      const found = await Promise.all([find({}), find({ status: 'revoked' })]);
      return found.flatMap((reply) => reply.keys);
    },
  });
  const projects = useQuery({
    ...searchOptions,
    queryKey: ['projects', 'found', search],
    queryFn: () => api.get('/v1/projects', { params: { query } }),
  });
  const people = useQuery({
    ...searchOptions,
    queryKey: ['members', 'found', search],
    queryFn: () => api.get('/v1/members', { params: { query } }),
  });
  const runs = useQuery({
    ...searchOptions,
    queryKey: ['runs', 'found', search],
    queryFn: () => api.get('/v1/runs', { params: { query } }),
  });
  const all = [agents, keys, projects, people, runs];
  const isSearching = search !== typed.trim() || all.some(({ isLoading }) => isLoading);
  const failed = all.some(({ error }) => error !== null);
  const emptyMessage = isSearching
    ? 'Searching…'
    : failed
      ? 'Part of the search failed. Type again to retry.'
      : 'No results';
  // Results of another text are dropped: Enter would open the wrong one.
  if (!searchOptions.enabled || search !== typed.trim()) return { groups: [], complete: false, emptyMessage };
  // The palette also matches its text against the keywords: server results must not be filtered out again.
  const keywords = [typed];
  const calls = REQUEST_ID.test(search) ? [search.toLowerCase()] : [];
  const groups = [
    {
      group: 'Calls',
      actions: calls.map((id) => ({
        id: `call ${id}`,
        label: 'The call with this request id',
        description: id,
        keywords,
        leftSection: <Activity size={ICON_SIZE} aria-hidden />,
        onClick: () => navigate(`/calls?call=${id}`),
      })),
    },
    {
      group: 'Agents',
      actions: (agents.data?.agents ?? []).map(({ id, name, projectName }) => ({
        id,
        label: name,
        description: projectName,
        keywords,
        leftSection: <Bot size={ICON_SIZE} aria-hidden />,
        onClick: () => navigate(`/agents/${id}`),
      })),
    },
    {
      group: 'Gateway tokens',
      actions: (keys.data ?? []).map(({ id, name, keyPrefix, agentName, status }) => ({
        id,
        label: name,
        description: `${keyPrefix}…${agentName === null ? '' : ` of ${agentName}`}${status === 'revoked' ? ', revoked' : ''}`,
        keywords,
        leftSection: <KeyRound size={ICON_SIZE} aria-hidden />,
        onClick: () => navigate(`/keys/${id}`),
      })),
    },
    {
      group: 'Projects',
      actions: (projects.data?.projects ?? []).map(({ id, name }) => ({
        id,
        label: name,
        description: 'Project',
        keywords,
        leftSection: <Folder size={ICON_SIZE} aria-hidden />,
        onClick: () => navigate(`/projects/${id}`),
      })),
    },
    {
      group: 'People',
      actions: (people.data?.members ?? []).map(({ userId, name, email, role }) => ({
        id: userId,
        label: name ?? email,
        description: `${email}, ${role}`,
        keywords,
        leftSection: <User size={ICON_SIZE} aria-hidden />,
        onClick: () => navigate(`/members?search=${encodeURIComponent(email)}`),
      })),
    },
    {
      group: 'Runs',
      actions: (runs.data?.runs ?? []).map(({ id, label, agentName, state }) => ({
        id,
        label: label === '' ? id : label,
        description: `${state}, ${agentName}`,
        keywords,
        leftSection: <ListTree size={ICON_SIZE} aria-hidden />,
        onClick: () => navigate(`/runs/${id}`),
      })),
    },
  ].filter(({ actions }) => actions.length > 0);
  return { groups, complete: !isSearching, emptyMessage };
}
