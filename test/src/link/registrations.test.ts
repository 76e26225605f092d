import { randomUUID } from 'node:crypto';
import { CountersNotShared, registerDataPlane, unregisterDataPlane } from '@acg/controlplane/watch/registrations';
import { beforeEach, expect, test } from 'vitest';
import { useTestDatabase } from '../test-database.js';

const database = useTestDatabase();
beforeEach(() => database().sql`delete from data_planes`);

const plane = (id: string, counters: 'memory' | 'redis') => ({
  id,
  counters,
  version: '1',
  controlPlaneId: randomUUID(),
  connectionId: randomUUID(),
});
const register = (one: ReturnType<typeof plane>) => registerDataPlane(database().sql, one);

test.each([
  ['memory', 'memory', false],
  ['redis', 'memory', false],
  ['memory', 'redis', true],
  ['redis', 'redis', true],
] as const)(
  'registration: beside one that counts in %s another one that counts in %s: admitted %s',
  async (first, second, admitted) => {
    await register(plane('a', first));
    if (admitted) await register(plane('b', second));
    else await expect(register(plane('b', second))).rejects.toThrow(CountersNotShared);
    const rows = await database().sql<{ id: string }[]>`select id from data_planes order by id`;
    expect(rows.map(({ id }) => id)).toEqual(admitted ? ['a', 'b'] : ['a']);
  },
);

test('registration: the same data plane replaces itself; one that is gone, or silent for long, holds nobody up', async () => {
  const first = plane('a', 'memory');
  await register(first);
  await register(plane('a', 'memory'));
  await unregisterDataPlane(database().sql, first.connectionId); // the old connection ends late: the new one stays
  await expect(register(plane('b', 'memory'))).rejects.toThrow(CountersNotShared);
  await database().sql`update data_planes set seen_at = now() - interval '7 seconds'`;
  await register(plane('b', 'memory'));
  const rows = await database().sql<{ id: string }[]>`select id from data_planes`;
  expect(rows.map(({ id }) => id)).toEqual(['b']);
});
