/** What the ledger has stays for a while, takes no room from anything, and is sent again when the database went back. */
import { cpSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Backoff } from '@acg/base/backoff';
import { createLogger } from '@acg/base/log';
import { uuidv7 } from '@acg/base/uuidv7';
import { type IReportUsageRequest, ReportUsageRequest } from '@acg/proto/messages';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type ReportOutcome, UsageReporter } from '../usage-reporter.js';
import { Spool, type SpoolOptions } from './spool.js';

const log = createLogger('test', 'silent');
const ALL = { recordsMax: 1_000_000, framesMax: 1_000_000 };
const KEEP_MS = 600_000;
const newRoot = () => mkdtempSync(join(tmpdir(), 'acg-kept-'));
const append = (spool: Spool, id: string, path = '/v1/x') =>
  new Promise<Error | null>((resolve) => spool.appendRecord({ id, orgId: 'org', path, startedAtMs: 1 }, resolve));
const mark = (number: number) => ({ number, id: uuidv7(Date.now()) });
const files = (root: string, kind: '.seg' | '.kept') =>
  readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith(kind));

async function readAll(spool: Spool, by = mark(1)): Promise<string[]> {
  const ids: string[] = [];
  for (let batch = await spool.read(ALL); batch !== null; batch = await spool.read(ALL)) {
    const { records } = ReportUsageRequest.decode(Buffer.concat(batch.payloads));
    ids.push(...records.map((record) => record.id!));
    spool.acknowledge(batch, by);
  }
  return ids;
}

