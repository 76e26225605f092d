import { chmodSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OpenAiStandIn } from '@acg/stand-in-provider/openai';
import OpenAI from 'openai';
import { afterAll, afterEach, expect, test } from 'vitest';
import { waitForCondition } from '../fixtures/stack.js';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';
import { listProcessesUsing, SingleNodeProcess } from './single-node-process.js';

const nodes: SingleNodeProcess[] = [];
const directories: string[] = [];
/**
 * Data directory of a gateway that has run and was stopped, so its database exists already. Each test leaves it
 * unchanged.
 */
let initializedDirectoryPath: string | null = null;
/** What its first start printed. */
let firstOutput = '';

/** `mode` 0700: closed to the user that runs Postgres when we are root, as root's home is. */
const dataDirectory = (mode = 0o711): string => {
  const home = mkdtempSync(join(tmpdir(), 'acg-node-'));
  chmodSync(home, mode);
  directories.push(home);
  return join(home, 'data');
};

function launch(dataDir: string, env: Record<string, string> = {}, args: readonly string[] = []): SingleNodeProcess {
  const node = new SingleNodeProcess(dataDir, env, args);
  nodes.push(node);
  return node;
}

afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop('SIGTERM')));
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

afterAll(() => {
  if (initializedDirectoryPath !== null) rmSync(join(initializedDirectoryPath, '..'), { recursive: true, force: true });
});

async function initializedDirectory(): Promise<string> {
  if (initializedDirectoryPath !== null) return initializedDirectoryPath;
  const dataDir = dataDirectory();
  const node = launch(dataDir);
  await node.ready();
  expect(await node.stop('SIGTERM')).toBe(0);
  return keepAsInitialized(dataDir, node.output);
}

function keepAsInitialized(dataDir: string, output: string): string {
  firstOutput = output;
  directories.splice(directories.indexOf(join(dataDir, '..')), 1);
  initializedDirectoryPath = dataDir;
  return dataDir;
}

async function fetchJson(url: string, token: string | null, body?: unknown) {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (token !== null) headers.authorization = `Bearer ${token}`;
  const response = await fetch(
    url,
    body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) },
  );
  // biome-ignore lint/suspicious/noExplicitAny: asserted field by field
  return { status: response.status, body: (await response.json()) as any };
}

test('single node: clone to metered streamed call; Ctrl-C and restart keep all data; no process is left running', async () => {
  const provider = await new OpenAiStandIn().start();
  const dataDir = dataDirectory();
  const home = join(dataDir, '..');
  writeFileSync(join(home, 'providers.json'), JSON.stringify({ openai: { baseUrl: provider.origin } }));
  const env = { PROVIDERS_FILE: join(home, 'providers.json') };

  const first = launch(dataDir, env);
  const { controlPlane, dataPlane } = await first.ready();
  const api = `${controlPlane}/v1`;
  const signup = await fetchJson(`${api}/auth/signup`, null, {
    email: 'you@example.com',
    password: 'correct horse battery',
    name: 'You',
    orgName: 'Acme',
  });
  expect(signup.status).toBe(201);
  const session: string = signup.body.token;
  const project = (await fetchJson(`${api}/projects`, session)).body.projects[0];
  const agent = (
    await fetchJson(`${api}/agents`, session, { projectId: project.id, name: 'Bot', budgetCentsMonthly: 500 })
  ).body.agent;
  const key = (await fetchJson(`${api}/api-keys`, session, { name: 'k', agentId: agent.id })).body;
  const account = { agentId: agent.id, providerSlug: 'openai', credentials: { apiKey: PROVIDER_CREDENTIALS.openai } };
  expect((await fetchJson(`${api}/providers/accounts`, session, account)).status).toBe(201);

  const client = new OpenAI({ baseURL: `${dataPlane}/v1/proxy/openai/v1`, apiKey: key.secretKey, maxRetries: 0 });
  const stream = await client.chat.completions.create({
    model: 'gpt-5-mini',
    stream: true,
    messages: [{ role: 'user', content: 'hi' }],
  });
  let text = '';
  for await (const chunk of stream) text += chunk.choices[0]?.delta?.content ?? '';
  expect(text).toBe(provider.answerWords.join(''));
  expect(provider.lastRequest.headers.authorization).toBe(`Bearer ${PROVIDER_CREDENTIALS.openai}`);
  expect(JSON.stringify(provider.requests.map((r) => [r.target, r.rawHeaders]))).not.toContain(key.secretKey);

  const summary = async (base: string) =>
    (await fetchJson(`${base}/v1/usage/agents/${agent.id}/summary`, session)).body;
  await waitForCondition(async () => (await summary(controlPlane)).totalRequests === 1, 'the call in the summary');
  const rows = (await fetchJson(`${api}/usage/agents/${agent.id}`, session)).body.usage;
  expect(rows[0]).toMatchObject({ providerSlug: 'openai', totalRequests: 1 });
  expect(rows[0].totalTokensIn).toBeGreaterThan(0);

  // One more call right before the stop: its record must not be lost.
  await client.chat.completions.create({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'hi' }] });
  expect(await first.stop('SIGINT')).toBe(0);
  await waitForCondition(() => listProcessesUsing(dataDir).length === 0, 'no process left behind');

  const second = launch(dataDir, env);
  const again = await second.ready();
  await waitForCondition(
    async () => (await summary(again.controlPlane)).totalRequests === 2,
    'both calls after the restart',
  );
  const retry = new OpenAI({ baseURL: `${again.dataPlane}/v1/proxy/openai/v1`, apiKey: key.secretKey, maxRetries: 0 });
  await retry.chat.completions.create({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'hi' }] });

  // Killed: children and database exit by themselves, and the next start finds all data.
  await second.stop('SIGKILL');
  await waitForCondition(() => listProcessesUsing(dataDir).length === 0, 'no orphan after kill -9');
  const third = launch(dataDir, env);
  const last = await third.ready();
  await waitForCondition(async () => (await summary(last.controlPlane)).totalRequests === 3, 'all calls after kill -9');
  await provider.close();
  expect(await third.stop('SIGTERM')).toBe(0);
  keepAsInitialized(dataDir, first.output);
});

