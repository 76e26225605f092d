import { randomUUID } from 'node:crypto';
import {
  CountersNotSharedError,
  registerDataPlane,
  unregisterDataPlane,
} from '@acg/controlplane/watch/data-plane-registrations';
import { beforeEach, expect, test } from 'vitest';
import { useTestDatabase } from '../fixtures/test-database.js';

const database = useTestDatabase();
beforeEach(() => database().sql`delete from data_planes`);

const dataPlane = (id: string, counters: 'memory' | 'redis') => ({
  id,
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
