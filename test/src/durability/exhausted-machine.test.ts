/**
 * A data plane whose spool's disk is full, and one without free file descriptors: what agents get meanwhile, that it goes on
 * by itself afterwards, and that the ledger agrees with the provider's journal. The disk is a tmpfs, which root may mount.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OpenAiStandIn } from '@acg/stand-in-provider/openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Stack, type Tenant, waitForCondition } from '../fixtures/stack.js';
import { createTestDatabase, type TestDatabase } from '../fixtures/test-database.js';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';

const home = mkdtempSync(join(tmpdir(), 'acg-exhausted-'));
const disk = join(home, 'disk');
mkdirSync(disk);
const canMount =
  process.getuid?.() === 0 &&
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'acg-drill', disk], { stdio: 'ignore' }).status === 0;
const hasPrlimit = spawnSync('prlimit', ['--version'], { stdio: 'ignore' }).status === 0;

const provider = new OpenAiStandIn();
let database: TestDatabase;
let stack: Stack;
beforeAll(async () => {
  await provider.start();
  database = await createTestDatabase();
  stack = await Stack.start({ database, providers: { openai: provider.origin } });
});
afterAll(async () => {
  await stack?.stop();
  await provider.close();
  if (canMount) execFileSync('umount', [disk]);
  rmSync(home, { recursive: true, force: true });
});

interface Caller {
  readonly tenant: Tenant;
  /** Status of one call; 0: the connection ended without a complete response. */
  call(): Promise<number>;
  /** Calls that reached the provider. */
  journal(): number;
  /** Request ids in the ledger. */
  booked(): Promise<readonly string[]>;
  /** Request ids of completely received responses. */
  readonly received: readonly string[];
}

async function createCaller(url: string): Promise<Caller> {
  const tenant = await stack.signUpTenant();
  const agent = await tenant.createAgent({ rpmLimit: 1_000_000 });
  await tenant.createAccount(agent.id, 'openai', { apiKey: PROVIDER_CREDENTIALS.openai });
  const token = await tenant.createToken(agent.id);
  const before = provider.requests.length;
  const received: string[] = [];
  return {
    tenant,
    received,
    journal: () => provider.requests.length - before,
    booked: async () =>
      (await database.sql<{ id: string }[]>`select id from usage_records where agent_id = ${agent.id}`).map(
        ({ id }) => id,
      ),
    async call() {
      try {
        const answer = await fetch(`${url}/v1/proxy/openai/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', connection: 'close' },
          body: JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'hello' }] }),
        });
        await answer.arrayBuffer();
        if (answer.status === 200) received.push(answer.headers.get('x-gateway-request-id')!);
        return answer.status;
      } catch {
        return 0;
      }
    },
  };
}

/** Every received response, and every call that the provider saw, is in the ledger once. */
async function expectLedgerEqualsJournal({ booked, journal, received }: Caller): Promise<void> {
  await waitForCondition(async () => (await booked()).length >= journal(), 'the ledger has every call');
  const ids = await booked();
  expect([ids.length, new Set(ids).size]).toEqual([journal(), journal()]);
  expect(received.filter((id) => !ids.includes(id))).toEqual([]);
}

test.skipIf(!canMount)('full disk: calls are rejected, and nothing is lost once there is room again', async () => {
  const { plane, url, metricsUrl } = await stack.addDataPlane({ SPOOL_DIR: join(disk, 'spool') });
  const caller = await createCaller(url);
  expect(await caller.call()).toBe(200);
  const filler = join(disk, 'filler');
  spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4k'], { stdio: 'ignore' }); // until nothing fits
  const statuses: number[] = [];
  await waitForCondition(async () => {
    statuses.push(await caller.call());
    return statuses.at(-1) === 503;
  }, 'new calls are rejected');
  const forwarded = caller.journal();
  expect(await caller.call()).toBe(503);
  expect(caller.journal()).toBe(forwarded);
  expect((await fetch(`${metricsUrl}/readyz`)).status).toBe(503);
  expect(await (await fetch(`${metricsUrl}/metrics`)).text()).toMatch(/^gateway_spool_write_errors_total [1-9]/m);
  expect(plane.isRunning).toBe(true);

  rmSync(filler);
  await waitForCondition(async () => (await caller.call()) === 200, 'calls pass again');
  await waitForCondition(async () => (await fetch(`${metricsUrl}/readyz`)).status === 200, 'it is ready again');
  await expectLedgerEqualsJournal(caller);
  expect(await plane.stop()).toBe(0); // counters in memory serve one data plane
  // The call that filled the disk was broken off or rejected, never answered completely without a record.
  expect(statuses.filter((status) => ![0, 200, 503].includes(status))).toEqual([]);
});

test.skipIf(!hasPrlimit)(
  'no file descriptors: calls fail, the data plane goes on afterwards, and nothing is lost',
  async () => {
    const { plane, url, metricsUrl } = await stack.addDataPlane();
    const caller = await createCaller(url);
    expect(await caller.call()).toBe(200);
    const open = Number(/^process_open_fds (\d+)$/m.exec(await (await fetch(`${metricsUrl}/metrics`)).text())![1]);
    const limit = open + 12;
    execFileSync('prlimit', ['--pid', String(plane.pid), `--nofile=${limit}:${limit}`]);
    const sockets: Socket[] = [];
    const { hostname, port } = new URL(url);
    for (let n = 0; n < 40; n++) {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      await once(socket, 'connect'); // by the kernel, also where the process cannot accept
      sockets.push(socket);
    }
    const openNow = (): number => readdirSync(`/proc/${plane.pid}/fd`).length;
    await waitForCondition(() => openNow() >= limit - 1, 'all descriptors are in use');
    const calls = Array.from({ length: 5 }, () => caller.call());
    expect(plane.isRunning).toBe(true);
    for (const socket of sockets) socket.destroy();
    // Rejected, or accepted once there were descriptors again.
    for (const status of await Promise.all(calls)) expect([0, 200, 502, 503]).toContain(status);
    await waitForCondition(async () => (await caller.call()) === 200, 'calls pass again');
    await waitForCondition(async () => (await fetch(`${metricsUrl}/readyz`)).status === 200, 'it is ready');
    await expectLedgerEqualsJournal(caller);
  },
);
