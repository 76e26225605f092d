/**
 * Hard budgets of a project and of an organization through the whole stack: 200 callers of three agents on three data
 * planes, of which one is killed with calls in flight. Spend never exceeds the budget, and all of it can be used.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, request as send } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RedisServer } from '../fixtures/redis-server.js';
import { Stack, type Tenant, waitForCondition } from '../fixtures/stack.js';
import type { TestDatabase } from '../fixtures/test-database.js';
import { waitUntil } from '../fixtures/wait-until.js';

/** Price of an output token of gpt-4o, nano-dollars. */
const TOKEN_OUT_NANOS = 10_000;
const CENT_NANOS = 10_000_000;
const MAX_TOKENS = 100;
const BUDGET_CENTS = 20;
const CALLERS = 200;
const HELD_CALLS = 30;
/** A reservation is the maximum of output tokens, and the bytes of the body as input tokens. */
const RESERVATION_NANOS_MAX = 2 * MAX_TOKENS * TOKEN_OUT_NANOS;

let heldCalls = 0;
/** Responds with a random number of tokens, never to calls of the user `held`. */
const provider = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    if (Buffer.concat(pieces).includes('"held"')) {
      heldCalls++;
      return;
    }
    const tokens = 1 + Math.floor(Math.random() * MAX_TOKENS);
    const usage = { prompt_tokens: 0, completion_tokens: tokens, total_tokens: tokens };
    const answer = JSON.stringify({ id: 'x', object: 'chat.completion', model: 'gpt-4o', choices: [], usage });
    setTimeout(() => response.setHeader('content-type', 'application/json').end(answer), Math.random() * 30);
  });
});

const connections = new Agent({ connections: 300 });
let redis: RedisServer;
let stack: Stack;
/** Of the two data planes that no test kills. */
let urls: readonly [string, string];

beforeAll(async () => {
  provider.listen(0, '127.0.0.1');
  await once(provider, 'listening');
  redis = await RedisServer.start();
  stack = await Stack.start({
    providers: { openai: `http://127.0.0.1:${(provider.address() as AddressInfo).port}` },
    redisUrl: redis.url.href,
    dataPlaneEnv: { COUNTERS_TIMEOUT_MS: '5000' },
  });
  urls = [(await stack.addDataPlane()).url, (await stack.addDataPlane()).url];
});
afterAll(async () => {
  provider.closeAllConnections();
  await stack?.stop();
  provider.close();
  await redis.stop();
});

async function createToken(tenant: Tenant): Promise<string> {
  const { id } = await tenant.createAgent({ budgetMode: 'hard', rpmLimit: 1_000_000 });
  await tenant.createAccount(id, 'openai', { apiKey: 'sk-test-0123456789' });
  return await tenant.createToken(id);
}

async function call(url: string, token: string, user: string) {
  const { statusCode, body } = await send(`${url}/v1/proxy/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o', messages: [], max_completion_tokens: MAX_TOKENS, user }),
    dispatcher: connections,
  });
  // biome-ignore lint/suspicious/noExplicitAny: bodies of any kind
  return { status: statusCode, body: (await body.json()) as any };
}

test.each(['project', 'org'] as const)('hard budget of the %s: used up and not exceeded', async (scope) => {
  const victim = await stack.addDataPlane();
  const tenant = await stack.signUpTenant();
  const path = scope === 'project' ? `/v1/projects/${tenant.projectId}` : `/v1/orgs/${tenant.orgId}`;
  expect((await tenant.call('PATCH', path, { budgetCentsMonthly: BUDGET_CENTS })).status).toBe(200);
  const tokens = await Promise.all([createToken(tenant), createToken(tenant), createToken(tenant)]);

  heldCalls = 0;
  const held = Array.from({ length: HELD_CALLS }, (_, i) => call(victim.url, tokens[i % 3]!, 'held').catch(() => null));
  await waitForCondition(() => heldCalls === HELD_CALLS, 'the calls in flight');

  const budget = BUDGET_CENTS * CENT_NANOS;
  let spentNanos = 0;
  let refusals = 0;
  const callOnce = async (n: number): Promise<'spent' | 'reserved' | 'used up'> => {
    const { status, body } = await call(urls[n % 2]!, tokens[n % 3]!, 'answered');
    if (status === 200) {
      spentNanos += body.usage.completion_tokens * TOKEN_OUT_NANOS;
      return 'spent';
    }
    expect([status, body.limitType, body.scope]).toEqual([429, 'budget', scope]);
    refusals++;
    return body.reason === 'in_flight' ? 'reserved' : 'used up';
  };
  let freed: Promise<unknown> | null = null;
  /** One caller tries for all, because the reservations of the killed data plane last 15 s. */
  const waitUntilFreed = (n: number): Promise<unknown> => {
    freed ??= waitUntil('reservations are freed', async () => (await callOnce(n)) !== 'reserved').finally(() => {
      freed = null;
    });
    return freed;
  };
  const caller = async (index: number): Promise<void> => {
    for (let n = index; ; n++) {
      const outcome = await callOnce(n);
      if (outcome === 'used up') return;
      if (outcome === 'reserved') await waitUntilFreed(n + 1);
    }
  };
  const callers = Promise.all(Array.from({ length: CALLERS }, (_, i) => caller(i)));
  await waitForCondition(() => spentNanos > budget / 4, 'a quarter of the budget is spent');
  await victim.plane.kill(); // the store frees its reservations when their lease ends
  expect(await Promise.all(held)).toEqual(held.map(() => null));
  await callers;

  expect(refusals).toBeGreaterThan(0);
  expect(spentNanos).toBeLessThanOrEqual(budget);
  expect(spentNanos).toBeGreaterThan(budget - RESERVATION_NANOS_MAX);
  const { sql } = stack.database as TestDatabase;
  const readBilled = async () => {
    const [row] = await sql<{ nanos: number }[]>`
      select coalesce(sum(cost_nanos), 0)::float8 as nanos from usage_records where org_id = ${tenant.orgId}`;
    return row!.nanos;
  };
  await waitForCondition(async () => (await readBilled()) === spentNanos, 'the calls in the ledger');
});
