/**
 * Counts refused calls per (agent, provider, reason, minute), so that a flood of refusals becomes a few records
 * (docs/contract.md#usage). Counts leave through the spool every few seconds; they are statistics: what happened since
 * the last flush dies with the process, and past the bound new kinds of refusals are only counted in `overflow`. One
 * organization reaches it first: it has no further kind once it has {@link ORG_TO_FREE_RATIO} times as many as are left.
 */
import { MINUTE_MS } from '@acg/base/units';
import { uuidv7 } from '@acg/base/uuidv7';
import type { IRejectionCount } from '@acg/proto/messages';
import { ORG_TO_FREE_RATIO } from './spool/org-spool-usage.js';

const BUCKETS_MAX = 10_000;

interface RejectionBucket {
  readonly orgId: string;
  readonly agentId: string;
  readonly providerSlug: string;
  readonly reason: string;
  readonly minuteMs: number;
  count: number;
}

/** Where counts go; false when it takes nothing now. */
type RejectionSink = (count: IRejectionCount) => boolean;

export class RejectionAggregator {
  readonly #sink: RejectionSink;
  readonly #bucketsMax: number;
  #buckets = new Map<string, RejectionBucket>();
  /** Organization → how many of them are its own. */
  #bucketsByOrg = new Map<string, number>();
  /** Refusals that were not attributed, since the start. */
  overflowCount = 0;

  constructor(sink: RejectionSink, kindsMax = BUCKETS_MAX) {
    this.#sink = sink;
    this.#bucketsMax = kindsMax;
  }

  /** Counts one refusal of a known agent. `providerSlug` is "" when refused before the provider was known. */
  record(orgId: string, agentId: string, providerSlug: string, reason: string, nowMs: number): void {
    const minuteMs = nowMs - (nowMs % MINUTE_MS);
    const key = `${agentId} ${providerSlug} ${reason} ${minuteMs}`;
    const tally = this.#buckets.get(key);
    if (tally !== undefined) {
      tally.count++;
      return;
    }
    const kinds = this.#bucketsByOrg.get(orgId) ?? 0;
    if (kinds >= ORG_TO_FREE_RATIO * (this.#bucketsMax - this.#buckets.size)) {
      this.overflowCount++;
      return;
    }
    this.#bucketsByOrg.set(orgId, kinds + 1);
    this.#buckets.set(key, { orgId, agentId, providerSlug, reason, minuteMs, count: 1 });
  }

  /** Hands everything counted so far to the sink; call it every few seconds and before the spool closes. */
  flush(nowMs: number): void {
    const tallies = this.#buckets;
    if (tallies.size === 0) return;
    this.#buckets = new Map();
    this.#bucketsByOrg = new Map();
    for (const tally of tallies.values()) {
      if (!this.#sink({ id: uuidv7(nowMs), ...tally })) this.overflowCount += tally.count;
    }
  }
}
