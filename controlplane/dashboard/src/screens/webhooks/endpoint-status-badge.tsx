/** The status of a webhook endpoint. */
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { StatusBadge } from '../../components/feedback/status-badge.js';
import type { Endpoint } from './fetch-webhooks-retry-deliveries.js';

export function EndpointStatusBadge({ endpoint }: { readonly endpoint: Endpoint }) {
  const { status, pausedReason, failingSince } = endpoint;
  if (pausedReason === 'failing') return <StatusBadge tone="error">paused after repeated failures</StatusBadge>;
  if (failingSince !== null && status === 'active') {
    return (
      <>
        <StatusBadge tone="error">failing</StatusBadge>, first failure <RelativeTime at={failingSince} />
      </>
    );
  }
  return <StatusBadge tone={status === 'active' ? 'success' : 'neutral'}>{status}</StatusBadge>;
}
