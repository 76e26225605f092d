import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';

const REFETCH_MS = 30_000;

/** The agent's row of the list of agents, which has the spend of the calendar month (UTC). */
export const useAgentMonth = (agentId: string) =>
  useQuery({
    queryKey: ['agents', 'month', agentId],
    queryFn: async () =>
      (await api.get('/v1/usage/agents', { params: { query: { search: agentId, limit: 1 } } })).agents[0] ?? null,
    refetchInterval: REFETCH_MS,
  });
