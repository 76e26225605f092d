/**
 * Streams across the end of a month: counters, usage records, ledger and `/v1/self` book a call in the month of its
 * admission. In-process counters and Redis on a clock that the test sets.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import { createContext, createUpstream, GATEWAY_TOKEN, ProxyFixture } from '@acg/dataplane/call/testing/proxy-fixture';
import { MemoryCounters } from '@acg/dataplane/counters/memory/memory-counters';
import { RedisCounters } from '@acg/dataplane/counters/redis/redis-counters';
import type { Counters } from '@acg/dataplane/limits/counters-interface';
import { createTestLimits } from '@acg/dataplane/limits/testing/agent-limits-fixture';
import { request } from 'undici';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { RedisServer } from '../fixtures/redis-server.js';
import { useTestDatabase } from '../fixtures/test-database.js';
import { createIngest, newId } from '../ledger/usage-fixture.js';
import { CountingMetrics, peek, silentLogger, until } from './counters-fixture.js';

const CLOCK_KEY = vi.hoisted(() => 'acg:test:seconds');
vi.mock('@acg/dataplane/counters/redis/script/admit-script', async (importOriginal) => {
  const original = await importOriginal<typeof import('@acg/dataplane/counters/redis/script/admit-script')>();
  const clock = `{call('GET', '${CLOCK_KEY}'), '0'}`;
  return { ...original, ADMIT_SCRIPT: original.ADMIT_SCRIPT.replace("call('TIME')", clock) };
});

/** The first second of this month: calls begin in the month before. */
const TURN_SEC = Date.parse(`${new Date().toISOString().slice(0, 7)}-01`) / 1000;
const monthAt = (sec: number): string => new Date(sec * 1000).toISOString().slice(0, 7);

const database = useTestDatabase();
const streams: ServerResponse[] = [];
const provider = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
  streams.push(response);
});
let redis: RedisServer;
let clockSec = 0;

beforeAll(async () => {
  provider.listen(0, '127.0.0.1');
  await once(provider, 'listening');
  redis = await RedisServer.start();
});
afterAll(async () => {
  provider.closeAllConnections();
  provider.close();
  await redis.stop();
});

async function setClock(sec: number): Promise<void> {
  clockSec = sec;
  await redis.admin.set(CLOCK_KEY, String(sec));
}

async function openRedisCounters(): Promise<Counters> {
  const options = { urls: [redis.url], connectionName: 'acg-test', tlsCa: null, timeoutMs: 10_000 };
  const counters = new RedisCounters(options, silentLogger, new CountingMetrics());
  await counters.waitForStoreAndCheckEviction();
  return counters;
}

test.each([
  ['in-process counters', async (): Promise<Counters> => new MemoryCounters(() => clockSec * 1_000_000)],
  ['Redis', openRedisCounters],
] as const)('month’s end: a stream belongs to the month of its admission: %s', async (_what, openCounters) => {
  await setClock(TURN_SEC - 5);
  const counters = await openCounters();
  const [orgId, projectId, agentId] = [newId(), newId(), newId()];
  const limits = createTestLimits({ orgId, agentId, budgetNanos: 20 * NANOS_PER_CENT, hardBudget: true });
  const upstream = createUpstream(`http://127.0.0.1:${(provider.address() as AddressInfo).port}`, {
    accountId: newId(),
  });
  const context = createContext([upstream], { keyId: newId(), orgId, projectId, agentId, agentLimits: limits });
  const plane = await ProxyFixture.start(context, {}, null, {}, { counters });
  plane.boundNanos = 15 * NANOS_PER_CENT;
  const headers = { authorization: `Bearer ${GATEWAY_TOKEN}` };
  const url = `http://127.0.0.1:${plane.port}/v1`;
  const call = async () => {
    const answer = await request(`${url}/proxy/openai/stream`, { method: 'POST', headers, body: '{"model":"m"}' });
    return { status: answer.statusCode, ended: answer.body.text() };
  };
  const readSelf = async () => {
    const { body } = await request(`${url}/self`, { headers });
    const { budgets } = (await body.json()) as { budgets: { spentCents: number; heldCents: number }[] };
    return [budgets[0]!.spentCents, budgets[0]!.heldCents];
  };
  const endStream = async (costCents: number): Promise<void> => {
    plane.costNanos = costCents * NANOS_PER_CENT;
    const { length } = plane.records;
    streams.shift()!.end();
    await until(() => plane.records.length > length);
    plane.records.at(-1)!.startedAtMs = clockSec * 1000; // the fixture's records are on the clock of the machine
  };

  const first = await call();
  expect(await readSelf()).toEqual([0, 15]);
  expect((await call()).status).toBe(429);

  await setClock(TURN_SEC + 5);
  expect(await readSelf()).toEqual([0, 0]); // the running call has its reservation in the month before
  const second = await call();
  expect([first.status, second.status]).toEqual([200, 200]);
  await endStream(7); // the first one
  await first.ended;
  const grow = (admittedAtSec: number, cents: number): Promise<boolean> =>
    new Promise((resolve) => counters.growReservation(limits, admittedAtSec, cents * NANOS_PER_CENT, resolve));
  expect(await grow(TURN_SEC - 5, 14)).toBe(false); // 7 of 20 cents are spent there
  expect(await grow(TURN_SEC - 5, 13)).toBe(true);
  expect(await grow(TURN_SEC, 6)).toBe(false); // 15 of 20 cents are reserved here
  await until(async () => String(await readSelf()) === '0,15');
  await endStream(3);
  await second.ended;
  await until(async () => String(await readSelf()) === '3,0');

  await createIngest(database().sql).report({ dataPlaneId: 'd', records: plane.records });
  const rows = await database().sql<{ month: string; spent: number }[]>`
    select month, spent_nanos::float8 as spent from month_spend where agent_id = ${agentId} order by month`;
  expect(rows).toEqual([
    { month: monthAt(TURN_SEC - 1), spent: 7 * NANOS_PER_CENT },
    { month: monthAt(TURN_SEC), spent: 3 * NANOS_PER_CENT },
  ]);
  await setClock(TURN_SEC - 1);
  expect((await peek(counters, { limits, providerSlugs: [] }))!.spends[0]).toMatchObject({
    spentNanos: 7 * NANOS_PER_CENT,
    reservedNanos: 13 * NANOS_PER_CENT,
  });
  expect(plane.bugs).toBe(0);
  await plane.stop();
  await counters.close();
});
