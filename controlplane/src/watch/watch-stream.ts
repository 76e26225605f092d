/**
 * The event stream of one data plane. Events that the client has not read wait in a bounded queue. A client that
 * exceeds the bound is disconnected; it reconnects and the missed events are replayed.
 */
import type { IWatchEvent } from '@acg/proto/messages';

/** The server side of a Watch call. */
export interface EventSink {
  /** False: wait for `onDrain` before the next write. */
  write(event: IWatchEvent): boolean;
  onDrain(listener: () => void): void;
  /** Ends the call with this reason. */
  end(reason: EndReason): void;
}

export type EndReason = 'too_slow' | 'replaced' | 'shutting_down' | 'history_lost' | 'revoked';

export const WATCHER_QUEUE_MAX = 10_000;

export class WatchStream {
  readonly #queue: IWatchEvent[] = [];
  #isBlocked = false;
  #ended = false;
  /**
   * Revision covered by the initial events; null until they were sent. Live events wait until then, and those covered
   * are dropped.
   */
  #coveredRevision: number | null = null;

  constructor(
    readonly dataPlaneId: string,
    readonly connectionId: string,
    readonly sink: EventSink,
    /** Name of the data plane's own identity; '' with the shared INTERNAL_TOKEN. */
    readonly identity = '',
  ) {
    sink.onDrain(() => this.#flush());
  }

  get isEnded(): boolean {
    return this.#ended;
  }

  /** Sends the hello and the replayed events. Live events after `coveredRevision` follow. */
  sendInitialEvents(events: readonly IWatchEvent[], coveredRevision: number): void {
    const live = this.#queue.splice(0);
    this.#coveredRevision = coveredRevision;
    for (const event of events) this.#push(event);
    for (const event of live) this.send(event);
  }

  send(event: IWatchEvent): void {
    if (this.#coveredRevision === null) this.#enqueue(event);
    else if (!event.invalidation || event.revision! > this.#coveredRevision) this.#push(event);
  }

  end(reason: EndReason): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#queue.length = 0;
    this.sink.end(reason);
  }

  /** The client has disconnected. */
  markClosed(): void {
    this.#ended = true;
    this.#queue.length = 0;
  }

  #push(event: IWatchEvent): void {
    if (this.#ended) return;
    if (this.#isBlocked) this.#enqueue(event);
    else this.#isBlocked = !this.sink.write(event);
  }

  #enqueue(event: IWatchEvent): void {
    if (this.#ended) return;
    if (this.#queue.length >= WATCHER_QUEUE_MAX) this.end('too_slow');
    else this.#queue.push(event);
  }

  #flush(): void {
    this.#isBlocked = false;
    let sent = 0;
    while (sent < this.#queue.length && !this.#isBlocked && !this.#ended) {
      this.#isBlocked = !this.sink.write(this.#queue[sent++]!);
    }
    this.#queue.splice(0, sent);
  }
}
