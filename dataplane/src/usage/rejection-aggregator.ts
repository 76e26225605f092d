/**
 * Counts rejected calls per (agent, provider, reason, budget, minute), so that a flood of rejections becomes a few records
 * (docs/contract.md#usage). Counts go through the spool every few seconds. They are statistics: counts since the last
 * flush are lost with the process. Beyond the bound, new combinations only raise `overflowCount`. Organizations share
 * the buckets like the spool. A count carries the first of its calls, so that administrators see what was rejected.
 */
import { DynamicShare } from '@acg/base/fairness/dynamic-share';
import type { RejectionReason } from '@acg/base/rejection-reasons';
import { MINUTE_MS } from '@acg/base/time-and-money-units';
import { uuidv7 } from '@acg/base/uuidv7';
import type { IRejectedCall, IRejectionCount } from '@acg/proto/messages';
import { ORG_SPOOL_FRACTION } from './spool/org-spool-share-limit.js';

const BUCKETS_MAX = 10_000;
/** Calls that one bucket, and all buckets together, describe between two flushes. */
const CALLS_PER_BUCKET = 3;
const CALLS_MAX = 1_000;

interface RejectionBucket {
  readonly orgId: string;
  readonly agentId: string;
  readonly providerSlug: string;
  readonly reason: RejectionReason;
  readonly minuteMs: number;
  count: number;
  readonly calls: IRejectedCall[];
}

/** Receives the counts. Returns false when it does not accept a count. */
type RejectionSink = (count: IRejectionCount) => boolean;

export class RejectionAggregator {
  readonly #sink: RejectionSink;
  readonly #bucketsMax: number;
  #buckets = new Map<string, RejectionBucket>();
  #share: DynamicShare;
  #callShare: DynamicShare;
  /** Rejections without a bucket since process start. */
  overflowCount = 0;

  constructor(sink: RejectionSink, bucketsMax = BUCKETS_MAX) {
    this.#sink = sink;
    this.#bucketsMax = bucketsMax;
    this.#share = createShare(bucketsMax);
    this.#callShare = createShare(CALLS_MAX);
  }

  /**
   * Counts one rejection of a known agent. `providerSlug` is "" when the call was rejected before its provider was
   * known. `describe` is called only for the calls that are kept. `budgetId`: of the budget that rejected it, or "". Each
   * budget has a count of its own, because the events of budgets need a call of each (docs/contract.md#runs).
   */
  record(
    orgId: string,
    agentId: string,
    providerSlug: string,
    reason: RejectionReason,
    nowMs: number,
    describe: () => IRejectedCall,
    budgetId = '',
  ): void {
    const minuteMs = nowMs - (nowMs % MINUTE_MS);
    const key = `${agentId} ${providerSlug} ${reason} ${budgetId} ${minuteMs}`;
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      if (!this.#share.tryTake(orgId)) {
        this.overflowCount++;
        return;
      }
      bucket = { orgId, agentId, providerSlug, reason, minuteMs, count: 0, calls: [] };
      this.#buckets.set(key, bucket);
    }
    bucket.count++;
    if (bucket.calls.length < CALLS_PER_BUCKET && this.#callShare.tryTake(orgId)) bucket.calls.push(describe());
  }

  /** Passes all counts to the sink and starts over. Call it every few seconds and before the spool closes. */
  flush(nowMs: number): void {
    const buckets = this.#buckets;
    if (buckets.size === 0) return;
    this.#buckets = new Map();
    this.#share = createShare(this.#bucketsMax);
    this.#callShare = createShare(CALLS_MAX);
    for (const bucket of buckets.values()) {
      if (!this.#sink({ id: uuidv7(nowMs), ...bucket })) this.overflowCount += bucket.count;
    }
  }
}

const createShare = (capacity: number): DynamicShare => new DynamicShare({ capacity, fraction: ORG_SPOOL_FRACTION });
