/** What a run leaves behind for the invariants to look at. Instants are Unix ms of this machine. */
import type { FaultAction, Victim } from '../faults/fault-plan.js';

export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** From before the fault was made until its victim served again. */
export interface FaultTrace extends Interval {
  readonly victim: Victim;
  readonly action: FaultAction;
}

const CALL_KINDS = ['chat', 'stream', 'upload', 's3', 'echo', 'websocket'] as const;
export type CallKind = (typeof CALL_KINDS)[number];

/** The gateway's own answer instead of the provider's. */
export interface Rejection {
  readonly message: string;
  /** `limitType` of a 429. */
  readonly limitType: string;
  readonly hasRetryAfter: boolean;
}

/** One call as its client saw it. */
export interface CallTrace {
  readonly id: string;
  readonly kind: CallKind;
  readonly agent: string;
  /** The data plane that was asked. */
  readonly plane: Victim;
  readonly sentAt: number;
  readonly endedAt: number;
  /** Null: no head of an answer came. A WebSocket that opened has 101. */
  readonly status: number | null;
  readonly requestId: string | null;
  /** The whole answer arrived; of a WebSocket, a close frame. */
  readonly complete: boolean;
  readonly rejection: Rejection | null;
  /** Code of the connection's error, `timeout` when the client gave up. */
  readonly error: string | null;
  /** Of a WebSocket that was open. */
  readonly closeCode: number | null;
  /** What a whole answer should not have looked like; null: as it should be. */
  readonly responseProblem: string | null;
}

/** A call at the provider, which knows its id but nothing of the gateway. */
export interface ProviderObservation {
  readonly callId: string;
  readonly receivedAt: number;
  /** The whole answer was handed to the network. */
  readonly answered: boolean;
}

/** A row of the ledger, with the id of the call that it must be of; null: of no call that was made. */
export interface LedgerCall {
  readonly recordId: string;
  readonly callId: string | null;
  readonly agent: string;
  readonly costNanos: number;
  /** In and out. */
  readonly tokens: number;
}

/** Null: above all that the run sends, or none. */
export interface AgentLimits {
  readonly agent: string;
  readonly rpmLimit: number | null;
  readonly rpdLimit: number | null;
  readonly tpmLimit: number | null;
  readonly budgetNanos: number | null;
  readonly hardBudget: boolean;
  readonly rejectsWithoutStore: boolean;
}

/** Without limits, but for `fields`. */
export const createAgentLimits = (agent: string, fields: Partial<AgentLimits> = {}): AgentLimits => ({
  agent,
  rpmLimit: null,
  rpdLimit: null,
  tpmLimit: null,
  budgetNanos: null,
  hardBudget: false,
  rejectsWithoutStore: false,
  ...fields,
});

export const overlaps = (a: Interval, b: Interval): boolean => a.from <= b.to && b.from <= a.to;

export const callInterval = (call: CallTrace): Interval => ({ from: call.sentAt, to: call.endedAt });

/** Whether the data plane that served the call was killed while it ran: what it knew of the call may be gone. */
export function wasDataPlaneKilledDuring(call: CallTrace, faults: readonly FaultTrace[]): boolean {
  return faults.some(
    ({ victim, action, from }) =>
      victim === call.plane && action === 'kill' && call.sentAt <= from && from <= call.endedAt,
  );
}
