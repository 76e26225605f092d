/** How one logs in, what is kept of it, how commands fail, and that nothing is asked where nobody can answer. */
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { Stack, type Tenant } from '../stack.js';
import { until } from '../until.js';
import { Acg } from './acg.js';

const PASSWORD = 'correct horse battery';
let stack: Stack;
let tenant: Tenant;
let acg: Acg;

beforeAll(async () => {
  stack = await Stack.start();
  tenant = await stack.tenant();
});
afterAll(async () => {
  await stack?.stop();
});
beforeEach(() => {
  acg = new Acg({ ACG_URL: stack.apiUrl });
});
afterEach(() => acg.remove());

const email = async (): Promise<string> => (await tenant.call('GET', '/v1/me')).body.user.email;
const saved = () => readFileSync(acg.credentialsPath, 'utf8');

test('by a code: it is shown without a terminal, approved elsewhere, and the session has the role that was given', async () => {
  const outcome = await acg.ok(['login', '--json'], {
    onStart: async (child) => {
      let shown = '';
      child.stderr!.on('data', (chunk: Buffer) => {
        shown += chunk.toString();
      });
      const userCode = await until('a code is shown', () => /Code ([A-Z]{4}-[A-Z]{4})/.exec(shown)?.[1]);
      expect(shown).toMatch(/ http:\S+\/device$/m);
      const body = { userCode, orgId: tenant.orgId, role: 'viewer' };
      expect((await tenant.call('POST', '/v1/auth/device/approve', body)).status).toBe(200);
    },
  });
  expect(outcome.json).toMatchObject({ orgId: tenant.orgId, role: 'viewer' });
  const session = JSON.parse(saved()).sessions.default.token;
  expect(outcome.stdout + outcome.stderr).not.toContain(session);
  expect((await acg.call(['projects', 'create', 'Mine'])).code).toBe(5);
});

test('by a refused code: exit 4', async () => {
  const outcome = await acg.call(['login'], {
    onStart: async (child) => {
      let shown = '';
      child.stderr!.on('data', (chunk: Buffer) => {
        shown += chunk.toString();
      });
      const userCode = await until('a code is shown', () => /Code ([A-Z]{4}-[A-Z]{4})/.exec(shown)?.[1]);
      await tenant.call('POST', '/v1/auth/device/deny', { userCode });
    },
  });
  expect([outcome.code, outcome.stderr]).toEqual([4, expect.stringContaining('refused')]);
});

test('by e-mail and password; the file is this user’s alone, and is put right where it is not', async () => {
  await acg.ok(['login', '--email', await email(), '--password-stdin'], { input: `${PASSWORD}\n` });
  expect(statSync(acg.credentialsPath).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(acg.credentialsPath)).mode & 0o777).toBe(0o700);
  expect(readdirSync(dirname(acg.credentialsPath)).sort()).toEqual(['config.json', 'credentials.json']);
  expect(saved()).not.toContain(PASSWORD);
  chmodSync(acg.credentialsPath, 0o644);
  expect((await acg.ok(['whoami'])).stderr).toContain('0600');
  expect(statSync(acg.credentialsPath).mode & 0o777).toBe(0o600);
});

test('by a management token; logout forgets it and leaves it alone', async () => {
  const made = await tenant.call('POST', '/v1/management-tokens', { name: 'ci', role: 'viewer' });
  await acg.ok(['login', '--with-token'], { input: `${made.body.secretToken}\n` });
  expect((await acg.ok(['whoami', '--json'])).json).toMatchObject({ user: null, role: 'viewer' });
  await acg.ok(['logout']);
  expect(saved()).not.toContain(made.body.secretToken);
  expect((await acg.call(['whoami'])).code).toBe(4);
  expect((await acg.ok(['whoami'], { env: { ACG_TOKEN: made.body.secretToken } })).code).toBe(0);
});

test('a stranger signs up, and is logged in', async () => {
  const args = ['signup', '--email', 'stranger@example.com', '--org-name', 'Own', '--password-stdin', '--json'];
  const { json } = await acg.ok(args, { input: PASSWORD });
  expect(json).toMatchObject({ user: { email: 'stranger@example.com', name: 'stranger' }, role: 'owner' });
  expect((await acg.ok(['org', 'ls'])).stdout).toContain('own');
});

test('logout ends the session on the server', async () => {
  await acg.ok(['login', '--email', await email(), '--password-stdin'], { input: PASSWORD });
  const { token } = JSON.parse(saved()).sessions.default;
  await acg.ok(['logout']);
  expect((await acg.call(['whoami'], { env: { ACG_TOKEN: token } })).code).toBe(4);
});

