/**
 * The breakers of all organizations. Outcomes are counted in memory and written to rows of this process: every {@link
 * FLUSH_MS} for breakers with failures, every {@link FLUSH_ALL_MS} for others. Only after failures the window is
 * evaluated, and only if it may open the breaker is its row locked and evaluated again. So the usage ingest takes no
 * lock here and pays one addition per record.
 *
 * A crash loses the counts of one flush interval; a lost probe result frees its slot when the lease expires. States,
 * epochs and leases are stored in Postgres, so any number of control planes and restarts agree.
 */
import { randomUUID } from 'node:crypto';
import { noop } from '@acg/base/noop';
import { LRUCache } from 'lru-cache';
import type { Sql, Tx } from '../db/postgres-client.js';
import { BackgroundTasks } from '../ops/background-tasks.js';
import {
  type CircuitInput,
  failureRateOf,
  hasFailuresInRow,
  isOfCurrentEpoch,
  type OutcomeSum,
  type SecondCount,
  shouldOpen,
  summarizeWindow,
  sumOutcomes,
  type WindowEvidence,
} from './breaker-state-machine.js';
import type { BreakerTransitionWriter } from './breaker-transition-writer.js';
import * as store from './circuit-store.js';
import { type ObservedOutcome, type PendingCount, PendingOutcomes, type ProbeOutcome } from './pending-outcomes.js';
import { isLeaseId } from './probe-leases.js';
import { formatOriginKey, parseCircuitKey } from './provider-origin-org-circuit-key.js';

const FLUSH_MS = 100;
const NO_REQUESTS: OutcomeSum = { requests: 0, failures: 0 };
/** Flush interval for counts of breakers without failures. */
const FLUSH_ALL_MS = 500;
/** Minimum interval between evaluations of a breaker whose newest outcomes are mostly successes. */
const CHECK_INTERVAL_MS = 1_000;
const CHECKED_MAX = 10_000;
/** The time of a success is written again after this interval. */
const SUCCESS_WRITE_INTERVAL_MS = 600_000;
const SUCCESSES_MAX = 100_000;
/** Cache time of whether other organizations fail at an origin. */
const OTHERS_CACHE_MS = 1_000;
const OTHERS_MAX = 10_000;
const CLOCK_INTERVAL_MS = 250;
const PRUNE_INTERVAL_MS = 30_000;
/** Breakers changed in one transaction. */
const TRANSITIONS_PER_TRANSACTION = 500;

export class OrgBreakers {
  readonly #sql: Sql;
  readonly #background: BackgroundTasks;
  readonly #transitions: BreakerTransitionWriter;
  /** Identifies this process's rows of counts. */
  readonly #writerId = randomUUID();
  readonly #pending = new PendingOutcomes();
  /** Last evaluation of each breaker's window, ms of the monotonic clock. */
  readonly #checkedAtMs = new LRUCache<string, number>({ max: CHECKED_MAX });
  /** Breakers whose success was written recently. */
  readonly #succeeded = new LRUCache<string, true>({ max: SUCCESSES_MAX, ttl: SUCCESS_WRITE_INTERVAL_MS });
  /** By origin key. */
  readonly #othersFail = new LRUCache<string, boolean>({ max: OTHERS_MAX, ttl: OTHERS_CACHE_MS });
  #flushedAllAtMs = 0;
  #flushing: Promise<void> = Promise.resolve();

  constructor(sql: Sql, transitions: BreakerTransitionWriter) {
    this.#sql = sql;
    this.#transitions = transitions;
    this.#background = new BackgroundTasks(transitions.log);
  }

  start(): void {
    this.#background.runEvery('circuit counts', FLUSH_MS, () => this.#flushDue());
    this.#background.runEvery('circuit clock', CLOCK_INTERVAL_MS, () => this.halfOpenAfterCooldown());
    this.#background.runEvery('pruning circuits', PRUNE_INTERVAL_MS, () =>
      store.pruneCircuits(this.#sql, this.#transitions.rules.windowMs),
    );
  }

  async stop(): Promise<void> {
    await this.#background.stop();
    await this.flush().catch(noop);
  }

  /**
   * Counts the outcomes of newly booked records, in memory only. May be called before the commit: if that fails, a few
   * outcomes count twice, which hardly changes an error rate.
   */
  recordOutcomes(records: readonly ObservedOutcome[]): void {
    this.#pending.add(records, Date.now());
  }

  /**
   * Writes the outcomes counted so far. Resolves when the resulting transitions are committed. Flushes run one at a
   * time.
   */
  flush(which: 'all' | 'failing' = 'all'): Promise<void> {
    const flush = () => this.#flush(which);
    this.#flushing = this.#flushing.then(flush, flush);
    return this.#flushing;
  }