describe('kept segments', () => {
  const closing: Spool[] = [];
  afterEach(async () => {
    for (const spool of closing.splice(0)) await spool.close();
  });
  const open = (directory: string, options: Partial<SpoolOptions> = {}): Spool => {
    const spool = new Spool({ directory, bytesMax: 1 << 20, segmentAgeMs: 0, retentionMs: KEEP_MS, ...options }, log);
    closing.push(spool);
    return spool;
  };

  test('spool: what is acknowledged is not sent, and all of it is sent again after a rewind, in its order', async () => {
    const spool = open(newRoot());
    for (const id of ['a', 'b', 'c']) {
      await append(spool, id);
      expect(await readAll(spool)).toEqual([id]);
    }
    expect(await spool.read(ALL)).toBeNull();
    await append(spool, 'd');
    spool.rewind();
    expect(spool.mark).toBeNull();
    expect(await readAll(spool)).toEqual(['a', 'b', 'c', 'd']);
    expect(await spool.read(ALL)).toBeNull();
  });

  test('spool: the acknowledged part of a segment that is still written is sent again, too', async () => {
    const spool = open(newRoot(), { segmentAgeMs: 3_600_000 });
    await append(spool, 'a');
    await readAll(spool);
    await append(spool, 'b');
    spool.rewind();
    expect(await readAll(spool)).toEqual(['a', 'b']);
  });

  test('spool: an answer that comes for a segment that made room meanwhile changes nothing', async () => {
    const root = newRoot();
    const spool = open(root, { bytesMax: 70_000 });
    await append(spool, 'first', 'p'.repeat(20_000));
    await readAll(spool);
    spool.rewind();
    const batch = (await spool.read(ALL))!;
    for (let i = 0; i < 3; i++) await append(spool, `later ${i}`, 'p'.repeat(20_000));
    expect(files(root, '.kept')).toEqual([]);
    spool.acknowledge(batch, mark(2));
    expect(await readAll(spool)).toEqual(['later 0', 'later 1', 'later 2']);
  });

  test('spool: it goes after its time, counted from the acknowledgement, and without a new record, too', async () => {
    let nowMs = Date.now();
    const root = newRoot();
    const spool = open(root, { now: () => nowMs, segmentAgeMs: 5_000 });
    await append(spool, 'a');
    nowMs += 60_000;
    await readAll(spool);
    nowMs += KEEP_MS - 1;
    spool.adopt();
    expect(files(root, '.kept')).toHaveLength(1);
    nowMs += 1;
    spool.adopt();
    expect([...files(root, '.kept'), ...files(root, '.seg')]).toEqual([]);
    await append(spool, 'b');
    await readAll(spool);
    nowMs += 5_000;
    spool.adopt(); // sealed
    nowMs += KEEP_MS;
    spool.adopt();
    expect([...files(root, '.kept'), ...files(root, '.seg')]).toEqual([]);
  });

  test('spool: it makes room for new records, and is never the reason for a refusal', async () => {
    const root = newRoot();
    const spool = open(root, { bytesMax: 100_000 });
    for (let i = 0; i < 20; i++) {
      await append(spool, `kept ${i}`, 'p'.repeat(9_000));
      await readAll(spool);
      expect([spool.isFull, spool.isFullFor('org'), spool.stats().isFull]).toEqual([false, false, false]);
    }
    expect(spool.stats().bytesRetained).toBeGreaterThan(80_000);
    expect(spool.stats().bytesRetained).toBeLessThanOrEqual(100_000);
    // Also while it is sent again: only what the ledger has never had counts.
    spool.rewind();
    for (let i = 0; i < 9; i++) {
      expect(spool.isFull).toBe(false);
      await append(spool, `new ${i}`, 'p'.repeat(9_000));
    }
    const { bytesRetained: bytesKept, bytesOnDisk } = spool.stats();
    expect(bytesKept + bytesOnDisk).toBeLessThanOrEqual(100_000);
    expect((await readAll(spool)).filter((id) => id.startsWith('new'))).toHaveLength(9);
  });

  test('spool: it outlives the process, with the commit of the ledger that acknowledged it last', async () => {
    const root = newRoot();
    const spool = open(root);
    const [older, newer] = [mark(7), mark(8)];
    await append(spool, 'a');
    await readAll(spool, older);
    await append(spool, 'b');
    await readAll(spool, newer);
    await closing.pop()!.close();
    const next = open(root);
    expect(next.stats()).toMatchObject({ bytesUnacknowledged: 0, oldestAgeMs: 0, full: false });
    expect(next.mark).toEqual(newer);
    expect(await next.read(ALL)).toBeNull();
    next.rewind();
    expect(await readAll(next)).toEqual(['a', 'b']);
  });

  test('spool: a crash while everything is sent again loses nothing of what was not sent again yet', async () => {
    const root = newRoot();
    const spool = open(root);
    for (const id of ['a', 'b', 'c']) {
      await append(spool, id);
      await readAll(spool, mark(8));
    }
    spool.rewind();
    const first = (await spool.read({ recordsMax: 1, framesMax: 1 }))!;
    spool.acknowledge(first, mark(9)); // by now others have booked more than was lost
    const crashed = newRoot();
    cpSync(root, crashed, { recursive: true });
    const next = open(crashed);
    expect(await readAll(next, mark(10))).toEqual(['b', 'c']);
  });

  test('spool: the commits that a dead worker knew are asked for, too, also where their numbers are lower', async () => {
    const root = newRoot();
    const [dead, alive] = [open(root), open(root)];
    const lost = mark(8);
    await append(dead, 'a');
    await readAll(dead, lost);
    await append(alive, 'b');
    const own = mark(9);
    await readAll(alive, own); // after the failover that lost 8
    closing.splice(closing.indexOf(dead), 1);
    await dead.close();
    alive.adopt();
    expect(alive.mark).toEqual(lost);
    alive.confirmMark(own);
    expect(alive.mark).toEqual(lost);
    alive.confirmMark(lost);
    expect(alive.mark).toEqual(own);
  });

  test('spool: the end of the process does not prolong what is kept', async () => {
    let nowMs = Date.now();
    const root = newRoot();
    const spool = open(root, { now: () => nowMs });
    await append(spool, 'a');
    await readAll(spool);
    const kept = files(root, '.kept');
    expect(kept).toHaveLength(1);
    nowMs += KEEP_MS / 2;
    await closing.pop()!.close();
    expect(files(root, '.kept')).toEqual(kept);
  });

  test('spool: without a time to keep nothing stays, and what an earlier run kept goes', async () => {
    const root = newRoot();
    const spool = open(root);
    await append(spool, 'a');
    await readAll(spool);
    await closing.pop()!.close();
    expect(files(root, '.kept')).toHaveLength(1);
    const next = open(root, { retentionMs: 0 });
    next.adopt();
    await append(next, 'b');
    await readAll(next);
    await closing.pop()!.close();
    expect(readdirSync(join(root, 'worker-0')).filter((name) => /\.(seg|kept)$/.test(name))).toEqual([]);
  });
});

