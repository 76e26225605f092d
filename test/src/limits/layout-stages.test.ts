/** The stages of the upgrade of the counters' keys through the whole stack: docs/counters.md#upgrade. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { previousSpendKey } from '@acg/dataplane/counters/redis/upgrade/previous-budgets';
import { calendarWindowAt } from '@acg/dataplane/limits/calendar-window';
import { request as send } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RedisServer } from '../fixtures/redis-server.js';
import { Stack, waitForCondition } from '../fixtures/stack.js';
import type { TestDatabase } from '../fixtures/test-database.js';

/** Price of an output token of gpt-4o, nano-dollars. */
const TOKEN_OUT_NANOS = 10_000;
const usage = { prompt_tokens: 0, completion_tokens: 100, total_tokens: 100 };
const ANSWER = JSON.stringify({ id: 'x', object: 'chat.completion', model: 'gpt-4o', choices: [], usage });
const provider = createServer((request, response) => {
  request.resume();
  request.on('end', () => response.setHeader('content-type', 'application/json').end(ANSWER));
});

let redis: RedisServer;
let stack: Stack;
beforeAll(async () => {
  provider.listen(0, '127.0.0.1');
  await once(provider, 'listening');
  redis = await RedisServer.start();
  stack = await Stack.start({
    providers: { openai: `http://127.0.0.1:${(provider.address() as AddressInfo).port}` },
    redisUrl: redis.url.href,
    dataPlaneEnv: { COUNTERS_TIMEOUT_MS: '5000' },
  });
});
afterAll(async () => {
  provider.closeAllConnections();
  await stack?.stop();
  provider.close();
  await redis.stop();
});

test('upgrade: a data plane writes the previous keys until the control plane begins the stage `new`', async () => {
  const { sql } = stack.database as TestDatabase;
  // As a migrated installation has it, with a data plane of the previous release.
  await sql`update counter_layout set stage = 'both', previous_seen_at = now()`;
  const { url } = await stack.addDataPlane();
  const [connected] = await sql<{ layout: number }[]>`select counter_layout as layout from data_planes`;
  expect(connected).toEqual({ layout: 2 });
  const tenant = await stack.signUpTenant();
  const agent = await tenant.createAgent({ budgetMode: 'hard', budgetCentsMonthly: 1_000 });
  await tenant.createAccount(agent.id, 'openai', { apiKey: 'sk-test-0123456789' });
  const headers = { authorization: `Bearer ${await tenant.createToken(agent.id)}` };
  const call = async (): Promise<void> => {
    const { statusCode, body } = await send(`${url}/v1/proxy/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o', messages: [], max_completion_tokens: 1_000 }),
    });
    await body.dump();
    expect(statusCode).toBe(200);
  };
  const month = calendarWindowAt('month', Date.now() / 1000);
  const previousKey = previousSpendKey({ scope: 'agent', scopeId: agent.id }, month);
  const spentBefore = async () => (await redis.admin.hgetBuffer(previousKey, 's'))?.readDoubleLE(0) ?? 0;
  const spentNow = async () =>
    Number(await redis.admin.hget(`acg:{${tenant.orgId}}:spend:agent:${agent.id}:${month.name}`, 'sum'));

  await call();
  await waitForCondition(async () => (await spentBefore()) === 100 * TOKEN_OUT_NANOS, 'spend in the previous keys');
  await waitForCondition(async () => (await spentNow()) === 100 * TOKEN_OUT_NANOS, 'spend in the present keys');

  // A data plane of the previous release had spent a cent, and has gone for longer than a minute.
  await redis.admin.hset(previousKey, 'old-writer.0', doubleBytes(10_000_000));
  await sql`update counter_layout set previous_seen_at = now() - interval '61 seconds'`;
  const readBoth = async () => [await spentBefore(), await spentNow()];
  let calls = 1;
  await waitForCondition(async () => {
    await call();
    calls++;
    return (await spentNow()) >= 10_000_000 + 100 * TOKEN_OUT_NANOS * calls;
  }, 'the spend of the old data plane in the present keys');
  const [before, now] = await readBoth();
  await call();
  await waitForCondition(async () => (await spentNow()) === now! + 100 * TOKEN_OUT_NANOS, 'the last call');
  expect(await spentBefore()).toBe(before);
});

function doubleBytes(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
}
