/** Database connections of a control plane whose database, or the network to it, fails. */

import { createLogger } from '@acg/base/log';
import { Secret } from '@acg/base/secret';
import { migrate } from '@acg/controlplane/db/migrate';
import { openPool, type Sql, type Tx } from '@acg/controlplane/db/postgres-client';
import type { DeadPeerTimeouts } from '@acg/controlplane/db/probe-silent-server-and-disconnect';
import { withReservedConnection } from '@acg/controlplane/db/reserved-connection';
import { UsageRetention } from '@acg/controlplane/ledger/usage-retention';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countLockWaiters, holdPostgresLock } from '../fixtures/hold-postgres-lock.js';
import { TcpProxy } from '../fixtures/tcp-proxy.js';
import { useTestDatabase } from '../fixtures/test-database.js';
import { waitUntil } from '../fixtures/wait-until.js';

const database = useTestDatabase();
const log = createLogger('test', 'fatal', () => {});
let sql: Sql;
beforeAll(() => {
  sql = openPool(database().url, { connectionsMax: 1, applicationName: 'lost' });
});
afterAll(() => sql.end({ timeout: 1 }));

/** Closes the only connection from the server and waits until the client has noticed. */
async function killConnections(): Promise<void> {
  await database().sql`
    select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'lost' and datname = current_database()`;
  await waitUntil('the backend has gone', async () => {
    const rows = await database().sql`
      select 1 from pg_stat_activity where application_name = 'lost' and datname = current_database()`;
    return rows.length === 0;
  });
}

/** The pool serves again; a query that is on its way when a connection breaks may still fail. */
const expectPoolServes = (): Promise<unknown> =>
  waitUntil('the pool serves again', () =>
    sql`select 3`.then(
      () => true,
      () => false,
    ),
  );
const LOST = /CONNECTION|ECONNRESET|EPIPE|terminating/;
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

// The process survives: an uncaught exception would fail the run.
test('database: a transaction whose connection is lost fails, and the pool keeps working', async () => {
  for (let i = 0; i < 30; i++) {
    const transaction = sql.begin(async (tx: Tx) => {
      await tx`select 1`;
      await Promise.all([tx`select pg_sleep(60)`, killConnections()]);
    });
    await expect(transaction).rejects.toThrow(LOST);
    await expectPoolServes();
  }
});

test('database: the error of a closed connection is not reported to the next query', async () => {
  for (let i = 0; i < 3; i++) {
    await expectPoolServes();
    const asked = expect(sql`select pg_sleep(60)`).rejects.toThrow(LOST);
    await waitUntil('it is under way', async () => {
      const rows = await database().sql`
        select 1 from pg_stat_activity
        where application_name = 'lost' and datname = current_database() and wait_event = 'PgSleep'`;
      return rows.length === 1;
    });
    await killConnections();
    await asked;
    await nextTurn();
    expect(await sql`select 1 as n`).toEqual([{ n: 1 }]);
  }
});

/** A pool of one connection through a proxy to the database. */
async function openPoolThroughProxy(
  patience?: DeadPeerTimeouts,
): Promise<{ way: TcpProxy; pool: Sql; stop(): Promise<void> }> {
  const url = new URL(database().url.reveal());
  const way = await TcpProxy.start(Number(url.port));
  url.port = String(way.port);
  const pool = openPool(new Secret(url.href), {
    connectionsMax: 1,
    applicationName: 'through',
    ...(patience && { deadPeerTimeouts: patience }),
  });
  const stop = async (): Promise<void> => {
    await pool.end({ timeout: 1 });
    await way.stop();
  };
  return { way, pool, stop };
}

// Interrupts a statement that the connection had not prepared. At this point the client accepts further statements and
// answers none.
test('database: work on a reserved connection fails with it, and the pool keeps working', async () => {
  const { way, pool, stop } = await openPoolThroughProxy();
  await migrate(pool);
  const statement = (connection: Sql) => connection`select ${1}::int as "of a new kind"`;
  for (let i = 0; i < 3; i++) {
    way.resetOnText = 'of a new kind';
    await expect(withReservedConnection(pool, statement)).rejects.toThrow(LOST);
    way.resetOnText = null;
    expect(await pool`select 1 as n`).toEqual([{ n: 1 }]);
  }
  expect(await withReservedConnection(pool, statement)).toHaveLength(1);
  way.resetOnText = 'pg_inherits';
  await expect(
    new UsageRetention(pool, { logs: 1, rejections: 400, rollups: null }, log).deleteExpiredUsage(Date.now()),
  ).rejects.toThrow(LOST);
  way.resetOnText = null;
  await new UsageRetention(pool, { logs: 1, rejections: 400, rollups: null }, log).deleteExpiredUsage(Date.now());
  await stop();
});