test('single node: secrets are generated once, with mode 0600, and never printed', async () => {
  const file = join(await initializedDirectory(), 'secrets.json');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const values = Object.values(JSON.parse(readFileSync(file, 'utf8'))) as string[];
  for (const value of values) expect(firstOutput).not.toContain(value);
});

test.runIf(process.getuid?.() === 0)(
  'single node: under a closed home, root keeps the database where Postgres can go',
  async () => {
    const dataDir = dataDirectory(0o700);
    const node = launch(dataDir);
    await node.ready();
    const { clusterName } = JSON.parse(readFileSync(join(dataDir, 'secrets.json'), 'utf8')) as { clusterName: string };
    const cluster = join('/var/lib/agent-credential-gateway', clusterName);
    expect(await node.stop('SIGTERM')).toBe(0);
    expect(existsSync(join(cluster, 'PG_VERSION'))).toBe(true);
    expect(existsSync(join(dataDir, 'postgres'))).toBe(false);
    expect(node.output).toContain(`Database         ${cluster}\n`);
    expect(node.output).toContain('/v1/auth/signup');
    const again = launch(dataDir);
    await again.ready();
    expect(await again.stop('SIGTERM')).toBe(0);
    expect(again.output).not.toContain('/v1/auth/signup');

    // The data directory alone, as from a backup that left the cluster out.
    rmSync(cluster, { recursive: true });
    const lost = launch(dataDir);
    expect(await lost.exited()).toBe(73);
    expect(lost.output).toContain(`restore it from a backup to ${cluster}`);
    expect(existsSync(cluster)).toBe(false);
    const anew = launch(dataDir, {}, ['--new-database']);
    await anew.ready();
    expect(await anew.stop('SIGTERM')).toBe(0);
    const twice = launch(dataDir, {}, ['--new-database']);
    expect(await twice.exited()).toBe(73);
    expect(twice.output).toContain('holds a database');

    rmSync(join(cluster, 'PG_VERSION'));
    const damaged = launch(dataDir);
    expect(await damaged.exited()).toBe(69);
    expect(damaged.output).toContain('is damaged (PG_VERSION is missing): restore it from a backup');
    expect(damaged.output).not.toContain('empty the directory');
    rmSync(cluster, { recursive: true });
  },
);

