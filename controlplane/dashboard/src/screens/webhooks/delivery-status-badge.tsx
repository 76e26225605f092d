/** The status of a delivery. */
import { StatusBadge } from '../../components/feedback/status-badge.js';
import type { DeliveryStatus } from './fetch-webhooks-retry-deliveries.js';

const TONES = { success: 'success', failed: 'error', pending: 'neutral' } as const;

interface DeliveryStatusBadgeProps {
  readonly delivery: { readonly status: DeliveryStatus; readonly attempts: number };
}

export function DeliveryStatusBadge({ delivery: { status, attempts } }: DeliveryStatusBadgeProps) {
  // Pending after an attempt: all so far failed, and a further one follows.
  if (status === 'pending' && attempts > 0) return <StatusBadge tone="error">retrying</StatusBadge>;
  return <StatusBadge tone={TONES[status]}>{status}</StatusBadge>;
}
