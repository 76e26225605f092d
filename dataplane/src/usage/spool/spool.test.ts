import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@acg/base/log';
import { uuidv7 } from '@acg/base/uuidv7';
import { ReportUsageRequest } from '@acg/proto/messages';
import { describe, expect, test, vi } from 'vitest';
import { SegmentByteRangeReader } from './read-segment-byte-ranges.js';
import { Spool, type SpoolBatch, type SpoolOptions } from './spool.js';

const log = createLogger('test', 'silent');
const ALL = { recordsMax: 1_000_000, framesMax: 1_000_000 };
const newRoot = () => mkdtempSync(join(tmpdir(), 'acg-spool-'));
const open = (directory: string, options: Partial<SpoolOptions> = {}) =>
  new Spool({ directory, bytesMax: 1 << 30, ...options }, log);
const append = (spool: Spool, id: string) =>
  new Promise<Error | null>((resolve) => spool.appendRecord({ id, path: '/v1/x', startedAtMs: 1 }, resolve));
const decode = (batch: SpoolBatch) => ReportUsageRequest.decode(Buffer.concat(batch.payloads));

async function readAll(spool: Spool): Promise<string[]> {
  const ids: string[] = [];
  for (let batch = await spool.read(ALL); batch !== null; batch = await spool.read(ALL)) {
    ids.push(...decode(batch).records.map((record) => record.id!));
    spool.acknowledge(batch);
  }
  return ids;
}
/** Returns '' when the descriptor was closed meanwhile. */
function pathOfDescriptor(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
}
const segmentPaths = (root: string) =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.seg'))
    .map((name) => join(root, name));

test('spool: writes the records of one tick at once, confirms them after the write, and reads them in order', async () => {
  const root = newRoot();
  const spool = open(root);
  const confirmed: (Error | null)[] = [];
  for (let i = 0; i < 50; i++) spool.appendRecord({ id: `r${i}` }, (error) => confirmed.push(error));
  expect(confirmed).toEqual([]);
  expect(await append(spool, 'last')).toBe(null);
  expect(confirmed).toEqual(Array(50).fill(null));
  const batch = (await spool.read(ALL))!;
  expect(batch.payloads).toHaveLength(1);
  expect(batch.records).toBe(51);
  expect(decode(batch).records.map((record) => record.id)).toEqual(
    [...Array(50).keys()].map((i) => `r${i}`).concat('last'),
  );
  spool.acknowledge(batch);
  expect(await spool.read(ALL)).toBe(null);
  await spool.close();
  expect(segmentPaths(root)).toEqual([]);
});

