/**
 * Hard budgets through the whole stack: two data planes, one Redis, and a provider that responds when the test says so.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, request as send } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RedisServer } from '../fixtures/redis-server.js';
import { Stack, type Tenant, waitForCondition } from '../fixtures/stack.js';
import type { TestDatabase } from '../fixtures/test-database.js';

/** Price of an output token of gpt-4o, nano-dollars. */
const TOKEN_OUT_NANOS = 10_000;
const CENT_NANOS = 10_000_000;

const pendingResponses: ServerResponse[] = [];
const usage = { prompt_tokens: 0, completion_tokens: 400, total_tokens: 400 };
const ANSWER = JSON.stringify({ id: 'x', object: 'chat.completion', model: 'gpt-4o', choices: [], usage });
const provider = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    if (Buffer.concat(pieces).includes('"stream":true')) streamEndlessly(response);
    else pendingResponses.push(response);
  });
});
/** Sends more than any reservation covers, 50 chunks per write, as fast as they are read. */
function streamEndlessly(response: ServerResponse): void {
  const piece = {
    id: 'x',
    object: 'chat.completion.chunk',
    model: 'gpt-4o',
    choices: [{ index: 0, delta: { content: 'w' } }],
  };
  const many = `data: ${JSON.stringify(piece)}\n\n`.repeat(50);
  response.setHeader('content-type', 'text/event-stream');
  const more = (): void => {
    if (!response.destroyed) response.write(many, () => setImmediate(more));
  };
  more();
}
/** Responds to this many of the waiting calls. */
const answerPending = (count: number): void => {
  for (const response of pendingResponses.splice(0, count))
    response.setHeader('content-type', 'application/json').end(ANSWER);
};

const connections = new Agent({ connections: 200 });
let redis: RedisServer;
let stack: Stack;
let tenant: Tenant;
let urls: string[];
/** Of the first data plane. */
let metricsUrl: string;

beforeAll(async () => {
  provider.listen(0, '127.0.0.1');
  await once(provider, 'listening');
  redis = await RedisServer.start();
  stack = await Stack.start({
    providers: { openai: `http://127.0.0.1:${(provider.address() as AddressInfo).port}` },
    redisUrl: redis.url.href,
    dataPlaneEnv: { COUNTERS_TIMEOUT_MS: '5000' },
  });
  const planes = await Promise.all([stack.addDataPlane(), stack.addDataPlane(), stack.addDataPlane()]);
  urls = planes.map((plane) => plane.url);
  metricsUrl = planes[0]!.metricsUrl;
  tenant = await stack.signUpTenant();
});
afterAll(async () => {
  provider.closeAllConnections();
  await stack?.stop();
  provider.close();
  await redis.stop();
});

async function newAgent(fields: Readonly<Record<string, unknown>>): Promise<string> {
  const { id } = await tenant.createAgent({ budgetMode: 'hard', rpmLimit: 100_000, ...fields });
  await tenant.createAccount(id, 'openai', { apiKey: 'sk-test-0123456789' });
  return await tenant.createToken(id);
}

