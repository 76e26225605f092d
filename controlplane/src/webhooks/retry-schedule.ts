/**
 * Decides when a failed delivery is retried (docs/webhooks.md#deliveries). The delays are fixed, so receivers can rely
 * on them.
 */

type RetryDecision =
  | { readonly status: 'success' }
  | { readonly status: 'failed' }
  /** Retried after this many milliseconds. */
  | { readonly status: 'pending'; readonly delayMs: number };

/**
 * Decides what happens to a delivery after an attempt.
 *
 * @param attempts number of attempts since the delivery was queued, this one included
 * @param delaysMs one delay per retry; the delivery fails for good when all are used
 */
export function decideRetry(delivered: boolean, attempts: number, delaysMs: readonly number[]): RetryDecision {
  if (delivered) return { status: 'success' };
  const delayMs = delaysMs[attempts - 1];
  return delayMs === undefined ? { status: 'failed' } : { status: 'pending', delayMs };
}
