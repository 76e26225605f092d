import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '@acg/base/log';
import { afterEach, expect, test } from 'vitest';
import { WORKER_ENV_VARIABLE, WorkerFleet } from './worker-fleet.js';

const execPath = process.execPath;
let fleet: WorkerFleet | null = null;

afterEach(async () => {
  process.execPath = execPath;
  await fleet?.stop();
  fleet = null;
});

interface Scripted {
  readonly fleet: WorkerFleet;
  readonly ends: { code: number; message: string }[];
  /** What the log recorded of each replaced worker. */
  readonly replaced: object[];
  /** One line per start of a worker: `index pid`. */
  starts(): string[];
}

/**
 * Starts a fleet of two whose workers run `body`. `body` can use `index`, `starts` (of all workers so far, this one
 * included), `port`, `allStarts()`, `listening()` and `serve()`, which answers the fleet's messages.
 */
function scripted(body: string, drainTimeoutMs = 20_000): Scripted {
  const directory = mkdtempSync(join(tmpdir(), 'acg-fleet-'));
  const journal = join(directory, 'starts');
  writeFileSync(journal, '');
  const script = join(directory, 'worker.mjs');
  writeFileSync(
    script,
    `import { appendFileSync, readFileSync } from 'node:fs';
     const [index, port] = process.env.${WORKER_ENV_VARIABLE}.split(':');
     appendFileSync('${journal}', index + ' ' + process.pid + '\\n');
     const allStarts = () => readFileSync('${journal}', 'utf8').trim().split('\\n');
     const starts = allStarts();
     const listening = () => process.send({ kind: 'listening', port: Number(port) || 4711 });
     const serve = () => {
       process.on('message', ({ id }) => process.send({ kind: 'metrics', id, metrics: [], notReady: null }));
       process.on('disconnect', () => process.exit(0));
       listening();
     };
     ${body}`,
  );
  const ends: { code: number; message: string }[] = [];
  const config = { host: '127.0.0.1', port: 0, workers: 2, drainTimeoutMs };
  const replaced: object[] = [];
  const log = { error: (fields: object) => void replaced.push(fields) } as unknown as Logger;
  fleet = new WorkerFleet(script, { PATH: process.env.PATH }, config, log, (code, message) =>
    ends.push({ code, message }),
  );
  return { fleet, ends, replaced, starts: () => readFileSync(journal, 'utf8').split('\n').slice(0, -1) };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test.each([69, 73, 78])(
  'worker fleet: a worker that exits with %i at the start fails the start with that code',
  async (code) => {
    const { fleet } = scripted(`if (index === '1') process.exit(${code}); serve();`);
    await expect(fleet.start()).rejects.toMatchObject({ exitCode: code });
  },
);

test('worker fleet: with port 0, the first worker picks a port and the others share it', async () => {
  const { fleet } = scripted(`if (index === '1' && port !== '4711') process.exit(78); serve();`);
  expect(await fleet.start()).toBe(4711);
});

test('worker fleet: a worker that crashes before it listens fails the start', async () => {
  const { fleet } = scripted(`if (index === '1') process.kill(process.pid, 'SIGKILL'); serve();`);
  await expect(fleet.start()).rejects.toMatchObject({ exitCode: 69, message: 'worker 1 ended with SIGKILL' });
});

test('worker fleet: a process that cannot be forked fails the start, and stop resolves', async () => {
  const { fleet } = scripted('serve();');
  process.execPath = '/nonexistent/node';
  await expect(fleet.start()).rejects.toMatchObject({ exitCode: 69, message: expect.stringContaining('ENOENT') });
});

test('worker fleet: retries a process that cannot be forked after the start', async () => {
  const { fleet, starts, replaced } = scripted('serve();');
  await fleet.start();
  process.execPath = '/nonexistent/node';
  const [first] = starts();
  process.kill(Number(first!.split(' ')[1]), 'SIGKILL');
  await until(() => replaced.length === 2);
  expect(replaced[1]).toMatchObject({ error: expect.stringContaining('ENOENT') });
  process.execPath = execPath;
  await until(() => starts().length === 3);
  expect(fleet.notReadyReason()).toBeNull();
});

test('worker fleet: ends with the exit code when every worker exits as unrecoverable', async () => {
  const { fleet, ends } = scripted(`
    serve();
    process.on('message', () => setImmediate(() => process.exit(69)));`);
  await fleet.start();
  await until(() => ends.length > 0);
  expect(ends).toEqual([{ code: 69, message: expect.stringMatching(/^worker [01] ended with exit code 69$/) }]);
});

test('worker fleet: retries an unrecoverable worker while another serves', async () => {
  const { fleet, ends, starts } = scripted(`
    const own = starts.filter((line) => line.startsWith(index)).length;
    if (index === '1' && own > 1 && own < 4) process.exit(own === 2 ? 78 : 69);
    serve();
    if (index === '1' && own === 1) process.on('message', () => process.exit(69));`);
  await fleet.start();
  const ofSecond = (): number => starts().filter((line) => line.startsWith('1')).length;
  await until(() => ofSecond() === 4);
  expect(starts().filter((line) => line.startsWith('0'))).toHaveLength(1);
  expect(fleet.notReadyReason()).toBeNull();
  expect(ends).toEqual([]);
});

test('worker fleet: replaces a worker that ends while another is still starting', async () => {
  const { fleet, starts } = scripted(`
    const second = starts.filter((line) => line.startsWith(index)).length > 1;
    if (index === '0' && !second) { listening(); setImmediate(() => process.exit(70)); }
    else if (index === '0') serve();
    else {
      // Listens after the first worker was replaced.
      const timer = setInterval(() => {
        if (allStarts().length < 3) return;
        clearInterval(timer);
        serve();
      }, 5);
    }`);
  await fleet.start();
  expect(starts().filter((line) => line.startsWith('0'))).toHaveLength(2);
});

test('worker fleet: kills a worker that has not ended after the drain time', async () => {
  const { fleet, starts } = scripted(
    `
    if (index === '0') process.on('SIGTERM', () => {});
    serve();
    if (index === '0') process.removeAllListeners('disconnect');`,
    1,
  );
  await fleet.start();
  const pids = starts().map((line) => Number(line.split(' ')[1]));
  expect(pids.filter(alive)).toHaveLength(2);
  await fleet.stop();
  expect(pids.filter(alive)).toEqual([]);
});
