/**
 * Cells (docs/regions.md): two cells with a Redis each and a share of rates and hard budgets, and a data plane whose Redis
 * is 80 ms away.
 */
import { type Body, OPENAI_CREDENTIAL, OpenAiStandIn } from '@acg/stand-in-provider/openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RedisServer } from '../fixtures/redis-server.js';
import { Stack } from '../fixtures/stack.js';
import { TcpProxy } from '../fixtures/tcp-proxy.js';
import { waitUntil } from '../fixtures/wait-until.js';

const DISTANCE_MS = 80;
const CALLS = 20;

/** Uses as many output tokens as the call allows. */
class CostlyProvider extends OpenAiStandIn {
  protected override chatUsage(body: Body): object {
    const tokens = body.max_completion_tokens;
    if (typeof tokens !== 'number') return super.chatUsage(body);
    return { prompt_tokens: 0, completion_tokens: tokens, total_tokens: tokens };
  }
}

const provider = new CostlyProvider();
let redis: readonly [RedisServer, RedisServer];
let stack: Stack;
beforeAll(async () => {
  await provider.start();
  redis = [await RedisServer.start(), await RedisServer.start()];
  stack = await Stack.start({ providers: { openai: provider.origin } });
});
afterAll(async () => {
  await stack?.stop();
  await Promise.all(redis.map((server) => server.stop()));
  await provider.close();
});

async function createAgent(fields: Readonly<Record<string, unknown>>) {
  const tenant = await stack.signUpTenant();
  const agent = await tenant.createAgent(fields);
  await tenant.createAccount(agent.id, 'openai', { apiKey: OPENAI_CREDENTIAL });
  return { tenant, agentId: agent.id, token: await tenant.createToken(agent.id) };
}

const createAgentToken = async (fields: Readonly<Record<string, unknown>>): Promise<string> =>
  (await createAgent(fields)).token;

/** Sends the calls one after the other; returns their statuses and the median of their times, ms. */
async function callInTurn(url: string, token: string, count: number) {
  const statuses: number[] = [];
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    const began = performance.now();
    const answer = await fetch(`${url}/v1/proxy/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'hello' }] }),
    });
    await answer.arrayBuffer();
    times.push(performance.now() - began);
    statuses.push(answer.status);
  }
  const passed = statuses.filter((status) => status === 200).length;
  return { passed, medianMs: times.sort((a, b) => a - b)[Math.floor(count / 2)]! };
}

const readMetric = async (metricsUrl: string, name: string): Promise<number> =>
  Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await (await fetch(`${metricsUrl}/metrics`)).text())?.[1]);

test('cells: the rates of two cells with shares add up to the limit, and without shares to twice the limit', async () => {
  const limit = { rpmLimit: 10 };
  for (const [shares, expected] of [
    [
      ['50', '50'],
      [5, 5],
    ],
    [
      ['70', '30'],
      [7, 3],
    ],
    [
      ['100', '100'],
      [10, 10],
    ],
  ] as const) {
    const token = await createAgentToken(limit);
    const passed: number[] = [];
    for (const [cell, share] of shares.entries()) {
      const { plane, url } = await stack.addDataPlane({
        REDIS_URL: redis[cell]!.url.href,
        CELL_SHARE_PERCENT: share,
        COUNTERS_TIMEOUT_MS: '5000',
      });
      passed.push((await callInTurn(url, token, 15)).passed);
      await plane.stop();
    }
    expect(passed).toEqual(expected);
  }
});

test('cells: with a store 80 ms away the default timeout leaves calls unchecked, a longer one enforces and costs that time', async () => {
  const proxy = await TcpProxy.start(Number(redis[0].url.port));
  proxy.responseDelayMs = DISTANCE_MS;
  const distant = redis[0].url.href.replace(redis[0].url.host, `127.0.0.1:${proxy.port}`);
  try {
    const token = await createAgentToken({ rpmLimit: CALLS / 2 });
    const near = await stack.addDataPlane({ REDIS_URL: distant });
    const open = await callInTurn(near.url, token, CALLS);
    expect(open.passed).toBe(CALLS);
    expect(await readMetric(near.metricsUrl, 'gateway_counters_enforcing')).toBe(0);
    expect(await readMetric(near.metricsUrl, 'gateway_unchecked_total')).toBe(CALLS);
    await near.plane.stop();

    const other = await createAgentToken({ rpmLimit: CALLS / 2 });
    const patient = await stack.addDataPlane({ REDIS_URL: distant, COUNTERS_TIMEOUT_MS: '2000' });
    await waitUntil(
      'limits are enforced',
      async () => (await readMetric(patient.metricsUrl, 'gateway_counters_enforcing')) === 1,
    );
    const enforced = await callInTurn(patient.url, other, CALLS);
    expect(enforced.passed).toBe(CALLS / 2);
    expect(enforced.medianMs).toBeGreaterThanOrEqual(DISTANCE_MS); // a call waits for its admission
    expect(await readMetric(patient.metricsUrl, 'gateway_unchecked_total')).toBe(0);
    if (process.env.PRINT_FIGURES) process.stdout.write(`${JSON.stringify({ open, enforced })}\n`);
    await patient.plane.stop();
  } finally {
    await proxy.stop();
  }
});

const startCell = (cell: 0 | 1, share = '50') =>
  stack.addDataPlane({
    REDIS_URL: redis[cell].url.href,
    CELL_NAME: ['eu', 'us'][cell]!,
    CELL_SHARE_PERCENT: share,
    COUNTERS_TIMEOUT_MS: '5000',
  });

/**
 * Sends calls of a cent each, some at once, until the budget has no room for another one. Returns how many passed, and
 * the last rejection. A call reserves a little more than it costs: the bytes of its body.
 */
async function spendCents(url: string, token: string, callers = 4) {
  let passed = 0;
  let rejection: Record<string, unknown> = {};
  const spend = async (): Promise<void> => {
    for (;;) {
      const answer = await fetch(`${url}/v1/proxy/openai/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-4o', messages: [], max_completion_tokens: 1_000 }),
      });
      const body = (await answer.json()) as Record<string, unknown>;
      if (answer.status === 200) passed++;
      else if (body.reason !== 'in_flight') {
        rejection = { status: answer.status, ...body };
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: callers }, spend));
  return { passed, rejection };
}

