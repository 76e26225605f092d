import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Backoff } from '@acg/base/backoff';
import { createLogger } from '@acg/base/log';
import { type IReportUsageRequest, ReportUsageRequest } from '@acg/proto/messages';
import { afterEach, expect, test, vi } from 'vitest';
import { Spool } from './spool/spool.js';
import { type ReportOutcome, UsageReporter } from './usage-reporter.js';

const log = createLogger('test', 'silent');
const COMMITTED: ReportOutcome = { kind: 'committed', rejected: [], mark: null, hasLedgerRolledBack: false };
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

function start(reply: (request: IReportUsageRequest) => Promise<ReportOutcome>, segmentAgeMs = 0) {
  const root = mkdtempSync(join(tmpdir(), 'acg-usage-reporter-'));
  const spool = new Spool({ directory: root, bytesMax: 1 << 30, segmentAgeMs }, log);
  const calls: IReportUsageRequest[] = [];
  const report = (body: Buffer) => {
    const request = ReportUsageRequest.decode(body);
    calls.push(request);
    return reply(request);
  };
  const options = { dataPlaneId: 'dp-1', lingerMs: 1, backoff: new Backoff(1, 2) };
  const reporter = new UsageReporter(spool, { report }, options, log);
  cleanups.push(async () => {
    await reporter.stop();
    await spool.close();
  });
  return { root, spool, reporter, calls };
}
const append = (spool: Spool, id: string) => new Promise((resolve) => spool.appendRecord({ id }, resolve));
const ids = (calls: IReportUsageRequest[]) => calls.flatMap((call) => call.records!.map((record) => record.id!));

test('usage reporter: sends appended records with the data plane id and empties the spool', async () => {
  const { root, spool, reporter, calls } = start(async () => COMMITTED);
  await append(spool, 'a');
  await append(spool, 'b');
  expect(await reporter.flush(10_000)).toBe(true);
  expect(ids(calls)).toEqual(['a', 'b']);
  expect(calls.every((call) => call.dataPlaneId === 'dp-1')).toBe(true);
  expect(reporter.stats()).toMatchObject({ recordsReported: 2, isConnected: true });
  expect(readdirSync(join(root, 'worker-0')).filter((name) => name.endsWith('.seg'))).toEqual([]);
});

test('usage reporter: repeats a batch until it is acknowledged, and only then releases it', async () => {
  let failures = 5;
  const { spool, reporter, calls } = start(async () => {
    if (failures-- > 0) throw new Error('unavailable');
    return COMMITTED;
  });
  await append(spool, 'a');
  await vi.waitFor(() => expect(spool.stats().bytesUnacknowledged).toBe(0), 90_000);
  expect(calls).toHaveLength(6);
  expect(new Set(ids(calls))).toEqual(new Set(['a']));
  expect(reporter.stats()).toMatchObject({ failures: 5, recordsReported: 1, isConnected: true });
});

test('usage reporter: flush times out while the control plane is unavailable, and keeps the records', async () => {
  const { spool, reporter } = start(() => Promise.reject(new Error('away')));
  await append(spool, 'a');
  expect(await reporter.flush(20)).toBe(false);
  expect(spool.stats().bytesUnacknowledged).toBeGreaterThan(0);
});

test('usage reporter: a permanently rejected frame does not block the other frames', async () => {
  const { root, spool, reporter, calls } = start(async (request) =>
    request.records!.some((record) => record.id === 'bad') ? { kind: 'rejected', reason: 'no' } : COMMITTED,
  );
  await Promise.all([append(spool, 'a'), append(spool, 'b')]);
  for (const id of ['c', 'bad', 'd', 'e']) await append(spool, id);
  expect(await reporter.flush(10_000)).toBe(true);
  expect(new Set(ids(calls))).toEqual(new Set(['a', 'b', 'c', 'bad', 'd', 'e']));
  expect(readdirSync(join(root, 'worker-0/set-aside'))).toHaveLength(1);
});

test('usage reporter: sends the frames of a rejected batch one by one', async () => {
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const { spool, reporter, calls } = start(async (request) => {
    await gate; // until all frames are in one segment behind the first call
    return request.records!.some((record) => record.id === 'bad') ? { kind: 'rejected', reason: 'no' } : COMMITTED;
  }, 3_600_000);
  for (const id of ['a', 'b', 'bad', 'c']) await append(spool, id);
  open();
  expect(await reporter.flush(10_000)).toBe(true);
  const committed = calls.filter((call) => !call.records!.some((record) => record.id === 'bad'));
  expect(new Set(ids(committed))).toEqual(new Set(['a', 'b', 'c']));
});

test('usage reporter: stops although the control plane never replies', async () => {
  const { root, spool, reporter, calls } = start(() => new Promise(() => undefined));
  await append(spool, 'a');
  await vi.waitFor(() => expect(calls).toHaveLength(1), 90_000);
  await reporter.stop();
  await spool.close();
  expect(readdirSync(join(root, 'worker-0')).filter((name) => name.endsWith('.seg'))).toHaveLength(1);
});

test('backoff: grows from half the first delay to the maximum and restarts after success', () => {
  const low = new Backoff(100, 1_000, () => 0);
  expect([1, 2, 3, 4, 5, 6].map(() => low.nextDelayMs())).toEqual([50, 100, 200, 400, 500, 500]);
  low.reset();
  expect(low.nextDelayMs()).toBe(50);
  const high = new Backoff(100, 1_000, () => 1);
  expect([1, 2, 3, 4, 5].map(() => high.nextDelayMs())).toEqual([100, 200, 400, 800, 1_000]);
});
