/**
 * Runs through the whole stack: 200 callers of a tree of runs on three data planes, of which one is killed with calls in
 * flight. No run spends more than its budget, and none is rejected that fits. The end of a run ends its streams.
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
const MAX_TOKENS = 100;
const RESERVATION_NANOS_MAX = 2 * MAX_TOKENS * TOKEN_OUT_NANOS;
const CALLERS = 200;
const HELD_CALLS = 20;

let heldCalls = 0;
const streams = new Set<ServerResponse>();
/** Responds with a random number of tokens, never to calls of the user `held`; streams without end to `stream`. */
const provider = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    const body = Buffer.concat(pieces);
    if (body.includes('"held"')) {
      heldCalls++;
      return;
    }
    if (body.includes('"stream"')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"choices":[{"delta":{"content":"a"}}]}\n\n');
      streams.add(response);
      response.on('close', () => streams.delete(response));
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

async function createWorker(tenant: Tenant): Promise<{ id: string; token: string }> {
  const { id } = await tenant.createAgent({ rpmLimit: 1_000_000 });
  await tenant.createAccount(id, 'openai', { apiKey: 'sk-test-0123456789' });
  return { id, token: await tenant.createToken(id) };
}

async function callRuns(url: string, token: string, method: 'POST' | 'GET' | 'DELETE', path = '', body?: object) {
  const answer = await send(`${url}/v1/runs${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    dispatcher: connections,
  });
  // biome-ignore lint/suspicious/noExplicitAny: bodies of any kind
  return { status: answer.statusCode, body: (await answer.body.json()) as any };
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

interface Node {
  readonly id: string;
  readonly token: string;
  readonly budgetNanos: number;
  readonly parent: Node | null;
  /** What its calls and those of its sub-runs spent. */
  spentNanos: number;
}

test('a tree of runs: every budget is kept, and what fits is admitted', async () => {
  const [first, second, victim] = await Promise.all([stack.addDataPlane(), stack.addDataPlane(), stack.addDataPlane()]);
  const tenant = await stack.signUpTenant();
  const worker = await createWorker(tenant);
  const start = async (parent: Node | null, cents: number): Promise<Node> => {
    const end = parent === null ? { expiresIn: 3_000 } : {};
    const body = { budgetCents: cents, ...end, label: `${cents} cents` };
    const started = await callRuns(first.url, parent?.token ?? worker.token, 'POST', '', body);
    expect(started.status).toBe(201);
    const { run, secretKey } = started.body;
    return { id: run.id, token: secretKey, budgetNanos: cents * CENT_NANOS, parent, spentNanos: 0 };
  };
  const top = await start(null, 20);
  const [left, right] = [await start(top, 12), await start(top, 15)];
  const leaves = [await start(left, 4), await start(left, 9), await start(right, 6), await start(right, 30)];

  heldCalls = 0;
  // A busy machine may reject a call (503): it is repeated until it is in flight.
  const hold = async (token: string): Promise<null> => {
    for (;;) {
      const rejected = await call(victim.url, token, 'held').catch(() => null);
      if (rejected === null) return null;
      expect(rejected.status).toBe(503);
    }
  };
  const held = Array.from({ length: HELD_CALLS }, (_, i) => hold(leaves[i % leaves.length]!.token));
  await waitForCondition(() => heldCalls === HELD_CALLS, 'the calls in flight');

  const rejectedBy = new Set<string>();
  const caller = async (index: number): Promise<void> => {
    const leaf = leaves[index % leaves.length]!;
    for (let n = index; ; n++) {
      const { status, body } = await call(n % 2 === 0 ? first.url : second.url, leaf.token, 'answered');
      if (status === 200) {
        const nanos = body.usage.completion_tokens * TOKEN_OUT_NANOS;
        for (let node: Node | null = leaf; node !== null; node = node.parent) node.spentNanos += nanos;
        continue;
      }
      expect([status, body.limitType, body.scope]).toEqual([429, 'budget', 'run']);
      if (body.reason !== 'in_flight') {
        rejectedBy.add(body.budgetId);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  };
  const callers = Promise.all(Array.from({ length: CALLERS }, (_, i) => caller(i)));
  await waitForCondition(() => top.spentNanos > top.budgetNanos / 4, 'a quarter of the budget is spent');
  await victim.plane.kill(); // the store frees its reservations when their lease ends
  expect(await Promise.all(held)).toEqual(held.map(() => null));
  await callers;

  const nodes = [top, left, right, ...leaves];
  for (const node of nodes) expect(node.spentNanos).toBeLessThanOrEqual(node.budgetNanos);
  // Each leaf was rejected by itself or an ancestor that has no room for one more call.
  for (const leaf of leaves) {
    const path = [leaf, leaf.parent!, top];
    expect(path.some((node) => node.spentNanos > node.budgetNanos - RESERVATION_NANOS_MAX)).toBe(true);
  }
  expect([...rejectedBy].every((id) => nodes.some((node) => node.id === id))).toBe(true);
  const { sql } = stack.database as TestDatabase;
  const readBilled = async (): Promise<number> => {
    const [row] = await sql<{ nanos: number }[]>`
      select coalesce(sum(cost_nanos), 0)::float8 as nanos from usage_records where org_id = ${tenant.orgId}`;
    return row!.nanos;
  };
  await waitForCondition(async () => (await readBilled()) === top.spentNanos, 'the calls in the ledger');
  for (const node of nodes) {
    const { run } = (await tenant.call('GET', `/v1/runs/${node.id}`)).body;
    expect(run.spentCents).toBe(Math.round(node.spentNanos / CENT_NANOS));
    expect(run.spentUsd).toBe(Math.round(node.spentNanos / 1_000) / 1e6);
  }
  const readExceeded = async (): Promise<string[]> => {
    const { events } = (await tenant.call('GET', '/v1/events?event=run.budget_exceeded&limit=100')).body;
    return events.map(({ data }: { data: { runId: string } }) => data.runId);
  };
  await waitForCondition(async () => (await readExceeded()).length >= rejectedBy.size, 'the events');
  const exceeded = await readExceeded();
  expect(exceeded).toEqual([...new Set(exceeded)]);
  expect(nodes.map(({ id }) => id)).toEqual(expect.arrayContaining(exceeded));
});

test('the end of a run ends its streams, those of its sub-runs, and its tokens', async () => {
  const { url } = await stack.addDataPlane();
  const tenant = await stack.signUpTenant();
  const worker = await createWorker(tenant);
  const top = (await callRuns(url, worker.token, 'POST', '', { budgetCents: 500, expiresIn: 600 })).body;
  const sub = (await callRuns(url, top.secretKey, 'POST', '', { budgetCents: 500 })).body;
  const open = async (token: string) => {
    const response = await send(`${url}/v1/proxy/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o', messages: [], stream: true, max_completion_tokens: 5, user: 'stream' }),
      dispatcher: connections,
    });
    expect(response.statusCode).toBe(200);
    return response.body;
  };
  const bodies = await Promise.all([open(sub.secretKey), open(top.secretKey), open(worker.token)]);
  const ended = bodies.map(async (body) => {
    try {
      for await (const piece of body) void piece;
      return 'whole';
    } catch {
      return 'broken off';
    }
  });
  await waitForCondition(() => streams.size === 3, 'the streams');
  expect((await callRuns(url, worker.token, 'DELETE', `/${top.run.id}`)).status).toBe(200);
  expect(await Promise.all(ended.slice(0, 2))).toEqual(['broken off', 'broken off']);
  await waitForCondition(() => streams.size === 1, 'the upstream calls of the run have ended');
  await waitForCondition(
    async () => (await call(url, sub.secretKey, 'answered')).status === 401,
    'the sub-run’s token',
  );
  expect((await call(url, top.secretKey, 'answered')).status).toBe(401);
  expect((await call(url, worker.token, 'answered')).status).toBe(200);
  for (const response of streams) response.end('data: [DONE]\n\n');
  expect(await ended[2]).toBe('whole');
});

