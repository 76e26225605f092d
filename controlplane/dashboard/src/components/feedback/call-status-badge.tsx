/** Outcome of a call: its status and, if it failed, the error. */
import { StatusBadge } from './status-badge.js';

interface CallOutcome {
  readonly status: number;
  readonly error: string | null;
}

export const CallStatusBadge = ({ status, error }: CallOutcome) => (
  <StatusBadge tone={toneOf({ status, error })}>{error === null ? String(status) : `${status} ${error}`}</StatusBadge>
);

function toneOf({ status, error }: CallOutcome): 'success' | 'warning' | 'error' {
  if (status >= 500 || error !== null) return 'error';
  return status >= 400 ? 'warning' : 'success';
}