const HARD = { budgetMode: 'hard', rpmLimit: 100_000, budgetCentsMonthly: 21 };

test('cells: callers of two cells never spend more than a hard budget, and each cell spends its share', async () => {
  const [eu, us] = await Promise.all([startCell(0), startCell(1)]);
  const { tenant, agentId, token } = await createAgent(HARD);
  const results = await Promise.all([spendCents(eu.url, token), spendCents(us.url, token)]);
  expect(results.map(({ passed }) => passed)).toEqual([10, 10]);
  await waitUntil('the ledger has all calls', async () => {
    const { agent } = (await tenant.call('GET', `/v1/agents/${agentId}`)).body;
    return agent.budgets[0].spentCents === 20;
  });

  const run = await fetch(`${eu.url}/v1/runs`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await createAgentToken({ rpmLimit: 100_000 })}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ budgetCents: 5, expiresIn: 600 }),
  });
  const { secretKey } = (await run.json()) as { secretKey: string };
  for (const { url } of [eu, us]) expect(await spendCents(url, secretKey, 2)).toMatchObject({ passed: 2 }); // 2.5 cents each
  await Promise.all([eu.plane.stop(), us.plane.stop()]);
});

test('cells: a cell alone gets its share, says so, and keeps to it after it has lost its store and its data planes', async () => {
  const { tenant, agentId, token } = await createAgent(HARD);
  const first = await startCell(0);
  const { passed, rejection } = await spendCents(first.url, token);
  expect(passed).toBe(10);
  expect(rejection).toMatchObject({ status: 429, limitType: 'budget', cell: 'eu', reason: 'spent', spentCents: 10 });
  expect(rejection.message).toBe('The share of the cell eu in the monthly budget of this agent is spent.');
  const self = await fetch(`${first.url}/v1/self`, { headers: { authorization: `Bearer ${token}` } });
  const { budgets } = (await self.json()) as { budgets: Record<string, unknown>[] };
  expect(budgets).toMatchObject([
    { scope: 'agent', window: 'month', budgetCents: 21, spentCents: 10 },
    { scope: 'agent', window: 'month', cell: 'eu', spentUsd: 0.1, heldUsd: 0 },
  ]);
  await waitUntil('the ledger has all calls', async () => {
    const { agent } = (await tenant.call('GET', `/v1/agents/${agentId}`)).body;
    return agent.budgets[0].spentCents === 10;
  });
  await first.plane.stop();
  await redis[0].admin.flushall();

  const [again, us] = await Promise.all([startCell(0), startCell(1)]);
  const lost = await spendCents(again.url, token);
  expect([lost.passed, lost.rejection.cell]).toEqual([0, 'eu']);
  expect((await spendCents(us.url, token)).passed).toBe(10);
  await Promise.all([again.plane.stop(), us.plane.stop()]);
});
