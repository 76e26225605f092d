/**
 * How often an organization may start, read and end runs: an allowance of its own beside that of other changes
 * (http/write-rate-limit.ts), because an orchestrator starts and ends a sub-run for each task. Per control plane.
 */
import { TokenBucket, type TokenRate } from '@acg/base/fairness/token-bucket';
import { LRUCache } from 'lru-cache';
import { TooManyAttempts } from '../domain/errors.js';

const CALLS: TokenRate = { capacity: 2_000, perSecond: 500 };
const BODY_BYTES_PER_CALL = 2_048;
const ORGANIZATIONS_MAX = 10_000;

export class RunAllowance {
  readonly #buckets = new LRUCache<string, TokenBucket>({ max: ORGANIZATIONS_MAX });

  /**
   * Throws {@link TooManyAttempts}, and takes nothing, when the organization makes too many calls about runs. A body of each
   * further {@link BODY_BYTES_PER_CALL} bytes counts as one more call.
   */
  take(orgId: string, bodyBytes: number, nowMs: number): void {
    const calls = 1 + Math.floor(bodyBytes / BODY_BYTES_PER_CALL);
    let bucket = this.#buckets.get(orgId);
    if (bucket === undefined) {
      bucket = new TokenBucket(CALLS, nowMs);
      this.#buckets.set(orgId, bucket);
    }
    if (bucket.tryTake(calls, nowMs)) return;
    const waitS = Math.ceil(bucket.waitMs(calls, nowMs) / 1_000);
    throw new TooManyAttempts(
      `the organization makes more than ${CALLS.perSecond} calls about runs a second. Retry in ${waitS} s.`,
      waitS,
    );
  }
}
