/**
 * The circuits of the whole fleet. Outcomes are added up in memory and written to rows of this process's own: those of a
 * circuit with failures every {@link FLUSH_MS}, the others twice a second. Only where failures came in are the window's
 * counts looked at, and only where they are due is the circuit's row locked, counted again and moved. So ingesting usage
 * takes no lock here and pays one addition per record.
 *
 * What is lost when a process dies are the counts of one flush interval; a lost probe result frees its place when the
 * lease ends. States, epochs and leases are in Postgres, so any number of control planes and restarts agree.
 */
import { randomUUID } from 'node:crypto';
import { ignore } from '@acg/base/ignore';
import type { Logger } from '@acg/base/log';
import { LRUCache } from 'lru-cache';
import type { Sql, Tx } from '../db/sql.js';
import { appendEvents } from '../events/outbox.js';
import { Background } from '../ops/background.js';
import { parseCircuitKey } from './circuit-key.js';
import { type ObservedOutcome, type PendingCount, PendingOutcomes, type ProbeOutcome } from './pending-outcomes.js';
import { isLease } from './probes.js';
import { type CircuitInput, countsNow, decide, type OrgCount, rateOf, sumOf, tripDue } from './state-machine.js';
import * as store from './store.js';
import { pruneSuccesses, type Success, writeSuccesses } from './success-store.js';

const FLUSH_MS = 100;
const NO_REQUESTS: OrgCount = { requests: 0, failures: 0 };
/** Counts of circuits without failures gather this long. */
const GATHER_MS = 500;
/** A circuit whose newest outcomes are mostly good is looked at this rarely. */
const CHECK_MS = 1_000;
const CHECKED_MAX = 10_000;
/** A success is written again after so long; what it is asked for is a day. */
const SUCCESS_MS = 600_000;
const SUCCESSES_MAX = 100_000;
const CLOCK_MS = 250;
const PRUNE_MS = 30_000;

export interface CircuitConfig {
  readonly windowMs: number;
  readonly requestsMin: number;
  /** 0…1 */
  readonly errorRate: number;
  readonly cooldownMs: number;
  readonly probes: number;
}

interface BoardOptions {
  readonly sql: Sql;
  readonly log: Logger;
  readonly rules: CircuitConfig;
  /** Whether all accounts of a built-in provider share one origin, hence one circuit. */
  readonly hasOneOrigin: (providerSlug: string) => boolean;
}

export class CircuitBoard {
  readonly #sql: Sql;
  readonly #log: Logger;
  readonly #background: Background;
  readonly #rules: CircuitConfig;
  readonly #hasOneOrigin: (providerSlug: string) => boolean;
  /** Names this process's rows of counts. */
  readonly #writer = randomUUID();
  readonly #pending = new PendingOutcomes();
  /** When the window of a circuit was looked at last, steady ms. */
  readonly #checkedAtMs = new LRUCache<string, number>({ max: CHECKED_MAX });
  /** Successes that were written lately. */
  readonly #succeeded = new LRUCache<string, true>({ max: SUCCESSES_MAX, ttl: SUCCESS_MS });
  #gatheredAtMs = 0;
  #flushing: Promise<void> = Promise.resolve();

  constructor(options: BoardOptions) {
    this.#sql = options.sql;
    this.#log = options.log;
    this.#background = new Background(options.log);
    this.#rules = options.rules;
    this.#hasOneOrigin = options.hasOneOrigin;
  }

  start(): void {
    this.#background.every('circuit counts', FLUSH_MS, () => this.#flushSoon());
    this.#background.every('circuit clock', CLOCK_MS, () => this.advanceClock());
    this.#background.every('pruning circuits', PRUNE_MS, async () => {
      await store.pruneCircuits(this.#sql, this.#rules.windowMs);
      await pruneSuccesses(this.#sql);
    });
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
    if (isLease(probe.lease)) await this.#end(probe, true);
  }

