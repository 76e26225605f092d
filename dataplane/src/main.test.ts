import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { connectRaw } from './call/testing/raw-peer-fixture.js';

const MAIN = join(import.meta.dirname, '../dist/bundle/main.js');
const running: ChildProcess[] = [];
const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  for (const child of running.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

interface Env {
  [name: string]: string;
}

const newEnv = (changes: Env = {}): Env => ({
  PATH: process.env.PATH ?? '',
  GATEWAY_DATA_DIR: mkdtempSync(join(tmpdir(), 'acg-data-')),
  DATAPLANE_PORT: '0',
  DATAPLANE_METRICS_PORT: '0',
  INTERNAL_TOKEN: 'i'.repeat(40),
  CONTROLPLANE_GRPC: '127.0.0.1:1',
  LOG_LEVEL: 'warn',
  ...changes,
});

interface Ready {
  readonly port: number;
  readonly metricsPort: number;
}

/** Rejects with the output of the process when it exits instead. */
function start(env: Env, nodeOptions: string[] = []): Promise<{ child: ChildProcess; ready: Ready }> {
  const child = fork(MAIN, [], { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'], execArgv: nodeOptions });
  running.push(child);
  let said = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  return new Promise((resolve, reject) => {
    child.once('message', (ready: Ready) => resolve({ child, ready }));
    child.once('close', (code, signal) => reject(new Error(`the data plane ended (${signal ?? code}): ${said}`)));
  });
}

/** Runs a start that must fail. */
function refused(env: Env): { code: number | null; line: string } {
  const { status, stderr } = spawnSync(process.execPath, [MAIN], { env, encoding: 'utf8' });
  return { code: status, line: stderr.trim() };
}

async function taken(): Promise<string> {
  const server = createServer();
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return String((server.address() as AddressInfo).port);
}

test('start: invalid configuration prints one line that names every variable, exit 78', () => {
  const { code, line } = refused(newEnv({ DATAPLANE_PORT: 'x', EGRESS_ALLOW_CIDRS: '1.2.3', MAX_INFLIGHT: '0' }));
  expect(code).toBe(78);
  expect(line.split('\n')).toHaveLength(1);
  for (const name of ['DATAPLANE_PORT', 'EGRESS_ALLOW_CIDRS', 'MAX_INFLIGHT']) expect(line).toContain(name);
});

test('start: rejects a data directory in use with exit 73, and takes it over after a kill', async () => {
  const env = newEnv();
  const { child } = await start(env);
  const id = readFileSync(join(env.GATEWAY_DATA_DIR!, 'dataplane-id'), 'utf8');
  const second = refused(env);
  expect(second.code).toBe(73);
  expect(second.line).toContain('GATEWAY_DATA_DIR');
  child.kill('SIGKILL');
  await once(child, 'exit');
  await start(env);
  expect(readFileSync(join(env.GATEWAY_DATA_DIR!, 'dataplane-id'), 'utf8')).toBe(id);
});

test('start: names a spool directory that cannot be created, exit 73', () => {
  const env = newEnv();
  const { code, line } = refused({ ...env, SPOOL_DIR: '/dev/null/spool' });
  expect(code).toBe(73);
  expect(line).toMatch(/^dataplane: SPOOL_DIR \/dev\/null\/spool cannot be used: ENOTDIR/);
});

test.each([['1'], ['2']])('start: rejects a port in use with exit 69 (%s workers)', async (workers) => {
  const env = newEnv({ DATAPLANE_WORKERS: workers, REDIS_URL: 'redis://127.0.0.1:1' });
  const { code, line } = refused({ ...env, DATAPLANE_PORT: await taken() });
  expect(code).toBe(69);
  expect(line).toContain('cannot listen on 127.0.0.1:');
  const metrics = refused({ ...env, DATAPLANE_METRICS_PORT: await taken() });
  expect(metrics.code).toBe(69);
  expect(metrics.line).toContain('DATAPLANE_METRICS_PORT');
});

test('health: alive but not ready without a control plane; tokens get 503; exits when its parent disconnects', async () => {
  const { child, ready } = await start(newEnv());
  const ops = `http://127.0.0.1:${ready.metricsPort}`;
  expect((await fetch(`${ops}/healthz`)).status).toBe(200);
  const readiness = await fetch(`${ops}/readyz`);
  expect(readiness.status).toBe(503);
  expect(await readiness.json()).toMatchObject({
    status: 'not_ready',
    reason: expect.stringContaining('control plane'),
  });
  expect(await (await fetch(`${ops}/metrics`)).text()).toContain('gateway_build_info{version=');
  expect((await fetch(`${ops}/other`)).status).toBe(404);
  const headers = { authorization: `Bearer acg_${'0'.repeat(64)}` };
  const call = await fetch(`http://127.0.0.1:${ready.port}/v1/proxy/openai/x`, { headers });
  expect([call.status, call.headers.get('retry-after')]).toEqual([503, '1']);
  expect((await fetch(`http://127.0.0.1:${ready.port}/metrics`)).status).toBe(404);
  child.disconnect();
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
});

test('workers: replaces a killed worker, and keeps the connections of the others', async () => {
  const { child, ready } = await start(newEnv({ DATAPLANE_WORKERS: '2', REDIS_URL: 'redis://127.0.0.1:1' }));
  const ops = `http://127.0.0.1:${ready.metricsPort}`;
  const workers = (): number[] =>
    readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ').map(Number);
  const before = workers();
  expect(before).toHaveLength(2);
  // Enough connections that each worker has some.
  const peers = await Promise.all(Array.from({ length: 32 }, () => connectRaw(ready.port)));
  const alive = (): number => peers.filter((peer) => !peer.closed).length;
  process.kill(before[0]!, 'SIGKILL');
  await Promise.race(peers.map((peer) => peer.waitForClose()));
  while (workers().length < 2 || workers().includes(before[0]!)) await setTimeout(10);
  expect(workers()).toContain(before[1]);
  expect(alive()).toBeGreaterThan(0);
  for (const peer of peers) peer.socket.destroy();
  // The new worker responds too: the metrics of both are included.
  let connections = '';
  while (!connections.includes('gateway_stage_failures_total 0')) {
    connections = await (await fetch(`${ops}/metrics`)).text();
  }
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
});

test.each([
  ['data plane', MAIN],
  ['single node', join(import.meta.dirname, '../../singlenode/dist/main.js')],
])('start: without a matching binary of the HTTP server, the %s prints one line, exit 78', (_name, main) => {
  const elsewhere = `data:text/javascript,import module from 'node:module';
    const load = module._extensions['.node'];
    module._extensions['.node'] = (target, file) => {
      if (file.includes('uws_')) throw new Error('version GLIBC_2.38 not found\\n  (required by it)');
      load(target, file);
    };`;
  const env = newEnv();
  const { status, stderr } = spawnSync(process.execPath, ['--import', elsewhere, main], { env, encoding: 'utf8' });
  expect(status).toBe(78);
  const lines = stderr.trim().split('\n');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(`the HTTP server has no binary for Node ${process.versions.node} on ${process.platform}`);
  expect(lines[0]).toContain('Node 20.19 with glibc 2.27');
});

test('string methods are fast after all modules were loaded', async () => {
  const answers = "process.on('message', () => process.send(%HasFastProperties(String.prototype)))";
  const module = `data:text/javascript,${encodeURIComponent(answers)}`;
  const { child } = await start(newEnv(), ['--allow-natives-syntax', '--import', module]);
  child.send('quick?');
  expect(await once(child, 'message')).toEqual([true, undefined]);
});
