/** Outcome of a call: its status and, if it failed, the error. */
import { StatusBadge } from './status-badge.js';

interface CallOutcome {
  readonly status: number;
  readonly error: string | null;
}

export const CallStatusBadge = ({ status, error }: CallOutcome) => (
  <StatusBadge tone={toneOf({ status, error })}>{error === null ? String(status) : `${status} ${error}`}</StatusBadge>
);

function toneOf({ status, error }: CallOutcome): 'good' | 'warn' | 'bad' {
  if (status >= 500 || error !== null) return 'bad';
  return status >= 400 ? 'warn' : 'good';
}
