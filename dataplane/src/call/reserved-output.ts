import type { MaxCostInput } from '../pricing/max-cost.js';

/** What a hold covers beside the request. */
export interface ReservedOutput {
  /** Of all answers together. */
  readonly tokens: number;
  /** The request itself says that there will be no more. */
  readonly isStatedByRequest: boolean;
  readonly answerCount: number;
  /** What the hold was reckoned from. */
  readonly call: MaxCostInput;
}
