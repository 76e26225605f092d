import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';
import type { parseTimeRange } from '../forms/time-range-control.js';

const REFETCH_MS = 60_000;

type UsageQuery = ReturnType<typeof parseTimeRange> & { readonly agentId?: string; readonly projectId?: string };

/** The sums of the period before, for the trends of tiles; undefined while they load. */
export function usePreviousTotals(usage: UsageQuery) {
  const query = { ...usage, by: 'provider', compare: 'previous', limit: 1 } as const;
  const breakdown = useQuery({
    queryKey: ['usage', 'breakdown', query],
    queryFn: () => api.get('/v1/usage/breakdown', { params: { query } }),
    refetchInterval: REFETCH_MS,
  });
  return breakdown.data?.totals?.previous;
}
