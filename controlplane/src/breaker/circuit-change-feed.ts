/**
 * Delivers every change of a breaker, made by any control plane, to the watch streams of this one's data planes. NOTIFY
 * delivers a change at once. A poll every {@link POLL_MS} finds changes that were lost with a broken connection.
 */

import type { Logger } from '@acg/base/log';
import { noop } from '@acg/base/noop';
import { DAY_MS } from '@acg/base/time-and-money-units';
import { LRUCache } from 'lru-cache';
import type { Sql } from '../db/postgres-client.js';
import { BackgroundTasks } from '../ops/background-tasks.js';
import { CIRCUIT_CHANNEL, type CircuitNotice } from './circuit-store.js';

const POLL_MS = 2_000;
/**
 * A poll reads this much further back than the start of the last successful one: changes commit later than their
 * timestamp.
 */
const REREAD_OVERLAP_S = 30;
const CIRCUITS_MAX = 50_000;
/** A closed circuit may be pruned after this time and start again at epoch 1: see `pruneCircuits`. */
const CLOSED_MEMORY_MS = DAY_MS;

export class CircuitChangeFeed {
  readonly #sql: Sql;
  readonly #log: Logger;
  /** Called once per observed transition, in order of epochs. Set it before the start. */
  onChange: (circuit: CircuitNotice) => void = () => {};
  /** The newest observed state of each circuit that ever left CLOSED. */
  readonly #latest = new LRUCache<string, CircuitNotice>({ max: CIRCUITS_MAX });
  /** Start of the last successful poll, Unix ms; so an outage of any length loses nothing. */
  #readAtMs = Date.now();
  readonly #background: BackgroundTasks;
  #unlisten: (() => Promise<void>) | null = null;

  constructor(sql: Sql, log: Logger) {
    this.#sql = sql;
    this.#log = log;
    this.#background = new BackgroundTasks(log);
  }

  async start(): Promise<void> {
    const onNotify = (payload: string) => this.#apply(JSON.parse(payload) as CircuitNotice);
    const poll = () =>
      this.#reread().catch((error: unknown) =>
        this.#log.warn({ err: error }, 'circuit changes cannot be read; retrying'),
      );
    this.#unlisten = (await this.#sql.listen(CIRCUIT_CHANNEL, onNotify, () => void poll())).unlisten;
    for (const circuit of await loadNotClosed(this.#sql)) this.#apply(circuit);
    this.#background.runEvery('circuits', POLL_MS, poll);
  }

  async stop(): Promise<void> {
    await this.#unlisten?.().catch(noop);
    await this.#background.stop();
  }

  /** The circuits that a newly connected data plane must know; all others are CLOSED and not held closed. */
  listNotClosed(): readonly CircuitNotice[] {
    return [...this.#latest.values()].filter(
      ({ state, openUntilMs }) => state !== 'CLOSED' || openUntilMs > Date.now(),
    );
  }

  #apply(circuit: CircuitNotice): void {
    const known = this.#latest.get(circuit.circuitKey);
    if (known !== undefined && known.epoch >= circuit.epoch) return;
    this.#latest.set(circuit.circuitKey, circuit, circuit.state === 'CLOSED' ? { ttl: CLOSED_MEMORY_MS } : {});
    this.onChange(circuit);
  }

  async #reread(): Promise<void> {
    const startedAtMs = Date.now();
    const backS = Math.max(0, startedAtMs - this.#readAtMs) / 1_000 + REREAD_OVERLAP_S;
    const rows = await this.#sql<CircuitNotice[]>`
      select circuit_key as "circuitKey", state, epoch,
             coalesce(floor(extract(epoch from open_until) * 1000), 0)::float8 as "openUntilMs"
        from circuits
       where changed_at > now() - ${backS}::float8 * interval '1 second' and epoch > 1
       order by changed_at limit ${CIRCUITS_MAX}`;
    for (const circuit of rows) this.#apply(circuit);
    this.#readAtMs = Math.max(this.#readAtMs, startedAtMs);
  }
}

/** All circuits that are not CLOSED or that an operator holds closed, newest change first. */
function loadNotClosed(sql: Sql): Promise<CircuitNotice[]> {
  return sql<CircuitNotice[]>`
    select circuit_key as "circuitKey", state, epoch,
           coalesce(floor(extract(epoch from open_until) * 1000), 0)::float8 as "openUntilMs"
      from circuits where state <> 'CLOSED' or open_until > now() order by changed_at desc limit ${CIRCUITS_MAX}`;
}