describe('a database that went back', () => {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  /** A ledger that knows its commits, until it loses some. */
  function start(directory = newRoot()) {
    const ledger = { commits: [] as string[], booked: [] as string[][], calls: [] as IReportUsageRequest[] };
    const spool = new Spool({ directory, bytesMax: 1 << 20, segmentAgeMs: 0, retentionMs: KEEP_MS }, log);
    const wentBack = vi.fn();
    const ship = async (body: Buffer): Promise<ReportOutcome> => {
      const request = ReportUsageRequest.decode(body);
      ledger.calls.push(request);
      const ids = request.records!.map((record) => record.id!);
      const lost = request.lastMark != null && !ledger.commits.includes(request.lastMark.id!);
      if (ids.length === 0) return { kind: 'booked', rejected: [], mark: null, hasLedgerRolledBack: lost };
      const commit = { number: ledger.commits.length + 1, id: uuidv7(Date.now()) };
      ledger.commits.push(commit.id);
      ledger.booked.push(ids);
      return { kind: 'booked', rejected: [], mark: commit, hasLedgerRolledBack: lost };
    };
    const options = {
      dataPlaneId: 'dp',
      lingerMs: 1,
      backoff: new Backoff(1, 2),
      checkEveryMs: 20,
      onWentBack: wentBack,
    };
    const shipper = new UsageReporter(spool, { report: ship }, options, log);
    const close = async (): Promise<void> => {
      await shipper.stop();
      await spool.close();
    };
    closing.push(close);
    const lose = (count: number): void => {
      ledger.commits.splice(-count);
      ledger.booked.splice(-count);
    };
    const inLedger = () => [...new Set(ledger.booked.flat())].sort();
    return { spool, shipper, ledger, lose, inLedger, wentBack, close, directory };
  }

  test('shipper: what the database lost is in it again, although the data plane has no further call', async () => {
    const { spool, shipper, ledger, lose, inLedger, wentBack } = start();
    for (const id of ['a', 'b', 'c', 'd']) {
      await append(spool, id);
      expect(await shipper.flush(10_000)).toBe(true);
    }
    lose(2);
    expect(inLedger()).toEqual(['a', 'b']);
    await vi.waitFor(() => expect(inLedger()).toEqual(['a', 'b', 'c', 'd']), 90_000);
    expect(wentBack).toHaveBeenCalledTimes(1);
    expect(shipper.stats().rewinds).toBe(1);
    const calls = ledger.calls.length;
    await vi.waitFor(() => expect(ledger.calls.length).toBeGreaterThan(calls + 3), 90_000); // it goes on asking
    expect(shipper.stats().rewinds).toBe(1);
  });

  test('shipper: a batch whose answer shows the loss is sent once more behind what was lost', async () => {
    const { spool, shipper, lose, inLedger, wentBack } = start();
    await append(spool, 'a');
    await shipper.flush(10_000);
    lose(1);
    await append(spool, 'b');
    await vi.waitFor(() => expect(inLedger()).toEqual(['a', 'b']), 90_000);
    expect(await shipper.flush(10_000)).toBe(true);
    expect(wentBack).toHaveBeenCalledTimes(1);
  });

  test('shipper: a loss while the data plane was down shows at its next start', async () => {
    const first = start();
    for (const id of ['a', 'b']) {
      await append(first.spool, id);
      await first.shipper.flush(10_000);
    }
    await closing.pop()!();
    const second = start(first.directory);
    await vi.waitFor(() => expect(second.inLedger()).toEqual(['a', 'b']), 90_000);
  });

  test('shipper: a ledger that has lost nothing gets nothing again', async () => {
    const { spool, shipper, ledger, inLedger, wentBack } = start();
    for (const id of ['a', 'b']) {
      await append(spool, id);
      await shipper.flush(10_000);
    }
    const calls = ledger.calls.length;
    await vi.waitFor(() => expect(ledger.calls.length).toBeGreaterThan(calls + 3), 90_000);
    expect(ledger.booked.flat()).toEqual(['a', 'b']);
    expect(inLedger()).toEqual(['a', 'b']);
    expect(wentBack).not.toHaveBeenCalled();
  });
});
