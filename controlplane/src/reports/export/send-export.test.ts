/** Tests how long an export counts as open: until the client has left and the database has answered. */
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { MinorGcPacer } from '@acg/base/minor-gc-by-buffer-bytes';
import { Secret } from '@acg/base/secret';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openPool } from '../../db/postgres-client.js';
import { TooManyAttempts } from '../../domain/errors.js';
import type { Actor } from '../../http/route-access.js';
import { QueryConcurrencyLimiter } from '../query/query-concurrency-limiter.js';
import { sendExport } from './send-export.js';

/** Never connects: each query fails when it runs. */
const sql = openPool(new Secret('postgres://127.0.0.1:1/none'), { connectionsMax: 1, applicationName: 'test' });
const ACTOR = { orgId: 'org', userId: 'viewer' } as Actor;
const OWN_MAX = 5;

class CountingLimiter extends QueryConcurrencyLimiter {
  /** Number of export queries requested, including waiting ones. */
  requestedBatches = 0;

  override run<T>(orgId: string, query: () => Promise<T>, isPatient = false): Promise<T> {
    if (isPatient) this.requestedBatches++;
    return super.run(orgId, query, isPatient);
  }
}

let queryLimiter: CountingLimiter;
let app: FastifyInstance;
let port: number;
/** Releases the slot for which the export queries wait. */
let release: () => void;
let received: number;
/** Connections whose end the server has not seen. */
let connected: number;

beforeEach(async () => {
  queryLimiter = new CountingLimiter(sql);
  const occupied = new Promise<void>((go) => {
    release = go;
  });
  void queryLimiter.run('org', () => occupied);
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
    return sendExport(reply, { queryLimiter, gcPacer: new MinorGcPacer(() => {}) }, 'x', {
      scope,
      range,
      format: 'csv',
    });
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  port = (app.server.address() as AddressInfo).port;
});
afterEach(async () => {
  release();
  app.server.closeAllConnections();
  await app.close();
});

/** How many more exports may be opened. */
function freeExportSlots(): number {
  const ends: (() => void)[] = [];
  try {
    for (;;) ends.push(queryLimiter.openExport(ACTOR.orgId, ACTOR.userId));
  } catch (error) {
    if (!(error instanceof TooManyAttempts)) throw error;
    return ends.length;
  } finally {
    for (const end of ends) end();
  }
}

async function sendRequests(method: 'GET' | 'HEAD', times: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const before = received;
  socket.write(`${method} /export HTTP/1.1\r\nhost: x\r\n\r\n`.repeat(times));
  await expect.poll(() => received - before).toBe(times);
  return socket;
}

test('an export whose client has left counts as open until its waiting query ends', async () => {
  for (let n = 1; n <= OWN_MAX; n++) {
    const socket = await sendRequests('GET', 1);
    await expect.poll(() => queryLimiter.requestedBatches).toBe(n);
    socket.destroy();
    await expect.poll(() => connected).toBe(0);
    expect(freeExportSlots()).toBe(OWN_MAX - n);
  }
  release();
  await expect.poll(freeExportSlots).toBe(OWN_MAX);
});

test('a HEAD request is answered without reading records', async () => {
  for (let n = 1; n <= 2 * OWN_MAX; n++) {
    const socket = await sendRequests('HEAD', 1);
    const [head] = (await once(socket, 'data')) as [Buffer];
    expect(head.toString()).toMatch(/^HTTP\/1\.1 200 .*text\/csv/s);
    await expect.poll(freeExportSlots).toBe(OWN_MAX);
  }
  expect(queryLimiter.requestedBatches).toBe(0);
});

test('pipelined exports are released when their connection closes', async () => {
  const socket = await sendRequests('GET', OWN_MAX);
  expect(freeExportSlots()).toBe(0);
  socket.destroy();
  release();
  await expect.poll(freeExportSlots).toBe(OWN_MAX);
});