test('single node: the database inside the data directory is missing: the start says what to restore', async () => {
  const dataDir = await initializedDirectory();
  const cluster = join(dataDir, 'postgres');
  expect(firstOutput).toContain(`Database         ${cluster}\n`);
  const elsewhere = join(dataDir, '..', 'elsewhere');
  renameSync(cluster, elsewhere);
  try {
    const lost = launch(dataDir);
    expect(await lost.exited()).toBe(73);
    expect(lost.output).toContain('--new-database');
    expect(existsSync(cluster)).toBe(false);
  } finally {
    renameSync(elsewhere, cluster);
  }
});

test.each(['/proc/gateway/data', fileURLToPath(import.meta.url)])(
  'single node: the data directory %s, which cannot exist, stops the start with its variable',
  async (dataDir) => {
    const node = launch(dataDir);
    expect(await node.exited()).toBe(73);
    expect(node.output).toContain(`GATEWAY_DATA_DIR=${dataDir}`);
  },
);

test('single node: a second start on the same data directory is rejected and changes nothing', async () => {
  const dataDir = await initializedDirectory();
  await launch(dataDir).ready();
  const secrets = readFileSync(join(dataDir, 'secrets.json'), 'utf8');
  const second = launch(dataDir);
  expect(await second.exited()).toBe(73);
  expect(second.output).toContain('is in use by another process');
  expect(readFileSync(join(dataDir, 'secrets.json'), 'utf8')).toBe(secrets);
});

function occupyPort(): Promise<{ server: Server; port: number }> {
  const server = createServer();
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve({ server, port: (server.address() as { port: number }).port })),
  );
}

test.each([
  ['CONTROLPLANE_PORT', (port: number) => String(port)],
  ['GRPC_LISTEN', (port: number) => `127.0.0.1:${port}`],
  ['DATAPLANE_PORT', (port: number) => String(port)],
  ['DATAPLANE_METRICS_PORT', (port: number) => String(port)],
])('single node: a port in use (%s) stops the start with one line that names it', async (variable, value) => {
  const { server, port } = await occupyPort();
  // One of them at the very first start.
  const dataDir = variable === 'DATAPLANE_PORT' ? dataDirectory() : await initializedDirectory();
  const node = launch(dataDir, { [variable]: value(port) });
  const code = await node.exited();
  server.close();
  expect(code).toBe(69);
  expect(node.output).toContain(String(port));
  expect(node.output).toContain(variable);
  await waitForCondition(() => listProcessesUsing(dataDir).length === 0, 'no process left behind');
});

test.each([
  ['secrets.json lost', (file: string) => rmSync(file), 'restore that file'],
  ['secrets.json damaged', (file: string) => writeFileSync(file, '{'), 'is damaged'],
])('single node: a corrupt data directory (%s) is refused, nothing is overwritten', async (_name, damage, message) => {
  const dataDir = await initializedDirectory();
  const file = join(dataDir, 'secrets.json');
  const secrets = readFileSync(file);
  const { mode } = statSync(file);
  damage(file);
  const before = existsSync(file) ? readFileSync(file, 'utf8') : null;
  const again = launch(dataDir);
  const code = await again.exited();
  const after = existsSync(file) ? readFileSync(file, 'utf8') : null;
  writeFileSync(file, secrets, { mode });
  expect(code).toBe(73);
  expect(again.output).toContain(message);
  expect(after).toBe(before);
});

test('single node: a wrong master key is rejected with one line', async () => {
  const wrong = launch(await initializedDirectory(), { MASTER_KEYS: `k1:${Buffer.alloc(32, 9).toString('base64')}` });
  expect(await wrong.exited()).not.toBe(0);
  expect(wrong.output).toMatch(/MASTER_KEYS/);
});

test('single node: SIGHUP reloads PRICES_FILE and stops nothing', async () => {
  const prices = join(dataDirectory(), '..', 'prices.json');
  writeFileSync(prices, '{"resend": {"perRequestUsd": 0.0004}}');
  const node = launch(await initializedDirectory(), { PRICES_FILE: prices, LOG_LEVEL: 'info' });
  const { controlPlane } = await node.ready();
  process.kill(node.pid, 'SIGHUP');
  await waitForCondition(() => node.output.includes('PRICES_FILE reloaded'), 'the file is read');
  expect((await fetch(`${controlPlane}/healthz`)).status).toBe(200);
  expect(await node.stop('SIGTERM')).toBe(0);
});
