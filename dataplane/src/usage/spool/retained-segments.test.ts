/** Acknowledged segments are retained for a while, without counting as in use, and sent again after a database rollback. */
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
const RETENTION_MS = 600_000;
const newRoot = () => mkdtempSync(join(tmpdir(), 'acg-retained-'));
const append = (spool: Spool, id: string, path = '/v1/x') =>
  new Promise<Error | null>((resolve) => spool.appendRecord({ id, orgId: 'org', path, startedAtMs: 1 }, resolve));
const mark = (number: number) => ({ number, id: uuidv7(Date.now()) });
const files = (root: string, ending: '.seg' | '.kept') =>
  readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith(ending));

async function readAll(spool: Spool, ackMark = mark(1)): Promise<string[]> {
  const ids: string[] = [];
  for (let batch = await spool.read(ALL); batch !== null; batch = await spool.read(ALL)) {
    const { records } = ReportUsageRequest.decode(Buffer.concat(batch.payloads));
    ids.push(...records.map((record) => record.id!));
    spool.acknowledge(batch, ackMark);
  }
  return ids;
}

describe('retained segments', () => {
  const closing: Spool[] = [];
  afterEach(async () => {
    for (const spool of closing.splice(0)) await spool.close();
  });
  const open = (directory: string, options: Partial<SpoolOptions> = {}): Spool => {
    const spool = new Spool(
      { directory, bytesMax: 1 << 20, segmentAgeMs: 0, retentionMs: RETENTION_MS, ...options },
      log,
    );
    closing.push(spool);
    return spool;
  };

  test('spool: sends acknowledged records again, in order, only after a rewind', async () => {
    const spool = open(newRoot());
    for (const id of ['a', 'b', 'c']) {
      await append(spool, id);
      expect(await readAll(spool)).toEqual([id]);
    }
    expect(await spool.read(ALL)).toBeNull();
    await append(spool, 'd');
    spool.rewind();
    expect(spool.ledgerMark).toBeNull();
    expect(await readAll(spool)).toEqual(['a', 'b', 'c', 'd']);
    expect(await spool.read(ALL)).toBeNull();
  });

  test('spool: a rewind includes the acknowledged part of the active segment', async () => {
    const spool = open(newRoot(), { segmentAgeMs: 3_600_000 });
    await append(spool, 'a');
    await readAll(spool);
    await append(spool, 'b');
    spool.rewind();
    expect(await readAll(spool)).toEqual(['a', 'b']);
  });

  test('spool: ignores an acknowledgement of a segment that was evicted meanwhile', async () => {
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

  test('spool: deletes retained segments when the retention after acknowledgement ends, even without new records', async () => {
    let nowMs = Date.now();
    const root = newRoot();
    const spool = open(root, { now: () => nowMs, segmentAgeMs: 5_000 });
    await append(spool, 'a');
    nowMs += 60_000;
    await readAll(spool);
    nowMs += RETENTION_MS - 1;
    spool.adoptDeadWorkers();
    expect(files(root, '.kept')).toHaveLength(1);
    nowMs += 1;
    spool.adoptDeadWorkers();
    expect([...files(root, '.kept'), ...files(root, '.seg')]).toEqual([]);
    await append(spool, 'b');
    await readAll(spool);
    nowMs += 5_000;
    spool.adoptDeadWorkers(); // sealed
    nowMs += RETENTION_MS;
    spool.adoptDeadWorkers();
    expect([...files(root, '.kept'), ...files(root, '.seg')]).toEqual([]);
  });

  test('spool: evicts retained segments for new records, and never counts them as full', async () => {
    const root = newRoot();
    const spool = open(root, { bytesMax: 100_000 });
    for (let i = 0; i < 20; i++) {
      await append(spool, `kept ${i}`, 'p'.repeat(9_000));
      await readAll(spool);
      expect([spool.isFull, spool.isFullFor('org'), spool.stats().isFull]).toEqual([false, false, false]);
    }
    expect(spool.stats().bytesRetained).toBeGreaterThan(80_000);
    expect(spool.stats().bytesRetained).toBeLessThanOrEqual(100_000);
    // During a resend, too, only records that the ledger has never had count.
    spool.rewind();
    for (let i = 0; i < 9; i++) {
      expect(spool.isFull).toBe(false);
      await append(spool, `new ${i}`, 'p'.repeat(9_000));
    }
    const { bytesRetained: bytesKept, bytesOnDisk } = spool.stats();
    expect(bytesKept + bytesOnDisk).toBeLessThanOrEqual(100_000);
    expect((await readAll(spool)).filter((id) => id.startsWith('new'))).toHaveLength(9);
  });

  test('spool: retained segments and their last ledger mark survive a restart', async () => {
    const root = newRoot();
    const spool = open(root);
    const [older, newer] = [mark(7), mark(8)];
    await append(spool, 'a');
    await readAll(spool, older);
    await append(spool, 'b');
    await readAll(spool, newer);
    await closing.pop()!.close();
    const next = open(root);
    expect(next.stats()).toMatchObject({ bytesUnacknowledged: 0, oldestAgeMs: 0, isFull: false });
    expect(next.ledgerMark).toEqual(newer);
    expect(await next.read(ALL)).toBeNull();
    next.rewind();
    expect(await readAll(next)).toEqual(['a', 'b']);
  });

  test('spool: a crash during a resend loses no record that was not sent again yet', async () => {
    const root = newRoot();
    const spool = open(root);
    for (const id of ['a', 'b', 'c']) {
      await append(spool, id);
      await readAll(spool, mark(8));
    }
    spool.rewind();
    const first = (await spool.read({ recordsMax: 1, framesMax: 1 }))!;
    spool.acknowledge(first, mark(9)); // other data planes have committed more than was lost by now
    const crashed = newRoot();
    cpSync(root, crashed, { recursive: true });
    const next = open(crashed);
    expect(await readAll(next, mark(10))).toEqual(['b', 'c']);
  });

  test('spool: checks the marks of a dead worker, too, even with lower numbers', async () => {
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
    alive.adoptDeadWorkers();
    expect(alive.ledgerMark).toEqual(lost);
    alive.confirmMark(own);
    expect(alive.ledgerMark).toEqual(lost);
    alive.confirmMark(lost);
    expect(alive.ledgerMark).toEqual(own);
  });

  test('spool: closing does not extend the retention', async () => {
    let nowMs = Date.now();
    const root = newRoot();
    const spool = open(root, { now: () => nowMs });
    await append(spool, 'a');
    await readAll(spool);
    const retained = files(root, '.kept');
    expect(retained).toHaveLength(1);
    nowMs += RETENTION_MS / 2;
    await closing.pop()!.close();
    expect(files(root, '.kept')).toEqual(retained);
  });

  test('spool: with retention 0 it retains nothing and deletes segments retained by an earlier run', async () => {
    const root = newRoot();
    const spool = open(root);
    await append(spool, 'a');
    await readAll(spool);
    await closing.pop()!.close();
    expect(files(root, '.kept')).toHaveLength(1);
    const next = open(root, { retentionMs: 0 });
    next.adoptDeadWorkers();
    await append(next, 'b');
    await readAll(next);
    await closing.pop()!.close();
    expect(readdirSync(join(root, 'worker-0')).filter((name) => /\.(seg|kept)$/.test(name))).toEqual([]);
  });
});

describe('database rollback', () => {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  /** A ledger that remembers its commits until the test loses some. */
  function start(directory = newRoot(), segmentAgeMs = 0) {
    const ledger = { commits: [] as string[], committed: [] as string[][], calls: [] as IReportUsageRequest[] };
    const spool = new Spool({ directory, bytesMax: 1 << 20, segmentAgeMs, retentionMs: RETENTION_MS }, log);
    const onLedgerRolledBack = vi.fn();
    const report = async (body: Buffer): Promise<ReportOutcome> => {
      const request = ReportUsageRequest.decode(body);
      ledger.calls.push(request);
      const ids = request.records!.map((record) => record.id!);
      const lost = request.lastMark != null && !ledger.commits.includes(request.lastMark.id!);
      if (ids.length === 0) return { kind: 'committed', rejected: [], mark: null, hasLedgerRolledBack: lost };
      const commit = { number: ledger.commits.length + 1, id: uuidv7(Date.now()) };
      ledger.commits.push(commit.id);
      ledger.committed.push(ids);
      return { kind: 'committed', rejected: [], mark: commit, hasLedgerRolledBack: lost };
    };
    const options = {
      dataPlaneId: 'dp',
      lingerMs: 1,
      backoff: new Backoff(1, 2),
      checkEveryMs: 20,
      onLedgerRolledBack,
    };
    const reporter = new UsageReporter(spool, { report }, options, log);
    const close = async (): Promise<void> => {
      await reporter.stop();
      await spool.close();
    };
    closing.push(close);
    const loseCommits = (count: number): void => {
      ledger.commits.splice(-count);
      ledger.committed.splice(-count);
    };
    const inLedger = () => [...new Set(ledger.committed.flat())].sort();
    return { spool, reporter, ledger, lose: loseCommits, inLedger, onLedgerRolledBack, close, directory };
  }

  test('usage reporter: sends lost records again, although the data plane has no further call', async () => {
    const { spool, reporter, ledger, lose: loseCommits, inLedger, onLedgerRolledBack } = start();
    for (const id of ['a', 'b', 'c', 'd']) {
      await append(spool, id);
      expect(await reporter.flush(10_000)).toBe(true);
    }
    loseCommits(2);
    expect(inLedger()).toEqual(['a', 'b']);
    await vi.waitFor(() => expect(inLedger()).toEqual(['a', 'b', 'c', 'd']), 90_000);
    expect(onLedgerRolledBack).toHaveBeenCalledTimes(1);
    expect(reporter.stats().rewinds).toBe(1);
    const calls = ledger.calls.length;
    await vi.waitFor(() => expect(ledger.calls.length).toBeGreaterThan(calls + 3), 90_000); // the reporter keeps checking
    expect(reporter.stats().rewinds).toBe(1);
  });

  test('usage reporter: sends the batch that revealed the loss again, after the lost records', async () => {
    const { spool, reporter, lose: loseCommits, inLedger, onLedgerRolledBack } = start();
    await append(spool, 'a');
    await reporter.flush(10_000);
    loseCommits(1);
    await append(spool, 'b');
    await vi.waitFor(() => expect(inLedger()).toEqual(['a', 'b']), 90_000);
    expect(await reporter.flush(10_000)).toBe(true);
    expect(onLedgerRolledBack).toHaveBeenCalledTimes(1);
  });

  test('usage reporter: a batch that revealed a loss does not acknowledge the lost records before it in its segment', async () => {
    const { spool, reporter, lose: loseCommits, inLedger } = start(newRoot(), 3_600_000);
    await append(spool, 'a');
    await reporter.flush(10_000);
    loseCommits(1);
    await append(spool, 'b');
    await vi.waitFor(() => expect(inLedger()).toEqual(['a', 'b']), 90_000);
  });

  test('usage reporter: detects at the next start a loss that happened while the data plane was down', async () => {
    const first = start();
    for (const id of ['a', 'b']) {
      await append(first.spool, id);
      await first.reporter.flush(10_000);
    }
    await closing.pop()!();
    const second = start(first.directory);
    await vi.waitFor(() => expect(second.inLedger()).toEqual(['a', 'b']), 90_000);
  });

  test('usage reporter: sends nothing again to a ledger without loss', async () => {
    const { spool, reporter, ledger, inLedger, onLedgerRolledBack } = start();
    for (const id of ['a', 'b']) {
      await append(spool, id);
      await reporter.flush(10_000);
    }
    const calls = ledger.calls.length;
    await vi.waitFor(() => expect(ledger.calls.length).toBeGreaterThan(calls + 3), 90_000);
    expect(ledger.committed.flat()).toEqual(['a', 'b']);
    expect(inLedger()).toEqual(['a', 'b']);
    expect(onLedgerRolledBack).not.toHaveBeenCalled();
  });
});
