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
const BOOKED: ReportOutcome = { kind: 'booked', rejected: [], mark: null, hasLedgerRolledBack: false };
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

function start(answer: (request: IReportUsageRequest) => Promise<ReportOutcome>, segmentAgeMs = 0) {
  const root = mkdtempSync(join(tmpdir(), 'acg-shipper-'));
  const spool = new Spool({ directory: root, bytesMax: 1 << 30, segmentAgeMs }, log);
  const calls: IReportUsageRequest[] = [];
  const ship = (body: Buffer) => {
    const request = ReportUsageRequest.decode(body);
    calls.push(request);
    return answer(request);
  };
  const options = { dataPlaneId: 'dp-1', lingerMs: 1, backoff: new Backoff(1, 2) };
  const shipper = new UsageReporter(spool, { report: ship }, options, log);
  cleanups.push(async () => {
    await shipper.stop();
    await spool.close();
  });
  return { root, spool, shipper, calls };
}
const append = (spool: Spool, id: string) => new Promise((resolve) => spool.appendRecord({ id }, resolve));
const ids = (calls: IReportUsageRequest[]) => calls.flatMap((call) => call.records!.map((record) => record.id!));

test('shipper: sends what is appended, names the data plane, and empties the spool', async () => {
  const { root, spool, shipper, calls } = start(async () => BOOKED);
  await append(spool, 'a');
  await append(spool, 'b');
  expect(await shipper.flush(10_000)).toBe(true);
  expect(ids(calls)).toEqual(['a', 'b']);
  expect(calls.every((call) => call.dataPlaneId === 'dp-1')).toBe(true);
  expect(shipper.stats()).toMatchObject({ recordsShipped: 2, connected: true });
  expect(readdirSync(join(root, 'worker-0')).filter((name) => name.endsWith('.seg'))).toEqual([]);
});

test('shipper: repeats a batch until it is acknowledged, and only then lets go of it', async () => {
  let failures = 5;
  const { spool, shipper, calls } = start(async () => {
    if (failures-- > 0) throw new Error('unavailable');
    return BOOKED;
  });
  await append(spool, 'a');
  await vi.waitFor(() => expect(spool.stats().bytesUnacknowledged).toBe(0), 90_000);
  expect(calls).toHaveLength(6);
  expect(new Set(ids(calls))).toEqual(new Set(['a']));
  expect(shipper.stats()).toMatchObject({ failures: 5, recordsShipped: 1, connected: true });
});

test('shipper: flush gives up in time while the control plane is away, and the records stay', async () => {
  const { spool, shipper } = start(() => Promise.reject(new Error('away')));
  await append(spool, 'a');
  expect(await shipper.flush(20)).toBe(false);
  expect(spool.stats().bytesUnacknowledged).toBeGreaterThan(0);
});

test('shipper: one frame that the control plane refuses for good does not hold up the others', async () => {
  const { root, spool, shipper, calls } = start(async (request) =>
    request.records!.some((record) => record.id === 'bad') ? { kind: 'refused', reason: 'no' } : BOOKED,
  );
  await Promise.all([append(spool, 'a'), append(spool, 'b')]);
  for (const id of ['c', 'bad', 'd', 'e']) await append(spool, id);
  expect(await shipper.flush(10_000)).toBe(true);
  expect(new Set(ids(calls))).toEqual(new Set(['a', 'b', 'c', 'bad', 'd', 'e']));
  expect(readdirSync(join(root, 'worker-0/set-aside'))).toHaveLength(1);
});

test('shipper: a refused batch is taken apart into frames', async () => {
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const { spool, shipper, calls } = start(async (request) => {
    await gate; // until all frames lie in one segment behind the first call
    return request.records!.some((record) => record.id === 'bad') ? { kind: 'refused', reason: 'no' } : BOOKED;
  }, 3_600_000);
  for (const id of ['a', 'b', 'bad', 'c']) await append(spool, id);
  open();
  expect(await shipper.flush(10_000)).toBe(true);
  const booked = calls.filter((call) => !call.records!.some((record) => record.id === 'bad'));
  expect(new Set(ids(booked))).toEqual(new Set(['a', 'b', 'c']));
});

test('shipper: a control plane that never answers does not hold up the stop', async () => {
  const { root, spool, shipper, calls } = start(() => new Promise(() => undefined));
  await append(spool, 'a');
  await vi.waitFor(() => expect(calls).toHaveLength(1), 90_000);
  await shipper.stop();
  await spool.close();
  expect(readdirSync(join(root, 'worker-0')).filter((name) => name.endsWith('.seg'))).toHaveLength(1);
});

test('backoff: grows from half the first wait to the maximum and starts again after success', () => {
  const low = new Backoff(100, 1_000, () => 0);
  expect([1, 2, 3, 4, 5, 6].map(() => low.nextDelayMs())).toEqual([50, 100, 200, 400, 500, 500]);
  low.reset();
  expect(low.nextDelayMs()).toBe(50);
  const high = new Backoff(100, 1_000, () => 1);
  expect([1, 2, 3, 4, 5].map(() => high.nextDelayMs())).toEqual([100, 200, 400, 800, 1_000]);
});
