/**
 * Counts refused calls per (agent, provider, reason, minute), so that a flood of refusals becomes a few records
 * (docs/contract.md#usage). Counts leave through the spool every few seconds; they are statistics: what happened since
 * the last flush dies with the process, and past the bound new kinds of refusals are only counted in `overflow`. One
 * organization reaches it first: it has no further kind once it has {@link FREE_RATIO} times as many as are left.
 */
import { MINUTE_MS } from '@acg/base/units';
import { uuidv7 } from '@acg/base/uuidv7';
import type { IRejectionCount } from '@acg/proto/messages';
import { FREE_RATIO } from './spool-shares.js';

const KINDS_MAX = 10_000;

interface Tally {
  readonly orgId: string;
  readonly agentId: string;
  readonly providerSlug: string;
  readonly reason: string;
  readonly minuteMs: number;
  count: number;
}

/** Where counts go; false when it takes nothing now. */
type RejectionSink = (count: IRejectionCount) => boolean;

export class RejectionTally {
  readonly #sink: RejectionSink;
  readonly #kindsMax: number;
  #tallies = new Map<string, Tally>();
  /** Organization → how many of them are its own. */
  #kinds = new Map<string, number>();
  /** Refusals that were not attributed, since the start. */
  overflow = 0;

  constructor(sink: RejectionSink, kindsMax = KINDS_MAX) {
    this.#sink = sink;
    this.#kindsMax = kindsMax;
  }

  /** Counts one refusal of a known agent. `providerSlug` is "" when refused before the provider was known. */
  count(orgId: string, agentId: string, providerSlug: string, reason: string, nowMs: number): void {
    const minuteMs = nowMs - (nowMs % MINUTE_MS);
    const key = `${agentId} ${providerSlug} ${reason} ${minuteMs}`;
    const tally = this.#tallies.get(key);
    if (tally !== undefined) {
      tally.count++;
      return;
    }
    const kinds = this.#kinds.get(orgId) ?? 0;
    if (kinds >= FREE_RATIO * (this.#kindsMax - this.#tallies.size)) {
      this.overflow++;
      return;
    }
    this.#kinds.set(orgId, kinds + 1);
    this.#tallies.set(key, { orgId, agentId, providerSlug, reason, minuteMs, count: 1 });
  }

  /** Hands everything counted so far to the sink; call it every few seconds and before the spool closes. */
  flush(nowMs: number): void {
    const tallies = this.#tallies;
    if (tallies.size === 0) return;
    this.#tallies = new Map();
    this.#kinds = new Map();
    for (const tally of tallies.values()) {
      if (!this.#sink({ id: uuidv7(nowMs), ...tally })) this.overflow += tally.count;
    }
  }
}
