/** Whether an endpoint is told anything, in words. */
import { StatusBadge } from '../../parts/status-badge.js';
import type { Endpoint } from './endpoints.js';

export function EndpointStatus({ endpoint: { status, pausedReason } }: { readonly endpoint: Endpoint }) {
  if (pausedReason === 'failing') return <StatusBadge tone="bad">paused: it failed for days</StatusBadge>;
  return <StatusBadge tone={status === 'active' ? 'good' : 'quiet'}>{status}</StatusBadge>;
}
