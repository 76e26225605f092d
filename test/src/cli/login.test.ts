/** Logging in, saved sessions, failing commands, and that no prompt appears without a terminal. */
import type { ChildProcess } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { openPool } from '@acg/controlplane/db/postgres-client';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { showTotpCode } from '../fixtures/authenticator-app.js';
import { Stack, type Tenant } from '../fixtures/stack.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { AcgCommand } from './acg-command.js';

const PASSWORD = 'correct horse battery';
let stack: Stack;
let tenant: Tenant;
let acg: AcgCommand;

beforeAll(async () => {
  stack = await Stack.start();
  tenant = await stack.signUpTenant();
});
afterAll(async () => {
  await stack?.stop();
});
beforeEach(() => {
  acg = new AcgCommand({ ACG_URL: stack.apiUrl });
});
afterEach(() => acg.removeHome());

const email = async (): Promise<string> => (await tenant.call('GET', '/v1/me')).body.user.email;
const saved = () => readFileSync(acg.credentialsPath, 'utf8');
const logIn = async () =>
  acg.runOk(['login', '--email', await email(), '--password-stdin'], { input: `${PASSWORD}\n` });
const asTenant = () => ({ env: { ACG_TOKEN: tenant.session } });

/** Waits until a login shows its code; returns the code and what was shown. */
async function readShownCode(child: ChildProcess): Promise<{ readonly userCode: string; readonly shown: string }> {
  let shown = '';
  child.stderr!.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
  });
  const userCode = await waitUntil('a code is shown', () => /Code ([A-Z]{4}-[A-Z]{4})/.exec(shown)?.[1]);
  return { userCode, shown };
}

test('by a code: it is shown without a terminal, approved elsewhere, and the session has the role that was given', async () => {
  const outcome = await acg.runOk(['login', '--json'], {
    onStart: async (child) => {
      const { userCode, shown } = await readShownCode(child);
      expect(shown).toMatch(/ http:\S+\/device$/m);
      const body = { userCode, orgId: tenant.orgId, role: 'viewer' };
      expect((await tenant.call('POST', '/v1/auth/device/approve', body)).status).toBe(200);
    },
  });
  expect(outcome.json).toMatchObject({ orgId: tenant.orgId, role: 'viewer' });
  const session = JSON.parse(saved()).sessions.default.token;
  expect(outcome.stdout + outcome.stderr).not.toContain(session);
  expect((await acg.run(['projects', 'create', 'Mine'])).code).toBe(5);
});

test('by a denied code: exit 4', async () => {
  const outcome = await acg.run(['login'], {
    onStart: async (child) => {
      const { userCode } = await readShownCode(child);
      await tenant.call('POST', '/v1/auth/device/deny', { userCode });
    },
  });
  expect([outcome.code, outcome.stderr]).toEqual([4, expect.stringContaining('denied')]);
});

test('with a second factor: --code; sessions confirm; a missing code without a terminal names the flag', async () => {
  const { email: address } = (await tenant.call('GET', '/v1/me')).body.user;
  const sql = openPool(stack.database.url, { connectionsMax: 1, applicationName: 'test' });
  await sql`update users set email_verified_at = now() where email = ${address}`;
  const { secret } = (await tenant.call('POST', '/v1/second-factor', { password: PASSWORD })).body;
  const enabled = await tenant.call('POST', '/v1/second-factor/confirm', { code: showTotpCode(secret) });
  const [first, second, third] = enabled.body.recoveryCodes;
  const args = ['login', '--email', address, '--password-stdin'];
  const input = { input: `${PASSWORD}\n` };
  const missing = await acg.run(args, input);
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('--code')]);
  expect((await acg.run([...args, '--code', '000000'], input)).code).toBe(4);
  await acg.runOk([...args, '--code', first], input);
  await sql`update sessions set factor_at = null`;
  await acg.runOk(['sessions', 'confirm', second]);
  expect(await sql`select 1 from sessions where factor_at is not null`).toHaveLength(1);
  expect((await tenant.call('DELETE', '/v1/second-factor', { code: third })).status).toBe(200);
  await sql.end();
});

test('by e-mail and password; the file is readable by this user only, and wrong modes are corrected', async () => {
  await logIn();
  expect(statSync(acg.credentialsPath).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(acg.credentialsPath)).mode & 0o777).toBe(0o700);
  expect(readdirSync(dirname(acg.credentialsPath)).sort()).toEqual(['config.json', 'credentials.json']);
  expect(saved()).not.toContain(PASSWORD);
  chmodSync(acg.credentialsPath, 0o644);
  expect((await acg.runOk(['whoami'])).stderr).toContain('0600');
  expect(statSync(acg.credentialsPath).mode & 0o777).toBe(0o600);
});

