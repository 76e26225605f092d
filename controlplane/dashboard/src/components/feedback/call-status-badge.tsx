/** Outcome of a call: its status and, if it failed, the error; of a rejected one the reason. */
import { rejectionLabel } from '../../messages/rejection-label.js';
import { StatusBadge } from './status-badge.js';

interface CallOutcome {
  readonly status: number;
  readonly error: string | null;
}

export const CallStatusBadge = ({ status, error }: CallOutcome) => (
  <StatusBadge tone={toneOf({ status, error })}>{error === null ? String(status) : `${status} ${error}`}</StatusBadge>
);

interface MergedCallOutcome {
  readonly forwarded: CallOutcome | null;
  readonly rejected: { readonly status: number; readonly reason: string } | null;
}

/** A rejected call did not reach the provider. */
export const CallOutcomeBadge = ({ forwarded, rejected }: MergedCallOutcome) =>
  rejected === null ? (
    forwarded !== null && <CallStatusBadge {...forwarded} />
  ) : (
    <StatusBadge tone="warning">{`Rejected ${rejected.status}: ${rejectionLabel(rejected.reason)}`}</StatusBadge>
  );

function toneOf({ status, error }: CallOutcome): 'success' | 'warning' | 'error' {
  if (status >= 500 || error !== null) return 'error';
  return status >= 400 ? 'warning' : 'success';
}
