/**
 * Streams across the end of a day, a week and a month: counters, usage records, ledger and `/v1/self` book a call in the
 * windows of its admission. In-process counters and Redis on a clock that the test sets.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import { createContext, createUpstream, GATEWAY_TOKEN, ProxyFixture } from '@acg/dataplane/call/testing/proxy-fixture';
import { MemoryCounters } from '@acg/dataplane/counters/memory/memory-counters';
import { RedisCounters } from '@acg/dataplane/counters/redis/redis-counters';
import { calendarWindowAt } from '@acg/dataplane/limits/calendar-window';
import type { Counters } from '@acg/dataplane/limits/counters-interface';
import { createTestBudget, createTestLimits } from '@acg/dataplane/limits/testing/agent-limits-fixture';
import { request } from 'undici';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { RedisServer } from '../fixtures/redis-server.js';
import { useTestDatabase } from '../fixtures/test-database.js';
import { createIngest, newId } from '../ledger/usage-fixture.js';
import { CountingMetrics, silentLogger, until } from './counters-fixture.js';

const CLOCK_KEY = vi.hoisted(() => 'acg:test:seconds');
vi.mock('@acg/dataplane/counters/redis/script/admit-script', async (importOriginal) => {
  const original = await importOriginal<typeof import('@acg/dataplane/counters/redis/script/admit-script')>();
  const clock = `{call('GET', '${CLOCK_KEY}'), '0'}`;
  return { ...original, ADMIT_SCRIPT: original.ADMIT_SCRIPT.replace("call('TIME')", clock) };
});

const UNITS = ['day', 'week', 'month'] as const;
type Unit = (typeof UNITS)[number];
/** The first second of the present window: calls begin in the one before. */
const turnOf = (unit: Unit): number => calendarWindowAt(unit, Date.now() / 1000).startSec;
const windowAt = (unit: Unit, sec: number): string => calendarWindowAt(unit, sec).name;

interface SelfBudget {
  readonly budgetId?: string;
  readonly window: string;
  readonly mode: string;
  readonly spentCents: number;
  readonly heldCents: number;
  readonly resetAt: number;
}

interface SelfDocument {
  readonly month: string;
  readonly budgetResetAt: number;
  readonly budgets: readonly SelfBudget[];
}

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

const COUNTERS = [
  ['in-process counters', async (): Promise<Counters> => new MemoryCounters(() => clockSec * 1_000_000)],
  ['Redis', openRedisCounters],
] as const;
const CASES = UNITS.flatMap((unit) => COUNTERS.map(([kind, open]) => [unit, kind, open] as const));

