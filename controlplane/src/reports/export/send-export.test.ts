/** How long an export counts as open: its client decides when it goes, and the database when it answers. */
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { MinorGcPacer } from '@acg/base/minor-gc-pacer';
import { Secret } from '@acg/base/secret';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openPool } from '../../db/sql.js';
import { TooManyAttempts } from '../../domain/errors.js';
import type { Actor } from '../../http/route-access.js';
import { QueryConcurrencyLimiter } from '../query/query-concurrency-limiter.js';
import { sendExport } from './send-export.js';

/** Never connects: each query fails, when it is its turn. */
const sql = openPool(new Secret('postgres://127.0.0.1:1/none'), { connectionsMax: 1, applicationName: 'test' });
const ACTOR = { orgId: 'org', userId: 'viewer' } as Actor;
const OWN_MAX = 5;

class CountingGate extends QueryConcurrencyLimiter {
  /** Runs of exports, those that wait among them. */
  asked = 0;

  override run<T>(orgId: string, query: () => Promise<T>, isPatient = false): Promise<T> {
    if (isPatient) this.asked++;
    return super.run(orgId, query, isPatient);
  }
}

let gate: CountingGate;
let app: FastifyInstance;
let port: number;
/** Lets the runs of exports, which wait for it, be asked. */
let release: () => void;
let received: number;
/** Connections that the server has not seen the end of. */
let connected: number;

beforeEach(async () => {
  gate = new CountingGate(sql);
  const held = new Promise<void>((go) => {
    release = go;
  });
  void gate.run('org', () => held);
  received = 0;
  connected = 0;
  app = Fastify();
  app.server.on('connection', (socket: Socket) => {
    connected++;
    socket.once('close', () => connected--);
  });
  app.addHook('onRequest', async (request) => {
    request.actor = ACTOR;
  });
  const range = { fromMs: 0, toMs: 1 };
  app.get('/export', async (_request, reply) => {
    received++;
    const scope = { orgId: 'org', projectId: null, agentIds: [] };
    return sendExport(reply, { gate, gcPacer: new MinorGcPacer(() => {}) }, 'x', { scope, range, format: 'csv' });
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  port = (app.server.address() as AddressInfo).port;
});
afterEach(async () => {
  release();
  app.server.closeAllConnections();
  await app.close();
});

/** How many more of them may be open. */
function free(): number {
  const ends: (() => void)[] = [];
  try {
    for (;;) ends.push(gate.openExport(ACTOR.orgId, ACTOR.userId));
  } catch (error) {
    if (!(error instanceof TooManyAttempts)) throw error;
    return ends.length;
  } finally {
    for (const end of ends) end();
  }
}

async function ask(method: 'GET' | 'HEAD', times: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const before = received;
  socket.write(`${method} /export HTTP/1.1\r\nhost: x\r\n\r\n`.repeat(times));
  await expect.poll(() => received - before).toBe(times);
  return socket;
}

test('export: one whose reader has left counts until its run is not waited for any more', async () => {
  for (let n = 1; n <= OWN_MAX; n++) {
    const socket = await ask('GET', 1);
    await expect.poll(() => gate.asked).toBe(n);
    socket.destroy();
    await expect.poll(() => connected).toBe(0);
    expect(free()).toBe(OWN_MAX - n);
  }
  release();
  await expect.poll(free).toBe(OWN_MAX);
});

test('export: whoever asks for its head alone is answered, and nothing is read', async () => {
  for (let n = 1; n <= 2 * OWN_MAX; n++) {
    const socket = await ask('HEAD', 1);
    const [head] = (await once(socket, 'data')) as [Buffer];
    expect(head.toString()).toMatch(/^HTTP\/1\.1 200 .*text\/csv/s);
    await expect.poll(free).toBe(OWN_MAX);
  }
  expect(gate.asked).toBe(0);
});

test('export: answers that wait behind others on a connection end with it', async () => {
  const socket = await ask('GET', OWN_MAX);
  expect(free()).toBe(0);
  socket.destroy();
  release();
  await expect.poll(free).toBe(OWN_MAX);
});
