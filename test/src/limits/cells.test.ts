/**
 * Cells (docs/regions.md): two cells with a Redis each and a share of the rates, and a data plane whose Redis is 80 ms away.
 */
import { OPENAI_CREDENTIAL, OpenAiStandIn } from '@acg/stand-in-provider/openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RedisServer } from '../fixtures/redis-server.js';
import { Stack } from '../fixtures/stack.js';
import { TcpProxy } from '../fixtures/tcp-proxy.js';
import { waitUntil } from '../fixtures/wait-until.js';

const DISTANCE_MS = 80;
const CALLS = 20;

const provider = new OpenAiStandIn();
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

async function createAgentToken(fields: Readonly<Record<string, unknown>>): Promise<string> {
  const tenant = await stack.signUpTenant();
  const agent = await tenant.createAgent(fields);
  await tenant.createAccount(agent.id, 'openai', { apiKey: OPENAI_CREDENTIAL });
  return tenant.createToken(agent.id);
}

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
