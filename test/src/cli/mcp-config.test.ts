/** `acg mcp config` and `acg run --mcp-client`: files that lead a client through the gateway, without a secret in them. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { Stack, type Tenant } from '../fixtures/stack.js';
import { AcgCommand } from './acg-command.js';

const SLUG = 'our-mcp';
let server: Server;
let stack: Stack;
let tenant: Tenant;
let gatewayUrl: string;
let acg: AcgCommand;
let cwd: string;
const seen: (string | undefined)[] = [];

beforeAll(async () => {
  server = createServer((req, res) => {
    seen.push(req.headers.authorization);
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools: [{ name: 'read' }, { name: 'delete' }] } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stack = await Stack.start({});
  tenant = await stack.signUpTenant();
  await tenant.call('POST', '/v1/custom-providers', {
    slug: SLUG,
    displayName: 'Our MCP server',
    definition: {
      credentials: { kind: 'api_key', fields: [{ name: 'apiKey', label: 'Token', secret: true, required: true }] },
      origins: { default: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
      inject: [{ header: 'authorization', value: 'Bearer {apiKey}' }],
      usage: { format: 'mcp' },
    },
  });
  const agent = await tenant.createAgent({ name: 'Support bot' });
  await tenant.createAccount(agent.id, SLUG, { apiKey: 'server-token-0123' });
  await tenant.createAccount(agent.id, 'github-mcp', { apiKey: 'github_pat_0123456789abcdefghij' });
  await tenant.createAccount(agent.id, 'openai', { apiKey: 'sk-proj-real-openai-credential-0001' });
  await tenant.createAgent({ name: 'Other bot' });
  gatewayUrl = (await stack.addDataPlane()).url;
  acg = new AcgCommand({ ACG_URL: stack.apiUrl, ACG_TOKEN: tenant.session, ACG_GATEWAY_URL: gatewayUrl });
});
afterAll(async () => {
  acg?.removeHome();
  await stack?.stop();
  server.close();
});
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'acg-mcp-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

const config = (client: string, ...options: string[]) =>
  acg.run(['mcp', 'config', '--agent', 'support-bot', '--client', client, ...options], { cwd });
const url = (path: string) => `${gatewayUrl}/v1/proxy/${path}`;

test('prints the servers of the agent, and leaves no token behind', async () => {
  const outcome = await config('claude-code');
  expect(outcome.code, outcome.stderr).toBe(0);
  expect(outcome.json).toEqual({
    mcpServers: {
      [SLUG]: {
        type: 'http',
        url: url(`${SLUG}/mcp`),
        headers: { Authorization: `Bearer \${ACG_GATEWAY_TOKEN}` },
      },
      'github-mcp': {
        type: 'http',
        url: url('github-mcp/mcp/'),
        headers: { Authorization: `Bearer \${ACG_GATEWAY_TOKEN}` },
      },
    },
  });
  expect(existsSync(join(cwd, '.mcp.json'))).toBe(false);
  const { body } = await tenant.call('GET', '/v1/api-keys?status=active');
  expect(body.keys.filter(({ name }: { name: string }) => name.startsWith('acg run'))).toEqual([]);
});

test('--write changes the client’s file, and --providers chooses servers', async () => {
  mkdirSync(join(cwd, '.cursor'));
  const path = join(cwd, '.cursor', 'mcp.json');
  writeFileSync(path, '{"mcpServers":{"mine":{"command":"x"}}}');
  const outcome = await config('cursor', '--write', '--providers', SLUG);
  expect(outcome.code, outcome.stderr).toBe(0);
  expect(outcome.stdout).toBe(`wrote .cursor/mcp.json: ${SLUG}\n`);
  expect(Object.keys(JSON.parse(readFileSync(path, 'utf8')).mcpServers)).toEqual(['mine', SLUG]);
  const toml = await config('codex', '--write', '--json');
  expect(toml.json).toMatchObject({ path: '.codex/config.toml' });
  expect(readFileSync(join(cwd, '.codex/config.toml'), 'utf8')).toContain(`[mcp_servers.${SLUG}]`);
  writeFileSync(path, '{ // mine\n}');
  const refused = await config('cursor', '--write');
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('not plain JSON');
  expect(readFileSync(path, 'utf8')).toBe('{ // mine\n}');
});

test('acg accounts tools lists the tools, and fails with the reason where it cannot', async () => {
  const agent = await tenant.createAgent({ name: 'Reader', policy: { [SLUG]: { tools: { allow: ['read'] } } } });
  await tenant.createAccount(agent.id, SLUG, { apiKey: 'server-token-0123' });
  const outcome = await acg.run(['accounts', 'tools', SLUG, '--agent', 'reader', '--refresh'], { cwd });
  expect(outcome.code, outcome.stderr).toBe(0);
  expect(outcome.stdout).toMatch(/^TOOL\s+POLICY/);
  expect(outcome.stdout).toMatch(/^read\s+allowed/m);
  expect(outcome.stdout).toMatch(/^delete\s+denied/m);
  const other = await acg.run(['accounts', 'tools', 'openai', '--agent', 'support-bot'], { cwd });
  expect(other.code).not.toBe(0);
  expect(other.stderr).toContain('openai is no MCP server');
});

test('names what is missing', async () => {
  const none = await acg.run(['mcp', 'config', '--agent', 'other-bot', '--client', 'codex'], { cwd });
  expect(none.code).toBe(1);
  expect(none.stderr).toContain('other-bot has no MCP server');
  const other = await config('codex', '--providers', 'openai');
  expect(other.code).toBe(2);
  expect(other.stderr).toContain('openai is no MCP server of support-bot');
});

test('acg run --mcp-client writes the file for its program, which then reaches the server', async () => {
  const program = `
    const { mcpServers } = JSON.parse(require('fs').readFileSync('.mcp.json'));
    const { url, headers } = mcpServers['${SLUG}'];
    const authorization = headers.Authorization.replace(/\\$\\{(\\w+)\\}/, (_, name) => process.env[name]);
    fetch(url, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    }).then(async (response) => console.log(response.status, await response.text()));`;
  const run = ['run', '--agent', 'support-bot', '--mcp-client', 'claude-code', '--', process.execPath, '-e', program];
  const outcome = await acg.run(run, { cwd });
  expect(outcome.code, outcome.stderr).toBe(0);
  expect(outcome.stdout).toContain('200 {"jsonrpc":"2.0","id":1,"result":');
  expect(outcome.stderr).toContain('wrote .mcp.json');
  expect(seen.at(-1)).toBe('Bearer server-token-0123');
});
