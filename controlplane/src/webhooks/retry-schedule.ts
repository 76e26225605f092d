/**
 * When a failed delivery is tried again (docs/webhooks.md#deliveries): the delays are fixed, so receivers can rely on
 * them.
 */

type RetryDecision =
  | { readonly status: 'success' }
  | { readonly status: 'failed' }
  /** Tried again after that many milliseconds. */
  | { readonly status: 'pending'; readonly delayMs: number };

/**
 * What becomes of a delivery after an attempt.
 * @param attempts how many attempts it had since it was queued, this one included
 * @param delaysMs one delay per retry; when all are used up, the delivery has failed for good
 */
export function decideRetry(delivered: boolean, attempts: number, delaysMs: readonly number[]): RetryDecision {
  if (delivered) return { status: 'success' };
  const delayMs = delaysMs[attempts - 1];
  return delayMs === undefined ? { status: 'failed' } : { status: 'pending', delayMs };
}