test('agents: what is no call about runs is rejected, and what a run must not do', async () => {
  const { url } = await stack.addDataPlane();
  const tenant = await stack.signUpTenant();
  const worker = await createWorker(tenant);
  const top = (await callRuns(url, worker.token, 'POST', '', { budgetCents: 500, expiresIn: 600 })).body;
  expect((await callRuns(url, worker.token, 'GET')).status).toBe(405);
  expect((await callRuns(url, 'acg_'.padEnd(68, '0'), 'POST', '', {})).status).toBe(401);
  expect((await callRuns(url, worker.token, 'POST', '', { budgetCents: 0, expiresIn: 60 })).status).toBe(400);
  expect((await callRuns(url, worker.token, 'POST', '', { label: 'x'.repeat(100_000) })).status).toBe(413);
  expect((await callRuns(url, top.secretKey, 'GET', `/${top.run.id}`)).body.run).toMatchObject({ id: top.run.id });
  const self = await send(`${url}/v1/self`, { headers: { authorization: `Bearer ${top.secretKey}` } });
  // biome-ignore lint/suspicious/noExplicitAny: a document
  const document = (await self.body.json()) as any;
  expect(document.budgets).toContainEqual(expect.objectContaining({ scope: 'run', budgetCents: 500 }));
  await tenant.call('PATCH', `/v1/agents/${worker.id}/status`, { status: 'paused' });
  await waitForCondition(
    async () => (await callRuns(url, top.secretKey, 'POST', '', { budgetCents: 1 })).status === 403,
    'the paused agent starts no sub-run',
  );
});
