import { randomUUID } from 'node:crypto';
import {
  CountersNotSharedError,
  DataPlaneIdTakenError,
  registerDataPlane,
  unregisterDataPlane,
} from '@acg/controlplane/watch/data-plane-registrations';
import { beforeEach, expect, test } from 'vitest';
import { useTestDatabase } from '../fixtures/test-database.js';

const database = useTestDatabase();
beforeEach(() => database().sql`delete from data_planes`);

const dataPlane = (id: string, counters: 'memory' | 'redis', identity = '') => ({
  id,
  identity,
  counters,
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
  const owner = dataPlane('a', 'redis', 'eu-1');
  await registerPlane(owner);
  for (const identity of ['eu-2', '']) {
    await expect(registerPlane(dataPlane('a', 'redis', identity))).rejects.toThrow(DataPlaneIdTakenError);
  }
  await registerPlane(dataPlane('a', 'redis', 'eu-1'));
  await database().sql`update data_planes set seen_at = now() - interval '1 minute'`; // its control plane died
  await registerPlane(dataPlane('a', 'redis', 'eu-2'));
});
