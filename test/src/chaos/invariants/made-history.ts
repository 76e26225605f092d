/** Made-up histories for the tests of the invariants: a good one, of which each test spoils a piece. */
import type { BookedCall, CallTrace, FaultTrace, Sighting } from '../history.js';

export const T0 = Date.UTC(2026, 0, 1);

export function call(id: string, fields: Partial<CallTrace> = {}): CallTrace {
  return {
    id,
    kind: 'chat',
    agent: 'wide',
    plane: 'data-1',
    sentAt: T0,
    endedAt: T0 + 100,
    status: 200,
    requestId: `r-${id}`,
    complete: true,
    refusal: null,
    error: null,
    closeCode: null,
    wrong: null,
    ...fields,
  };
}

/** One that its client lost before any head of an answer. */
export const brokenCall = (id: string, fields: Partial<CallTrace> = {}): CallTrace =>
  call(id, { status: null, requestId: null, complete: false, error: 'ECONNRESET', ...fields });

export function refusedCall(id: string, status: number, message: string, fields: Partial<CallTrace> = {}): CallTrace {
  const limitType = status === 429 ? 'rpm' : '';
  return call(id, { status, refusal: { message, limitType, hasRetryAfter: true }, ...fields });
}

export const sighting = (callId: string, seenAt = T0 + 50): Sighting => ({ callId, seenAt, answered: true });

export const record = (callId: string, fields: Partial<BookedCall> = {}): BookedCall => ({
  recordId: `r-${callId}`,
  callId,
  agent: 'wide',
  costNanos: 10,
  tokens: 3,
  ...fields,
});

export const fault = (
  victim: FaultTrace['victim'],
  action: FaultTrace['action'],
  from = T0 + 10,
  to = T0 + 50,
): FaultTrace => ({ victim, action, from, to });
