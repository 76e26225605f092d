/**
 * The breakers of all organizations. Outcomes are added up in memory and written to rows of this process's own: those of
 * a circuit with failures every {@link FLUSH_MS}, the others twice a second. Only where failures came in are the window's
 * counts looked at, and only where they are due is the circuit's row locked, counted again and moved. So ingesting usage
 * takes no lock here and pays one addition per record.
 *
 * What is lost when a process dies are the counts of one flush interval; a lost probe result frees its place when the
 * lease ends. States, epochs and leases are in Postgres, so any number of control planes and restarts agree.
 */
import { randomUUID } from 'node:crypto';
import { noop } from '@acg/base/noop';
import { LRUCache } from 'lru-cache';
import type { Sql, Tx } from '../db/sql.js';
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
import type { BreakerTransitions } from './breaker-transitions.js';
import { formatOriginKey, parseCircuitKey } from './circuit-key.js';
import * as store from './circuit-store.js';
import { type ObservedOutcome, type PendingCount, PendingOutcomes, type ProbeOutcome } from './pending-outcomes.js';
import { isLeaseId } from './probe-leases.js';

const FLUSH_MS = 100;
const NO_REQUESTS: OutcomeSum = { requests: 0, failures: 0 };
/** Counts of circuits without failures gather this long. */
const FLUSH_ALL_MS = 500;
/** A circuit whose newest outcomes are mostly good is looked at this rarely. */
const CHECK_INTERVAL_MS = 1_000;
const CHECKED_MAX = 10_000;
/** A success is written again after so long. */
const SUCCESS_WRITE_INTERVAL_MS = 600_000;
const SUCCESSES_MAX = 100_000;
/** For so long it is remembered whether other organizations fail at an origin. */
const OTHERS_CACHE_MS = 1_000;
const OTHERS_MAX = 10_000;
const CLOCK_INTERVAL_MS = 250;
const PRUNE_INTERVAL_MS = 30_000;
/** Circuits that one transaction moves. */
const TRANSITIONS_PER_TRANSACTION = 500;

export class OrgBreakers {
  readonly #sql: Sql;
  readonly #background: BackgroundTasks;
  readonly #transitions: BreakerTransitions;
  /** Names this process's rows of counts. */
  readonly #writerId = randomUUID();
  readonly #pending = new PendingOutcomes();
  /** When the window of a circuit was looked at last, steady ms. */
  readonly #checkedAtMs = new LRUCache<string, number>({ max: CHECKED_MAX });
  /** Successes that were written lately. */
  readonly #succeeded = new LRUCache<string, true>({ max: SUCCESSES_MAX, ttl: SUCCESS_WRITE_INTERVAL_MS });
  /** By origin key. */
  readonly #othersFail = new LRUCache<string, boolean>({ max: OTHERS_MAX, ttl: OTHERS_CACHE_MS });
  #gatheredAtMs = 0;
  #flushing: Promise<void> = Promise.resolve();

  constructor(sql: Sql, transitions: BreakerTransitions) {
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
   * Takes the outcomes of records that were booked just now for the first time. In memory only, so it may be called before
   * the commit: should that fail, a few outcomes count twice, which a rate can bear.
   */
  recordOutcomes(records: readonly ObservedOutcome[]): void {
    this.#pending.add(records, Date.now());
  }

  /** Writes what was observed so far; resolves when its consequences are committed. One at a time. */
  flush(which: 'all' | 'failing' = 'all'): Promise<void> {
    const flush = () => this.#flush(which);
    this.#flushing = this.#flushing.then(flush, flush);
    return this.#flushing;
  }

  /** Counts the result of a probe that a data plane reports by itself, which it may repeat. */
  async recordProbeResult(probe: ProbeOutcome): Promise<void> {
    if (isLeaseId(probe.lease)) await this.#applyProbeResults([probe], true);
  }

  /** OPEN → HALF_OPEN where the cooldown has ended, without waiting for a request (docs/contract.md#circuits). */
  async halfOpenAfterCooldown(): Promise<void> {
    const clock: CircuitInput = { kind: 'clock' };
    await this.#applyInputs(await store.listCooledDownCircuits(this.#sql), async () => () => [clock]);
  }

  #flushDue(): Promise<void> {
    const nowMs = performance.now();
    const all = nowMs - this.#gatheredAtMs >= FLUSH_ALL_MS;
    if (all) this.#gatheredAtMs = nowMs;
    return this.flush(all ? 'all' : 'failing');
  }