  /** Counts the result of a probe that a data plane reports directly. A repeated report counts once. */
  async recordProbeResult(probe: ProbeOutcome): Promise<void> {
    if (isLeaseId(probe.lease)) await this.#applyProbeResults([probe], true);
  }

  /**
   * Moves breakers from OPEN to HALF_OPEN after their cooldown, without waiting for a request
   * (docs/contract.md#circuits).
   */
  async halfOpenAfterCooldown(): Promise<void> {
    const clock: CircuitInput = { kind: 'clock' };
    await this.#applyInputs(await store.listCooledDownCircuits(this.#sql), async () => () => [clock]);
  }

  #flushDue(): Promise<void> {
    const nowMs = performance.now();
    const all = nowMs - this.#flushedAllAtMs >= FLUSH_ALL_MS;
    if (all) this.#flushedAllAtMs = nowMs;
    return this.flush(all ? 'all' : 'failing');
  }

  async #flush(which: 'all' | 'failing'): Promise<void> {
    if (this.#pending.isEmpty) return;
    const counts = this.#pending.drainCounts(which);
    const probes = this.#pending.drainProbes();
    if (counts.length > 0) await this.#writeCounts(counts);
    for (let offset = 0; offset < probes.length; offset += TRANSITIONS_PER_TRANSACTION) {
      try {
        await this.#applyProbeResults(probes.slice(offset, offset + TRANSITIONS_PER_TRANSACTION), false);
      } catch (error) {
        this.#pending.requeueProbes(probes.slice(offset));
        throw error;
      }
    }
  }

  async #writeCounts(counts: readonly PendingCount[]): Promise<void> {
    const { windowMs } = this.#transitions.rules;
    const circuits = await this.#loadOrInsert([...new Set(counts.map((count) => count.circuitKey))]);
    const windowStartMs = Date.now() - windowMs;
    const current = counts.filter((count) => {
      const circuit = circuits.get(count.circuitKey);
      if (circuit === undefined || count.secondMs < windowStartMs) return false;
      return isOfCurrentEpoch(circuit, circuit.changedAtMs, count);
    });
    // Counts with epoch 0 (the data plane has seen no transition) are stored under the current epoch.
    const rows = mergeIntoCurrentEpoch(current, circuits);
    if (rows.length === 0) return;
    await store.addOutcomes(this.#sql, this.#writerId, rows);
    await this.#recordSuccesses(rows);
    await store.updateLastUsed(this.#sql, [...new Set(rows.map((row) => row.circuitKey))], windowMs);
    await this.#openFailing(this.#breakersToCheck(rows));
  }

  async #recordSuccesses(rows: readonly store.OutcomeCount[]): Promise<void> {
    const newSuccesses = new Set<string>();
    for (const { circuitKey, requests, failures } of rows) {
      if (requests > failures && !this.#succeeded.has(circuitKey)) newSuccesses.add(circuitKey);
    }
    if (newSuccesses.size === 0) return;
    await store.recordSuccesses(this.#sql, [...newSuccesses]);
    for (const key of newSuccesses) this.#succeeded.set(key, true);
  }

  /**
   * Breakers whose window must be evaluated: the newest outcomes are mostly failures (only these can raise the window's
   * error rate), or there was a failure and the last evaluation is a while ago.
   */
  #breakersToCheck(rows: readonly store.OutcomeCount[]): readonly string[] {
    const sums = new Map<string, OutcomeSum>();
    for (const row of rows) sums.set(row.circuitKey, sumOutcomes([row, sums.get(row.circuitKey) ?? NO_REQUESTS]));
    const nowMs = performance.now();
    const suspects: string[] = [];
    for (const [key, sum] of sums) {
      const checkedRecently = nowMs - (this.#checkedAtMs.get(key) ?? Number.NEGATIVE_INFINITY) < CHECK_INTERVAL_MS;
      if (sum.failures === 0 || (checkedRecently && failureRateOf(sum) < this.#transitions.rules.errorRate / 2))
        continue;
      this.#checkedAtMs.set(key, nowMs);
      suspects.push(key);
    }
    return suspects;
  }

  async #loadOrInsert(keys: readonly string[]): Promise<Map<string, store.CircuitRow>> {
    const found = new Map((await store.loadCircuits(this.#sql, keys)).map((row) => [row.circuitKey, row]));
    const missing = keys.filter((key) => !found.has(key));
    if (missing.length === 0) return found;
    const parsed = missing.flatMap((circuitKey) => {
      const keyParts = parseCircuitKey(circuitKey);
      return keyParts === null ? [] : [{ circuitKey, providerSlug: keyParts.providerSlug, orgId: keyParts.orgId }];
    });
    await store.insertCircuits(this.#sql, parsed);
    for (const row of await store.loadCircuits(this.#sql, missing)) found.set(row.circuitKey, row);
    return found;
  }

  /** Opens those breakers whose evidence requires it. */
  async #openFailing(suspects: readonly string[]): Promise<void> {
    if (suspects.length === 0) return;
    const { rules } = this.#transitions;
    const evidence = windowEvidenceByCircuit(await store.loadWindowOutcomes(this.#sql, suspects, rules.windowMs));
    const othersFail = await this.#loadOthersFail(evidence);
    const dueKeys = [...evidence].filter(([key, own]) => shouldOpen(own, rules, othersFail(key))).map(([key]) => key);
    // Evaluated again under the row locks: another control plane may have been faster.
    await this.#applyInputs(dueKeys, async (tx, keys) => {
      const counts = windowEvidenceByCircuit(await store.loadWindowOutcomes(tx, keys, rules.windowMs));
      return ({ circuitKey }) => {
        const own = counts.get(circuitKey);
        return own === undefined ? [] : [{ kind: 'evidence', evidence: own, othersFail: othersFail(circuitKey) }];
      };
    });
  }

  /**
   * Returns whether other organizations fail at a breaker's origin. Queries only where it matters, at most once a
   * second per origin.
   */
  async #loadOthersFail(evidence: ReadonlyMap<string, WindowEvidence>): Promise<(circuitKey: string) => boolean> {
    const origins = new Map<string, string>();
    for (const [key, own] of evidence)
      if (hasFailuresInRow(own)) origins.set(key, formatOriginKey(parseCircuitKey(key)!));
    const unknown = [...new Set(origins.values())].filter((origin) => !this.#othersFail.has(origin));
    if (unknown.length > 0) {
      const failing = await store.listFailingOrigins(this.#sql, unknown);
      for (const origin of unknown) this.#othersFail.set(origin, failing.has(origin));
    }
    return (key) => this.#othersFail.get(origins.get(key) ?? '') ?? false;
  }

  /** `onlyLeased`: ignores results without a lease, which were counted before or arrived an hour late. */
  async #applyProbeResults(probes: readonly ProbeOutcome[], onlyLeased: boolean): Promise<void> {
    await this.#applyInputs([...new Set(probes.map((probe) => probe.circuitKey))], async (tx) => {
      const endedLeases = await tx<{ lease: string }[]>`
        delete from circuit_probes p using unnest(${probes.map((probe) => probe.lease)}::uuid[],
                                                  ${probes.map((probe) => probe.circuitKey)}::text[]) as e(lease, key)
         where p.lease = e.lease and p.circuit_key = e.key returning p.lease`;
      const leases = new Set(endedLeases.map(({ lease }) => lease));
      return ({ circuitKey }) =>
        probes.flatMap(({ circuitKey: key, epoch, lease, good }): CircuitInput[] =>
          key !== circuitKey || good === null || (onlyLeased && !leases.has(lease))
            ? []
            : [{ kind: 'probe', epoch, good }],
        );
    });
  }

  /** Locks the breakers, one batch per transaction, and applies the inputs of each. */
  async #applyInputs(
    keys: readonly string[],
    inputs: (tx: Tx, keys: readonly string[]) => Promise<(row: store.CircuitRow) => readonly CircuitInput[]>,
  ): Promise<void> {
    for (let offset = 0; offset < keys.length; offset += TRANSITIONS_PER_TRANSACTION) {
      const batch = keys.slice(offset, offset + TRANSITIONS_PER_TRANSACTION);
      await this.#sql.begin(async (tx) => {
        const rows = await store.lockCircuits(tx, batch);
        await this.#transitions.applyInputs(tx, rows, await inputs(tx, batch));
      });
    }
  }
}

const windowEvidenceByCircuit = (counts: ReadonlyMap<string, readonly SecondCount[]>): Map<string, WindowEvidence> =>
  new Map([...counts].map(([key, rows]) => [key, summarizeWindow(rows)]));

function mergeIntoCurrentEpoch(
  counts: readonly PendingCount[],
  circuits: ReadonlyMap<string, store.CircuitRow>,
): readonly store.OutcomeCount[] {
  const merged = new Map<string, store.OutcomeCount>();
  for (const { circuitKey, orgId, secondMs, requests, failures, agents } of counts) {
    const { epoch } = circuits.get(circuitKey)!;
    const key = `${circuitKey}\n${secondMs}`;
    const before = merged.get(key);
    merged.set(key, {
      circuitKey,
      epoch,
      orgId,
      secondMs,
      requests: requests + (before?.requests ?? 0),
      failures: failures + (before?.failures ?? 0),
      agents: [...new Set([...agents, ...(before?.agents ?? [])])],
    });
  }
  return [...merged.values()];
}