  /** OPEN → HALF_OPEN where the cooldown has ended, without waiting for a request (docs/contract.md#circuits). */
  async advanceClock(): Promise<void> {
    for (const key of await store.cooledDown(this.#sql)) await this.#move(key, { kind: 'clock' });
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
    for (const [i, probe] of probes.entries()) {
      try {
        await this.#end(probe, false);
      } catch (error) {
        this.#pending.putBack(probes.slice(i));
        throw error;
      }
    }
  }

  async #writeCounts(counts: readonly PendingCount[]): Promise<void> {
    const keys = [...new Set(counts.map((count) => count.circuitKey))];
    const circuits = await this.#loadOrInsert(keys);
    const windowStartMs = Date.now() - this.#rules.windowMs;
    const current = counts.filter((count) => {
      const circuit = circuits.get(count.circuitKey);
      if (circuit === undefined || count.secondMs < windowStartMs) return false;
      return countsNow(circuit, circuit.changedAtMs, count);
    });
    // Epoch 0 ("no transition seen") is booked under the epoch it counts for.
    const rows = mergeEpochs(current, circuits);
    if (rows.length === 0) return;
    await store.addOutcomes(this.#sql, this.#writer, rows);
    await this.#writeSuccesses(rows, circuits);
    await store.touchCircuits(this.#sql, keys);
    const suspects = this.#suspects(rows);
    if (suspects.length === 0) return;
    const windows = await store.windowCounts(this.#sql, suspects, this.#rules.windowMs);
    for (const [key, orgs] of windows) if (tripDue(orgs, this.#rules)) await this.#trip(key);
  }

  /** A custom provider's circuit has one organization, and nobody to have a say over. */
  async #writeSuccesses(
    rows: readonly store.OutcomeCount[],
    circuits: ReadonlyMap<string, store.CircuitRow>,
  ): Promise<void> {
    const fresh = new Map<string, Success>();
    for (const { circuitKey, orgId, requests, failures } of rows) {
      const name = `${circuitKey}\n${orgId}`;
      if (requests === failures || circuits.get(circuitKey)!.orgId !== null || this.#succeeded.has(name)) continue;
      fresh.set(name, { circuitKey, orgId });
    }
    if (fresh.size === 0) return;
    await writeSuccesses(this.#sql, [...fresh.values()]);
    for (const name of fresh.keys()) this.#succeeded.set(name, true);
  }

  /**
   * Circuits whose window is worth a look: the newest outcomes are bad (a window's rate rises above a rate by outcomes
   * above it), or there was some failure and the last look is a while ago.
   */
  #suspects(rows: readonly store.OutcomeCount[]): readonly string[] {
    const sums = new Map<string, OrgCount>();
    for (const row of rows) sums.set(row.circuitKey, sumOf([row, sums.get(row.circuitKey) ?? NO_REQUESTS]));
    const nowMs = performance.now();
    const suspects: string[] = [];
    for (const [key, sum] of sums) {
      const quiet = nowMs - (this.#checkedAtMs.get(key) ?? Number.NEGATIVE_INFINITY) < CHECK_MS;
      if (sum.failures === 0 || (quiet && rateOf(sum) < this.#rules.errorRate / 2)) continue;
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

  /** Counts again under the row's lock: another control plane may have been faster. */
  async #trip(key: string): Promise<void> {
    await this.#sql.begin(async (tx) => {
      const circuit = await store.lockCircuit(tx, key);
      if (circuit === null) return;
      const counts = (await store.windowCounts(tx, [key], this.#rules.windowMs)).get(key) ?? [];
      await this.#apply(tx, circuit, { kind: 'counts', counts });
    });
  }

  /** `onlyLeased`: a result whose lease is gone was counted before, or came an hour late. */
  async #end(probe: ProbeOutcome, onlyLeased: boolean): Promise<void> {
    await this.#sql.begin(async (tx) => {
      const circuit = await store.lockCircuit(tx, probe.circuitKey);
      const { count } = await tx`
        delete from circuit_probes where lease = ${probe.lease} and circuit_key = ${probe.circuitKey}`;
      if (circuit === null || probe.good === null || (onlyLeased && count === 0)) return;
      await this.#apply(tx, circuit, { kind: 'probe', epoch: probe.epoch, good: probe.good });
    });
  }

  async #move(key: string, input: CircuitInput): Promise<void> {
    await this.#sql.begin(async (tx) => {
      const circuit = await store.lockCircuit(tx, key);
      if (circuit !== null) await this.#apply(tx, circuit, input);
    });
  }

  async #apply(tx: Tx, circuit: store.CircuitRow, input: CircuitInput): Promise<void> {
    const next = decide(circuit, input, circuit.nowMs, this.#rules);
    if (next === circuit) return;
    if (next.state === circuit.state) {
      await store.writeProbesGood(tx, circuit.circuitKey, next.probesGood);
      return;
    }
    const reason = next.state !== 'OPEN' ? null : input.kind === 'probe' ? 'probe_failed' : 'error_rate';
    await store.writeCircuit(tx, circuit.circuitKey, next, reason);
    if (input.kind === 'counts') await this.#announce(tx, circuit, 'OPEN', sumOf(input.counts));
    // A failed probe opens the circuit again, but that is the outage already told of.
    if (next.state === 'CLOSED') {
      await this.#announce(tx, circuit, 'CLOSED', { requests: this.#rules.probes, failures: 0 });
    }
    this.#log.info({ circuit: circuit.circuitKey, state: next.state, epoch: next.epoch }, 'circuit changed');
  }

  async #announce(tx: Tx, circuit: store.CircuitRow, state: 'OPEN' | 'CLOSED', seen: OrgCount): Promise<void> {
    const orgIds = await store.organizationsOn(tx, circuit, this.#hasOneOrigin(circuit.providerSlug));
    const event = state === 'OPEN' ? 'provider.circuit_opened' : 'provider.circuit_closed';
    await appendEvents(tx, orgIds, event, {
      providerSlug: circuit.providerSlug,
      state,
      errorRate: Math.round(rateOf(seen) * 1_000) / 10,
      requests: seen.requests,
      windowSeconds: this.#rules.windowMs / 1_000,
    });
  }
}

function mergeEpochs(
  counts: readonly PendingCount[],
  circuits: ReadonlyMap<string, store.CircuitRow>,
): readonly store.OutcomeCount[] {
  const merged = new Map<string, store.OutcomeCount>();
  for (const { circuitKey, orgId, secondMs, requests, failures } of counts) {
    const epoch = circuits.get(circuitKey)!.epoch;
    const name = `${circuitKey}\n${orgId}\n${secondMs}`;
    const before = merged.get(name);
    merged.set(name, {
      circuitKey,
      epoch,
      orgId,
      secondMs,
      requests: requests + (before?.requests ?? 0),
      failures: failures + (before?.failures ?? 0),
    });
  }
  return [...merged.values()];
}
