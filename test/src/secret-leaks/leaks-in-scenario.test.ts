/**
 * Runs a whole scenario with known secrets at the most verbose log level, including database failures. Afterwards no
 * row and no log line contains a secret in any encoding, and no response except the intended ones.
 */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import type { ApiResponse } from '../fixtures/api-call.js';
import { useControlPlane } from '../fixtures/control-plane.js';
import { encodingsOf } from '../fixtures/secret-leak-detector.js';

const SMTP_FREE = { LOG_LEVEL: 'trace', WEBHOOK_RETRY_DELAYS_MS: '10,10,10' };
const plane = useControlPlane(SMTP_FREE);

const random = (prefix: string): string => prefix + randomBytes(16).toString('hex');
const email = `${randomBytes(6).toString('hex')}@example.com`;
const guest = `${randomBytes(6).toString('hex')}@example.com`;

/** Name → secret. Created secrets are added when they appear. */
const secrets = new Map<string, string>(
  Object.entries({
    password: random('first password '),
    'wrong password': random('wrong password '),
    'new password': random('second password '),
    "guest's password": random('guest password '),
    credential: random('sk-first-'),
    'rotated credential': random('sk-second-'),
    'refused credential': random('sk-refused-'),
    'failed credential': random('sk-failed-'),
    'S3 secret': random('s3-secret-'),
    'basic password': random('basic-'),
  }),
);
const secret = (name: string): string => secrets.get(name)!;
const answers: { readonly name: string; readonly text: string }[] = [];

async function call(method: string, path: string, body?: unknown, token: string | null = null): Promise<ApiResponse> {
  const answer = await plane().call(method, path, { body, token });
  answers.push({ name: `${method} ${path} ${answers.length}`, text: JSON.stringify(answer.body) });
  return answer;
}

async function runLoginScenario(): Promise<string> {
  const signup = await call('POST', '/v1/auth/signup', {
    email,
    password: secret('password'),
    name: 'A',
    orgName: 'A',
  });
  secrets.set('first session', signup.body.token);
  await call('POST', '/v1/auth/login', { email, password: secret('wrong password') });
  await call('POST', '/v1/auth/signup', { email, password: secret('wrong password'), name: 'A', orgName: 'A' });
  await call('POST', '/v1/auth/refresh', undefined, `${secret('first session')}x`);
  secrets.set('verify token', (await plane().waitForMail(email, 'Confirm')).token);
  await call('POST', '/v1/auth/verify-email', { token: secret('verify token') });
  await call('POST', '/v1/auth/forgot-password', { email });
  secrets.set('reset token', (await plane().waitForMail(email, 'new password')).token);
  await call('POST', '/v1/auth/reset-password', { token: secret('reset token'), password: secret('new password') });
  await call('POST', '/v1/auth/reset-password', { token: secret('reset token'), password: secret('new password') });
  const login = await call('POST', '/v1/auth/login', { email, password: secret('new password') });
  secrets.set('second session', login.body.token);
  const token = secret('second session');
  secrets.set('third session', (await call('POST', '/v1/auth/refresh', undefined, token)).body.token);
  await call('POST', '/v1/members', { email: guest, role: 'viewer' }, token);
  secrets.set('invitation', (await plane().waitForMail(guest, 'Invitation')).token);
  const joined = { token: secret('invitation'), name: 'G', password: secret("guest's password") };
  secrets.set("guest's session", (await call('POST', '/v1/invitations/accept', joined)).body.token);
  return token;
}

