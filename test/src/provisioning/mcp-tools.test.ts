/** The tools of MCP servers of both eras, listed by the control plane with the account's credential. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../fixtures/free-port.js';
import { Stack, type Tenant, waitForCondition } from '../fixtures/stack.js';

const TOOLS = [
  { name: 'read_issue', annotations: { readOnlyHint: true } },
  { name: 'delete_issue', annotations: { destructiveHint: true } },
];
let modern: Server;
let everything: ChildProcess;
let stack: Stack;
let tenant: Tenant;
let tools: object[] = TOOLS;
const credentials: (string | undefined)[] = [];

beforeAll(async () => {
  modern = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      credentials.push(req.headers.authorization);
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString());
      const isRejected = req.headers.authorization === 'Bearer rejected-token';
      res.writeHead(isRejected ? 401 : 200, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ jsonrpc: '2.0', id, result: method === 'tools/list' ? { tools } : {} }));
    });
  });
  await new Promise<void>((resolve) => modern.listen(0, '127.0.0.1', resolve));
  const port = await freePort();
  const script = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
  everything = spawn(process.execPath, [script, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  });
  stack = await Stack.start({});
  tenant = await stack.signUpTenant();
  await createProvider('modern-mcp', (modern.address() as AddressInfo).port);
  await createProvider('legacy-mcp', port);
  await waitForCondition(async () => (await fetch(`http://127.0.0.1:${port}/mcp`)).status >= 400, 'the server');
});
afterAll(async () => {
  everything?.kill('SIGKILL');
  modern?.close();
  await stack?.stop();
});

async function createProvider(slug: string, port: number): Promise<void> {
  const made = await tenant.call('POST', '/v1/custom-providers', {
    slug,
    displayName: slug,
    definition: {
      credentials: { kind: 'api_key', fields: [{ name: 'apiKey', label: 'Token', secret: true, required: true }] },
      origins: { default: `http://127.0.0.1:${port}` },
      inject: [{ header: 'authorization', value: 'Bearer {apiKey}' }],
      usage: { format: 'mcp' },
    },
  });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
}

async function createAccount(
  slug: string,
  fields: Readonly<Record<string, unknown>> = {},
  apiKey = 'server-token-0123',
): Promise<string> {
  const agent = await tenant.createAgent(fields);
  const { body } = await tenant.call('POST', '/v1/providers/accounts', {
    agentId: agent.id,
    providerSlug: slug,
    credentials: { apiKey },
  });
  return body.account.id;
}
const list = (id: string, query = '') => tenant.call('GET', `/v1/providers/accounts/${id}/tools${query}`);

test('lists tools with the credential, says which the policy allows, and answers again from its cache', async () => {
  const policy = {
    'modern-mcp': { tools: { deny: ['delete_*'] }, toolLimits: [{ tool: 'READ_*', rpm: 7 }] },
  };
  const id = await createAccount('modern-mcp', { policy });
  credentials.length = 0;
  const first = await list(id);
  expect(first.body).toMatchObject({
    accountId: id,
    providerSlug: 'modern-mcp',
    problem: null,
    truncated: false,
    tools: [
      { name: 'read_issue', allowed: true, rpm: 7, readOnly: true },
      { name: 'delete_issue', allowed: false, rpm: null, destructive: true },
    ],
  });
  expect(credentials).toEqual(['Bearer server-token-0123']);
  tools = [...TOOLS, { name: 'new' }];
  expect((await list(id)).body.tools).toHaveLength(2);
  expect((await list(id, '?refresh=true')).body.tools).toHaveLength(2); // The list is younger than 10 s.
  expect(credentials).toHaveLength(1);
  // Another credential may see other tools.
  await tenant.call('POST', `/v1/providers/accounts/${id}/rotate`, { credentials: { apiKey: 'server-token-4567' } });
  expect((await list(id)).body.tools).toHaveLength(3);
  expect(credentials.at(-1)).toBe('Bearer server-token-4567');
  tools = TOOLS;
});

test('lists the tools of a server with sessions', async () => {
  const { body } = await list(await createAccount('legacy-mcp'));
  expect(body.problem).toBeNull();
  expect(body.tools.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(['echo', 'get-sum']));
});

test('says why there are no tools', async () => {
  const rejected = await list(await createAccount('modern-mcp', {}, 'rejected-token'));
  expect(rejected.status).toBe(200);
  expect(rejected.body).toMatchObject({ problem: expect.stringContaining('HTTP 401'), tools: [], fetchedAt: null });
  const openai = await list(await createAccount('openai', {}, 'sk-proj-real-openai-credential-0001'));
  expect(openai.status).toBe(400);
  expect(openai.body.error).toContain('openai is no MCP server');
});
