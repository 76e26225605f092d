/** Each commit of usage has a mark; a data plane that names a mark that the database has lost is notified. */
import { deleteOldCommitMarks } from '@acg/controlplane/ledger/lost-commit-detection';
import type { ILedgerMark } from '@acg/proto/messages';
import { beforeEach, describe, expect, test } from 'vitest';
import { useTestDatabase } from '../fixtures/test-database.js';
import { createIngest, usageRecord } from './usage-fixture.js';

const db = useTestDatabase();
const HOUR_MS = 3_600_000;

beforeEach(async () => {
  await db().sql`delete from ledger_marks`;
});

const reportRecord = async (lastMark?: ILedgerMark) => {
  const request = { dataPlaneId: 'dp', records: [usageRecord()] };
  return createIngest(db().sql).report(lastMark === undefined ? request : { ...request, lastMark });
};
const reportNothing = async (lastMark: ILedgerMark) => createIngest(db().sql).report({ dataPlaneId: 'dp', lastMark });

/** As after a failover: the newest commits are missing and their numbers are issued again. */
async function loseCommits(lost: number): Promise<void> {
  await db().sql.begin(async (tx) => {
    const [row] = await tx<{ newest: number }[]>`select max(number) as newest from ledger_marks`;
    await tx`delete from ledger_marks where number > ${row!.newest - lost}`;
    await tx`select setval(pg_get_serial_sequence('ledger_marks', 'number'), ${row!.newest - lost}, ${row!.newest > lost})`;
  });
}

describe('marks of the ledger', () => {
  test('marks: a report with usage returns the mark of its commit, and an empty report returns none', async () => {
    const { mark, wentBack } = await reportRecord();
    expect(wentBack).toBe(false);
    const rows = await db().sql`select number, mark as id from ledger_marks`;
    expect(rows).toEqual([mark]);
    expect(await reportNothing(mark!)).toMatchObject({ mark: null, wentBack: false, rejected: [] });
  });

  test.each([
    ['no other commit', 0],
    ['as many other commits', 2],
    ['more other commits', 4],
  ])(
    'marks: after a loss of two and %s, one that was kept is known and the lost ones are not',
    async (_what, others) => {
      const kept = (await reportRecord()).mark!;
      const lost = [(await reportRecord()).mark!, (await reportRecord()).mark!];
      await loseCommits(2);
      for (let i = 0; i < others; i++) await reportRecord();
      expect(await reportNothing(kept)).toMatchObject({ wentBack: false });
      for (const mark of lost) expect(await reportNothing(mark)).toMatchObject({ wentBack: true });
      expect(await reportRecord(lost[1])).toMatchObject({ wentBack: true, mark: { number: expect.any(Number) } });
    },
  );

  test('marks: of reports committed together only those that name a lost mark are notified', async () => {
    const ingest = createIngest(db().sql);
    const kept = (await reportRecord()).mark!;
    const lost = (await reportRecord()).mark!;
    await loseCommits(1);
    await reportRecord();
    const reports = [kept, lost, kept, lost].map((lastMark) =>
      ingest.report({ dataPlaneId: 'dp', lastMark, records: [usageRecord()] }),
    );
    expect((await Promise.all(reports)).map(({ wentBack }) => wentBack)).toEqual([false, true, false, true]);
  });

  test('marks: quarantined records have a mark, too', async () => {
    const { rejected, mark } = await createIngest(db().sql).report({
      dataPlaneId: 'dp',
      records: [usageRecord({ startedAtMs: 1 })],
    });
    expect(rejected).toHaveLength(1);
    expect(await reportNothing(mark!)).toMatchObject({ wentBack: false });
  });

  test('marks: a pruned mark does not count as lost, and the newest one stays', async () => {
    const [first, second] = [(await reportRecord()).mark!, (await reportRecord()).mark!];
    await db().sql`update ledger_marks set at = now() - interval '3 hours'`;
    await deleteOldCommitMarks(db().sql, 2 * HOUR_MS);
    expect(await db().sql`select number from ledger_marks`).toEqual([{ number: second.number }]);
    expect(await reportNothing(first)).toMatchObject({ wentBack: false });
    expect(await reportNothing(second)).toMatchObject({ wentBack: false });
  });

  test('marks: an invalid mark is ignored', async () => {
    await reportRecord();
    for (const mark of [{ number: 9, id: 'x' }, { number: 9 }]) {
      expect(await reportNothing(mark)).toMatchObject({ wentBack: false });
    }
  });
});
