/** The evidence of a run, which the invariants check. Instants are Unix ms of this machine. */
import type { FaultAction, Victim } from '../faults/fault-plan.js';

export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** Lasts from just before the injection until the target serves again. */
export interface FaultTrace extends Interval {
  readonly victim: Victim;
  readonly action: FaultAction;
}

const CALL_KINDS = ['chat', 'stream', 'upload', 's3', 'echo', 'websocket'] as const;
export type CallKind = (typeof CALL_KINDS)[number];

/** A response of the gateway itself instead of the provider's. */
export interface Rejection {
  readonly message: string;
  /** `limitType` of a 429. */
  readonly limitType: string;
  readonly hasRetryAfter: boolean;
}

/** One call as its client observed it. */
export interface CallTrace {
  readonly id: string;
  readonly kind: CallKind;
  readonly agent: string;
  /** The data plane that received the call. */
  readonly plane: Victim;
  readonly sentAt: number;
  readonly endedAt: number;
  /** Null: no response head arrived. 101: the WebSocket opened. */
  readonly status: number | null;
  readonly requestId: string | null;
  /** True when the whole response arrived; for a WebSocket, a close frame. */
  readonly complete: boolean;
  readonly rejection: Rejection | null;
  /** Code of the connection error; `timeout` when the client gave up. */
  readonly error: string | null;
  /** Close code of a WebSocket that was open. */
  readonly closeCode: number | null;
  /** What is wrong with a complete response; null: nothing. */
  readonly responseProblem: string | null;
}

/** A call as the provider observed it. The provider knows the call id and nothing of the gateway. */
export interface ProviderObservation {
  readonly callId: string;
  readonly receivedAt: number;
  /** True when the whole response was handed to the network. */
  readonly answered: boolean;
}

/** A ledger row with the id of its call; `callId` is null when no sent call matches. */
export interface LedgerCall {
  readonly recordId: string;
  readonly callId: string | null;
  readonly agent: string;
  readonly costNanos: number;
  /** Input and output tokens. */
  readonly tokens: number;
  /** Class of the error; '': none. */
  readonly error: string;
}

/** Null: no limit, or one above everything that the run sends. */
export interface AgentLimits {
  readonly agent: string;
  readonly rpmLimit: number | null;
  readonly rpdLimit: number | null;
  readonly tpmLimit: number | null;
  readonly budgetNanos: number | null;
  readonly hardBudget: boolean;
  readonly rejectsWithoutStore: boolean;
}

/** Limits of an agent: none except `fields`. */
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

/** Whether the call's data plane was killed while the call ran. Its record of the call may be lost. */
export function wasDataPlaneKilledDuring(call: CallTrace, faults: readonly FaultTrace[]): boolean {
  return faults.some(
    ({ victim, action, from }) =>
      victim === call.plane && action === 'kill' && call.sentAt <= from && from <= call.endedAt,
  );
}
