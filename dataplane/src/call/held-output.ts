import type { BoundedCall } from '../pricing/cost-bound.js';

/** What a hold covers beside the request. */
export interface HeldOutput {
  /** Of all answers together. */
  readonly tokens: number;
  /** The request itself says that there will be no more. */
  readonly stated: boolean;
  readonly answers: number;
  /** What the hold was reckoned from. */
  readonly call: BoundedCall;
}
