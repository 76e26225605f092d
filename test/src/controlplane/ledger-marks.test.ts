/** Each booking has a mark; a data plane that names one which the database has lost is told so. */
import { pruneMarks } from '@acg/controlplane/ledger/marks';
import type { ILedgerMark } from '@acg/proto/messages';
import { beforeEach, describe, expect, test } from 'vitest';
import { useTestDatabase } from '../test-database.js';
import { newIngest, usageRecord } from './usage-fixture.js';

const db = useTestDatabase();
const HOUR_MS = 3_600_000;

beforeEach(async () => {
  await db().sql`delete from ledger_marks`;
});

const book = async (lastMark?: ILedgerMark) => {
  const request = { dataPlaneId: 'dp', records: [usageRecord()] };
  return newIngest(db().sql).report(lastMark === undefined ? request : { ...request, lastMark });
};
const ask = async (lastMark: ILedgerMark) => newIngest(db().sql).report({ dataPlaneId: 'dp', lastMark });

/** As after a failover: the newest commits are gone, and their numbers are issued again. */
async function goBack(lost: number): Promise<void> {
  await db().sql.begin(async (tx) => {
    const [row] = await tx<{ newest: number }[]>`select max(number) as newest from ledger_marks`;
    await tx`delete from ledger_marks where number > ${row!.newest - lost}`;
    await tx`select setval(pg_get_serial_sequence('ledger_marks', 'number'), ${row!.newest - lost}, ${row!.newest > lost})`;
  });
}

describe('marks of the ledger', () => {
  test('marks: a booking answers the mark of its commit, and a report without anything to book none', async () => {
    const { mark, wentBack } = await book();
    expect(wentBack).toBe(false);
    const rows = await db().sql`select number, mark as id from ledger_marks`;
    expect(rows).toEqual([mark]);
    expect(await ask(mark!)).toMatchObject({ mark: null, wentBack: false, rejected: [] });
  });

  test.each([
    ['no other commit', 0],
    ['as many other commits', 2],
    ['more other commits', 4],
  ])(
    'marks: after a loss of two and %s, one that was kept is known and the lost ones are not',
    async (_what, others) => {
      const kept = (await book()).mark!;
      const lost = [(await book()).mark!, (await book()).mark!];
      await goBack(2);
      for (let i = 0; i < others; i++) await book();
      expect(await ask(kept)).toMatchObject({ wentBack: false });
      for (const mark of lost) expect(await ask(mark)).toMatchObject({ wentBack: true });
      expect(await book(lost[1])).toMatchObject({ wentBack: true, mark: { number: expect.any(Number) } });
    },
  );

  test('marks: of reports that are booked together only those that name a lost mark are told', async () => {
    const ingest = newIngest(db().sql);
    const kept = (await book()).mark!;
    const lost = (await book()).mark!;
    await goBack(1);
    await book();
    const reports = [kept, lost, kept, lost].map((lastMark) =>
      ingest.report({ dataPlaneId: 'dp', lastMark, records: [usageRecord()] }),
    );
    expect((await Promise.all(reports)).map(({ wentBack }) => wentBack)).toEqual([false, true, false, true]);
  });

  test('marks: records that are set aside have a mark, too', async () => {
    const { rejected, mark } = await newIngest(db().sql).report({
      dataPlaneId: 'dp',
      records: [usageRecord({ startedAtMs: 1 })],
    });
    expect(rejected).toHaveLength(1);
    expect(await ask(mark!)).toMatchObject({ wentBack: false });
  });

  test('marks: one that was pruned is not lost, and the newest one stays', async () => {
    const [first, second] = [(await book()).mark!, (await book()).mark!];
    await db().sql`update ledger_marks set at = now() - interval '3 hours'`;
    await pruneMarks(db().sql, 2 * HOUR_MS);
    expect(await db().sql`select number from ledger_marks`).toEqual([{ number: second.number }]);
    expect(await ask(first)).toMatchObject({ wentBack: false });
    expect(await ask(second)).toMatchObject({ wentBack: false });
  });

  test('marks: a mark that makes no sense is as good as none', async () => {
    await book();
    for (const mark of [{ number: 9, id: 'x' }, { number: 9 }]) {
      expect(await ask(mark)).toMatchObject({ wentBack: false });
    }
  });
});
