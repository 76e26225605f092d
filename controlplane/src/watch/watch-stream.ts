/**
 * One data plane's stream of events. Writes as fast as the other side reads; what it does not read waits here, up to a
 * bound. A watcher beyond it is cut: it connects again and is replayed what it missed.
 */
import type { IWatchEvent } from '@acg/proto/messages';

/** The server's end of a Watch call. */
export interface EventSink {
  /** False: wait for `onDrain` before the next one. */
  write(event: IWatchEvent): boolean;
  onDrain(listener: () => void): void;
  /** Ends the call with that reason. */
  end(reason: EndReason): void;
}

export type EndReason = 'too_slow' | 'replaced' | 'shutting_down' | 'history_lost';

export const WATCHER_QUEUE_MAX = 10_000;

export class WatchStream {
  readonly #queue: IWatchEvent[] = [];
  #isBlocked = false;
  #ended = false;
  /** Until the greeting is complete, live events wait; those that it already covers are left out. */
  #coveredRevision: number | null = null;

  constructor(
    readonly dataPlaneId: string,
    readonly connectionId: string,
    readonly sink: EventSink,
  ) {
    sink.onDrain(() => this.#flush());
  }

  get isEnded(): boolean {
    return this.#ended;
  }

  /** Hello and what is replayed; live events follow from `coveredRevision` on. */
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

  /** The other side went away. */
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
