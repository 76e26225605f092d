/** The calls and models of an agent's last 100 calls at a provider: suggestions for its policy. */

import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';

const SEEN_CALLS = 100;
const SUGGESTIONS_MAX = 30;

export function useSeenCallsAndModels(agentId: string, provider: string) {
  const { data = EMPTY } = useQuery({
    queryKey: ['logs', 'seen', agentId, provider],
    queryFn: async () => {
      const query = { agentId, provider, limit: SEEN_CALLS };
      const { logs } = await api.get('/v1/usage/logs', { params: { query } });
      return {
        calls: distinct(logs.map(({ method, path }) => `${method} ${path.replace(/\?.*/s, '')}`)),
        models: distinct(logs.flatMap(({ model }) => (model === null || model === '' ? [] : [model]))),
      };
    },
    staleTime: 60_000,
  });
  return data;
}

const EMPTY: { readonly calls: readonly string[]; readonly models: readonly string[] } = { calls: [], models: [] };

const distinct = (values: readonly string[]): readonly string[] =>
  [...new Set(values)].sort().slice(0, SUGGESTIONS_MAX);
