import type { IWatchEvent } from '@acg/proto/messages';
import { expect, test } from 'vitest';
import { type EndReason, type EventSink, WATCHER_QUEUE_MAX, WatchStream } from './watch-stream.js';

/** A call whose other side reads only when told to. */
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

function greeted(): { sink: Sink; watcher: WatchStream } {
  const sink = new Sink();
  const watcher = new WatchStream('plane', 'connection', sink);
  watcher.sendInitialEvents([hello(0)], 0);
  return { sink, watcher };
}

test('watcher: what happens while the greeting is prepared follows it, once and in order', () => {
  const sink = new Sink();
  const watcher = new WatchStream('plane', 'connection', sink);
  for (const revision of [4, 5, 6]) watcher.send(change(revision));
  expect(sink.written).toEqual([]);
  watcher.sendInitialEvents([hello(5), change(4), change(5)], 5); // replayed up to 5
  watcher.send(change(7));
  watcher.send({ heartbeat: {} });
  expect(revisions(sink)).toEqual([5, 4, 5, 6, 7, 0]);
});

test('watcher: a reader that pauses loses nothing and keeps the order', () => {
  const { sink, watcher } = greeted();
  sink.reads = false;
  for (let revision = 1; revision <= 100; revision++) watcher.send(change(revision));
  expect(sink.written).toHaveLength(2); // the one that filled the buffer was still taken
  sink.drain(); // room for one
  sink.reads = true;
  sink.drain();
  watcher.send(change(101));
  expect(revisions(sink)).toEqual(Array.from({ length: 102 }, (_, n) => n));
});

test('watcher: one that does not read is cut at the bound, once, and holds nothing afterwards', () => {
  const { sink, watcher } = greeted();
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
