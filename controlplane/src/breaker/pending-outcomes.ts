/** Counts outcomes of usage records in memory until the next flush: one group per breaker, epoch and second. */

import type { OutcomeCount } from './circuit-store.js';
import { isLeaseId } from './probe-leases.js';
import { formatCircuitKey, parseCircuitKey } from './provider-origin-org-circuit-key.js';

/** The fields of a usage record that breakers need. */
export interface ObservedOutcome {
  readonly circuitKey: string;
  readonly circuitEpoch: number;
  /** CircuitOutcome of the proto: 0 neutral, 1 success, 2 failure. */
  readonly circuitOutcome: number;
  /** `''` unless the request was admitted as a probe. */
  readonly probeLease: string;
  readonly orgId: string;
  readonly agentId: string;
  readonly startedAtMs: number;
  readonly durationMs: number;
}

export interface ProbeOutcome {
  readonly circuitKey: string;
  readonly epoch: number;
  readonly lease: string;
  /** Null: neutral, says nothing about the provider; only the slot is released. */
  readonly good: boolean | null;
}

export interface PendingCount extends OutcomeCount {
  /** Start of the earliest of the requests, Unix ms. */
  readonly startedAtMs: number;
}

const OUTCOME_NEUTRAL = 0;
const OUTCOME_FAILURE = 2;
/**
 * With this many groups, further ones are dropped until the flush. The counts are then a sample, which is enough for a
 * rate.
 */
const GROUPS_MAX = 20_000;
const PROBES_MAX = 10_000;
/** The rules only distinguish one agent from several. */
const AGENTS_MAX = 2;

interface OutcomeGroup {
  requests: number;
  failures: number;
  startedAtMs: number;
  readonly circuitKey: string;
  readonly epoch: number;
  readonly orgId: string;
  readonly secondMs: number;
  readonly agents: string[];
}

export class PendingOutcomes {
  #groups = new Map<string, OutcomeGroup>();
  /** Breakers with a failure since the last drain. */
  #failing = new Set<string>();
  #probes: ProbeOutcome[] = [];
  /** The group of the last outcome, nearly always also that of the next one; null after a drain. */
  #last: OutcomeGroup | null = null;
  /** Key and epoch of the last outcome's record, by which its group was found. */
  #lastKey = '';
  #lastEpoch = 0;

  get isEmpty(): boolean {
    return this.#groups.size === 0 && this.#probes.length === 0;
  }

  add(records: readonly ObservedOutcome[], nowMs: number): void {
    for (const record of records) {
      if (record.circuitKey === '') continue;
      if (record.probeLease !== '') this.#addProbe(record);
      else if (record.circuitOutcome !== OUTCOME_NEUTRAL) this.#addCount(record, nowMs);
    }
  }

  /** Removes and returns all counts, or only those of breakers with a failure; the others are not urgent. */
  drainCounts(which: 'all' | 'failing'): readonly PendingCount[] {
    this.#last = null;
    const groups = [...this.#groups.values()];
    const failing = this.#failing;
    this.#failing = new Set();
    if (which === 'all') {
      this.#groups = new Map();
      return groups;
    }
    if (failing.size === 0) return [];
    this.#groups = new Map([...this.#groups].filter(([, group]) => !failing.has(group.circuitKey)));
    return groups.filter((group) => failing.has(group.circuitKey));
  }

  drainProbes(): readonly ProbeOutcome[] {
    const probes = this.#probes;
    this.#probes = [];
    return probes;
  }

  /** Puts back probe results that could not be written: each one matters more than a count. */
  requeueProbes(probes: readonly ProbeOutcome[]): void {
    for (const probe of probes) if (this.#probes.length < PROBES_MAX) this.#probes.push(probe);
  }

  #addProbe(record: ObservedOutcome): void {
    if (!isLeaseId(record.probeLease) || this.#probes.length >= PROBES_MAX) return;
    this.#probes.push({
      circuitKey: record.circuitKey,
      epoch: record.circuitEpoch,
      lease: record.probeLease,
      good: record.circuitOutcome === OUTCOME_NEUTRAL ? null : record.circuitOutcome !== OUTCOME_FAILURE,
    });
  }

  #addCount(record: ObservedOutcome, nowMs: number): void {
    // An outcome counts in the second in which the call ended. A data plane clock that runs ahead must not create
    // seconds in the future.
    const endedAtMs = Math.min(record.startedAtMs + record.durationMs, nowMs);
    const secondMs = endedAtMs - (endedAtMs % 1_000);
    const group = this.#findOrCreateGroup(record, secondMs);
    if (group === null) return;
    group.requests++;
    if (record.circuitOutcome === OUTCOME_FAILURE) {
      group.failures++;
      this.#failing.add(group.circuitKey);
    }
    group.startedAtMs = Math.min(group.startedAtMs, record.startedAtMs);
    const { agents } = group;
    if (agents.length < AGENTS_MAX && !agents.includes(record.agentId)) agents.push(record.agentId);
  }

  /** Null if there are too many groups, or the record's breaker does not belong to its organization. */
  #findOrCreateGroup(record: ObservedOutcome, secondMs: number): OutcomeGroup | null {
    const { circuitKey: recordKey, circuitEpoch: recordEpoch, orgId, startedAtMs } = record;
    const last = this.#last;
    if (
      last !== null &&
      last.secondMs === secondMs &&
      this.#lastKey === recordKey &&
      last.orgId === orgId &&
      this.#lastEpoch === recordEpoch
    ) {
      return last;
    }
    const groupKey = `${recordKey}\n${recordEpoch}\n${orgId}\n${secondMs}`;
    let group = this.#groups.get(groupKey);
    if (group === undefined) {
      const breaker = resolveBreaker(record);
      if (this.#groups.size >= GROUPS_MAX || breaker === null) return null;
      group = { requests: 0, failures: 0, startedAtMs, orgId, secondMs, agents: [], ...breaker };
      this.#groups.set(groupKey, group);
    }
    this.#last = group;
    this.#lastKey = recordKey;
    this.#lastEpoch = recordEpoch;
    return group;
  }
}

/**
 * A data plane with a context of an earlier release names the origin's shared breaker. Its outcome counts for the
 * organization's breaker, with epoch 0, because that data plane has seen no transition of it.
 */
function resolveBreaker({
  circuitKey: key,
  circuitEpoch,
  orgId,
}: ObservedOutcome): Pick<OutcomeGroup, 'circuitKey' | 'epoch'> | null {
  const name = parseCircuitKey(key);
  if (name === null) return null;
  if (name.orgId === null) return { circuitKey: formatCircuitKey({ ...name, orgId }), epoch: 0 };
  return name.orgId === orgId ? { circuitKey: key, epoch: circuitEpoch } : null;
}