async function call(token: string, fields: object = {}, plane = 0, path = '/v1/chat/completions') {
  const { statusCode, headers, body } = await send(`${urls[plane]}/v1/proxy/openai${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    // 1 000 output tokens: a cent, plus the bytes of the body.
    body: JSON.stringify({ model: 'gpt-4o', messages: [], max_completion_tokens: 1_000, ...fields }),
    dispatcher: connections,
  });
  // biome-ignore lint/suspicious/noExplicitAny: bodies of any kind
  return { status: statusCode, headers, body: (await body.json()) as any };
}

test('hard budget: admits only as many calls as fit over both data planes; settled calls make room', async () => {
  const token = await newAgent({ budgetCentsMonthly: 4 });
  // Each reserves a little more than a cent: three fit into four cents.
  const calls = Array.from({ length: 20 }, (_, i) => call(token, {}, i % 2));
  await waitForCondition(() => pendingResponses.length === 3, 'three calls at the provider');
  const settled: Awaited<(typeof calls)[number]>[] = [];
  for (const one of calls) void one.then((result) => settled.push(result));
  await waitForCondition(() => settled.length === 17, 'the others are refused');
  for (const { status, body, headers } of settled) {
    expect(status).toBe(429);
    expect(body).toMatchObject({
      limitType: 'budget',
      scope: 'agent',
      budgetCents: 4,
      spentCents: 0,
      reason: 'in_flight',
    });
    expect(body.heldCents).toBe(3);
    expect(headers['retry-after']).toBe('1');
    expect(headers['x-should-retry']).toBeUndefined();
  }
  answerPending(3);
  const passed = (await Promise.all(calls)).filter(({ status }) => status === 200);
  expect(passed).toHaveLength(3);
  // Three calls have cost 0.4 cents each: two more reservations fit, also on the other data plane.
  const more = [0, 1].map((plane) => call(token, {}, plane));
  await waitForCondition(() => pendingResponses.length === 2, 'two more calls at the provider');
  answerPending(2);
  expect((await Promise.all(more)).map(({ status }) => status)).toEqual([200, 200]);
});

test('hard budget: endless streams over three data planes use up the budget and spend no more', async () => {
  const token = await newAgent({ budgetCentsMonthly: 3, holdMaxOutputTokens: 20 });
  const streams = Array.from({ length: 60 }, async (_, i) => {
    const abort = i % 4 === 0 ? new AbortController() : null;
    try {
      const { statusCode, body } = await send(`${urls[i % 3]}/v1/proxy/openai/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-4o', messages: [], stream: true }),
        dispatcher: connections,
        ...(abort === null ? {} : { signal: abort.signal }),
      });
      let text = '';
      for await (const piece of body) {
        text += piece;
        abort?.abort();
      }
      return { statusCode, text };
    } catch {
      return null; // the connection was closed
    }
  });
  const ended = (await Promise.all(streams)).filter((one) => one !== null);
  const cut = ended.filter(({ statusCode }) => statusCode === 200);
  expect(cut.length).toBeGreaterThan(0);
  for (const { text } of cut) expect(text).toMatch(/"code":"budget_cut"}}\n\n$/);
  for (const { statusCode } of ended) expect([200, 429]).toContain(statusCode);
  const self = async () => {
    const { body } = await send(`${urls[0]}/v1/self`, { headers: { authorization: `Bearer ${token}` } });
    return (await body.json()) as { budgets: { spentCents: number; heldCents: number }[] };
  };
  await waitForCondition(async () => (await self()).budgets[0]!.heldCents === 0, 'nothing is held');
  const { sql } = stack.database as TestDatabase;
  const recorded = () => sql<{ cost_nanos: string }[]>`
    select cost_nanos from usage_records where error in ('budget_cut', 'client_aborted')`;
  await waitForCondition(async () => (await recorded()).length >= cut.length, 'the calls in the ledger');
  const rows = await recorded();
  const spent = rows.reduce((sum, row) => sum + Number(row.cost_nanos), 0);
  expect(spent).toBeLessThanOrEqual(3 * CENT_NANOS);
  expect(spent).toBeGreaterThan(CENT_NANOS);
});

test('hard budget: rejections tell calls that can never fit from calls that do not fit any more', async () => {
  const token = await newAgent({ budgetCentsMonthly: 2 });
  const never = await call(token, { max_completion_tokens: 3_000 });
  expect(never).toMatchObject({ status: 429, body: { reason: 'never_fits', heldCents: 0 } });
  expect(never.headers['x-should-retry']).toBe('false');
  for (let spent = 0; spent < 2; spent++) {
    const one = call(token);
    await waitForCondition(() => pendingResponses.length === 1, 'the call at the provider');
    answerPending(1);
    expect((await one).status).toBe(200);
  }
  const spent = await call(token, { max_completion_tokens: 1_250 });
  expect(spent).toMatchObject({ status: 429, body: { reason: 'spent', spentCents: 1, heldCents: 0 } });
  expect(spent.headers['x-should-retry']).toBe('false');
  await waitForCondition(async () => {
    const { sql } = stack.database as TestDatabase;
    const rows = await sql`select 1 from events where event = 'agent.budget_exceeded'`;
    return rows.length === 1;
  }, 'the event of the month’s first refusal');
});

test('hard budget: a call without a maximum reserves that of the agent', async () => {
  const token = await newAgent({ budgetCentsMonthly: 2, holdMaxOutputTokens: 2_500 });
  const unstated = { max_completion_tokens: null };
  expect((await call(token, unstated)).body.reason).toBe('never_fits');
  const one = call(token, { max_completion_tokens: 10 });
  await waitForCondition(() => pendingResponses.length === 1, 'the call at the provider');
  answerPending(1);
  expect((await one).status).toBe(200);
});

test('hard budget: output above an assumed maximum is recorded and counted as above the reservation', async () => {
  const exceeded = async () => {
    const { body } = await send(`${metricsUrl}/metrics`);
    return Number(/^gateway_reservation_exceeded_usd_total (\S+)$/m.exec(await body.text())![1]);
  };
  const before = await exceeded();
  const token = await newAgent({ budgetCentsMonthly: 2, holdMaxOutputTokens: 100 });
  const one = call(token, { max_completion_tokens: null });
  await waitForCondition(() => pendingResponses.length === 1, 'the call at the provider');
  answerPending(1); // 400 tokens
  expect((await one).status).toBe(200);
  const above = (await exceeded()) - before;
  // The reservation also covered the bytes of the body.
  expect(above).toBeLessThan((300 * TOKEN_OUT_NANOS) / 1e9);
  expect(above).toBeGreaterThan((250 * TOKEN_OUT_NANOS) / 1e9);
});

