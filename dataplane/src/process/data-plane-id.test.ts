import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { loadDataPlaneId } from './data-plane-id.js';

const directory = (): string => mkdtempSync(join(tmpdir(), 'acg-id-'));

test('data plane id: is created once, read again, and leaves no other file', () => {
  const dir = directory();
  const id = loadDataPlaneId(dir);
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  expect(loadDataPlaneId(dir)).toBe(id);
  expect(readdirSync(dir)).toEqual(['dataplane-id']);
});

test('data plane id: replaces a damaged file', () => {
  const dir = directory();
  writeFileSync(join(dir, 'dataplane-id'), 'damaged');
  const id = loadDataPlaneId(dir);
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  expect(loadDataPlaneId(dir)).toBe(id);
});

test('data plane id: concurrent starts succeed and agree on one id', async () => {
  const script = `
    const { workerData, parentPort } = require('node:worker_threads');
    import(workerData.module).then((m) => {
      Atomics.wait(new Int32Array(workerData.gate), 0, 0);
      parentPort.postMessage(m.loadDataPlaneId(workerData.dir));
    });`;
  const module = join(import.meta.dirname, '../../dist/process/data-plane-id.js');
  for (let round = 0; round < 5; round++) {
    const dir = directory();
    const gate = new SharedArrayBuffer(4);
    const workers = [0, 1, 2].map(() => new Worker(script, { eval: true, workerData: { module, dir, gate } }));
    const ids = workers.map(
      (worker) =>
        new Promise<string>((resolve, reject) => {
          worker.once('message', resolve);
          worker.once('error', reject);
        }),
    );
    const opener = setInterval(() => {
      Atomics.store(new Int32Array(gate), 0, 1);
      Atomics.notify(new Int32Array(gate), 0);
    }, 20);
    await Promise.all(ids);
    clearInterval(opener);
    const kept = loadDataPlaneId(dir);
    expect(await Promise.all(ids)).toContain(kept);
  }
});
