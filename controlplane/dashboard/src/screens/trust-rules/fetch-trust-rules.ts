import { api } from '../../api/api-client.js';
import { queryClient } from '../../api/query-client.js';

export const PAGE_SIZE = 50;

export const SORTS = ['createdAt', 'name', 'agentName', 'lastUsedAt'] as const;

interface TrustRuleQuery {
  readonly page: number;
  readonly sort: (typeof SORTS)[number];
  readonly order: 'asc' | 'desc';
}

export const fetchTrustRules = ({ page, ...sorting }: TrustRuleQuery) =>
  api.get('/v1/trust-rules', { params: { query: { ...sorting, limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE } } });

export type TrustRule = Awaited<ReturnType<typeof fetchTrustRules>>['rules'][number];

export const refreshTrustRules = (): void => void queryClient.invalidateQueries({ queryKey: ['trust-rules'] });
