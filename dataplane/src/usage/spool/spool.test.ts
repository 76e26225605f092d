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
import { describe, expect, test } from 'vitest';
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
/** '' of one that is closed meanwhile. */
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

test('spool: records of one turn go out with one write, are confirmed after it and come back in order', async () => {
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

test('spool: what a killed process confirmed is all there for the next one', async () => {
  const root = newRoot();
  const script = `
    const { Spool } = await import(${JSON.stringify(join(import.meta.dirname, '../../dist/usage/spool.js'))});
    const { createLogger } = await import('@acg/base/log');
    const spool = new Spool({ directory: ${JSON.stringify(root)}, bytesMax: 1e9 }, createLogger('x', 'silent'));
    let n = 0;
    const next = () => spool.append({ id: 'id-' + n }, () => { process.stdout.write('id-' + n++ + '\\n', next); });
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

test('spool: what comes in the turn in which it ends is written and confirmed before it has ended', async () => {
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

test('spool: cut at every byte, a restart sends every record whose write had finished', async () => {
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

test('spool: a damaged frame is set aside and the others are sent', async () => {
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
  const kept = readdirSync(join(root, 'worker-0/set-aside'));
  expect(kept).toHaveLength(1);
  expect(statSync(join(root, 'worker-0/set-aside', kept[0]!)).mode & 0o077).toBe(0);
  await again.close();
});

test('spool: an unfinished write of a process that lives on in a new segment is skipped', async () => {
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

test('spool: not acknowledged means sent again after a restart; acknowledged segments are gone', async () => {
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

test("spool: an acknowledgement that comes after the end deletes nothing: the segment may be another process's by now", async () => {
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

test('spool: full at the cap, still takes records of running calls, and opens again only well below the cap', async () => {
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

test('spool: full for whoever fills it, which leaves the others an 8th, and open again for the same as its files go', async () => {
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

test('spool: whom it is full for does not go on filling it with statistics of the refusals', async () => {
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

test('spool: lines of results count as whose they are', async () => {
  const spool = open(newRoot(), { bytesMax: 40_000 });
  spool.appendDeferredUsage({ orgId: 'greedy', lines: [{ id: 'x'.repeat(36_000) }] });
  await new Promise<void>((done) => spool.appendRecord({ id: uuidv7(1), orgId: 'other' }, () => done()));
  expect(['greedy', 'other', 'third'].map((orgId) => spool.isFullFor(orgId))).toEqual([true, false, false]);
  await spool.close();
});

describe.runIf(process.platform === 'linux')('spool: a deleted file is not kept open, and so takes no room', () => {
  const openSegments = (root: string) =>
    readdirSync('/proc/self/fd')
      .map(pathOfDescriptor)
      .filter((path) => path.startsWith(root) && path.includes('.seg'));

  test('when all of it is acknowledged', async () => {
    const root = newRoot();
    const spool = open(root, { segmentAgeMs: 0 });
    await append(spool, 'a');
    await readAll(spool);
    expect(segmentPaths(root)).toEqual([]);
    await expect.poll(() => openSegments(root)).toEqual([]);
    await spool.close();
  });

  test('when it has become old while the file system refuses', async () => {
    const root = newRoot();
    let nowMs = 1;
    const spool = open(root, { now: () => nowMs, retryMs: 5 });
    await append(spool, 'a');
    await readAll(spool);
    expect(openSegments(root)).not.toEqual([]);
    const worker = join(root, 'worker-0');
    rmSync(worker, { recursive: true });
    writeFileSync(worker, ''); // a file in the place of the directory: no segment can be opened
    nowMs = 1e6;
    expect(await append(spool, 'b')).toBeInstanceOf(Error);
    await expect.poll(() => openSegments(root)).toEqual([]);
    await spool.close();
  });
});

test('spool: while the file system refuses, callers are told, the spool is full, and nothing is lost', async () => {
  const root = newRoot();
  const spool = open(root, { retryMs: 5, segmentAgeMs: 0 });
  await append(spool, 'a');
  const worker = join(root, 'worker-0');
  await readAll(spool);
  rmSync(worker, { recursive: true });
  writeFileSync(worker, ''); // a file in the place of the directory: no segment can be opened
  expect(await append(spool, 'b')).toBeInstanceOf(Error);
  expect(spool.isFull).toBe(true);
  expect(await append(spool, 'c')).toBeInstanceOf(Error);
  rmSync(worker);
  const written = new Promise<void>((resolve) => {
    spool.onAppended = resolve;
  });
  open(root, {}).close(); // makes the directory again
  await written;
  expect(spool.isFull).toBe(false);
  expect((await readAll(spool)).sort()).toEqual(['b', 'c']);
  await spool.close();
});

test('spool: a write that the file system takes only the beginning of leaves nothing behind', async () => {
  const root = newRoot();
  const modules = [join(import.meta.dirname, '../../dist/usage/spool.js'), '@acg/base/log'];
  const script = `
    const [{ Spool }, { createLogger }] = await Promise.all(${JSON.stringify(modules)}.map((name) => import(name)));
    const options = { directory: ${JSON.stringify(root)}, bytesMax: 1e9, segmentAgeMs: 3_600_000 };
    const spool = new Spool(options, createLogger('x', 'silent'));
    const append = (id, path) => new Promise((resolve) => spool.append({ id, path }, resolve));
    const outcomes = [];
    for (const [id, path] of [['a', '/'], ['long', '/'.padEnd(8_192, 'x')], ['b', '/']]) {
      outcomes.push((await append(id, path)) === null);
    }
    process.stdout.write(JSON.stringify(outcomes), () => process.kill(process.pid, 'SIGKILL'));`;
  // No file may be longer than 8 blocks, of 512 or of 1024 bytes: the second write fails in its middle.
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

test('spool: what the file system refused is written at the end, when it takes it again', async () => {
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

test('spool: of a segment that is acknowledged in part the rest is sent', async () => {
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

test('spool: a living worker takes over the segments of a dead one, never those of a living one', async () => {
  const root = newRoot();
  const dead = open(root);
  const alive = open(root);
  await append(dead, 'of the dead');
  await append(alive, 'of the living');
  const adopter = open(root);
  expect(await readAll(adopter)).toEqual([]);
  await dead.close();
  adopter.adopt();
  expect(await readAll(adopter)).toEqual(['of the dead']);
  adopter.adopt(); // gives the empty directory back
  const restarted = open(root);
  await append(restarted, 'restarted');
  expect(readdirSync(join(root, 'worker-0')).some((name) => name.endsWith('.seg'))).toBe(true);
  expect(await readAll(alive)).toEqual(['of the living']);
  expect(await readAll(restarted)).toEqual(['restarted']);
  await Promise.all([alive, adopter, restarted].map((spool) => spool.close()));
});

test('spool: a segment that shrinks or vanishes under the reader does not stop it', async () => {
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

test('spool: rejections and sightings travel in the same frames', async () => {
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
