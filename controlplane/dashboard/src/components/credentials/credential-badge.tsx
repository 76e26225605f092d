/** The state of a credential in one line: stored, rejected, or how its minting goes. */
import type { Minted } from '../../resources/connection-hooks.js';
import { StatusBadge } from '../feedback/status-badge.js';

export const MINTED_STATES = {
  waiting: ['neutral', 'No token requested yet'],
  not_connected: ['error', 'Not connected'],
  active: ['success', 'Active'],
  failing: ['error', 'Refresh failing'],
  expired: ['neutral', 'Expired, renewed at the next call'],
  reconnect_needed: ['error', 'Must be reconnected'],
} as const satisfies Record<Minted['state'], readonly ['neutral' | 'error' | 'success', string]>;

interface CredentialBadgeProps {
  readonly status: 'active' | 'needs_credentials';
  readonly minted: Minted | null;
  readonly isShared?: boolean;
}

export function CredentialBadge({ status, minted, isShared = false }: CredentialBadgeProps) {
  const shared = isShared ? ', shared' : '';
  if (status !== 'active') return <StatusBadge tone="error">Re-enter credential</StatusBadge>;
  if (minted === null) return <StatusBadge tone="success">{`Stored${shared}`}</StatusBadge>;
  const [tone, text] = MINTED_STATES[minted.state];
  return <StatusBadge tone={tone}>{`${text}${shared}`}</StatusBadge>;
}