test('hard budget: rejects an unboundable call, which consumes nothing', async () => {
  const token = await newAgent({ budgetCentsMonthly: 100 });
  const unmetered = { status: 403, body: { denied: 'unmetered' } };
  expect(await call(token, {}, 0, '/v1/batches')).toMatchObject(unmetered);
  expect(await call(token, { background: true, input: 'x' }, 0, '/v1/responses')).toMatchObject(unmetered);
  expect((await call(token, { max_tokens: 5 })).status).toBe(400); // set twice
  expect((await call(token, { max_completion_tokens: 'many' })).status).toBe(400);
  expect(pendingResponses).toHaveLength(0);
});

test('hard budget: reserves for every multiplier of a call, however it is spelled', async () => {
  const token = await newAgent({ budgetCentsMonthly: 100 });
  const rejected = { status: 429, body: { limitType: 'budget', reason: 'never_fits', spentCents: 0 } };
  const completion = { model: 'gpt-3.5-turbo-instruct', max_completion_tokens: undefined, max_tokens: 4_000 };
  const prompts = { ...completion, prompt: Array(2_000).fill('x') };
  expect(await call(token, prompts, 0, '/v1/completions')).toMatchObject(rejected);
  const file = { type: 'input_file', file_url: 'https://example.com/a.pdf' };
  const input = [{ type: 'function_call_output', call_id: 'c', output: [file] }];
  expect(await call(token, { model: 'gpt-5.5', input }, 0, '/v1/responses')).toMatchObject(rejected);
  expect(await call(token, { input: 'x', prompt: { id: 'pmpt_1' } }, 0, '/v1/responses')).toMatchObject({
    status: 403,
  });
  expect(pendingResponses).toHaveLength(0);
  const one = call(token, { ...completion, prompt: ['x', 'y'] }, 0, '/v1/completions');
  await waitForCondition(() => pendingResponses.length === 1, 'the call at the provider');
  answerPending(1);
  expect((await one).status).toBe(200);
});

test('soft budget: rejects a call whose cost no response states, which passes without a budget', async () => {
  const runs = ['/v1/threads/thread_1/runs', '/v1/evals/eval_1/runs', '/v1/fine_tuning/jobs'];
  const limited = await newAgent({ budgetMode: 'soft', budgetCentsMonthly: 100 });
  const tokens = await newAgent({ budgetMode: 'soft', tpmLimit: 1_000 });
  for (const token of [limited, tokens]) {
    for (const path of runs) {
      expect(await call(token, {}, 0, path)).toMatchObject({ status: 403, body: { denied: 'unmetered' } });
    }
  }
  const free = await newAgent({ budgetMode: 'soft' });
  const passed = runs.map((path) => call(free, {}, 0, path));
  await waitForCondition(() => pendingResponses.length === runs.length, 'the calls at the provider');
  answerPending(runs.length);
  expect((await Promise.all(passed)).map(({ status }) => status)).toEqual([200, 200, 200]);
});

test('hard budget: a call aborted by its client releases its reservation', async () => {
  const token = await newAgent({ budgetCentsMonthly: 2 });
  const abort = new AbortController();
  const given = send(`${urls[0]}/v1/proxy/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o', messages: [], max_completion_tokens: 1_500 }),
    signal: abort.signal,
    dispatcher: connections,
  }).catch(() => null);
  await waitForCondition(() => pendingResponses.length === 1, 'the call at the provider');
  expect((await call(token, {}, 1)).body).toMatchObject({ reason: 'in_flight', heldCents: 2 });
  abort.abort();
  await given;
  pendingResponses.length = 0;
  const next = call(token, {}, 1);
  const tries = [next];
  await waitForCondition(async () => {
    if (pendingResponses.length === 1) return true;
    tries.push(call(token, {}, 1));
    return false;
  }, 'the hold is free');
  answerPending(1);
});

test('store outage: a hard budget responds with 503 unless the agent allows calls, a soft one passes', async () => {
  const strict = await newAgent({ budgetCentsMonthly: 100, onStoreLoss: 'refuse' });
  const hard = await newAgent({ budgetCentsMonthly: 100 });
  const soft = await newAgent({ budgetCentsMonthly: 100, budgetMode: 'soft' });
  const open = await newAgent({ budgetCentsMonthly: 100, onStoreLoss: 'allow' });
  for (const token of [strict, hard, soft, open]) {
    const one = call(token);
    await waitForCondition(() => pendingResponses.length === 1, 'the call at the provider');
    answerPending(1);
    expect((await one).status).toBe(200);
  }
  await redis.kill();
  for (const token of [strict, hard]) {
    const rejected = await call(token);
    expect(rejected.status).toBe(503);
    expect(rejected.headers['retry-after']).toBe('1');
  }
  for (const token of [soft, open]) {
    const passed = call(token);
    await waitForCondition(() => pendingResponses.length === 1, 'the call at the provider');
    answerPending(1);
    expect((await passed).status).toBe(200);
  }
  await redis.restart();
});

test('hard budget: the constants of this file are consistent', () => {
  expect(1_000 * TOKEN_OUT_NANOS).toBe(CENT_NANOS);
});
