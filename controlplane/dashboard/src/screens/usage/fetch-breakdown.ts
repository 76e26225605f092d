/** Query of the usage by one or two dimensions. */
import { api } from '../../api/api-client.js';
import type { Grouping, UsageQuery } from './groupings-and-metrics.js';

type SecondGrouping = Exclude<Grouping, 'status'>;
type BreakdownSort = 'costUsd' | 'requests' | 'errors' | 'tokensIn' | 'tokensOut';

export type BreakdownQuery = UsageQuery & {
  readonly by: Grouping;
  readonly thenBy?: SecondGrouping;
  readonly compare?: 'previous';
  readonly sort?: BreakdownSort;
  readonly order?: 'asc' | 'desc';
};

export const fetchBreakdown = (query: BreakdownQuery & { limit: number; offset: number }) =>
  api.get('/v1/usage/breakdown', { params: { query } });
export type BreakdownRow = Awaited<ReturnType<typeof fetchBreakdown>>['rows'][number];

const SORTS: readonly BreakdownSort[] = ['costUsd', 'requests', 'errors', 'tokensIn', 'tokensOut'];
export const parseSort = (text: string): BreakdownSort => SORTS.find((sort) => sort === text) ?? 'costUsd';