async function runProvisioningScenario(token: string): Promise<void> {
  const post = (path: string, body: unknown) => call('POST', path, body, token);
  const projectId = (await call('GET', '/v1/projects', undefined, token)).body.projects[0].id;
  const agentId = (await post('/v1/agents', { projectId, name: 'Agent' })).body.agent.id;
  const key = (await post('/v1/api-keys', { name: 'Key', agentId })).body;
  secrets.set('gateway token', key.secretKey);
  const assign = (providerSlug: string, credentials: object) =>
    post('/v1/providers/accounts', { agentId, providerSlug, credentials });
  const { account } = (await assign('openai', { apiKey: secret('credential') })).body;
  await assign('openai', { apiKey: secret('refused credential') }); // 409
  await assign('anthropic', { apikey: secret('refused credential') }); // 400
  await assign('s3', { accessKeyId: 'AKIA1234', secretAccessKey: secret('S3 secret'), region: 'eu-west-1' });
  await post(`/v1/providers/accounts/${account.id}/rotate`, { credentials: { apiKey: secret('rotated credential') } });
  const custom = { slug: 'basic-api', displayName: 'B', baseUrl: 'http://127.0.0.1:9', authType: 'basic' };
  await post('/v1/custom-providers', custom);
  await assign('basic-api', { username: 'user-name', password: secret('basic password') });
  const hook = { url: 'http://127.0.0.1:9/hook', events: ['agent.created', 'agent.deleted'] };
  const { endpoint } = (await post('/v1/webhooks', hook)).body;
  secrets.set('webhook secret', endpoint.secret);
  await post(`/v1/webhooks/${endpoint.id}/test`, undefined);
  await post('/v1/agents', { projectId, name: 'Seen by the webhook' });
  const path = `/v1/webhooks/${endpoint.id}/deliveries?status=failed`;
  await expect.poll(async () => (await call('GET', path, undefined, token)).body.total).toBeGreaterThan(0);
  for (const list of [
    'agents?projectId=' + projectId,
    'api-keys',
    'providers/accounts',
    'webhooks',
    'audit?limit=100',
  ]) {
    await call('GET', `/v1/${list}`, undefined, token);
  }
  await call('DELETE', `/v1/api-keys/${key.key.id}`, undefined, token);
  await failDatabaseWriteDuring(() => assign('resend', { apiKey: secret('failed credential') }));
}

/** Makes a critical write fail: a 500 with a credential in the request, and its log line. */
async function failDatabaseWriteDuring(during: () => Promise<ApiResponse>): Promise<void> {
  const { sql } = plane().database;
  await sql`alter table provider_accounts add constraint never check (provider_slug <> 'resend')`;
  const { status, body } = await during();
  await sql`alter table provider_accounts drop constraint never`;
  expect([status, body.error]).toEqual([500, expect.stringMatching(/^internal error, request [0-9a-f-]{36}$/)]);
}

/** Every row of every table as text; bytea shows as hex. */
async function dumpDatabase(): Promise<string> {
  const { sql } = plane().database;
  const tables = await sql<{ name: string }[]>`
    select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'public' and c.relkind = 'r'`;
  let dump = '';
  for (const { name } of tables) {
    for (const { row } of await sql<{ row: string }[]>`select t::text as row from ${sql(name)} t`) {
      dump += `${name} ${row}\n`;
    }
  }
  return dump;
}

/** Responses that may contain a secret: those that return it. */
const ALLOWED_RESPONSES: Readonly<Record<string, RegExp>> = {
  'first session': /signup/,
  'second session': /login/,
  'third session': /refresh/,
  "guest's session": /accept/,
  invitation: /^POST \/v1\/members /, // while mail stays on the server
  'gateway token': /^POST \/v1\/api-keys /,
  'webhook secret': /^POST \/v1\/webhooks /,
};

test('secrets: no row, no log line and no other response contains a credential, token or password', async () => {
  const token = await runLoginScenario();
  await runProvisioningScenario(token);
  const { config, logLines } = plane();
  secrets.set('JWT secret', config.jwtSecrets[0]!.reveal());
  secrets.set('master key', config.masterKeys[0]!.key.reveal().toString('base64'));
  secrets.set('internal token', plane().env.INTERNAL_TOKEN!);
  const log = logLines.join('');
  const dump = await dumpDatabase();
  expect(log).toContain('request failed');
  expect(dump).toContain(email);
  expect(dump.split('\n').length).toBeGreaterThan(30);
  expect(secrets.size).toBeGreaterThan(20);
  for (const [name, value] of secrets) {
    expect([name, value.length]).toEqual([name, expect.toSatisfy((length: number) => length >= 20)]);
    for (const form of encodingsOf(value)) {
      expect([name, dump.includes(form)]).toEqual([name, false]);
      expect([name, log.includes(form)]).toEqual([name, false]);
    }
    const shown = answers.filter(({ text }) => text.includes(value)).map((answer) => answer.name);
    const allowed = ALLOWED_RESPONSES[name];
    if (allowed === undefined) expect([name, shown]).toEqual([name, []]);
    else expect([name, shown]).toEqual([name, [expect.stringMatching(allowed)]]);
  }
});