test('a saved session is sent to no other address, not even through a redirection', async () => {
  await acg.ok(['login', '--email', await email(), '--password-stdin'], { input: PASSWORD });
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(307, { location: `${stack.apiUrl}${request.url}` }).end();
  }).listen(0, '127.0.0.1');
  await until('it listens', () => server.listening);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect((await acg.call(['whoami', '--url', url])).code).toBe(4);
  expect(seen).toEqual([]);
  const redirected = await acg.call(['whoami', '--url', url], { env: { ACG_TOKEN: 'token' } });
  expect([redirected.code, redirected.stderr]).toEqual([1, expect.stringContaining('redirection')]);
  await new Promise((resolve) => server.close(resolve));
});

test('.acg.json names an agent; it can neither hold a token nor say where one goes', async () => {
  await acg.ok(['login', '--email', await email(), '--password-stdin'], { input: PASSWORD });
  const { slug } = await tenant.agent({ name: 'Of the directory' });
  writeFileSync(join(acg.home, '.acg.json'), JSON.stringify({ agent: slug }));
  expect((await acg.ok(['agents', 'get', '--json'])).json.agent.slug).toBe(slug);
  writeFileSync(join(acg.home, '.acg.json'), JSON.stringify({ agent: slug, url: 'https://evil.example' }));
  expect((await acg.call(['agents', 'get'])).code).toBe(2);
});

test.each([
  ['agents delete', ['agents', 'delete', 'nobody'], 6],
  ['login --email', ['login', '--email', 'you@example.com'], 2],
  ['accounts add', ['accounts', 'add', 'openai', '--agent', 'asked'], 2],
  ['init without an agent', ['init'], 2],
  ['a group alone', ['agents'], 2],
  ['an unknown option', ['agents', 'ls', '--nope'], 2],
  ['an unknown agent', ['agents', 'get', 'nobody'], 6],
  ['a bad value', ['agents', 'create', 'x', '--budget', 'much'], 2],
  ['what the API refuses', ['agents', 'create', 'x', '--rpm', '0'], 2],
  ['a slug twice', ['custom-providers', 'add', 'openai', '--base-url', 'https://a.example'], 7],
  ['a member that there is not', ['members', 'role', 'nobody@example.com', 'admin'], 6],
  ['a delivery that there is not', ['webhooks', 'retry', '01a200de-16d8-74de-8093-48e13086089c'], 6],
])('nothing is asked without a terminal, and the exit code tells: %s', async (_what, args, expected) => {
  await tenant.agent({ name: 'Asked' });
  await tenant.agent({ name: 'Asked too' });
  const outcome = await acg.call([...args, '--json'], { env: { ACG_TOKEN: tenant.session } });
  expect([outcome.code, outcome.stdout]).toEqual([expected, '']);
  if (args.length > 1) expect(JSON.parse(outcome.stderr)).toMatchObject({ error: expect.any(String) });
});

test('what cannot be undone wants --yes where nobody can be asked', async () => {
  const { slug } = await tenant.agent({ name: 'Doomed' });
  const env = { ACG_TOKEN: tenant.session };
  const outcome = await acg.call(['agents', 'delete', slug, '--json'], { env });
  expect([outcome.code, JSON.parse(outcome.stderr)]).toEqual([3, expect.objectContaining({ hint: 'add --yes' })]);
  await acg.ok(['agents', 'delete', slug, '--yes'], { env });
});

test('no login, an ended one, no gateway: 4, 4, 1; another organization than the wanted one: 2', async () => {
  expect((await acg.call(['agents', 'ls'])).code).toBe(4);
  expect((await acg.call(['agents', 'ls'], { env: { ACG_TOKEN: 'ended' } })).code).toBe(4);
  const env = { ACG_TOKEN: tenant.session };
  expect((await acg.call(['agents', 'ls', '--url', 'http://127.0.0.1:9'], { env })).code).toBe(1);
  expect((await acg.call(['status', '--url', 'http://127.0.0.1:9'], { env })).code).toBe(1);
  expect((await acg.call(['agents', 'ls', '--org', 'other'], { env })).code).toBe(2);
  expect((await acg.call(['agents', 'ls', '--org', tenant.orgId], { env })).code).toBe(0);
});

test('a secret is taken from no argument, and is in no output', async () => {
  const { slug } = await tenant.agent({ name: 'Keeper' });
  const env = { ACG_TOKEN: tenant.session, MY_KEY: 'sk-secret-of-mine' };
  const argument = ['accounts', 'add', 'openai', '--agent', slug, '--field', 'apiKey=sk-secret-of-mine'];
  const refused = await acg.call(argument, { env });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('others see arguments')]);
  const added = await acg.ok(['accounts', 'add', 'openai', '--agent', slug, '--key-env', 'MY_KEY', '--json'], { env });
  expect(added.stdout + added.stderr).not.toContain('sk-secret-of-mine');
  const s3 = { secretAccessKey: 'secret/access/key', accessKeyId: 'AKIAEXAMPLE', region: 'eu-central-1' };
  const add = ['accounts', 'add', 's3', '--agent', slug, '--key-stdin'];
  await acg.ok(add, { env, input: JSON.stringify(s3) });
});
