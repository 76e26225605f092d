/**
 * All data planes that watch this control-plane instance. A heartbeat says "you have heard everything up to now", so
 * it is sent only after the invalidations were read successfully: without the database there are no heartbeats, and
 * data planes go over to serving stale contexts (docs/contract.md#contexts).
 */

import { randomUUID } from 'node:crypto';
import type { Logger } from '@acg/base/log';
import { HOUR_MS } from '@acg/base/units';
import { type ICircuitState, InvalidationKind, type IPriceBook, type IWatchEvent } from '@acg/proto/messages';
import type { Sql } from '../db/sql.js';
import { BackgroundTasks } from '../ops/background-tasks.js';
import { refreshRegistrations, registerDataPlane, unregisterDataPlane } from './data-plane-registrations.js';
import {
  deleteOldInvalidations,
  type HistoryLossReason,
  InvalidationFeed,
  type InvalidationRow,
} from './invalidation-feed.js';
import { type EndReason, type EventSink, WatchStream } from './watch-stream.js';

/** What a data plane is told beside the invalidations. */
export interface InitialState {
  /** Every circuit that is not CLOSED. */
  circuits(): Promise<readonly ICircuitState[]>;
  /** The operator's prices in force. */
  prices(): IPriceBook;
}

export interface WatchRequestIdentity {
  readonly dataPlaneId: string;
  readonly counters: 'memory' | 'redis';
  readonly version: string;
  /** What the data plane has seen; 0 = nothing. */
  readonly lastRevision: number;
  /** Random mark of that revision; '' = a data plane of the release before. */
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

export class WatchHub {
  readonly controlPlaneId = randomUUID();
  readonly #sql: Sql;
  readonly #log: Logger;
  readonly #initialState: InitialState;
  readonly #feed: InvalidationFeed;
  readonly #watchers = new Set<WatchStream>();
  readonly #background: BackgroundTasks;
  readonly #onHistoryLost: (reason: HistoryLossReason) => void;
  #beats = 0;
  #stopped = false;

  /** `onLost` hears that all streams were reset, and why. */
  constructor(sql: Sql, log: Logger, greeting: InitialState, onLost: (reason: HistoryLossReason) => void) {
    this.#sql = sql;
    this.#log = log;
    this.#background = new BackgroundTasks(log);
    this.#initialState = greeting;
    this.#onHistoryLost = onLost;
    this.#feed = new InvalidationFeed(sql, log, {
      onRows: (rows) => {
        for (const row of rows) this.broadcast(toWatchEvent(row));
      },
      onHistoryLost: (reason) => this.#resetAll(reason),
    });
  }

  /** Connected data planes, for metrics. */
  get size(): number {
    return this.#watchers.size;
  }

  async start(): Promise<void> {
    await this.#feed.start();
    this.#background.runEvery('heartbeat', HEARTBEAT_MS, () => this.#sendHeartbeat());
  }

  /** Ends every watch; the data planes go to another instance. */
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
   * Registers a data plane and greets it. Throws `CountersNotShared`, or what the database throws; then the caller ends
   * the call. Afterwards the hub ends it through `sink`; when the other side leaves, call {@link removeWatcher}.
   */
  async addWatcher(identity: WatchRequestIdentity, sink: EventSink): Promise<WatchStream> {
    const { dataPlaneId, counters, version, lastRevision, lastMark } = identity;
    const connectionId = randomUUID();
    const { controlPlaneId } = this;
    await registerDataPlane(this.#sql, { id: dataPlaneId, counters, version, controlPlaneId, connectionId });
    for (const other of this.#watchers) if (other.dataPlaneId === dataPlaneId) this.#endWatcher(other, 'replaced');
    const watcher = new WatchStream(dataPlaneId, connectionId, sink);
    this.#watchers.add(watcher); // before anything is read, so that nothing falls between greeting and live events
    try {
      await this.#sendInitialState(watcher, lastRevision, lastMark);
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
      // It counts as gone a few seconds later by itself.
      this.#log.warn({ err: error, dataPlaneId: watcher.dataPlaneId }, 'data plane not unregistered');
    });
  }

  /** To every data plane of this instance. */
  broadcast(event: IWatchEvent): void {
    for (const watcher of this.#watchers) {
      watcher.send(event);
      if (watcher.isEnded) this.#watchers.delete(watcher);
    }
  }

  /** Ends all streams. Each data plane reconnects with a revision that the database lacks, so the control plane resets its cache. */
  #resetAll(reason: HistoryLossReason): void {
    for (const watcher of [...this.#watchers]) this.#endWatcher(watcher, 'history_lost');
    this.#onHistoryLost(reason);
  }

  async #sendInitialState(watcher: WatchStream, lastRevision: number, lastMark: string): Promise<void> {
    await this.#feed.read();
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
      },
    };
    watcher.sendInitialEvents([hello, ...(missed ?? []).map(toWatchEvent)], revision);
  }

  async #sendHeartbeat(): Promise<void> {
    try {
      await this.#feed.read();
      this.broadcast({ heartbeat: {} });
      await this.#endReplacedWatchers();
      if (++this.#beats % PRUNE_EVERY_BEATS === 0) await deleteOldInvalidations(this.#sql, INVALIDATIONS_KEPT_MS);
    } catch (error) {
      this.#log.debug({ err: error }, 'heartbeat not sent'); // the feed has said why
    }
  }

  async #endReplacedWatchers(): Promise<void> {
    const before = [...this.#watchers];
    if (before.length === 0) return;
    const held = await refreshRegistrations(
      this.#sql,
      before.map((watcher) => watcher.connectionId),
    );
    for (const watcher of before) if (!held.has(watcher.connectionId)) this.#endWatcher(watcher, 'replaced');
  }

  #endWatcher(watcher: WatchStream, reason: Exclude<EndReason, 'too_slow'>): void {
    this.#watchers.delete(watcher);
    watcher.end(reason);
  }
}

const toWatchEvent = ({ revision, mark, kind, id, endsSessions }: InvalidationRow): IWatchEvent => ({
  revision,
  revisionMark: mark,
  invalidation: { kind: KINDS[kind], id, endsSessions },
});