test('spool: the next process reads every record that a killed process confirmed', async () => {
  const root = newRoot();
  const script = `
    const { Spool } = await import(${JSON.stringify(join(import.meta.dirname, '../../../dist/usage/spool/spool.js'))});
    const { createLogger } = await import('@acg/base/log');
    const spool = new Spool({ directory: ${JSON.stringify(root)}, bytesMax: 1e9 }, createLogger('x', 'silent'));
    let n = 0;
    const next = () => spool.appendRecord({ id: 'id-' + n }, () => { process.stdout.write('id-' + n++ + '\\n', next); });
    next();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    cwd: join(import.meta.dirname, '../..'),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
    if (output.length > 3_000) child.kill('SIGKILL');
  });
  await once(child, 'close');
  const confirmed = output.split('\n').slice(0, -1);
  expect(confirmed.length).toBeGreaterThan(100);
  const spool = open(root);
  const found = await readAll(spool);
  expect(found.slice(0, confirmed.length)).toEqual(confirmed);
  await spool.close();
});

test('spool: close writes and confirms records appended in the same tick', async () => {
  const root = newRoot();
  const spool = open(root);
  const confirmed: (Error | null)[] = [];
  spool.appendRecord({ id: 'last' }, (error) => confirmed.push(error));
  await spool.close();
  expect(confirmed).toEqual([null]);
  const next = open(root);
  expect(await readAll(next)).toEqual(['last']);
  await next.close();
});

test('spool: cut at any byte, a restart sends every record whose write had finished', async () => {
  const root = newRoot();
  const spool = open(root);
  const ends: number[] = [];
  for (let i = 0; i < 4; i++) {
    await append(spool, `r${i}`);
    ends.push(spool.stats().bytesOnDisk);
  }
  await spool.close();
  const path = segmentPaths(root)[0]!;
  const whole = readFileSync(path);
  for (let cut = whole.length; cut > 0; cut--) {
    writeFileSync(path, whole.subarray(0, cut));
    const again = open(root);
    expect(await readAll(again)).toEqual(ends.flatMap((end, i) => (end <= cut ? [`r${i}`] : [])));
    expect(again.stats()).toMatchObject({ damagedBytes: 0, bytesOnDisk: 0 });
    await again.close();
    expect(segmentPaths(root)).toEqual([]);
  }
});

test.each(['EMFILE', 'ENFILE'])('spool: keeps a segment that cannot be opened for now: %s', async (code) => {
  const spool = open(newRoot());
  await append(spool, 'kept');
  vi.spyOn(SegmentByteRangeReader.prototype, 'read').mockRejectedValueOnce(Object.assign(new Error(code), { code }));
  await expect(spool.read(ALL)).rejects.toThrow(code);
  expect(await readAll(spool)).toEqual(['kept']);
  expect(spool.stats().damagedBytes).toBe(0);
  await spool.close();
});

test('spool: quarantines a damaged frame and sends the others', async () => {
  const root = newRoot();
  const spool = open(root);
  for (const id of ['a', 'b', 'c']) await append(spool, id);
  await spool.close();
  const path = segmentPaths(root)[0]!;
  const bytes = readFileSync(path);
  bytes[Math.floor(bytes.length / 2)]! ^= 0xff;
  writeFileSync(path, bytes);
  const again = open(root);
  expect(await readAll(again)).toEqual(['a', 'c']);
  expect(again.stats().damagedBytes).toBe(bytes.length / 3);
  const quarantined = readdirSync(join(root, 'worker-0/set-aside'));
  expect(quarantined).toHaveLength(1);
  expect(statSync(join(root, 'worker-0/set-aside', quarantined[0]!)).mode & 0o077).toBe(0);
  await again.close();
});

test('spool: skips an unfinished write when the process continues in a new segment', async () => {
  const root = newRoot();
  const spool = open(root);
  await append(spool, 'a');
  await spool.close();
  appendFileSync(segmentPaths(root)[0]!, Buffer.from([0x5c, 0xe6, 0xa9]));
  const again = open(root);
  await append(again, 'b');
  expect(await readAll(again)).toEqual(['a', 'b']);
  await again.close();
});

test('spool: sends unacknowledged records again after a restart, and deletes acknowledged segments', async () => {
  const root = newRoot();
  const first = open(root, { segmentAgeMs: 0 });
  for (const id of ['a', 'b', 'c']) await append(first, id);
  expect(segmentPaths(root)).toHaveLength(3);
  first.acknowledge((await first.read(ALL))!);
  expect(segmentPaths(root)).toHaveLength(2);
  await first.close();
  const second = open(root);
  expect(await readAll(second)).toEqual(['b', 'c']);
  await second.close();
});

test('spool: an acknowledgement after close deletes nothing, because another process may own the segment', async () => {
  const root = newRoot();
  const first = open(root);
  await append(first, 'a');
  const batch = (await first.read(ALL))!;
  await first.close();
  const second = open(root);
  first.acknowledge(batch);
  expect(await readAll(second)).toEqual(['a']);
  await second.close();
});

test('spool: at the cap it is full but accepts records of running calls, until it is well below the cap', async () => {
  const root = newRoot();
  const spool = open(root, { bytesMax: 10_000, segmentAgeMs: 0 });
  const ids: string[] = [];
  while (!spool.isFull) {
    ids.push(uuidv7(1));
    expect(await append(spool, ids.at(-1)!)).toBe(null);
  }
  expect(spool.stats().bytesOnDisk).toBeGreaterThanOrEqual(10_000);
  ids.push('late');
  expect(await append(spool, 'late')).toBe(null);
  expect(spool.appendRejection({ id: 'x', count: 1 })).toBe(false);
  const sent: string[] = [];
  while (spool.isFull) {
    const batch = (await spool.read({ recordsMax: 1, framesMax: 1 }))!;
    sent.push(...decode(batch).records.map((record) => record.id!));
    spool.acknowledge(batch);
  }
  expect(spool.stats().bytesOnDisk).toBeLessThan(9_000);
  expect([...sent, ...(await readAll(spool))]).toEqual(ids);
  await spool.close();
});

test('spool: one organization can use at most 7/8, and gets quota back as its files are deleted', async () => {
  const spool = open(newRoot(), { bytesMax: 40_000, segmentAgeMs: 1e9 });
  const appendOf = (orgId: string) =>
    new Promise<void>((done) => spool.appendRecord({ id: uuidv7(1), orgId, path: 'x'.repeat(500) }, () => done()));
  while (!spool.isFullFor('greedy')) {
    expect(spool.stats().isFull).toBe(false);
    await appendOf('greedy');
  }
  expect([spool.isFull, spool.stats().isFull]).toEqual([false, true]);
  expect(spool.stats().bytesOnDisk).toBeGreaterThan(34_000);
  let others = 0;
  for (; !spool.isFullFor('other') && !spool.isFull; others++) await appendOf('other');
  expect(others).toBeGreaterThan(3);
  expect(spool.isFullFor('greedy')).toBe(true);
  expect(spool.isFullFor('third')).toBe(false);
  while (spool.isFullFor('greedy')) spool.acknowledge((await spool.read({ recordsMax: 1, framesMax: 1 }))!);
  expect(spool.isFull).toBe(false);
  await readAll(spool);
  while (!spool.isFullFor('other')) await appendOf('other');
  expect(spool.isFullFor('greedy')).toBe(false);
  await spool.close();
});

test('spool: accepts no rejection statistics of an organization that is over its quota', async () => {
  const spool = open(newRoot(), { bytesMax: 40_000 });
  spool.appendDeferredUsage({ orgId: 'greedy', lines: [{ id: 'x'.repeat(36_000) }] });
  spool.flush();
  const taken = (orgId: string) => [
    spool.appendRejection({ id: 'r', orgId, count: 1 }),
    spool.appendAddressObservation({ id: 's', orgId }),
  ];
  expect([taken('greedy'), taken('other')]).toEqual([
    [false, false],
    [true, true],
  ]);
  await spool.close();
});

test('spool: counts deferred usage for its organization', async () => {
  const spool = open(newRoot(), { bytesMax: 40_000 });
  spool.appendDeferredUsage({ orgId: 'greedy', lines: [{ id: 'x'.repeat(36_000) }] });
  await new Promise<void>((done) => spool.appendRecord({ id: uuidv7(1), orgId: 'other' }, () => done()));
  expect(['greedy', 'other', 'third'].map((orgId) => spool.isFullFor(orgId))).toEqual([true, false, false]);
  await spool.close();
});

describe.runIf(process.platform === 'linux')('spool: closes deleted files, so that they take no disk space', () => {
  const openSegments = (root: string) =>
    readdirSync('/proc/self/fd')
      .map(pathOfDescriptor)
      .filter((path) => path.startsWith(root) && path.includes('.seg'));

  test('after full acknowledgement', async () => {
    const root = newRoot();
    const spool = open(root, { segmentAgeMs: 0 });
    await append(spool, 'a');
    await readAll(spool);
    expect(segmentPaths(root)).toEqual([]);
    await expect.poll(() => openSegments(root)).toEqual([]);
    await spool.close();
  });

  test('when a segment reaches its age while writes fail', async () => {
    const root = newRoot();
    let nowMs = 1;
    const spool = open(root, { now: () => nowMs, retryMs: 5 });
    await append(spool, 'a');
    await readAll(spool);
    expect(openSegments(root)).not.toEqual([]);
    const worker = join(root, 'worker-0');
    rmSync(worker, { recursive: true });
    writeFileSync(worker, ''); // a file in place of the directory: no segment can be opened
    nowMs = 1e6;
    expect(await append(spool, 'b')).toBeInstanceOf(Error);
    await expect.poll(() => openSegments(root)).toEqual([]);
    await spool.close();
  });
});

test('spool: while writes fail, appends report the error, the spool is full, and no record is lost', async () => {
  const root = newRoot();
  const spool = open(root, { retryMs: 5, segmentAgeMs: 0 });
  await append(spool, 'a');
  const worker = join(root, 'worker-0');
  await readAll(spool);
  rmSync(worker, { recursive: true });
  writeFileSync(worker, ''); // a file in place of the directory: no segment can be opened
  expect(await append(spool, 'b')).toBeInstanceOf(Error);
  expect(spool.isFull).toBe(true);
  expect(await append(spool, 'c')).toBeInstanceOf(Error);
  rmSync(worker);
  const written = new Promise<void>((resolve) => {
    spool.onAppended = resolve;
  });
  open(root, {}).close(); // creates the directory again
  await written;
  expect(spool.isFull).toBe(false);
  expect((await readAll(spool)).sort()).toEqual(['b', 'c']);
  await spool.close();
});

test('spool: a partial write leaves no bytes behind', async () => {
  const root = newRoot();
  const modules = [join(import.meta.dirname, '../../../dist/usage/spool/spool.js'), '@acg/base/log'];
  const script = `
    const [{ Spool }, { createLogger }] = await Promise.all(${JSON.stringify(modules)}.map((name) => import(name)));
    const options = { directory: ${JSON.stringify(root)}, bytesMax: 1e9, segmentAgeMs: 3_600_000 };
    const spool = new Spool(options, createLogger('x', 'silent'));
    const append = (id, path) => new Promise((resolve) => spool.appendRecord({ id, path }, resolve));
    const outcomes = [];
    for (const [id, path] of [['a', '/'], ['long', '/'.padEnd(8_192, 'x')], ['b', '/']]) {
      outcomes.push((await append(id, path)) === null);
    }
    process.stdout.write(JSON.stringify(outcomes), () => process.kill(process.pid, 'SIGKILL'));`;
  // The file size limit is 8 blocks of 512 or 1024 bytes, so the second write fails halfway.
  const child = spawn(
    'sh',
    ['-c', 'ulimit -f 8 && exec "$0" "$@"', process.execPath, '--input-type=module', '-e', script],
    {
      cwd: join(import.meta.dirname, '../..'),
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  await once(child, 'close');
  expect(output).toBe('[true,false,true]');
  const spool = open(root);
  expect(await readAll(spool)).toEqual(['a', 'b']);
  expect(spool.stats().damagedBytes).toBe(0);
  await spool.close();
});

test('spool: close writes records whose earlier writes failed', async () => {
  const root = newRoot();
  const spool = open(root, { retryMs: 3_600_000, segmentAgeMs: 0 });
  const worker = join(root, 'worker-0');
  rmSync(worker, { recursive: true });
  writeFileSync(worker, '');
  expect(await append(spool, 'a')).toBeInstanceOf(Error);
  rmSync(worker);
  mkdirSync(worker);
  await spool.close();
  const next = open(root);
  expect(await readAll(next)).toEqual(['a']);
  await next.close();
});

test('spool: sends the rest of a partly acknowledged segment', async () => {
  const root = newRoot();
  const first = open(root, { segmentAgeMs: 3_600_000 });
  for (const id of ['a', 'b', 'c']) await append(first, id);
  await first.close();
  expect(segmentPaths(root)).toHaveLength(1);
  const second = open(root);
  const batch = (await second.read({ recordsMax: 1, framesMax: 1 }))!;
  expect(decode(batch).records.map(({ id }) => id)).toEqual(['a']);
  second.acknowledge(batch);
  expect(await readAll(second)).toEqual(['b', 'c']);
  await second.close();
});

test('spool: a living worker adopts segments of dead workers only', async () => {
  const root = newRoot();
  const dead = open(root);
  const alive = open(root);
  await append(dead, 'of the dead');
  await append(alive, 'of the living');
  const adopter = open(root);
  expect(await readAll(adopter)).toEqual([]);
  await dead.close();
  adopter.adoptDeadWorkers();
  expect(await readAll(adopter)).toEqual(['of the dead']);
  adopter.adoptDeadWorkers(); // releases the empty directory
  const restarted = open(root);
  await append(restarted, 'restarted');
  expect(readdirSync(join(root, 'worker-0')).some((name) => name.endsWith('.seg'))).toBe(true);
  expect(await readAll(alive)).toEqual(['of the living']);
  expect(await readAll(restarted)).toEqual(['restarted']);
  await Promise.all([alive, adopter, restarted].map((spool) => spool.close()));
});

test('spool: a truncated or deleted segment does not stop the reader', async () => {
  const root = newRoot();
  const writer = open(root, { segmentAgeMs: 0 });
  for (const id of ['a', 'b', 'c']) await append(writer, id);
  await writer.close();
  const spool = open(root);
  const [first, second] = segmentPaths(root).sort();
  truncateSync(first!, 0);
  rmSync(second!);
  expect(await readAll(spool)).toEqual(['c']);
  await spool.close();
});

test('spool: puts rejections and address observations into the same frames', async () => {
  const spool = open(newRoot());
  expect(spool.appendRejection({ id: 'x', reason: 'rpm', count: 7 })).toBe(true);
  expect(spool.appendAddressObservation({ id: 'y', keyId: 'k', addressHash: Buffer.from([1]) })).toBe(true);
  await append(spool, 'r');
  const body = decode((await spool.read(ALL))!);
  expect(body.rejections[0]).toMatchObject({ id: 'x', reason: 'rpm', count: 7 });
  expect(body.sightings[0]).toMatchObject({ id: 'y', keyId: 'k' });
  expect(body.records[0]).toMatchObject({ id: 'r' });
  await spool.close();
});
