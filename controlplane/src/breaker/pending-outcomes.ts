/** Outcomes of usage records, added up in memory until the next flush: one row per breaker, epoch and second. */
import { formatCircuitKey, parseCircuitKey } from './circuit-key.js';
import type { OutcomeCount } from './circuit-store.js';
import { isLeaseId } from './probe-leases.js';

/** What the circuits need of a usage record. */
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
  /** Null: says nothing of the provider; only the place comes back. */
  readonly good: boolean | null;
}

export interface PendingCount extends OutcomeCount {
  /** When the earliest of the requests began. */
  readonly startedAtMs: number;
}

const OUTCOME_NEUTRAL = 0;
const OUTCOME_FAILURE = 2;
/** Beyond this new groups are dropped until the flush; the counts are a sample then, which is what a rate needs. */
const GROUPS_MAX = 20_000;
const PROBES_MAX = 10_000;
/** More than two agents make no difference. */
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
  /** Circuits that failed since the last time counts were taken. */
  #failing = new Set<string>();
  #probes: ProbeOutcome[] = [];
  /** Where the last outcome was counted, nearly always the place of the next one too; null once counts were taken. */
  #last: OutcomeGroup | null = null;
  /** What the last outcome's record said, which its group was found by. */
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

  /** All counts, or those of circuits with a failure only: nothing hangs on the others, so they can gather. */
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

  /** Probe results that could not be written: each is worth more than a count. */
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
    // An outcome belongs to the second in which it was known; a clock that runs ahead does not reach into the future.
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

  /** Null when there are too many already, or the record names no breaker of its organization. */
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
    const name = `${recordKey}\n${recordEpoch}\n${orgId}\n${secondMs}`;
    let group = this.#groups.get(name);
    if (group === undefined) {
      const breaker = resolveBreaker(record);
      if (this.#groups.size >= GROUPS_MAX || breaker === null) return null;
      group = { requests: 0, failures: 0, startedAtMs, orgId, secondMs, agents: [], ...breaker };
      this.#groups.set(name, group);
    }
    this.#last = group;
    this.#lastKey = recordKey;
    this.#lastEpoch = recordEpoch;
    return group;
  }
}

/**
 * A data plane that serves a context of the release before names the origin's shared breaker: the outcome counts for
 * the organization's, of which that data plane has seen no transition (epoch 0).
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
