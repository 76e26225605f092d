/** What a simulation records for its oracle: decisions of the store, and the calls that reached the provider. */
import type { RightsMessage, RightsReply } from './rights-messages.js';

/** A failover, a flush or an empty restart. */
export interface DataLoss {
  readonly atUs: number;
  /** Number of decisions before it. */
  readonly order: number;
  /** The first decision afterwards; infinite before it. */
  nextDecisionUs: number;
}

export interface Decision {
  readonly atUs: number;
  /** Number of decisions before it. */
  readonly order: number;
  readonly runId: string;
  readonly message: RightsMessage;
  readonly reply: RightsReply;
  /** The loss that took the decision's writes; null: they are still there. */
  loss: DataLoss | null;
}

/** A call that was written to the provider. */
export interface ProviderCall {
  readonly arrivedAtUs: number;
  readonly writtenAtUs: number;
  /**
   * The same for the minute. A journey of more than `travelUs` after the decision counts as `travelUs`, because the store
   * keeps uses only that much longer (docs/contract.md#limits).
   */
  readonly atUs: number;
  /** The instant that decides its day: the store's decision, or the data plane's on a right. */
  readonly decidedAtUs: number;
  /** The decision that admitted it, or that last granted or extended the right which it used. */
  readonly basis: Decision;
  /** The right that it used: the writer's total with it. Null: the store admitted it. */
  readonly right: number | null;
  /** The right's term was over, but the machine's monotonic clock had stood still during a pause. */
  readonly isAfterStoppedClock: boolean;
}

export interface DecisionHistory {
  readonly decisions: Decision[];
  readonly providerCalls: ProviderCall[];
  readonly losses: DataLoss[];
  /** For each reply `wait`: when its oldest call got the first such reply, and when this one. */
  readonly waits: { readonly firstAtUs: number; readonly atUs: number }[];
  /** When limits changed. Data planes know within `LIMITS_DELAY_US`. */
  readonly limitChangesUs: number[];
  /** Uses of rights that had ended, and calls that never got an outcome. */
  readonly misuses: string[];
  rejectedCalls: number;
  /** Calls whose message failed or was late. */
  failedCalls: number;
}

/** A change of limits reaches every data plane within this time. */
export const LIMITS_DELAY_US = 1_000_000;
