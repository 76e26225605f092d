/** An organization's own MCP server through real processes: policy, sessions over data planes, revocation, rejections. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RedisServer } from '../fixtures/redis-server.js';
import { Stack, type Tenant, waitForCondition } from '../fixtures/stack.js';

const SLUG = 'our-mcp';
const TOOLS = [{ name: 'read_issue' }, { name: 'delete_issue' }];

let server: Server;
let redis: RedisServer;
let stack: Stack;
let tenant: Tenant;
let urls: string[];
const sessions: (string | undefined)[] = [];
const streams: ServerResponse[] = [];

beforeAll(async () => {
  server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      sessions.push(req.headers['mcp-session-id'] as string | undefined);
      if (req.method === 'GET') {
        streams.push(res.writeHead(200, { 'content-type': 'text/event-stream' }));
        res.flushHeaders();
        return;
      }
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString());
      const result = method === 'tools/list' ? { tools: TOOLS } : { content: [] };
      res.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's-1' });
      res.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  redis = await RedisServer.start();
  stack = await Stack.start({
    redisUrl: redis.url.href,
    prices: { [`mcp/${SLUG}/delete_issue`]: { perRequestUsd: 0.03 } },
  });
  urls = [(await stack.addDataPlane()).url, (await stack.addDataPlane()).url];
  tenant = await stack.signUpTenant();
  const made = await tenant.call('POST', '/v1/custom-providers', {
    slug: SLUG,
    displayName: 'Our MCP server',
    definition: {
      credentials: { kind: 'api_key', fields: [{ name: 'apiKey', label: 'Token', secret: true, required: true }] },
      origins: { default: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
      inject: [{ header: 'authorization', value: 'Bearer {apiKey}' }],
      usage: { format: 'mcp' },
    },
  });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
});

afterAll(async () => {
  await stack.stop();
  await redis.stop();
  server.closeAllConnections();
  server.close();
});

async function createAgent(fields: object = {}) {
  const { id } = await tenant.createAgent({ ...fields });
  await tenant.createAccount(id, SLUG, { apiKey: 'server-token-0123' });
  return { id, token: await tenant.createToken(id) };
}

const post = (token: string, message: object, headers: Record<string, string> = {}, plane = 0): Promise<Response> =>
  fetch(`${urls[plane]}/v1/proxy/${SLUG}/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
  });

test('mcp server: a policy limits the tools, and rejections of tools are counted', async () => {
  const { id, token } = await createAgent({ policy: { [SLUG]: { tools: { deny: ['delete_*'] } } } });
  expect(await (await post(token, { method: 'tools/list' })).json()).toMatchObject({
    result: { tools: [{ name: 'read_issue' }] },
  });
  const call = (name: string) => post(token, { method: 'tools/call', params: { name } });
  expect(await (await call('read_issue')).json()).toMatchObject({ result: { content: [] } });
  expect(await (await call('delete_issue')).json()).toMatchObject({ error: { code: -32602 } });
  await waitForCondition(async () => {
    const { body } = await tenant.call('GET', `/v1/usage/breakdown?by=tool&agentId=${id}`);
    return body.total === 2;
  }, 'the usage by tool');
  for (const scope of [`agentId=${id}`, `projectId=${tenant.projectId}`]) {
    const { body } = await tenant.call('GET', `/v1/usage/breakdown?by=tool&${scope}`);
    expect(body.rows).toContainEqual(expect.objectContaining({ value: 'read_issue', requests: 1 }));
    const models = await tenant.call('GET', `/v1/usage/breakdown?by=model&${scope}`);
    expect(models.body.rows.map(({ value }: { value: string }) => value)).toEqual(['']);
  }
  const logs = await tenant.call('GET', `/v1/usage/logs?agentId=${id}`);
  expect(logs.body.logs.map(({ tool, model }: { tool: string; model: string }) => [tool, model])).toEqual([
    ['read_issue', null],
    [null, null],
  ]);
  await waitForCondition(async () => {
    const { body } = await tenant.call('GET', `/v1/usage/refusals?agentId=${id}`);
    return JSON.stringify(body).includes('denied_tool');
  }, 'the count of the rejection');
});

test('mcp server: a session belongs to one agent, at every data plane', async () => {
  const [first, second] = [await createAgent(), await createAgent({ name: 'Other' })];
  const session = (await post(first.token, { method: 'initialize' })).headers.get('mcp-session-id')!;
  expect(session).toMatch(/^s-1\./);
  const header = { 'mcp-session-id': session };
  expect((await post(first.token, { method: 'ping' }, header, 1)).status).toBe(200);
  expect(sessions.at(-1)).toBe('s-1');
  expect((await post(second.token, { method: 'ping' }, header)).status).toBe(404);
});

test('mcp server: revocation ends a listening stream', async () => {
  const { id, token } = await createAgent();
  const stream = await fetch(`${urls[0]}/v1/proxy/${SLUG}/mcp`, {
    headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
  });
  expect(stream.status).toBe(200);
  const ended = stream.text().catch(() => 'broken');
  expect((await tenant.call('PATCH', `/v1/agents/${id}/status`, { status: 'revoked' })).status).toBe(200);
  expect(await ended).toBe('broken');
});

test('mcp server: a tool has a limit of its own over all data planes, and a price that a hard budget reserves', async () => {
  const toolLimits = [{ tool: 'delete_*', rpm: 2 }];
  const { id, token } = await createAgent({
    policy: { [SLUG]: { toolLimits } },
    budgetCentsMonthly: 5,
    budgetMode: 'hard',
  });
  const call = (name: string, plane: number) =>
    post(token, { method: 'tools/call', params: { name, arguments: {} } }, {}, plane);
  const first = await call('delete_issue', 0);
  expect(await first.json()).toMatchObject({ result: { content: [] } });
  await waitForCondition(async () => {
    const { body } = await tenant.call('GET', `/v1/usage/logs?agentId=${id}`);
    return body.logs.length === 1 && body.logs[0].costCents === 3;
  }, 'the price of the call');
  // 3 of 5 cents are spent, and the next call costs 3.
  const second = await call('delete_issue', 1);
  expect(second.status).toBe(429);
  expect(await second.json()).toMatchObject({ limitType: 'budget', spentCents: 3, budgetCents: 5 });
  expect((await tenant.call('PATCH', `/v1/agents/${id}`, { budgetCentsMonthly: 100 })).status).toBe(200);
  await waitForCondition(async () => (await call('delete_issue', 1)).status === 200, 'the second call');
  const third = await call('DELETE_issue', 0);
  expect(third.status).toBe(429);
  expect(await third.json()).toMatchObject({ limitType: 'rpm', scope: 'tool', tool: 'delete_*', limit: 2 });
  expect((await call('read_issue', 0)).status).toBe(200);
});

test('mcp server: limits of tools are for MCP servers, one for each name', async () => {
  const { id } = await createAgent();
  const limit = (slug: string, ...toolLimits: object[]) =>
    tenant.call('PATCH', `/v1/agents/${id}`, { policy: { [slug]: { toolLimits } } });
  expect((await limit('openai', { tool: 'a', rpm: 1 })).status).toBe(400);
  expect((await limit(SLUG, { tool: 'a', rpm: 1 }, { tool: 'A', rpm: 2 })).status).toBe(400);
  expect((await limit(SLUG, { tool: 'a', rpm: 0 })).status).toBe(400);
  expect((await limit(SLUG, { tool: 'a', rpm: 1 }, { tool: '*', rpm: 2 })).status).toBe(200);
  const { body } = await tenant.call('GET', '/v1/prices?search=delete_issue');
  expect(body.prices).toEqual([
    expect.objectContaining({ provider: SLUG, model: null, tool: 'delete_issue', prices: { perRequestUsd: 0.03 } }),
  ]);
});
