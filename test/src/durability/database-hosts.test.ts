/** DATABASE_URL with the hosts of a primary and its standby, without a proxy in front: writes find the primary. */
import { migrate } from '@acg/controlplane/db/migrate';
import { isDatabaseUnavailable, openPool } from '@acg/controlplane/db/postgres-client';
import { expect, test } from 'vitest';
import { PostgresPair } from '../fixtures/postgres-pair.js';
import { waitUntil } from '../fixtures/wait-until.js';

test('several hosts: every connection goes to the primary, and to the new one after a promotion', async () => {
  const pair = await PostgresPair.start(true);
  const sql = openPool(pair.urlOfBothHosts, { connectionsMax: 4, applicationName: 'hosts' });
  try {
    expect(await migrate(sql)).toEqual([]);
    const isStandby = async (): Promise<boolean> =>
      (await sql<{ standby: boolean }[]>`select pg_is_in_recovery() as standby`)[0]!.standby;
    expect(await Promise.all(Array.from({ length: 12 }, isStandby))).toEqual(Array(12).fill(false));
    const failures: unknown[] = [];
    const write = (slug: string): Promise<boolean> =>
      sql`insert into organizations (id, name, slug) values (gen_random_uuid(), 'o', ${slug})`.then(
        () => true,
        (error: unknown) => {
          failures.push(error);
          return false;
        },
      );
    expect(await write('before')).toBe(true);
    await pair.waitUntilCaughtUp();

    await pair.failOver();
    await waitUntil('a write reaches the new primary', () => write('after'));
    // Every failure on the way is one after which callers try again.
    expect(failures.filter((error) => !isDatabaseUnavailable(error))).toEqual([]);
    expect(await Promise.all(Array.from({ length: 12 }, isStandby))).toEqual(Array(12).fill(false));
    const rows = await sql<{ slug: string }[]>`select slug from organizations order by created_at`;
    expect(rows.map(({ slug }) => slug)).toEqual(['before', 'after']);
  } finally {
    await sql.end({ timeout: 1 });
    await pair.stop();
  }
});
