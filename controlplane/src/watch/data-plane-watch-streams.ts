/**
 * All data planes that watch this control-plane instance. A heartbeat means that the data plane has received every
 * invalidation up to now, so it is sent only after the invalidations were read. Without the database there are no
 * heartbeats, and data planes serve stale contexts (docs/contract.md#contexts).
 */

import { randomUUID } from 'node:crypto';
import type { Logger } from '@acg/base/log';
import { HOUR_MS } from '@acg/base/time-and-money-units';
import {
  type ICircuitState,
  InvalidationKind,
  type IPriceBook,
  type IWatchEvent,
  LayoutStage,
} from '@acg/proto/messages';
import type { Sql } from '../db/postgres-client.js';
import { BackgroundTasks } from '../ops/background-tasks.js';
import { advanceCounterLayout, PRESENT_LAYOUT } from './counter-layout.js';
import { refreshRegistrations, registerDataPlane, unregisterDataPlane } from './data-plane-registrations.js';
import { listRetiring } from './former-credential-use.js';
import {
  deleteOldInvalidations,
  type HistoryLossReason,
  InvalidationFeed,
  type InvalidationRow,
} from './invalidation-feed.js';
import { type EndReason, type EventSink, WatchStream } from './watch-stream.js';

/** State sent to a data plane when it connects, besides the invalidations. */
export interface InitialState {
  /** Every circuit that is not CLOSED. */
  circuits(): Promise<readonly ICircuitState[]>;
  /** The operator's prices in force. */
  prices(): IPriceBook;
  /** Slugs that exist for every organization. */
  readonly builtInProviders: readonly string[];
}

export interface WatchRequestIdentity {
  readonly dataPlaneId: string;
  /** Name of its own identity; '' with the shared INTERNAL_TOKEN. */
  readonly identity: string;
  readonly counters: 'memory' | 'redis';
  /** Newest layout of keys in the counter store that it writes; see counter-layout.ts. */
  readonly counterLayout: number;
  readonly version: string;
  /** Last revision that the data plane has applied; 0: none. */
  readonly lastRevision: number;
  /** Random mark of that revision; '': a data plane of an earlier release. */
  readonly lastMark: string;
}

const HEARTBEAT_MS = 2_000;
const INVALIDATIONS_KEPT_MS = HOUR_MS;
const PRUNE_EVERY_BEATS = 150;

const KINDS = {
  key: InvalidationKind.KEY,
  agent: InvalidationKind.AGENT,
  provider: InvalidationKind.PROVIDER,
  org: InvalidationKind.ORG,
  project: InvalidationKind.PROJECT,
  account: InvalidationKind.ACCOUNT,
} as const;

export class DataPlaneWatchStreams {
  readonly controlPlaneId = randomUUID();
  readonly #sql: Sql;
  readonly #log: Logger;
  readonly #initialState: InitialState;
  readonly #feed: InvalidationFeed;
  readonly #watchers = new Set<WatchStream>();
  readonly #background: BackgroundTasks;
  readonly #onHistoryLost: (reason: HistoryLossReason) => void;
  #beats = 0;
  /** Time of this machine minus the database's, ms: data planes compare their clocks with the database's. */
  #clockOffsetMs = 0;
  #lastReadMs = performance.now();
  #stopped = false;

