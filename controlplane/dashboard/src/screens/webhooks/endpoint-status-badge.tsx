/** Whether an endpoint is told anything, in words. */
import { StatusBadge } from '../../components/feedback/status-badge.js';
import type { Endpoint } from './webhook-queries.js';

export function EndpointStatusBadge({ endpoint: { status, pausedReason } }: { readonly endpoint: Endpoint }) {
  if (pausedReason === 'failing') return <StatusBadge tone="bad">paused: it failed for days</StatusBadge>;
  return <StatusBadge tone={status === 'active' ? 'good' : 'quiet'}>{status}</StatusBadge>;
}
