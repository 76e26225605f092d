/** The status of a webhook endpoint. */
import { StatusBadge } from '../../components/feedback/status-badge.js';
import type { Endpoint } from './fetch-webhooks-retry-deliveries.js';

export function EndpointStatusBadge({ endpoint: { status, pausedReason } }: { readonly endpoint: Endpoint }) {
  if (pausedReason === 'failing') return <StatusBadge tone="error">paused after repeated failures</StatusBadge>;
  return <StatusBadge tone={status === 'active' ? 'success' : 'neutral'}>{status}</StatusBadge>;
}
