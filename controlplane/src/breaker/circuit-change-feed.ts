/**
 * Every change of a circuit, from whichever control plane made it, for the watch streams of this one's data planes.
 * NOTIFY brings it at once; a re-read at a steady pace brings what a broken connection lost.
 */

import type { Logger } from '@acg/base/log';
import { noop } from '@acg/base/noop';
import { DAY_MS } from '@acg/base/units';
import { LRUCache } from 'lru-cache';
import type { Sql } from '../db/sql.js';
import { BackgroundTasks } from '../ops/background-tasks.js';
import { CIRCUIT_CHANNEL, type CircuitNotice } from './circuit-store.js';

const POLL_MS = 2_000;
/** A re-read looks this much further back than the last that succeeded: changes commit later than their time says. */
const REREAD_OVERLAP_S = 30;
const CIRCUITS_MAX = 50_000;
/** A circuit that closed so long ago may be deleted and begin anew at its first epoch: see `pruneCircuits`. */
const CLOSED_MEMORY_MS = DAY_MS;

export class CircuitChangeFeed {
  readonly #sql: Sql;
  readonly #log: Logger;
  /** Called once per transition seen, in the order of epochs. Set before the start. */
  onChange: (circuit: CircuitNotice) => void = () => {};
  /** The newest state seen of each circuit that ever left CLOSED. */
  readonly #latest = new LRUCache<string, CircuitNotice>({ max: CIRCUITS_MAX });
  /** When the last re-read that succeeded began, epoch ms: an outage of any length loses nothing. */
  #readAtMs = Date.now();
  readonly #background: BackgroundTasks;
  #unlisten: (() => Promise<void>) | null = null;

  constructor(sql: Sql, log: Logger) {
    this.#sql = sql;
    this.#log = log;
    this.#background = new BackgroundTasks(log);
  }

  async start(): Promise<void> {
    const heard = (payload: string) => this.#apply(JSON.parse(payload) as CircuitNotice);
    const read = () => this.#reread().catch((error: unknown) => this.#log.warn({ err: error }, 'circuits not read'));
    this.#unlisten = (await this.#sql.listen(CIRCUIT_CHANNEL, heard, () => void read())).unlisten;
    for (const circuit of await loadNotClosed(this.#sql)) this.#apply(circuit);
    this.#background.runEvery('circuits', POLL_MS, read);
  }

  async stop(): Promise<void> {
    await this.#unlisten?.().catch(noop);
    await this.#background.stop();
  }

  /** What a data plane must know that connects now; every other circuit is CLOSED and not held so. */
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

/** All circuits that are not CLOSED, or held so by an operator, newest change first. */
function loadNotClosed(sql: Sql): Promise<CircuitNotice[]> {
  return sql<CircuitNotice[]>`
    select circuit_key as "circuitKey", state, epoch,
           coalesce(floor(extract(epoch from open_until) * 1000), 0)::float8 as "openUntilMs"
      from circuits where state <> 'CLOSED' or open_until > now() order by changed_at desc limit ${CIRCUITS_MAX}`;
}
