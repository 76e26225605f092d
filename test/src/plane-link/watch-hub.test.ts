/** What a control-plane instance sends to the connected data planes, and when it closes a stream. */
import { randomUUID } from 'node:crypto';
import { createLogger } from '@acg/base/log';
import { DataPlaneWatchStreams } from '@acg/controlplane/watch/data-plane-watch-streams';
import { deleteOldInvalidations } from '@acg/controlplane/watch/invalidation-feed';
import { publishInvalidations } from '@acg/controlplane/watch/publish-invalidations';
import type { EndReason, EventSink } from '@acg/controlplane/watch/watch-stream';
import type { IWatchEvent } from '@acg/proto/messages';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { useTestDatabase } from '../fixtures/test-database.js';
import { waitUntil } from '../fixtures/wait-until.js';

const database = useTestDatabase();
const sql = () => database().sql;
const lines: string[] = [];
const hubs: DataPlaneWatchStreams[] = [];

beforeEach(async () => {
  lines.length = 0;
  await sql()`delete from data_planes`;
});
afterEach(() => Promise.all(hubs.splice(0).map((hub) => hub.stop())));

function newHub(): DataPlaneWatchStreams {
  const log = createLogger('control', 'debug', (line) => void lines.push(line));
  const hub = new DataPlaneWatchStreams(
    sql(),
    log,
    { circuits: async () => [], prices: () => ({}), builtInProviders: [] },
    () => undefined,
  );
  hubs.push(hub);
  return hub;
}

/** A data plane that accepts every message. */
class FakeDataPlane implements EventSink {
  readonly events: IWatchEvent[] = [];
  readonly ended: EndReason[] = [];

  write(event: IWatchEvent): boolean {
    this.events.push(event);
    return true;
  }

  onDrain(): void {}

  end(reason: EndReason): void {
    this.ended.push(reason);
  }

  get hello() {
    return this.events[0]!.hello!;
  }

  get revisions(): readonly number[] {
    return this.events.filter(({ invalidation }) => invalidation).map(({ revision }) => revision!);
  }

  get heartbeats(): number {
    return this.events.filter(({ heartbeat }) => heartbeat).length;
  }
}

async function connectDataPlane(
  hub: DataPlaneWatchStreams,
  dataPlaneId: string,
  lastRevision = 0,
): Promise<FakeDataPlane> {
  const listener = new FakeDataPlane();
  await hub.addWatcher(
    { dataPlaneId, identity: '', counters: 'redis', counterLayout: 2, version: '1', lastRevision, lastMark: '' },
    listener,
  );
  return listener;
}

/** Records this many changes and returns their revisions. */
async function recordInvalidations(count: number): Promise<readonly number[]> {
  const many = Array.from({ length: count }, () => ({ kind: 'agent', id: randomUUID() }) as const);
  await sql().begin((tx) => publishInvalidations(tx, many));
  const rows = await sql()<{ revision: number }[]>`
    select revision::int from invalidations order by revision desc limit ${count}`;
  return rows.map(({ revision }) => revision).reverse();
}

test('watch hub: a second stream of the same data plane closes the first at once, and no other', async () => {
  const hub = newHub(); // not started: no registration checks
  const [first, other] = [await connectDataPlane(hub, 'a'), await connectDataPlane(hub, 'b')];
  const second = await connectDataPlane(hub, 'a');
  expect([first.ended, other.ended, second.ended]).toEqual([['replaced'], [], []]);
  expect(hub.size).toBe(2);
});

test('watch hub: the first instance closes the stream of a data plane that connects to another one', async () => {
  const [one, two] = [newHub(), newHub()];
  await one.start();
  const [moved, stays] = [await connectDataPlane(one, 'a'), await connectDataPlane(one, 'b')];
  const reconnected = await connectDataPlane(two, 'a');
  await waitUntil('its stream at the first has ended', () => moved.ended.length > 0);
  expect([moved.ended, stays.ended, reconnected.ended]).toEqual([['replaced'], [], []]);
});

test('watch hub: missed invalidations are replayed; if they were pruned, the data plane must clear its cache', async () => {
  const hub = newHub();
  const [seen, ...missed] = await recordInvalidations(3);
  const behind = await connectDataPlane(hub, 'a', seen);
  expect([behind.hello.reset, behind.revisions]).toEqual([false, missed]);
  await sql()`delete from invalidations where revision = ${seen!}`;
  const lost = await connectDataPlane(hub, 'b', seen);
  expect([lost.hello.reset, lost.revisions]).toEqual([true, []]);
  const ahead = await connectDataPlane(hub, 'c', missed.at(-1)! + 1); // of a database that was restored from an older state
  expect([ahead.hello.reset, ahead.revisions]).toEqual([true, []]);
  const fresh = await connectDataPlane(hub, 'd');
  expect([fresh.hello.reset, fresh.revisions]).toEqual([false, []]);
});

test('watch hub: sends no heartbeat while the invalidations cannot be read', async () => {
  const hub = newHub();
  await hub.start();
  const plane = await connectDataPlane(hub, 'a');
  await waitUntil('a heartbeat has come', () => plane.heartbeats > 0);
  await sql()`alter table invalidations rename to invalidations_away`;
  try {
    await waitUntil('reading fails', () => lines.some((line) => line.includes('invalidations cannot be read')));
    const { heartbeats } = plane;
    const skipped = () => lines.some((line) => line.includes('heartbeat not sent'));
    await waitUntil('a beat has passed', () => skipped() || plane.heartbeats > heartbeats);
    expect(plane.heartbeats).toBe(heartbeats);
  } finally {
    await sql()`alter table invalidations_away rename to invalidations`;
  }
  const { heartbeats } = plane;
  await waitUntil('heartbeats come again', () => plane.heartbeats > heartbeats);
});

test('prune: old invalidations are deleted; the newest thousand stay, and the revision with them', async () => {
  const revisions = await recordInvalidations(1_200);
  const newest = revisions.at(-1)!;
  await deleteOldInvalidations(sql(), 60_000);
  expect(await sql()`select 1 from invalidations where revision = ${revisions[0]!}`).toHaveLength(1); // not old
  await sql()`update invalidations set at = now() - interval '2 hours'`;
  await deleteOldInvalidations(sql(), 60_000);
  const [left] = await sql()<{ count: number; from: number; upTo: number }[]>`
    select count(*)::int as count, min(revision)::int as from, max(revision)::int as "upTo" from invalidations`;
  expect(left).toEqual({ count: 1_001, from: newest - 1_000, upTo: newest });
});
