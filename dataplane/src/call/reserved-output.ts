import type { MaxCostInput } from '../pricing/max-cost.js';

/** The output that a reservation covers beside the request. */
export interface ReservedOutput {
  /** Output tokens of all answers together. */
  readonly tokens: number;
  /** The request itself states this maximum. */
  readonly isStatedByRequest: boolean;
  readonly answerCount: number;
  /** The call that the reservation was computed for. */
  readonly call: MaxCostInput;
}
