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
import { ignore } from '@acg/base/ignore';
import { LRUCache } from 'lru-cache';
import type { Sql, Tx } from '../db/sql.js';
import { Background } from '../ops/background.js';
import { originKey, parseCircuitKey } from './circuit-key.js';
import { type ObservedOutcome, type PendingCount, PendingOutcomes, type ProbeOutcome } from './pending-outcomes.js';
import { isLease } from './probes.js';
import {
  type CircuitInput,
  countsNow,
  evidenceOf,
  failsInRow,
  type OutcomeSum,
  type OwnEvidence,
  rateOf,
  type SecondCount,
  sumOf,
  tripDue,
} from './state-machine.js';
import * as store from './store.js';
import type { Transitions } from './transitions.js';

const FLUSH_MS = 100;
const NO_REQUESTS: OutcomeSum = { requests: 0, failures: 0 };
/** Counts of circuits without failures gather this long. */
const GATHER_MS = 500;
/** A circuit whose newest outcomes are mostly good is looked at this rarely. */
const CHECK_MS = 1_000;
const CHECKED_MAX = 10_000;
/** A success is written again after so long. */
const SUCCESS_MS = 600_000;
const SUCCESSES_MAX = 100_000;
/** For so long it is remembered whether other organizations fail at an origin. */
const OTHERS_MS = 1_000;
const OTHERS_MAX = 10_000;
const CLOCK_MS = 250;
const PRUNE_MS = 30_000;
/** Circuits that one transaction moves. */
const BATCH = 500;

export class CircuitBoard {
  readonly #sql: Sql;
  readonly #background: Background;
  readonly #transitions: Transitions;
  /** Names this process's rows of counts. */
  readonly #writer = randomUUID();
  readonly #pending = new PendingOutcomes();
  /** When the window of a circuit was looked at last, steady ms. */
  readonly #checkedAtMs = new LRUCache<string, number>({ max: CHECKED_MAX });
  /** Successes that were written lately. */
  readonly #succeeded = new LRUCache<string, true>({ max: SUCCESSES_MAX, ttl: SUCCESS_MS });
  /** By origin key. */
  readonly #othersFail = new LRUCache<string, boolean>({ max: OTHERS_MAX, ttl: OTHERS_MS });
  #gatheredAtMs = 0;
  #flushing: Promise<void> = Promise.resolve();

  constructor(sql: Sql, transitions: Transitions) {
    this.#sql = sql;
    this.#transitions = transitions;
    this.#background = new Background(transitions.log);
  }

  start(): void {
    this.#background.every('circuit counts', FLUSH_MS, () => this.#flushSoon());
    this.#background.every('circuit clock', CLOCK_MS, () => this.advanceClock());
    this.#background.every('pruning circuits', PRUNE_MS, () =>
      store.pruneCircuits(this.#sql, this.#transitions.rules.windowMs),
    );
  }

  async stop(): Promise<void> {
    await this.#background.stop();
    await this.flush().catch(ignore);
  }

  /**
   * Takes the outcomes of records that were booked just now for the first time. In memory only, so it may be called before
   * the commit: should that fail, a few outcomes count twice, which a rate can bear.
   */
  observe(records: readonly ObservedOutcome[]): void {
    this.#pending.add(records, Date.now());
  }

  /** Writes what was observed so far; resolves when its consequences are committed. One at a time. */
  flush(which: 'all' | 'failing' = 'all'): Promise<void> {
    const flush = () => this.#flush(which);
    this.#flushing = this.#flushing.then(flush, flush);
    return this.#flushing;
  }

  /** Counts the result of a probe that a data plane reports by itself, which it may repeat. */
  async endProbe(probe: ProbeOutcome): Promise<void> {
    if (isLease(probe.lease)) await this.#endProbes([probe], true);
  }

  /** OPEN → HALF_OPEN where the cooldown has ended, without waiting for a request (docs/contract.md#circuits). */
  async advanceClock(): Promise<void> {
    const clock: CircuitInput = { kind: 'clock' };
    await this.#move(await store.cooledDown(this.#sql), async () => () => [clock]);
  }

