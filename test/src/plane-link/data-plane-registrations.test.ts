import { randomUUID } from 'node:crypto';
import { advanceCounterLayout } from '@acg/controlplane/watch/counter-layout';
import {
  CountersNotSharedError,
  DataPlaneIdTakenError,
  registerDataPlane,
  unregisterDataPlane,
} from '@acg/controlplane/watch/data-plane-registrations';
import { LayoutStage } from '@acg/proto/messages';
import { beforeEach, expect, test } from 'vitest';
import { useTestDatabase } from '../fixtures/test-database.js';

const database = useTestDatabase();
beforeEach(() => database().sql`delete from data_planes`);

const dataPlane = (id: string, counters: 'memory' | 'redis', { identity = '', counterLayout = 2 } = {}) => ({
  id,
  identity,
  counters,
  counterLayout,
  version: '1',
  controlPlaneId: randomUUID(),
  connectionId: randomUUID(),
});
const registerPlane = (one: ReturnType<typeof dataPlane>) => registerDataPlane(database().sql, one);

test.each([
  ['memory', 'memory', false],
  ['redis', 'memory', false],
  ['memory', 'redis', true],
  ['redis', 'redis', true],
] as const)(
  'registration: beside a data plane with %s counters, one with %s counters is admitted: %s',
  async (first, second, admitted) => {
    await registerPlane(dataPlane('a', first));
    if (admitted) await registerPlane(dataPlane('b', second));
    else await expect(registerPlane(dataPlane('b', second))).rejects.toThrow(CountersNotSharedError);
    const rows = await database().sql<{ id: string }[]>`select id from data_planes order by id`;
    expect(rows.map(({ id }) => id)).toEqual(admitted ? ['a', 'b'] : ['a']);
  },
);

test('registration: the same data plane replaces its own; closed or silent ones block no other', async () => {
  const first = dataPlane('a', 'memory');
  await registerPlane(first);
  await registerPlane(dataPlane('a', 'memory'));
  await unregisterDataPlane(database().sql, first.connectionId); // the old connection closes late: the new one stays
  await expect(registerPlane(dataPlane('b', 'memory'))).rejects.toThrow(CountersNotSharedError);
  await database().sql`update data_planes set seen_at = now() - interval '7 seconds'`;
  await registerPlane(dataPlane('b', 'memory'));
  const rows = await database().sql<{ id: string }[]>`select id from data_planes`;
  expect(rows.map(({ id }) => id)).toEqual(['b']);
});

test('registration: a data plane with another identity cannot take the id of a connected one', async () => {
  const owner = dataPlane('a', 'redis', { identity: 'eu-1' });
  await registerPlane(owner);
  for (const identity of ['eu-2', '']) {
    await expect(registerPlane(dataPlane('a', 'redis', { identity }))).rejects.toThrow(DataPlaneIdTakenError);
  }
  await registerPlane(dataPlane('a', 'redis', { identity: 'eu-1' }));
  await database().sql`update data_planes set seen_at = now() - interval '1 minute'`; // its control plane died
  await registerPlane(dataPlane('a', 'redis', { identity: 'eu-2' }));
});

test('counter layout: a fresh installation begins with the present one', async () => {
  expect(await advanceCounterLayout(database().sql)).toEqual({ stage: LayoutStage.NEW, sinceMs: 0 });
});

test('counter layout: the present one begins when no data plane of the previous release is left, for ever', async () => {
  const { sql } = database();
  await sql`update counter_layout set stage = 'both', previous_seen_at = now() - interval '1 hour'`;
  const old = dataPlane('old', 'redis', { counterLayout: 1 });
  for (const plane of [old, dataPlane('new', 'redis'), dataPlane('alone', 'redis', { counterLayout: 1 })])
    await registerPlane(plane);
  const both = { stage: LayoutStage.BOTH };
  expect(await advanceCounterLayout(sql)).toEqual(both);
  await registerPlane(dataPlane('alone', 'redis')); // replaced by a new release
  expect(await advanceCounterLayout(sql)).toEqual(both);
  await unregisterDataPlane(sql, old.connectionId);
  expect(await advanceCounterLayout(sql)).toEqual(both); // it may come back within a minute
  await sql`update counter_layout set previous_seen_at = now() - interval '59 seconds'`;
  expect(await advanceCounterLayout(sql)).toEqual(both);
  await sql`update counter_layout set previous_seen_at = now() - interval '61 seconds'`;
  const beforeMs = Date.now() - 60_000; // clocks of the database and of this process may differ a little
  const begun = await advanceCounterLayout(sql);
  expect(begun.stage).toBe(LayoutStage.NEW);
  expect(begun.sinceMs).toBeGreaterThan(beforeMs);
  await registerPlane(old);
  expect(await advanceCounterLayout(sql)).toEqual(begun);
});

test('counter layout: data planes with in-process counters, and those that were killed, hold nothing up', async () => {
  const { sql } = database();
  await sql`update counter_layout set stage = 'both', began_at = null, previous_seen_at = now() - interval '1 hour'`;
  await registerPlane(dataPlane('old', 'memory', { counterLayout: 1 }));
  await registerPlane(dataPlane('killed', 'redis', { counterLayout: 1 }));
  await sql`update data_planes set seen_at = now() - interval '61 seconds' where id = 'killed'`;
  expect((await advanceCounterLayout(sql)).stage).toBe(LayoutStage.NEW);
});