  /** `onHistoryLost` is called after all streams were reset, with the reason. */
  constructor(sql: Sql, log: Logger, initialState: InitialState, onHistoryLost: (reason: HistoryLossReason) => void) {
    this.#sql = sql;
    this.#log = log;
    this.#background = new BackgroundTasks(log);
    this.#initialState = initialState;
    this.#onHistoryLost = onHistoryLost;
    this.#feed = new InvalidationFeed(sql, log, {
      onRows: (rows) => {
        for (const row of rows) this.broadcast(toWatchEvent(row));
      },
      onHistoryLost: (reason) => this.#resetAll(reason),
    });
  }

  /** Number of connected data planes, for metrics. */
  get size(): number {
    return this.#watchers.size;
  }

  /** Newest revision that was read, for metrics. */
  get revision(): number {
    return this.#feed.lastRevision;
  }

  /** Time since the invalidations were last read, ms, for metrics. Without reads no revocation is pushed. */
  get msSinceRead(): number {
    return performance.now() - this.#lastReadMs;
  }

  /** Time of this machine minus the database's, ms. */
  get clockOffsetMs(): number {
    return this.#clockOffsetMs;
  }

  async start(): Promise<void> {
    await this.#feed.start();
    await this.#compareClocks();
    this.#background.runEvery('heartbeat', HEARTBEAT_MS, () => this.#sendHeartbeat());
  }

  /** Ends every watch stream; the data planes reconnect to another instance. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const stopped = this.#background.stop();
    const all = [...this.#watchers];
    this.#watchers.clear();
    for (const watcher of all) watcher.end('shutting_down');
    await Promise.allSettled(all.map((watcher) => unregisterDataPlane(this.#sql, watcher.connectionId)));
    await stopped;
    await this.#feed.stop();
  }

  /**
   * Registers a data plane and sends the initial state. Throws {@link CountersNotSharedError}, {@link
   * DataPlaneIdTakenError} or a database error; the caller then ends the call. Afterwards the hub ends the call through `sink`. When the client leaves, call {@link
   * removeWatcher}.
   */
  async addWatcher(identity: WatchRequestIdentity, sink: EventSink): Promise<WatchStream> {
    const { dataPlaneId, identity: name, counters, counterLayout, version } = identity;
    const connectionId = randomUUID();
    const { controlPlaneId } = this;
    await registerDataPlane(this.#sql, {
      ...{ id: dataPlaneId, identity: name, counters, counterLayout, version },
      ...{ controlPlaneId, connectionId },
    });
    for (const other of this.#watchers) if (other.dataPlaneId === dataPlaneId) this.#endWatcher(other, 'replaced');
    const watcher = new WatchStream(dataPlaneId, connectionId, sink, name);
    this.#watchers.add(watcher); // added before anything is read, so that no event is lost between initial state and live events
    try {
      await this.#sendInitialState(watcher, identity);
    } catch (error) {
      this.removeWatcher(watcher);
      throw error;
    }
    if (this.#stopped) this.#endWatcher(watcher, 'shutting_down');
    return watcher;
  }

  removeWatcher(watcher: WatchStream): void {
    watcher.markClosed();
    this.#watchers.delete(watcher);
    void unregisterDataPlane(this.#sql, watcher.connectionId).catch((error: unknown) => {
      // The registration expires a few seconds later.
      this.#log.warn({ err: error, dataPlaneId: watcher.dataPlaneId }, 'data plane could not be unregistered');
    });
  }

  /** Ends the streams of these identities: they were revoked. */
  endIdentities(names: ReadonlySet<string>): void {
    for (const watcher of [...this.#watchers]) if (names.has(watcher.identity)) this.#endWatcher(watcher, 'revoked');
  }

  /** Sends the event to every data plane of this instance. */
  broadcast(event: IWatchEvent): void {
    for (const watcher of this.#watchers) {
      watcher.send(event);
      if (watcher.isEnded) this.#watchers.delete(watcher);
    }
  }

  /** Ends all streams. Each data plane reconnects with a revision that the database lacks, and its cache is reset. */
  #resetAll(reason: HistoryLossReason): void {
    for (const watcher of [...this.#watchers]) this.#endWatcher(watcher, 'history_lost');
    this.#onHistoryLost(reason);
  }

  async #sendInitialState(
    watcher: WatchStream,
    { dataPlaneId, counters, counterLayout: writtenLayout, lastRevision, lastMark }: WatchRequestIdentity,
  ): Promise<void> {
    await this.#feed.read();
    const counterLayout = await advanceCounterLayout(this.#sql);
    if (counterLayout.stage === LayoutStage.NEW && counters === 'redis' && writtenLayout < PRESENT_LAYOUT)
      this.#log.warn(
        { dataPlaneId },
        'This data plane is of the previous release and counts spend apart from the others. Replace it.',
      );
    const { lastRevision: revision, lastMark: revisionMark } = this.#feed;
    const missed = lastRevision === 0 ? [] : await this.#feed.replay(lastRevision, lastMark, revision);
    const hello: IWatchEvent = {
      revision,
      revisionMark,
      hello: {
        controlPlaneId: this.controlPlaneId,
        reset: missed === null,
        circuits: [...(await this.#initialState.circuits())],
        prices: this.#initialState.prices(),
        heartbeatMs: HEARTBEAT_MS,
        builtInProviders: [...this.#initialState.builtInProviders],
        databaseTimeMs: this.#databaseTimeMs(),
        counterLayout,
      },
    };
    watcher.sendInitialEvents([hello, ...(missed ?? []).map(toWatchEvent)], revision);
  }

  async #sendHeartbeat(): Promise<void> {
    try {
      // Read before the invalidations: the data planes have then dropped the contexts of each of them.
      const retiring = await listRetiring(this.#sql);
      await this.#feed.read();
      this.#lastReadMs = performance.now();
      await this.#compareClocks();
      const counterLayout = await advanceCounterLayout(this.#sql);
      this.broadcast({ heartbeat: { databaseTimeMs: this.#databaseTimeMs(), counterLayout, retiring } });
      await this.#endReplacedWatchers();
      if (++this.#beats % PRUNE_EVERY_BEATS === 0) await deleteOldInvalidations(this.#sql, INVALIDATIONS_KEPT_MS);
    } catch (error) {
      this.#log.debug({ err: error }, 'heartbeat not sent'); // the feed has logged the cause
    }
  }

  #databaseTimeMs(): number {
    return Math.round(Date.now() - this.#clockOffsetMs);
  }

  /** The database's clock is the reference: the ledger decides by it what belongs to the future. */
  async #compareClocks(): Promise<void> {
    const beforeMs = Date.now();
    const [row] = await this.#sql<{ ms: number }[]>`
      select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms`;
    this.#clockOffsetMs = (beforeMs + Date.now()) / 2 - row!.ms;
  }

  async #endReplacedWatchers(): Promise<void> {
    const before = [...this.#watchers];
    if (before.length === 0) return;
    const current = await refreshRegistrations(
      this.#sql,
      before.map((watcher) => watcher.connectionId),
    );
    for (const watcher of before) if (!current.has(watcher.connectionId)) this.#endWatcher(watcher, 'replaced');
  }

  #endWatcher(watcher: WatchStream, reason: Exclude<EndReason, 'too_slow'>): void {
    this.#watchers.delete(watcher);
    watcher.end(reason);
  }
}

const toWatchEvent = ({ revision, mark, kind, id, endsSessions, compromised }: InvalidationRow): IWatchEvent => ({
  revision,
  revisionMark: mark,
  invalidation: { kind: KINDS[kind], id, endsSessions, ...(compromised === null ? {} : { compromised }) },
});
