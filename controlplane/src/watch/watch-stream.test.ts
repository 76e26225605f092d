import type { IWatchEvent } from '@acg/proto/messages';
import { expect, test } from 'vitest';
import { type EndReason, type EventSink, WATCHER_QUEUE_MAX, WatchStream } from './watch-stream.js';

/** A sink whose client reads only when the test allows it. */
class Sink implements EventSink {
  readonly written: IWatchEvent[] = [];
  readonly ends: EndReason[] = [];
  reads = true;
  #drain: () => void = () => undefined;
  write(event: IWatchEvent): boolean {
    this.written.push(event);
    return this.reads;
  }
  onDrain(listener: () => void): void {
    this.#drain = listener;
  }
  end(reason: EndReason): void {
    this.ends.push(reason);
  }
  drain(): void {
    this.#drain();
  }
}

const change = (revision: number): IWatchEvent => ({ revision, invalidation: { kind: 1, id: `key-${revision}` } });
const hello = (revision: number): IWatchEvent => ({ revision, hello: {} });
const revisions = (sink: Sink) => sink.written.map((event) => event.revision ?? 0);

function createStartedStream(): { sink: Sink; watcher: WatchStream } {
  const sink = new Sink();
  const watcher = new WatchStream('plane', 'connection', sink);
  watcher.sendInitialEvents([hello(0)], 0);
  return { sink, watcher };
}

test('watch stream: live events during the preparation of the initial state follow it once and in order', () => {
  const sink = new Sink();
  const watcher = new WatchStream('plane', 'connection', sink);
  for (const revision of [4, 5, 6]) watcher.send(change(revision));
  expect(sink.written).toEqual([]);
  watcher.sendInitialEvents([hello(5), change(4), change(5)], 5); // replayed up to 5
  watcher.send(change(7));
  watcher.send({ heartbeat: {} });
  expect(revisions(sink)).toEqual([5, 4, 5, 6, 7, 0]);
});

test('watch stream: a reader that pauses loses nothing and keeps the order', () => {
  const { sink, watcher } = createStartedStream();
  sink.reads = false;
  for (let revision = 1; revision <= 100; revision++) watcher.send(change(revision));
  expect(sink.written).toHaveLength(2); // the event that filled the buffer was still written
  sink.drain(); // writes one queued event
  sink.reads = true;
  sink.drain();
  watcher.send(change(101));
  expect(revisions(sink)).toEqual(Array.from({ length: 102 }, (_, n) => n));
});

test('watch stream: a client that does not read is ended once at the queue limit, and the queue is cleared', () => {
  const { sink, watcher } = createStartedStream();
  sink.reads = false;
  for (let n = 0; n < WATCHER_QUEUE_MAX + 10; n++) watcher.send(change(n + 1));
  expect(sink.ends).toEqual(['too_slow']);
  expect(watcher.isEnded).toBe(true);
  sink.reads = true;
  sink.drain();
  watcher.end('shutting_down');
  expect(sink.written).toHaveLength(2);
  expect(sink.ends).toEqual(['too_slow']);
});
