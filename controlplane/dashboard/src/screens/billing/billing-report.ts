/** The comparison of a month with the providers' reports: its data and the texts of its states. */

import { api } from '../../api/api-client.js';
import { queryClient } from '../../api/query-client.js';
import { useQuery } from '../../api/use-query.js';

const fetchReport = (month: string) => api.get('/v1/billing', { params: { query: { month } } });

type BillingReport = Awaited<ReturnType<typeof fetchReport>>;
export type BillingAccount = BillingReport['accounts'][number];

export const useBillingReport = (month: string) =>
  useQuery({ queryKey: ['billing', 'report', month], queryFn: () => fetchReport(month) });

export const refreshBilling = (): void => void queryClient.invalidateQueries({ queryKey: ['billing'] });
/** Leaves the lines alone, whose account is gone. */
export const refreshAccounts = (): void => void queryClient.invalidateQueries({ queryKey: ['billing', 'report'] });

/** Months in UTC, the newest first. */
export function listMonths(count: number, nowMs: number): readonly string[] {
  const now = new Date(nowMs);
  return Array.from({ length: count }, (_, back) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)).toISOString().slice(0, 7),
  );
}

export const STATES = {
  match: { label: 'Matches', tone: 'success' },
  pending: { label: 'Not yet billed', tone: 'neutral' },
  drift: { label: 'Differs', tone: 'warning' },
  unbilled: { label: 'Not billed', tone: 'warning' },
  ambiguous: { label: 'Keys look alike', tone: 'warning' },
  unattributed: { label: 'Used elsewhere', tone: 'error' },
  adjusted: { label: 'Accepted', tone: 'success' },
  unchecked: { label: 'Not checked', tone: 'neutral' },
} as const;