test('database: a reserved connection returns without locks and cursors, and with its first settings', async () => {
  await withReservedConnection(sql, async (connection) => {
    await connection`select pg_advisory_lock(1)`;
    await connection`declare seven cursor with hold for select 7`;
    await connection`set statement_timeout = 7`;
  });
  const [row] = await sql`
    select current_setting('statement_timeout') as timeout, current_setting('TimeZone') as zone,
           (select count(*)::int from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as locks,
           (select count(*)::int from pg_cursors where name = 'seven') as cursors`;
  expect(row).toEqual({ timeout: '1min', zone: 'UTC', locks: 0, cursors: 0 });
});

test('database: a connection that is reset while it opens fails what waits for it, and the pool serves on', async () => {
  const { way, pool, stop } = await openPoolThroughProxy();
  way.resetOnText = 'typcategory'; // sent by the client itself before our first query
  for (let i = 0; i < 3; i++) await expect(pool`select 1`).rejects.toThrow(LOST);
  way.resetOnText = null;
  await waitUntil('the pool serves again', () =>
    pool`select array['a', 'b'] as list`.then(
      ([row]) => Array.isArray(row?.list),
      () => false,
    ),
  );
  await stop();
});

// Connecting fails here before it has begun: the process survives.
test('database: an unreachable database fails every waiting query', async () => {
  const pool = openPool(new Secret('postgres://255.255.255.255/none'), {
    connectionsMax: 1,
    applicationName: 'no way',
  });
  for (let i = 0; i < 3; i++) await expect(pool`select 1`).rejects.toMatchObject({ code: 'ENETUNREACH' });
  await pool.end({ timeout: 1 });
});

test('database: every query during a connection loss settles', async () => {
  for (let i = 0; i < 20; i++) {
    await expectPoolServes();
    const lost = killConnections();
    const asked: Promise<unknown>[] = [];
    for (let n = 0; n < 50; n++) {
      asked.push(sql`select ${n}::int as n`.catch((error: Error) => error));
      await nextTurn();
    }
    await lost;
    await Promise.all(asked);
  }
  await expectPoolServes();
});

test('database: a lost reserved connection fails its queries, and another one can be reserved', async () => {
  const reserved = await sql.reserve();
  await reserved`select 1`;
  await killConnections();
  await nextTurn();
  await expect(reserved`select 2`).rejects.toThrow(LOST);
  reserved.release();
  await expectPoolServes();
});

test('database: an unresponsive database fails the queries and serves them after its return', async () => {
  const { way, pool, stop } = await openPoolThroughProxy({ idleMs: 50, probeTimeoutMs: 50 });
  await waitUntil('the pool serves', () =>
    pool`select 1`.then(
      () => true,
      () => false,
    ),
  );
  for (let i = 0; i < 3; i++) {
    way.isBlackholed = true;
    const asked = pool.begin((tx) => tx`select ${i}::int, pg_sleep(${i}::int)`);
    await expect(asked).rejects.toThrow(LOST);
    way.isBlackholed = false;
    await waitUntil('the pool serves again', () =>
      pool`select 2`.then(
        () => true,
        () => false,
      ),
    );
  }
  await stop();
});

test('database: a long-running query is awaited', async () => {
  const { way, pool, stop } = await openPoolThroughProxy({ idleMs: 20, probeTimeoutMs: 600_000 });
  const release = await holdPostgresLock(database().sql, (tx) => tx`select pg_advisory_xact_lock(7)`);
  const asked = pool`select 1 as n, pg_advisory_lock(7) is null as locked`;
  const answered = asked.then((rows) => rows[0]?.n);
  const before = await waitUntil(
    'it waits',
    async () => (await countLockWaiters(database().sql)) === 1 && way.connections,
  );
  await waitUntil('the server has been asked whether it is there', () => way.connections > Number(before) + 3);
  await release();
  expect(await answered).toBe(1);
  await stop();
});
