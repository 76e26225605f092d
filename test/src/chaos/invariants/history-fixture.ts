/** Histories for the tests of the invariants: a valid one, of which each test changes a part. */
import type { CallTrace, FaultTrace, LedgerCall, ProviderObservation } from '../evidence/evidence-types.js';

export const T0 = Date.UTC(2026, 0, 1);

export function createCall(id: string, fields: Partial<CallTrace> = {}): CallTrace {
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
    rejection: null,
    error: null,
    closeCode: null,
    responseProblem: null,
    ...fields,
  };
}

/** A call whose client lost the connection before a response head. */
export const createBrokenCall = (id: string, fields: Partial<CallTrace> = {}): CallTrace =>
  createCall(id, { status: null, requestId: null, complete: false, error: 'ECONNRESET', ...fields });

export function createRejectedCall(
  id: string,
  status: number,
  message: string,
  fields: Partial<CallTrace> = {},
): CallTrace {
  const limitType = status === 429 ? 'rpm' : '';
  return createCall(id, { status, rejection: { message, limitType, hasRetryAfter: true }, ...fields });
}

export const createObservation = (callId: string, seenAt = T0 + 50): ProviderObservation => ({
  callId,
  receivedAt: seenAt,
  answered: true,
});

export const createLedgerCall = (callId: string, fields: Partial<LedgerCall> = {}): LedgerCall => ({
  recordId: `r-${callId}`,
  callId,
  agent: 'wide',
  costNanos: 10,
  tokens: 3,
  error: '',
  ...fields,
});

export const createFault = (
  victim: FaultTrace['victim'],
  action: FaultTrace['action'],
  from = T0 + 10,
  to = T0 + 50,
): FaultTrace => ({ victim, action, from, to });
