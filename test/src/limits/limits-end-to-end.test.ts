/** The gateway as real processes, two data planes with two workers on one Redis: checks what reaches the provider. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, request as send } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RedisServer } from '../fixtures/redis-server.js';
import { Stack, type Tenant, waitForCondition } from '../fixtures/stack.js';

const DAY_MS = 86_400_000;
/** List price of an input token of gpt-4o, nano-dollars. */
const TOKEN_NANOS = 2_500;

/** Counts calls; a response costs as many input tokens as its request says. */
class CountingProvider {
  readonly calls = new Map<string, number>();
  readonly #server: Server;

  constructor() {
    this.#server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = JSON.parse(Buffer.concat(chunks).toString()) as { user: string; tokens: number };
      this.calls.set(body.user, this.callsOf(body.user) + 1);
      response.setHeader('content-type', 'application/json');
      const usage = { prompt_tokens: body.tokens, completion_tokens: 0, total_tokens: body.tokens };
      response.end(JSON.stringify({ id: 'x', object: 'chat.completion', model: 'gpt-4o', choices: [], usage }));
    });
  }

  callsOf(user: string): number {
    return this.calls.get(user) ?? 0;
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }
}

const provider = new CountingProvider();
const connections = new Agent({ connections: 200, pipelining: 1 });
let redis: RedisServer;
let stack: Stack;
let tenant: Tenant;
let urls: string[];
let metricsUrls: string[];

beforeAll(async () => {
  redis = await RedisServer.start();
  const origin = await provider.start();
  stack = await Stack.start({
    providers: { openai: origin },
    redisUrl: redis.url.href,
    // Busy machines respond late; these tests check exact counts.
    dataPlaneEnv: { DATAPLANE_WORKERS: '2', COUNTERS_TIMEOUT_MS: '5000' },
  });
  const planes = await Promise.all([stack.addDataPlane(), stack.addDataPlane()]);
  urls = planes.map((plane) => plane.url);
  metricsUrls = planes.map((plane) => plane.metricsUrl);
  tenant = await stack.signUpTenant();
});
afterAll(async () => {
  await stack?.stop();
  await provider.stop();
  await redis.stop();
  await connections.close();
});

