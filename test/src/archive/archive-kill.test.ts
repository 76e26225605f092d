/**
 * A control plane that is killed five times while it archives: the sums of the archive equal the ledger. ARCHIVE_ROWS
 * sets the number of records, for `npm run test:deep` or a measurement; then the test prints the peak memory.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freePort } from '../fixtures/free-port.js';
import { PlaneProcess } from '../fixtures/plane-process.js';
import { createTestDatabase } from '../fixtures/test-database.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { insertArchivedOrganization, insertRecords, pastDay, queryDuckDb } from './archive-fixture.js';

/** A day has two row groups of Parquet. */
const ROWS = Number(process.env.ARCHIVE_ROWS ?? 25_000);
const DAYS = 5;
const KILLS = 5;
/** A measurement of millions beside other work has a millisecond more per record. */
const TIMEOUT_MS = 300_000 + ROWS;
/** Further files before each kill: none in the suite, a tenth of the parts in a measurement of millions. */
const FILES_PER_KILL = Math.floor(ROWS / 400_000);

test(
  'killed five times: the sums by DuckDB equal the ledger to the nano-dollar',
  async () => {
    const database = await createTestDatabase();
    const { sql } = database;
    const home = mkdtempSync(join(tmpdir(), 'acg-archive-kill-'));
    const archive = join(home, 'archive');
    const org = await insertArchivedOrganization(sql, 'Killed');
    for (let day = 1; day <= DAYS; day++) await insertRecords(sql, org, pastDay(day + 1), ROWS / DAYS, true);
    const plane = new PlaneProcess('controlplane', {
      GATEWAY_DATA_DIR: join(home, 'control'),
      CONTROLPLANE_PORT: String(await freePort()),
      GRPC_LISTEN: `127.0.0.1:${await freePort()}`,
      DATABASE_URL: database.url.reveal(),
      MASTER_KEYS: `test:${randomBytes(32).toString('base64')}`,
      JWT_SECRET: randomBytes(32).toString('hex'),
      INTERNAL_TOKEN: 'test-internal-token-0123456789-0123456789',
      LOG_LEVEL: 'info',
      ARCHIVE_URL: `file://${archive}`,
    });
    let rssKib = 0;
    const sampleMemory = (): void => {
      if (!plane.isRunning) return;
      const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${plane.pid}/status`, 'utf8'));
      rssKib = Math.max(rssKib, Number(peak?.[1] ?? 0));
    };
    const archivedDays = async () => Number((await sql`select count(*)::text as days from archive_days`)[0]!.days);
    const filesWritten = (): number =>
      existsSync(archive)
        ? readdirSync(archive, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length
        : 0;
    try {
      for (let kill = 0; kill < KILLS; ) {
        const before = filesWritten();
        await plane.start();
        // After some file of this run, or when the rest was too quick for that.
        const isFarEnough = () => filesWritten() > before + kill * FILES_PER_KILL;
        await waitUntil('a file is written', async () => isFarEnough() || (await archivedDays()) === DAYS, TIMEOUT_MS);
        sampleMemory();
        await plane.kill();
        if ((await archivedDays()) < DAYS) kill++;
        // Too late: nothing was in progress.
        else await sql`truncate archive_days, archive_complete_days`;
      }
      await plane.start();
      await waitUntil(
        'all days are archived',
        async () => {
          sampleMemory();
          return (await archivedDays()) === DAYS;
        },
        TIMEOUT_MS,
      );
    } finally {
      await plane.kill();
    }
    const [ledger] = await sql<{ rows: string; nanos: string }[]>`
    select count(*)::text as rows, sum(cost_nanos)::text as nanos from usage_records`;
    const [usage] = await queryDuckDb(
      `select count(*) as rows, count(distinct id) as ids, sum("costNanos") as nanos
       from read_parquet('${archive}/usage/*/*/part-*.parquet')`,
    );
    expect(usage).toEqual({ rows: ledger!.rows, ids: ledger!.rows, nanos: ledger!.nanos });
    const [focus] = await queryDuckDb(
      `select sum("x_Requests") as rows, sum("BilledCost") as billed from read_parquet('${archive}/focus/*/*/part-*.parquet')`,
    );
    expect([focus!.rows, focus!.billed!.replace('.', '')]).toEqual([ledger!.rows, ledger!.nanos]);
    if (process.env.ARCHIVE_ROWS !== undefined) process.stdout.write(`peak RSS ${Math.round(rssKib / 1_024)} MiB\n`);
    await database.drop();
    rmSync(home, { recursive: true, force: true });
  },
  3 * TIMEOUT_MS,
);