  #flushSoon(): Promise<void> {
    const nowMs = performance.now();
    const all = nowMs - this.#gatheredAtMs >= GATHER_MS;
    if (all) this.#gatheredAtMs = nowMs;
    return this.flush(all ? 'all' : 'failing');
  }

  async #flush(which: 'all' | 'failing'): Promise<void> {
    if (this.#pending.empty) return;
    const counts = this.#pending.takeCounts(which);
    const probes = this.#pending.takeProbes();
    if (counts.length > 0) await this.#writeCounts(counts);
    for (let at = 0; at < probes.length; at += BATCH) {
      try {
        await this.#endProbes(probes.slice(at, at + BATCH), false);
      } catch (error) {
        this.#pending.putBack(probes.slice(at));
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
      return countsNow(circuit, circuit.changedAtMs, count);
    });
    // Epoch 0 ("no transition seen") is booked under the epoch it counts for.
    const rows = mergeEpochs(current, circuits);
    if (rows.length === 0) return;
    await store.addOutcomes(this.#sql, this.#writer, rows);
    await this.#noteSuccesses(rows);
    await store.touchCircuits(this.#sql, [...new Set(rows.map((row) => row.circuitKey))], windowMs);
    await this.#trip(this.#suspects(rows));
  }

  async #noteSuccesses(rows: readonly store.OutcomeCount[]): Promise<void> {
    const fresh = new Set<string>();
    for (const { circuitKey, requests, failures } of rows) {
      if (requests > failures && !this.#succeeded.has(circuitKey)) fresh.add(circuitKey);
    }
    if (fresh.size === 0) return;
    await store.noteSuccesses(this.#sql, [...fresh]);
    for (const key of fresh) this.#succeeded.set(key, true);
  }

  /**
   * Circuits whose window is worth a look: the newest outcomes are bad (a window's rate rises above a rate by outcomes
   * above it), or there was some failure and the last look is a while ago.
   */
  #suspects(rows: readonly store.OutcomeCount[]): readonly string[] {
    const sums = new Map<string, OutcomeSum>();
    for (const row of rows) sums.set(row.circuitKey, sumOf([row, sums.get(row.circuitKey) ?? NO_REQUESTS]));
    const nowMs = performance.now();
    const suspects: string[] = [];
    for (const [key, sum] of sums) {
      const quiet = nowMs - (this.#checkedAtMs.get(key) ?? Number.NEGATIVE_INFINITY) < CHECK_MS;
      if (sum.failures === 0 || (quiet && rateOf(sum) < this.#transitions.rules.errorRate / 2)) continue;
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
  async #trip(suspects: readonly string[]): Promise<void> {
    if (suspects.length === 0) return;
    const { rules } = this.#transitions;
    const evidence = evidences(await store.windowCounts(this.#sql, suspects, rules.windowMs));
    const othersFail = await this.#othersFailAt(evidence);
    const due = [...evidence].filter(([key, own]) => tripDue(own, rules, othersFail(key))).map(([key]) => key);
    // Counted again under the rows' locks: another control plane may have been faster.
    await this.#move(due, async (tx, keys) => {
      const counts = evidences(await store.windowCounts(tx, keys, rules.windowMs));
      return ({ circuitKey }) => {
        const own = counts.get(circuitKey);
        return own === undefined ? [] : [{ kind: 'evidence', evidence: own, othersFail: othersFail(circuitKey) }];
      };
    });
  }

  /** Asked only where it matters, and at most once a second per origin. */
  async #othersFailAt(evidence: ReadonlyMap<string, OwnEvidence>): Promise<(circuitKey: string) => boolean> {
    const origins = new Map<string, string>();
    for (const [key, own] of evidence) if (failsInRow(own)) origins.set(key, originKey(parseCircuitKey(key)!));
    const unknown = [...new Set(origins.values())].filter((origin) => !this.#othersFail.has(origin));
    if (unknown.length > 0) {
      const failing = await store.failingOrigins(this.#sql, unknown);
      for (const origin of unknown) this.#othersFail.set(origin, failing.has(origin));
    }
    return (key) => this.#othersFail.get(origins.get(key) ?? '') ?? false;
  }

  /** `onlyLeased`: a result whose lease is gone was counted before, or came an hour late. */
  async #endProbes(probes: readonly ProbeOutcome[], onlyLeased: boolean): Promise<void> {
    await this.#move([...new Set(probes.map((probe) => probe.circuitKey))], async (tx) => {
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
  async #move(
    keys: readonly string[],
    inputs: (tx: Tx, keys: readonly string[]) => Promise<(row: store.CircuitRow) => readonly CircuitInput[]>,
  ): Promise<void> {
    for (let at = 0; at < keys.length; at += BATCH) {
      const batch = keys.slice(at, at + BATCH);
      await this.#sql.begin(async (tx) => {
        const rows = await store.lockCircuits(tx, batch);
        await this.#transitions.apply(tx, rows, await inputs(tx, batch));
      });
    }
  }
}

const evidences = (counts: ReadonlyMap<string, readonly SecondCount[]>): Map<string, OwnEvidence> =>
  new Map([...counts].map(([key, rows]) => [key, evidenceOf(rows)]));

function mergeEpochs(
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