test.each(CASES)(
  'end of a %s: a stream belongs to the windows of its admission: %s',
  async (unit, _kind, openCounters) => {
    const turnSec = turnOf(unit);
    await setClock(turnSec - 5);
    const counters = await openCounters();
    const [orgId, projectId, agentId] = [newId(), newId(), newId()];
    // The plain monthly budget, or the row of the window that ends, is hard. The others are far from their limits.
    const [limitNanos, farNanos] = [20 * NANOS_PER_CENT, 1_000 * NANOS_PER_CENT];
    const isPlainHard = unit === 'month';
    const rows = UNITS.map((window) => {
      const isHard = window === unit && !isPlainHard;
      const budget = { mode: isHard ? 'hard' : 'soft', limitNanos: isHard ? limitNanos : farNanos } as const;
      return createTestBudget({ id: newId(), scopeId: agentId, window, ...budget });
    });
    const budgetNanos = isPlainHard ? limitNanos : farNanos;
    const limits = createTestLimits({ orgId, agentId, budgetNanos, hardBudget: isPlainHard, budgets: rows });
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
    const readRejection = async () => {
      const { status, ended } = await call();
      return { status, resetAt: JSON.parse(await ended).resetAt as number };
    };
    const readSelf = async () => {
      const { body } = await request(`${url}/self`, { headers });
      return (await body.json()) as SelfDocument;
    };
    /** Of the hard budget, cents. */
    const readHard = async () => {
      const { spentCents, heldCents } = (await readSelf()).budgets.find(({ mode }) => mode === 'hard')!;
      return [spentCents, heldCents];
    };
    const endStream = async (costCents: number): Promise<void> => {
      plane.costNanos = costCents * NANOS_PER_CENT;
      const { length } = plane.records;
      streams.shift()!.end();
      await until(() => plane.records.length > length);
      plane.records.at(-1)!.startedAtMs = clockSec * 1000; // the fixture's records are on the clock of the machine
    };

    const first = await call();
    expect(await readHard()).toEqual([0, 15]);
    // Twice: by the admission or by the precheck of its connection. Both name the end of the window by the store's clock.
    for (let i = 0; i < 2; i++) expect(await readRejection()).toEqual({ status: 429, resetAt: turnSec });

    await setClock(turnSec + 5);
    expect(await readHard()).toEqual([0, 0]); // the running call has its reservation in the window before
    const second = await call();
    expect([first.status, second.status]).toEqual([200, 200]);
    await endStream(7); // the first one
    await first.ended;
    const grow = (admittedAtSec: number, cents: number): Promise<boolean> =>
      new Promise((resolve) => counters.growReservation(limits, admittedAtSec, cents * NANOS_PER_CENT, resolve));
    expect(await grow(turnSec - 5, 14)).toBe(false); // 7 of 20 cents are spent there
    expect(await grow(turnSec - 5, 13)).toBe(true);
    expect(await grow(turnSec, 6)).toBe(false); // 15 of 20 cents are reserved here
    await until(async () => String(await readHard()) === '0,15');
    await endStream(3);
    await second.ended;
    await until(async () => String(await readHard()) === '3,0');

    // Windows that end hold 7 and 3 cents, the others hold both.
    const spentCents = (window: Unit): Record<string, number> => {
      const [before, after] = [windowAt(window, turnSec - 1), windowAt(window, turnSec)];
      return before === after ? { [after]: 10 } : { [before]: 7, [after]: 3 };
    };
    const inWindows = (window: string, id: string | undefined): string => `${window} ${id ?? 'plain'}`;
    const shown = (sec: number) => {
      const month = calendarWindowAt('month', sec);
      const budgets = [{ window: 'month' as const, id: undefined }, ...rows].map(({ window, id }) => [
        inWindows(window as Unit, id),
        [spentCents(window as Unit)[windowAt(window as Unit, sec)], calendarWindowAt(window as Unit, sec).endSec],
      ]);
      return [month.name, month.endSec, Object.fromEntries(budgets)];
    };
    const readShown = async () => {
      const { month, budgetResetAt, budgets } = await readSelf();
      const figures = budgets.map((row) => [inWindows(row.window, row.budgetId), [row.spentCents, row.resetAt]]);
      return [month, budgetResetAt, Object.fromEntries(figures)];
    };
    expect(await readShown()).toEqual(shown(turnSec));

    await createIngest(database().sql).report({ dataPlaneId: 'd', records: plane.records });
    const months = await database().sql<{ month: string; cents: number }[]>`
    select month, spent_nanos::float8 / ${NANOS_PER_CENT} as cents from month_spend where agent_id = ${agentId}`;
    expect(Object.fromEntries(months.map(({ month, cents }) => [month, cents]))).toEqual(spentCents('month'));
    for (const { id, window } of rows) {
      const booked = await database().sql<{ period: string; cents: number }[]>`
      select period, sum(spent_nanos)::float8 / ${NANOS_PER_CENT} as cents from budget_spend
       where org_id = ${orgId} and budget_id = ${id} group by period`;
      expect(Object.fromEntries(booked.map(({ period, cents }) => [period, cents]))).toEqual(
        spentCents(window as Unit),
      );
    }

    await setClock(turnSec - 1);
    expect(await readShown()).toEqual(shown(turnSec - 1));
    expect(await readHard()).toEqual([7, 13]);
    expect(plane.bugs).toBe(0);
    await plane.stop();
    await counters.close();
  },
);
