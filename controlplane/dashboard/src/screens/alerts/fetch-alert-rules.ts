/** Alert rules and their alerts: queries, changes and silences. */
import { DAY_MS, HOUR_MS } from '@acg/base/time-and-money-units';
import { api } from '../../api/api-client.js';
import { queryClient } from '../../api/query-client.js';

export const PAGE_SIZE = 50;

export const RULE_SORTS = ['createdAt', 'name'] as const;
export const ALERT_SORTS = ['openedAt', 'ruleName', 'resolvedAt'] as const;

interface ListQuery<Sort> {
  readonly page: number;
  readonly sort: Sort;
  readonly order: 'asc' | 'desc';
}

const pageQuery = <Sort>({ page, ...sorting }: ListQuery<Sort>) => ({
  ...sorting,
  limit: PAGE_SIZE,
  offset: (page - 1) * PAGE_SIZE,
});

export const fetchAlertRules = (query: ListQuery<(typeof RULE_SORTS)[number]>) =>
  api.get('/v1/alert-rules', { params: { query: pageQuery(query) } });
export type AlertRule = Awaited<ReturnType<typeof fetchAlertRules>>['rules'][number];

export const fetchAlerts = (query: ListQuery<(typeof ALERT_SORTS)[number]>, state?: 'open') =>
  api.get('/v1/alerts', { params: { query: { ...pageQuery(query), ...(state === undefined ? {} : { state }) } } });
export type Alert = Awaited<ReturnType<typeof fetchAlerts>>['alerts'][number];

export const refreshAlerts = (): void => void queryClient.invalidateQueries({ queryKey: ['alert-rules'] });

export const acknowledgeAlert = ({ id }: Alert) =>
  api.post('/v1/alerts/{id}/acknowledge', { params: { path: { id } } });

export const isSilenced = (until: string | null): until is string => until !== null && Date.parse(until) > Date.now();

export const SILENCES: readonly (readonly [label: string, ms: number])[] = [
  ['1 hour', HOUR_MS],
  ['4 hours', 4 * HOUR_MS],
  ['1 day', DAY_MS],
  ['7 days', 7 * DAY_MS],
];
export const silenceEnd = (ms: number): string => new Date(Date.now() + ms).toISOString();
