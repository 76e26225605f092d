import { api } from '../../api/api-client.js';
import { queryClient } from '../../api/query-client.js';

export const PAGE_SIZE = 50;

export const fetchTrustRules = (page: number) =>
  api.get('/v1/trust-rules', { params: { query: { limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE } } });

export type TrustRule = Awaited<ReturnType<typeof fetchTrustRules>>['rules'][number];

export const refreshTrustRules = (): void => void queryClient.invalidateQueries({ queryKey: ['trust-rules'] });