interface CallResponse {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of any kind
  readonly body: any;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

async function call(url: string, token: string, user: string, tokens = 1, tags = ''): Promise<CallResponse> {
  const { statusCode, headers, body } = await send(`${url}/v1/proxy/openai/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      ...(tags === '' ? {} : { 'x-gateway-tag': tags }),
    },
    body: JSON.stringify({ model: 'gpt-4o', messages: [], user, tokens }),
    dispatcher: connections,
  });
  return { status: statusCode, headers, body: await body.json() };
}

async function createAgent(fields: Readonly<Record<string, unknown>>): Promise<{ id: string; token: string }> {
  const { id } = await tenant.createAgent(fields);
  await tenant.createAccount(id, 'openai', { apiKey: 'sk-test-0123456789' });
  return { id, token: await tenant.createToken(id) };
}

test('rpm: of 400 simultaneous requests over two data planes of two workers, exactly 50 reach the provider', async () => {
  const { token } = await createAgent({ rpmLimit: 50 });
  const answers = await Promise.all(Array.from({ length: 400 }, (_, i) => call(urls[i % 2]!, token, 'rpm')));
  expect(answers.filter((answer) => answer.status === 200)).toHaveLength(50);
  const rejected = answers.filter((answer) => answer.status === 429);
  expect(rejected).toHaveLength(350);
  expect(provider.callsOf('rpm')).toBe(50);
  for (const { body, headers } of rejected) {
    expect(body).toMatchObject({ limitType: 'rpm', limit: 50, remaining: 0 });
    expect(headers['x-ratelimit-limit']).toBe('50');
    expect(headers['x-ratelimit-remaining']).toBe('0');
    expect(headers['x-ratelimit-reset']).toBe(String(body.resetAt));
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
  }
});

test('rpm: the tokens of one agent share its limits', async () => {
  const { id, token } = await createAgent({ rpmLimit: 5 });
  const tokens = [token, await tenant.createToken(id), await tenant.createToken(id)];
  const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => call(urls[i % 2]!, tokens[i % 3]!, 'tokens')));
  expect(answers.filter((answer) => answer.status === 200)).toHaveLength(5);
  expect(provider.callsOf('tokens')).toBe(5);
});

test('rpd: rejects above the day without Retry-After and consumes nothing of the minute', async () => {
  const { token } = await createAgent({ rpdLimit: 3, rpmLimit: 100 });
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => call(urls[i % 2]!, token, 'rpd')));
  expect(answers.filter((answer) => answer.status === 200)).toHaveLength(3);
  const rejected = answers.find((answer) => answer.status === 429)!;
  expect(rejected.body).toMatchObject({ limitType: 'rpd', limit: 3, remaining: 0 });
  expect(rejected.headers['retry-after']).toBeUndefined();
  expect(rejected.headers['x-should-retry']).toBe('false');
});

/** Spend of the agent's budget in cents, as the first data plane reports it. */
async function readSpentCents(token: string): Promise<number> {
  const { body } = await send(`${urls[0]}/v1/self`, { headers: { authorization: `Bearer ${token}` } });
  const { budgets } = (await body.json()) as { budgets: { scope: string; spentCents: number }[] };
  return budgets.find(({ scope }) => scope === 'agent')?.spentCents ?? -1;
}

test('budget: rejects exactly when the known usage reaches it, to the nano-dollar', async () => {
  const { token } = await createAgent({ budgetCentsMonthly: 1 });
  const budgetTokens = 10_000_000 / TOKEN_NANOS;
  for (let i = 0; i < 9; i++) expect((await call(urls[i % 2]!, token, 'budget', budgetTokens / 10)).status).toBe(200);
  expect((await call(urls[0]!, token, 'budget', budgetTokens / 10 - 1)).status).toBe(200);
  expect((await call(urls[1]!, token, 'budget', 1)).status).toBe(200); // one token below the budget until here
  // The shared counters have the spend of the other data plane a moment later.
  await waitForCondition(async () => (await readSpentCents(token)) === 1, 'the spend of the other data plane is known');
  const rejected = await call(urls[0]!, token, 'budget', 1);
  expect(rejected.status).toBe(429);
  expect(rejected.body).toMatchObject({ limitType: 'budget', spentCents: 1, budgetCents: 1 });
  expect(rejected.headers['retry-after']).toBeUndefined();
  expect(provider.callsOf('budget')).toBe(11);
});

test('budget: a project budget covers its agents on both data planes, and the response names it', async () => {
  const first = await createAgent({ budgetCentsMonthly: 1_000 });
  const second = await createAgent({ rpmLimit: 1_000 });
  const path = `/v1/projects/${tenant.projectId}`;
  const spent = async (): Promise<number> => {
    const { body } = await send(`${urls[0]}/v1/self`, { headers: { authorization: `Bearer ${second.token}` } });
    const self = (await body.json()) as { budgets: { scope: string; spentCents: number }[] };
    return self.budgets.find(({ scope }) => scope === 'project')?.spentCents ?? -1;
  };
  expect((await tenant.call('PATCH', path, { budgetCentsMonthly: 1_000_000 })).status).toBe(200);
  await waitForCondition(async () => (await spent()) >= 0, 'the data planes know of the budget');
  const before = await spent();
  expect((await tenant.call('PATCH', path, { budgetCentsMonthly: before + 4 })).status).toBe(200);
  const fiveCents = 50_000_000 / TOKEN_NANOS;
  expect((await call(urls[0]!, first.token, 'project', fiveCents)).status).toBe(200);
  let rejected = await call(urls[1]!, second.token, 'project', 1);
  while (rejected.status === 200) rejected = await call(urls[1]!, second.token, 'project', 1);
  expect(rejected.body).toMatchObject({ limitType: 'budget', scope: 'project', budgetCents: before + 4 });
  expect((await tenant.call('PATCH', path, { budgetCentsMonthly: null })).status).toBe(200);
  await waitForCondition(
    async () => (await call(urls[1]!, second.token, 'project', 1)).status === 200,
    'the budget is gone',
  );
  const org = await tenant.call('PATCH', `/v1/orgs/${tenant.orgId}`, { budgetCentsMonthly: 0 });
  expect(org.body.org).toMatchObject({ budgetCentsMonthly: 0 });
  await waitForCondition(
    async () => (await call(urls[1]!, second.token, 'org', 1)).body.scope === 'org',
    'the organization’s budget',
  );
  expect((await tenant.call('PATCH', `/v1/orgs/${tenant.orgId}`, { budgetCentsMonthly: null })).status).toBe(200);
  await waitForCondition(
    async () => (await call(urls[1]!, second.token, 'org', 1)).status === 200,
    'that budget is gone, too',
  );
});

test('budget rows: the 429 names the row and when it frees, an audited row shows itself only, /v1/self and the ledger agree', async () => {
  const { id, token } = await createAgent({
    rpmLimit: 1_000,
    budgets: [
      { window: 'day', cents: 1, tag: 'customer=acme' },
      { window: 'total', cents: 4, models: ['gpt-4*'] },
      { window: 'week', cents: 1, mode: 'audit' },
      { window: 'week', cents: 0, models: ['o3*'] },
    ],
  });
  const rows = async () => (await tenant.call('GET', `/v1/agents/${id}`)).body.agent.budgets;
  const [day, total, audit] = await rows();
  const cent = 10_000_000 / TOKEN_NANOS;
  const midnight = Math.floor(Date.now() / DAY_MS) * 86_400 + 86_400;
  const passedTokens = { day: 0, total: 0 };
  const pass = async (url: string, tokens: number, tags: string): Promise<CallResponse> => {
    const response = await call(url, token, 'rows', tokens, tags);
    if (response.status !== 200) return response;
    passedTokens.total += tokens;
    if (tags === 'customer=acme') passedTokens.day += tokens;
    return response;
  };
  const untilRejected = async (url: string, tokens: number, tags: string): Promise<CallResponse> => {
    for (;;) {
      const response = await pass(url, tokens, tags);
      if (response.status !== 200) return response;
    }
  };
  expect((await pass(urls[0]!, cent, 'customer=acme')).headers['x-gateway-would-reject']).toBeUndefined();
  const ofDay = await untilRejected(urls[1]!, 1, 'customer=acme');
  expect(ofDay.body).toMatchObject({
    limitType: 'budget',
    scope: 'agent',
    window: 'day',
    budgetId: day.id,
    tag: 'customer=acme',
    budgetCents: 1,
  });
  expect([midnight, midnight + 86_400]).toContain(ofDay.body.resetAt);
  expect([ofDay.headers['x-should-retry'], ofDay.headers['retry-after']]).toEqual(['false', undefined]);
  for (const tags of ['', 'customer=b', 'customer=acme2,feature=acme']) {
    const passed = await pass(urls[1]!, cent / 2, tags);
    expect([passed.status, passed.headers['x-gateway-would-reject']]).toEqual([200, `budget:${audit.id}`]);
  }
  const ofAll = await untilRejected(urls[0]!, cent / 2, '');
  expect(ofAll.body).toMatchObject({ window: 'total', budgetId: total.id, models: ['gpt-4*'], budgetCents: 4 });
  expect(ofAll.body.resetAt ?? null).toBeNull();
  const { body } = await send(`${urls[1]}/v1/self`, { headers: { authorization: `Bearer ${token}` } });
  const self = (await body.json()) as { budgets: { window: string }[] };
  expect(self.budgets.map(({ window }) => window)).toEqual(['day', 'total', 'week', 'week']);
  const cents = (tokens: number): number => Math.round((tokens * TOKEN_NANOS) / 10_000_000);
  const spent = async () => (await rows()).map((row: { spentCents: number }) => row.spentCents);
  const { day: ofTag, total: ofModel } = passedTokens;
  await expect.poll(spent, { timeout: 30_000 }).toEqual([cents(ofTag), cents(ofModel), cents(ofModel), 0]);
  for (const tags of ['customer', 'Customer=a', 'customer=', 'a=1,b=2,c=3,d=4,e=5', 'a=1,a=2'])
    expect((await call(urls[0]!, token, 'rows', 1, tags)).status).toBe(400);
});

test('limits: a raised limit applies to the running window', async () => {
  const { id, token } = await createAgent({ rpmLimit: 2 });
  for (const status of [200, 200, 429]) expect((await call(urls[0]!, token, 'raised')).status).toBe(status);
  expect((await tenant.call('PATCH', `/v1/agents/${id}`, { rpmLimit: 4 })).status).toBe(200);
  let passed = 2;
  while (passed < 4) if ((await call(urls[0]!, token, 'raised')).status === 200) passed++;
  expect((await call(urls[0]!, token, 'raised')).status).toBe(429);
  expect(provider.callsOf('raised')).toBe(4);
});

test('/v1/self: reports the remaining limits and consumes nothing', async () => {
  const { token } = await createAgent({ rpmLimit: 10, budgetCentsMonthly: 100 });
  await call(urls[0]!, token, 'self', 20_001);
  const look = async (): Promise<unknown> => {
    const { body } = await send(`${urls[1]}/v1/self`, { headers: { authorization: `Bearer ${token}` } });
    return body.json();
  };
  const first = await look();
  expect(await look()).toEqual(first);
  expect(first).toMatchObject({
    limits: { rpm: 10, rpd: 10_000, budgetCents: 100 },
    providers: [{ slug: 'openai', rpmRemaining: 9, rpdRemaining: 9_999 }],
    spentCents: 5,
    spentUsd: 0.050_003, // 2.5 µ$ per token, rounded half up
    budgets: [{ scope: 'agent', budgetCents: 100, spentCents: 5, spentUsd: 0.050_003, heldCents: 0, heldUsd: 0 }],
  });
});

test('fail-open: without Redis calls pass and are counted; afterwards limits and the spend of the outage apply', async () => {
  const { token } = await createAgent({ rpmLimit: 1, budgetCentsMonthly: 1 });
  expect((await call(urls[0]!, token, 'gone', 1)).status).toBe(200);
  expect((await call(urls[0]!, token, 'gone', 1)).body.limitType).toBe('rpm');
  await redis.kill();
  for (let i = 0; i < 10; i++) expect((await call(urls[i % 2]!, token, 'gone', 500)).status).toBe(200);
  expect(await uncheckedTotal()).toBe(10);
  const outage = async () => (await stack.call('GET', '/v1/status', null)).body.counterStoreOutage;
  await waitForCondition(async () => (await outage())?.dataPlanes >= urls.length, 'the status names both data planes');
  expect(Date.parse((await outage()).since)).toBeLessThanOrEqual(Date.now());
  await redis.restart();
  await waitForCondition(async () => (await countEnforcingPlanes()) === urls.length, 'both data planes enforce again');
  await waitForCondition(async () => (await outage()) === null, 'the status has no outage');
  // The store came back empty: the minute is free again, but the budget is spent.
  const rejected = await call(urls[0]!, token, 'gone', 1);
  expect(rejected.body).toMatchObject({ limitType: 'budget', spentCents: 1, budgetCents: 1 });
});

test('budget: after a flush the ledger spend limits a data plane that never saw the calls', async () => {
  const { id, token } = await createAgent({ rpmLimit: 1_000, budgetCentsMonthly: 1 });
  for (let i = 0; i < 4; i++) expect((await call(urls[1]!, token, 'flushed', 1)).status).toBe(200); // the context is cached
  expect((await call(urls[0]!, token, 'flushed', 10_000_000 / TOKEN_NANOS)).status).toBe(200);
  const summary = () => tenant.call('GET', `/v1/usage/agents/${id}/summary`);
  await waitForCondition(async () => (await summary()).body.costCents >= 1, 'the ledger has the spend');
  await redis.admin.flushall();
  let rejected: CallResponse | null = null;
  for (let i = 0; i < 100 && rejected === null; i++) {
    const answer = await call(urls[1]!, token, 'flushed', 1);
    if (answer.status === 429) rejected = answer;
  }
  expect(rejected?.body).toMatchObject({ limitType: 'budget', spentCents: 1, budgetCents: 1 });
});

/** Sum of a metric over both data planes. */
async function sumMetric(name: string): Promise<number> {
  let sum = 0;
  for (const url of metricsUrls) {
    const text = await (await send(`${url}/metrics`)).body.text();
    for (const line of text.split('\n')) if (line.startsWith(`${name} `)) sum += Number(line.slice(name.length + 1));
  }
  return sum;
}
const uncheckedTotal = (): Promise<number> => sumMetric('gateway_unchecked_total');
/** Number of workers of all data planes that enforce limits. */
const countEnforcingPlanes = (): Promise<number> => sumMetric('gateway_counters_enforcing');
