/** The state of a credential in one line: stored, rejected, or how its minting goes. */
import type { Minted } from '../../resources/connection-hooks.js';
import { StatusBadge } from '../feedback/status-badge.js';

export const MINTED_STATES = {
  waiting: ['neutral', 'no token needed yet'],
  not_connected: ['error', 'not connected'],
  active: ['success', 'active'],
  failing: ['error', 'refresh fails'],
  expired: ['neutral', 'expired, renewed at the next call'],
  reconnect_needed: ['error', 'must be reconnected'],
} as const satisfies Record<Minted['state'], readonly ['neutral' | 'error' | 'success', string]>;

interface CredentialBadgeProps {
  readonly status: 'active' | 'needs_credentials';
  readonly minted: Minted | null;
  readonly isShared?: boolean;
}

export function CredentialBadge({ status, minted, isShared = false }: CredentialBadgeProps) {
  const shared = isShared ? ', shared' : '';
  if (status !== 'active') return <StatusBadge tone="error">must be entered again</StatusBadge>;
  if (minted === null) return <StatusBadge tone="success">{`stored${shared}`}</StatusBadge>;
  const [tone, text] = MINTED_STATES[minted.state];
  return <StatusBadge tone={tone}>{`${text}${shared}`}</StatusBadge>;
}