  async #flush(which: 'all' | 'failing'): Promise<void> {
    if (this.#pending.isEmpty) return;
    const counts = this.#pending.drainCounts(which);
    const probes = this.#pending.drainProbes();
    if (counts.length > 0) await this.#writeCounts(counts);
    for (let at = 0; at < probes.length; at += TRANSITIONS_PER_TRANSACTION) {
      try {
        await this.#applyProbeResults(probes.slice(at, at + TRANSITIONS_PER_TRANSACTION), false);
      } catch (error) {
        this.#pending.requeueProbes(probes.slice(at));
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
    // Epoch 0 ("no transition seen") is booked under the epoch it counts for.
    const rows = mergeIntoCurrentEpoch(current, circuits);
    if (rows.length === 0) return;
    await store.addOutcomes(this.#sql, this.#writerId, rows);
    await this.#recordSuccesses(rows);
    await store.updateLastUsed(this.#sql, [...new Set(rows.map((row) => row.circuitKey))], windowMs);
    await this.#openFailing(this.#breakersToCheck(rows));
  }

  async #recordSuccesses(rows: readonly store.OutcomeCount[]): Promise<void> {
    const fresh = new Set<string>();
    for (const { circuitKey, requests, failures } of rows) {
      if (requests > failures && !this.#succeeded.has(circuitKey)) fresh.add(circuitKey);
    }
    if (fresh.size === 0) return;
    await store.recordSuccesses(this.#sql, [...fresh]);
    for (const key of fresh) this.#succeeded.set(key, true);
  }

  /**
   * Circuits whose window is worth a look: the newest outcomes are bad (a window's rate rises above a rate by outcomes
   * above it), or there was some failure and the last look is a while ago.
   */
  #breakersToCheck(rows: readonly store.OutcomeCount[]): readonly string[] {
    const sums = new Map<string, OutcomeSum>();
    for (const row of rows) sums.set(row.circuitKey, sumOutcomes([row, sums.get(row.circuitKey) ?? NO_REQUESTS]));
    const nowMs = performance.now();
    const suspects: string[] = [];
    for (const [key, sum] of sums) {
      const quiet = nowMs - (this.#checkedAtMs.get(key) ?? Number.NEGATIVE_INFINITY) < CHECK_INTERVAL_MS;
      if (sum.failures === 0 || (quiet && failureRateOf(sum) < this.#transitions.rules.errorRate / 2)) continue;
      this.#checkedAtMs.set(key, nowMs);
      suspects.push(key);
    }
    return suspects;
  }

  async #loadOrInsert(keys: readonly string[]): Promise<Map<string, store.CircuitRow>> {
    const found = new Map((await store.loadCircuits(this.#sql, keys)).map((row) => [row.circuitKey, row]));
    const missing = keys.filter((key) => !found.has(key));
    if (missing.length === 0) return found;
    const named = missing.flatMap((circuitKey) => {
      const name = parseCircuitKey(circuitKey);
      return name === null ? [] : [{ circuitKey, providerSlug: name.providerSlug, orgId: name.orgId }];
    });
    await store.insertCircuits(this.#sql, named);
    for (const row of await store.loadCircuits(this.#sql, missing)) found.set(row.circuitKey, row);
    return found;
  }

  /** Opens those of the circuits whose evidence says so. */
  async #openFailing(suspects: readonly string[]): Promise<void> {
    if (suspects.length === 0) return;
    const { rules } = this.#transitions;
    const evidence = windowEvidenceByCircuit(await store.loadWindowOutcomes(this.#sql, suspects, rules.windowMs));
    const othersFail = await this.#loadOthersFail(evidence);
    const due = [...evidence].filter(([key, own]) => shouldOpen(own, rules, othersFail(key))).map(([key]) => key);
    // Counted again under the rows' locks: another control plane may have been faster.
    await this.#applyInputs(due, async (tx, keys) => {
      const counts = windowEvidenceByCircuit(await store.loadWindowOutcomes(tx, keys, rules.windowMs));
      return ({ circuitKey }) => {
        const own = counts.get(circuitKey);
        return own === undefined ? [] : [{ kind: 'evidence', evidence: own, othersFail: othersFail(circuitKey) }];
      };
    });
  }

  /** Asked only where it matters, and at most once a second per origin. */
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

  /** `onlyLeased`: a result whose lease is gone was counted before, or came an hour late. */
  async #applyProbeResults(probes: readonly ProbeOutcome[], onlyLeased: boolean): Promise<void> {
    await this.#applyInputs([...new Set(probes.map((probe) => probe.circuitKey))], async (tx) => {
      const ended = await tx<{ lease: string }[]>`
        delete from circuit_probes p using unnest(${probes.map((probe) => probe.lease)}::uuid[],
                                                  ${probes.map((probe) => probe.circuitKey)}::text[]) as e(lease, key)
         where p.lease = e.lease and p.circuit_key = e.key returning p.lease`;
      const leases = new Set(ended.map(({ lease }) => lease));
      return ({ circuitKey }) =>
        probes.flatMap(({ circuitKey: key, epoch, lease, good }): CircuitInput[] =>
          key !== circuitKey || good === null || (onlyLeased && !leases.has(lease))
            ? []
            : [{ kind: 'probe', epoch, good }],
        );
    });
  }

  /** Locks the circuits, a batch per transaction, and puts each through its inputs. */
  async #applyInputs(
    keys: readonly string[],
    inputs: (tx: Tx, keys: readonly string[]) => Promise<(row: store.CircuitRow) => readonly CircuitInput[]>,
  ): Promise<void> {
    for (let at = 0; at < keys.length; at += TRANSITIONS_PER_TRANSACTION) {
      const batch = keys.slice(at, at + TRANSITIONS_PER_TRANSACTION);
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
    const name = `${circuitKey}\n${secondMs}`;
    const before = merged.get(name);
    merged.set(name, {
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