test('by a management token; logout removes it here and does not revoke it', async () => {
  const made = await tenant.call('POST', '/v1/management-tokens', { name: 'ci', role: 'viewer' });
  await acg.runOk(['login', '--with-token'], { input: `${made.body.secretToken}\n` });
  expect((await acg.runOk(['whoami', '--json'])).json).toMatchObject({ user: null, role: 'viewer' });
  await acg.runOk(['logout']);
  expect(saved()).not.toContain(made.body.secretToken);
  expect((await acg.run(['whoami'])).code).toBe(4);
  expect((await acg.runOk(['whoami'], { env: { ACG_TOKEN: made.body.secretToken } })).code).toBe(0);
});

test('a new user signs up and is logged in', async () => {
  const args = ['signup', '--email', 'stranger@example.com', '--org-name', 'Own', '--password-stdin', '--json'];
  const { json } = await acg.runOk(args, { input: PASSWORD });
  expect(json).toMatchObject({ user: { email: 'stranger@example.com', name: 'stranger' }, role: 'owner' });
  expect((await acg.runOk(['org', 'ls'])).stdout).toContain('own');
});

test('logout revokes the session on the server', async () => {
  await logIn();
  const { token } = JSON.parse(saved()).sessions.default;
  await acg.runOk(['logout']);
  expect((await acg.run(['whoami'], { env: { ACG_TOKEN: token } })).code).toBe(4);
});

test('a saved session is sent to no other URL, not even through a redirect', async () => {
  await logIn();
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(307, { location: `${stack.apiUrl}${request.url}` }).end();
  }).listen(0, '127.0.0.1');
  await waitUntil('it listens', () => server.listening);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect((await acg.run(['whoami', '--url', url])).code).toBe(4);
  expect(seen).toEqual([]);
  const redirected = await acg.run(['whoami', '--url', url], { env: { ACG_TOKEN: 'token' } });
  expect([redirected.code, redirected.stderr]).toEqual([1, expect.stringContaining('redirection')]);
  await new Promise((resolve) => server.close(resolve));
});

test('.acg.json names an agent; it can neither contain a token nor decide where one is sent', async () => {
  await logIn();
  const { slug } = await tenant.createAgent({ name: 'Of the directory' });
  writeFileSync(join(acg.homeDirectory, '.acg.json'), JSON.stringify({ agent: slug }));
  expect((await acg.runOk(['agents', 'get', '--json'])).json.agent.slug).toBe(slug);
  writeFileSync(join(acg.homeDirectory, '.acg.json'), JSON.stringify({ agent: slug, url: 'https://evil.example' }));
  expect((await acg.run(['agents', 'get'])).code).toBe(2);
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
  await tenant.createAgent({ name: 'Asked' });
  await tenant.createAgent({ name: 'Asked too' });
  const outcome = await acg.run([...args, '--json'], asTenant());
  expect([outcome.code, outcome.stdout]).toEqual([expected, '']);
  if (args.length > 1) expect(JSON.parse(outcome.stderr)).toMatchObject({ error: expect.any(String) });
});

test('irreversible commands require --yes without a terminal', async () => {
  const { slug } = await tenant.createAgent({ name: 'Doomed' });
  const outcome = await acg.run(['agents', 'delete', slug, '--json'], asTenant());
  expect([outcome.code, JSON.parse(outcome.stderr)]).toEqual([3, expect.objectContaining({ hint: 'add --yes' })]);
  await acg.runOk(['agents', 'delete', slug, '--yes'], asTenant());
});

test('no login, a revoked session, no gateway: 4, 4, 1; another organization than the wanted one: 2', async () => {
  expect((await acg.run(['agents', 'ls'])).code).toBe(4);
  expect((await acg.run(['agents', 'ls'], { env: { ACG_TOKEN: 'ended' } })).code).toBe(4);
  expect((await acg.run(['agents', 'ls', '--url', 'http://127.0.0.1:9'], asTenant())).code).toBe(1);
  expect((await acg.run(['status', '--url', 'http://127.0.0.1:9'], asTenant())).code).toBe(1);
  expect((await acg.run(['agents', 'ls', '--org', 'other'], asTenant())).code).toBe(2);
  expect((await acg.run(['agents', 'ls', '--org', tenant.orgId], asTenant())).code).toBe(0);
});

test('a secret is accepted from no argument and appears in no output', async () => {
  const { slug } = await tenant.createAgent({ name: 'Keeper' });
  const env = { ACG_TOKEN: tenant.session, MY_KEY: 'sk-secret-of-mine' };
  const argument = ['accounts', 'add', 'openai', '--agent', slug, '--field', 'apiKey=sk-secret-of-mine'];
  const refused = await acg.run(argument, { env });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('others see arguments')]);
  const added = await acg.runOk(['accounts', 'add', 'openai', '--agent', slug, '--key-env', 'MY_KEY', '--json'], {
    env,
  });
  expect(added.stdout + added.stderr).not.toContain('sk-secret-of-mine');
  const s3 = { secretAccessKey: 'secret/access/key', accessKeyId: 'AKIAEXAMPLE', region: 'eu-central-1' };
  const add = ['accounts', 'add', 's3', '--agent', slug, '--key-stdin'];
  await acg.runOk(add, { env, input: JSON.stringify(s3) });
});
