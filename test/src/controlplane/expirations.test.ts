/**
 * Everything that expires: each column with an expiry has a test here. A fresh item works; with the expiry in the past,
 * and no other change, it does not.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { claimExpiredRescheduledKeys } from '@acg/controlplane/api-keys/store';
import { ProbeLeases } from '@acg/controlplane/breaker/probe-leases';
import { ControlPlaneClient } from '@acg/proto/control-plane-client';
import { expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { configure, openCallback } from '../sso/gateway-login.js';
import { HostileProvider } from '../sso/hostile-provider.js';
import { createRule, exchangeToken } from '../trust-rules/exchange-token.js';
import { SigningKey, workloadClaims } from '../trust-rules/stand-in-issuer.js';
import { startReceiver } from '../webhooks/webhook-receiver.js';

const plane = useControlPlane();
const sql = () => plane().database.sql;
const post = (path: string, body: object, token: string | null = null) => plane().call('POST', path, { body, token });
const PASSWORD = 'a password for tests';
const SOURCES = fileURLToPath(new URL('../../../controlplane/src', import.meta.url));
const newEmail = () => `${randomBytes(6).toString('hex')}@example.com`;

interface ExpiringItem {
  /** Of the row. */
  readonly where: string;
  /** Whether it works. May use it up. */
  works(): Promise<boolean>;
}

interface ExpirationCase {
  make(): Promise<ExpiringItem>;
  /** From this column's time; null when the creator sets the expiry. */
  readonly seconds: number | null;
}

const DAY_S = 86_400;

async function createAgent(owner: Member): Promise<string> {
  const projectId = (await owner.call('POST', '/v1/projects', { name: 'P' })).body.project.id;
  return (await owner.call('POST', '/v1/agents', { projectId, name: 'A' })).body.agent.id;
}

async function signUp(): Promise<{ email: string; token: string }> {
  const email = newEmail();
  const { body } = await post('/v1/auth/signup', { email, password: PASSWORD, name: 'Ada', orgName: 'Own' });
  return { email, token: body.token };
}

/** Exchanges one token at a new trust rule with uploaded keys. */
async function exchangeOnce(keyLifetimeSeconds = 120): Promise<{ id: string; token: string }> {
  const key = new SigningKey('k1');
  const issuer = 'https://issuer.example';
  const more = { jwks: { keys: [key.jwk] }, keyLifetimeSeconds };
  const rule = await createRule(await plane().createMember('owner'), issuer, more);
  const answer = await exchangeToken(plane().url, rule.id, key.sign(workloadClaims(issuer, rule.audience)));
  return { id: rule.id, token: answer.body.access_token };
}

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/** By table and column; the text after a comma distinguishes ways of setting it. */
const EXPIRATIONS: Readonly<Record<string, ExpirationCase>> = {
  'email_tokens.expires_at, of a reset': {
    seconds: 3_600,
    make: async () => {
      const { email } = await signUp();
      await post('/v1/auth/forgot-password', { email });
      const { token } = await plane().waitForMail(email, 'new password');
      const works = async () =>
        (await post('/v1/auth/reset-password', { token, password: 'another password' })).status === 200;
      return { where: `purpose = 'reset' and user_id = (select id from users where email = '${email}')`, works };
    },
  },
  'email_tokens.expires_at, behind the page of a link': {
    seconds: DAY_S,
    make: async () => {
      const { email } = await signUp();
      const body = { token: (await plane().waitForMail(email, 'Confirm')).token, password: 'a wrong password' };
      const works = async () => (await post('/v1/auth/verify-email', body)).status === 401; // the token is accepted
      return { where: `user_id = (select id from users where email = '${email}')`, works };
    },
  },
  'email_tokens.expires_at': {
    seconds: DAY_S,
    make: async () => {
      const { email } = await signUp();
      const { token } = await plane().waitForMail(email, 'Confirm');
      const works = async () => (await post('/v1/auth/verify-email', { token })).status === 200;
      return { where: `user_id = (select id from users where email = '${email}')`, works };
    },
  },
  'invitations.expires_at': {
    seconds: 7 * DAY_S,
    make: async () => {
      const email = newEmail();
      await (await plane().createMember('owner')).call('POST', '/v1/members', { email, role: 'viewer' });
      const { token } = await plane().waitForMail(email, 'Invitation');
      const body = { token, name: 'Guest', password: PASSWORD };
      return {
        where: `email = '${email}'`,
        works: async () => (await post('/v1/invitations/accept', body)).status === 200,
      };
    },
  },
  'invitations.expires_at, in the list of members': {
    seconds: 7 * DAY_S,
    make: async () => {
      const email = newEmail();
      const owner = await plane().createMember('owner');
      await owner.call('POST', '/v1/members', { email, role: 'viewer' });
      const works = async () => (await owner.call('GET', '/v1/members?status=invited')).body.total === 1;
      return { where: `email = '${email}'`, works };
    },
  },
  // A bearer token contains its own expiry; the row's expiry applies to the cookie.
  'sessions.expires_at': {
    seconds: 7 * DAY_S,
    make: async () => {
      const { email } = await signUp();
      const headers = { 'sec-fetch-site': 'same-origin' };
      const entered = await plane().call('POST', '/v1/session', { body: { email, password: PASSWORD }, headers });
      const cookie = entered.headers.get('set-cookie')!.split(';')[0]!;
      const works = async () => (await plane().call('GET', '/v1/me', { headers: { cookie } })).status === 200;
      return { where: `kind = 'browser' and user_id = (select id from users where email = '${email}')`, works };
    },
  },
  'sessions.expires_at, of a bearer token that became a cookie': {
    seconds: 7 * DAY_S,
    make: async () => {
      const { email, token } = await signUp();
      const headers = { 'sec-fetch-site': 'same-origin' };
      const turned = await plane().call('POST', '/v1/session', { token, headers });
      const cookie = turned.headers.get('set-cookie')!.split(';')[0]!;
      const works = async () => (await plane().call('GET', '/v1/me', { headers: { cookie } })).status === 200;
      return { where: `user_id = (select id from users where email = '${email}')`, works };
    },
  },
  'sessions.previous_until': {
    seconds: 60,
    make: async () => {
      const { email, token } = await signUp();
      expect((await post('/v1/auth/refresh', {}, token)).status).toBe(200);
      const works = async () => (await plane().call('GET', '/v1/me', { token })).status === 200;
      return { where: `user_id = (select id from users where email = '${email}')`, works };
    },
  },
  'device_logins.expires_at': {
    seconds: 600,
    make: async () => {
      const owner = await plane().createMember('owner');
      const { body } = await post('/v1/auth/device', { client: 'acg 0.1.0', hostname: 'laptop' });
      const approval = { userCode: body.userCode, orgId: owner.orgId, role: 'viewer' };
      return {
        where: 'id = (select id from device_logins order by created_at desc limit 1)',
        works: async () => (await owner.call('POST', '/v1/auth/device/approve', approval)).status === 200,
      };
    },
  },
  'device_logins.expires_at, for the device that asks': {
    seconds: 600,
    make: async () => {
      const { body } = await post('/v1/auth/device', { client: 'acg 0.1.0', hostname: 'laptop' });
      const poll = () => post('/v1/auth/device/token', { deviceCode: body.deviceCode });
      return {
        where: 'id = (select id from device_logins order by created_at desc limit 1)',
        works: async () => (await poll()).body.error === 'authorization_pending',
      };
    },
  },
  'device_logins.expires_at, once it is approved': {
    seconds: 600,
    make: async () => {
      const owner = await plane().createMember('owner');
      const { body } = await post('/v1/auth/device', { client: 'acg 0.1.0', hostname: 'laptop' });
      const approval = { userCode: body.userCode, orgId: owner.orgId, role: 'viewer' };
      expect((await owner.call('POST', '/v1/auth/device/approve', approval)).status).toBe(200);
      return {
        where: 'id = (select id from device_logins order by created_at desc limit 1)',
        works: async () => (await post('/v1/auth/device/token', { deviceCode: body.deviceCode })).status === 200,
      };
    },
  },
  'management_tokens.expires_at': {
    seconds: null,
    make: async () => {
      const owner = await plane().createMember('owner');
      const expiresAt = new Date(Date.now() + DAY_S * 1_000).toISOString();
      const { body } = await owner.call('POST', '/v1/management-tokens', { name: 'T', role: 'viewer', expiresAt });
      const works = async () => (await plane().call('GET', '/v1/projects', { token: body.secretToken })).status === 200;
      return { where: `id = '${body.token.id}'`, works };
    },
  },
  'api_keys.expires_at': {
    seconds: null,
    make: async () => {
      const owner = await plane().createMember('owner');
      const expiresAt = new Date(Date.now() + DAY_S * 1_000).toISOString();
      const { body } = await owner.call('POST', '/v1/api-keys', {
        name: 'K',
        agentId: await createAgent(owner),
        expiresAt,
      });
      return { where: `id = '${body.key.id}'`, works: () => isTokenResolved(body.secretKey) };
    },
  },
  'api_keys.expires_at, of a key that was replaced': {
    seconds: DAY_S,
    make: async () => {
      const owner = await plane().createMember('owner');
      const made = await owner.call('POST', '/v1/api-keys', { name: 'K', agentId: await createAgent(owner) });
      const { key, secretKey } = made.body;
      expect((await owner.call('POST', `/v1/api-keys/${key.id}/rotate`, {})).status).toBe(201);
      return { where: `id = '${key.id}'`, works: () => isTokenResolved(secretKey) };
    },
  },
  'runs.expires_at': {
    seconds: null,
    make: async () => {
      const owner = await plane().createMember('owner');
      const run = { agentId: await createAgent(owner), budgetCents: 100, expiresIn: 3_600 };
      const { body } = await owner.call('POST', '/v1/runs', run);
      return { where: `id = '${body.run.id}'`, works: () => isTokenResolved(body.secretKey) };
    },
  },
  'trust_rule_keys.expires_at': {
    seconds: 120,
    make: async () => {
      const { id, token } = await exchangeOnce(120);
      return { where: `rule_id = '${id}'`, works: () => isTokenResolved(token) };
    },
  },
  'webhook_previous_secrets.until': {
    seconds: DAY_S,
    make: async () => {
      const owner = await plane().createMember('owner');
      const made = await owner.call('POST', '/v1/webhooks', { url: 'http://127.0.0.1:9/', events: ['agent.created'] });
      const { id } = made.body.endpoint;
      await owner.call('POST', `/v1/webhooks/${id}/rotate`, {});
      const works = async () =>
        (await owner.call('GET', `/v1/webhooks/${id}`)).body.endpoint.previousSecretUntil !== null;
      return { where: `id = '${id}'`, works };
    },
  },
};

/** Expiries that other files test, and columns that record progress. */
const TESTED_ELSEWHERE: Readonly<Record<string, string>> = {
  'alert_rules.silenced_until': 'alert-rules.test.ts: a silence holds the event back until its end',
  'minted_credentials.expires_at': 'connections.test.ts: a revoked grant',
  'minted_credentials.lease_until': 'connections.test.ts: a control plane that dies during a strict refresh',
  'oauth_connects.expires_at':
    'connections.test.ts: an answer to a connection under way that has expired connects nothing',
  'oauth_clients.secret_expires_at':
    'mcp-discovery.test.ts: a client whose secret is about to expire is registered again',
  'trust_rule_used_tokens.expires_at': 'trust-rules.test.ts: expired keys and ids of tokens are pruned',
  'billing_accounts.leased_until': 'reconciliation.test.ts: a check whose lease has ended changes nothing',
  'sso_logins.expires_at': 'provider-answers.test.ts: attack: a callback counts once',
  'sso_links.expires_at': 'link-account.test.ts: an account that exists is linked after its own login only',
  'throttle_windows.expires_at': 'throttle.test.ts: the window of an address begins anew when it has ended',
  'throttle_marks.expires_at': 'throttle.test.ts: what has ended is pruned',
  'circuits.open_until': 'circuit.test.ts: the cooldown ends by itself',
  'circuit_probes.expires_at': 'circuit.test.ts: a place comes back when its lease has ended',
  'data_plane_identities.previous_until':
    'data-plane-identities.test.ts: after a rotation both tokens are accepted, after the next one only the newer two',
  'usage_daily_progress.rolled_until': 'progress',
  'usage_hourly_progress.rolled_until': 'progress',
  'usage_tags_progress.rolled_until': 'progress',
};

async function isTokenResolved(token: string): Promise<boolean> {
  const client = new ControlPlaneClient([plane().grpcAddress], plane().config.link);
  try {
    const tokens = [{ tokenHash: Buffer.from(hashOf(token), 'hex'), agentRef: '' }];
    const { answers } = await client.resolveTokens({ tokens, dataPlaneId: 'test', budgetRows: true }, 10_000);
    return answers![0]!.context != null;
  } finally {
    client.close();
  }
}

test('expiries: every column with an expiry is listed here', async () => {
  const columns = await sql()<{ name: string }[]>`
    select c.relname || '.' || a.attname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and a.attname ~ '(^|_)(expires_at|until|ends_at)$' order by 1`;
  const here = Object.keys(EXPIRATIONS).map((name) => name.split(',')[0]!);
  expect(columns.map(({ name }) => name)).toEqual([...new Set([...here, ...Object.keys(TESTED_ELSEWHERE)])].sort());
});

/** The expiry that `set` writes lies `seconds` ahead, by the clock of the database. */
async function expectExpiration(seconds: number, set: () => Promise<unknown>, end: () => Promise<Date>): Promise<void> {
  const now = async () => (await sql()<{ now: Date }[]>`select clock_timestamp() as now`)[0]!.now.getTime();
  const before = await now();
  await set();
  const after = await now();
  const setAtMs = (await end()).getTime() - seconds * 1_000;
  expect(setAtMs).toBeGreaterThanOrEqual(before - 1); // a date is cut to whole milliseconds
  expect(setAtMs).toBeLessThanOrEqual(after);
}

test.each(Object.entries(EXPIRATIONS))('expiries: %s works before its expiry and not after', async (name, ending) => {
  const [table, column] = name.split(',')[0]!.split('.') as [string, string];
  let fresh: ExpiringItem | null = null;
  const make = async (): Promise<void> => {
    fresh = await ending.make();
  };
  const end = async (): Promise<Date> =>
    (await sql().unsafe(`select ${column} as end from ${table} where ${fresh!.where}`))[0]!.end;
  if (ending.seconds === null) await make();
  else await expectExpiration(ending.seconds, make, end);
  expect(await fresh!.works()).toBe(true);
  const over = await ending.make();
  const { count } = await sql().unsafe(
    `update ${table} set ${column} = now() - interval '1 second' where ${over.where}`,
  );
  expect(count).toBe(1);
  expect(await over.works()).toBe(false);
});

test('expiries: the sweep of keys with a changed expiry deletes none that is still valid', async () => {
  const owner = await plane().createMember('owner');
  const made = await owner.call('POST', '/v1/api-keys', { name: 'K', agentId: await createAgent(owner) });
  const { id } = made.body.key;
  await owner.call('POST', `/v1/api-keys/${id}/rotate`, {});
  expect(await sql().begin((tx) => claimExpiredRescheduledKeys(tx))).not.toContain(id);
  expect(await sql()`select revoked_at, expiry_moved from api_keys where id = ${id}`).toEqual([
    { revoked_at: null, expiry_moved: true },
  ]);
});

interface Window {
  /** How the sources name what they count; `*` for what is filled in. */
  readonly counted: string;
  readonly seconds: number;
  /** Counts one attempt in a new window. */
  readonly count: () => Promise<unknown>;
}

/** By the beginning of the key. */
const THROTTLE_WINDOWS: Readonly<Record<string, Window>> = {
  device: {
    counted: 'device:*',
    seconds: 600,
    count: async () => {
      await sql()`delete from throttle_windows where key like 'device:%'`;
      return post('/v1/auth/device', { client: 'acg 0.1.0', hostname: 'laptop' });
    },
  },
  'device-code': {
    counted: 'device-code:*',
    seconds: 600,
    count: async () =>
      (await plane().createMember('owner')).call('POST', '/v1/auth/device/lookup', { userCode: 'BCDF-GHJK' }),
  },
  'reset-mail': {
    counted: '*-mail:*',
    seconds: 3_600,
    count: async () => {
      const { email } = await signUp();
      await post('/v1/auth/forgot-password', { email });
      await plane().waitForMail(email, 'new password');
    },
  },
  'login-entry': { counted: 'login-entry:*:*', seconds: 3_600, count: () => failedLoginCounted('login-entry') },
  'login-entries': { counted: 'login-entries:*', seconds: DAY_S, count: () => failedLoginCounted('login-entries') },
  invite: {
    counted: 'invite:*',
    seconds: 3_600,
    count: async () =>
      (await plane().createMember('owner')).call('POST', '/v1/members', { email: newEmail(), role: 'viewer' }),
  },
  invited: {
    counted: 'invited:*',
    seconds: DAY_S,
    count: async () =>
      (await plane().createMember('owner')).call('POST', '/v1/members', { email: newEmail(), role: 'viewer' }),
  },
  'invited-by': {
    counted: 'invited-by:*:*',
    seconds: DAY_S,
    count: async () =>
      (await plane().createMember('owner')).call('POST', '/v1/members', { email: newEmail(), role: 'viewer' }),
  },
  replay: {
    counted: 'replay:*',
    seconds: 3_600,
    count: async () => {
      const owner = await plane().createMember('owner');
      const { id } = await createEndpoint(owner);
      await owner.call('POST', `/v1/webhooks/${id}/replay`, {
        start: '2026-01-01T00:00:00.000Z',
        end: '2999-01-01T00:00:00.000Z',
      });
    },
  },
  'second-factor': { counted: '*:*', seconds: 900, count: async () => sendWrongCode() },
  'second-factor-day': { counted: '*:*', seconds: DAY_S, count: async () => sendWrongCode() },
  'sso-reject': {
    counted: 'sso-reject:*',
    seconds: 3_600,
    count: async () => {
      const owner = await plane().createMember('owner');
      const provider = await HostileProvider.start();
      await configure(owner, provider.issuer);
      const browser = randomBytes(32).toString('base64url');
      const hash = (text: string) => createHash('sha256').update(text).digest();
      await sql()`
        insert into sso_logins (state_hash, org_id, browser_hash, nonce, code_verifier, expires_at)
        values (${hash('state')}, ${owner.orgId}, ${hash(browser)}, 'n', 'v', now() + interval '1 minute')`;
      await openCallback(plane(), owner.orgId, { state: 'state', error: 'access_denied' }, browser);
      await provider.stop();
    },
  },
  'sso-test': {
    counted: 'sso-test:*',
    seconds: 3_600,
    count: async () => (await plane().createMember('owner')).call('POST', '/v1/sso/test'),
  },
  'trust-rule': { counted: 'trust-rule:*', seconds: 60, count: () => exchangeOnce() },
  'webhook-test': {
    counted: 'webhook-test:*',
    seconds: 60,
    count: async () => {
      const owner = await plane().createMember('owner');
      const { id } = await createEndpoint(owner);
      await owner.call('POST', `/v1/webhooks/${id}/test`);
    },
  },
  'event-mail': {
    counted: 'event-mail:*',
    seconds: 3_600,
    count: async () => {
      const { orgId } = await plane().createMember('owner');
      await sql()`
        with r as (
          insert into event_mail_recipients (org_id, user_id, events)
          select org_id, user_id, '{agent.created}' from memberships where org_id = ${orgId} returning *)
        insert into event_mail_queue (org_id, user_id, event_id, event, data, occurred_at)
        select org_id, user_id, gen_random_uuid(), 'agent.created', '{}', now() from r`;
      await waitUntil('the mail is counted', async () => (await readWindowEnd('event-mail')) !== null);
    },
  },
};

/** Audit entries of failed logins are written, and counted, in the background. */
async function failedLoginCounted(kind: string): Promise<void> {
  const { email } = await signUp();
  await post('/v1/auth/login', { email, password: 'a wrong password' });
  await waitUntil('the entry is counted', async () => {
    const windows = await sql()`
      select 1 from throttle_windows w join users u on w.key like ${`${kind}:`} || u.id || '%' where u.email = ${email}`;
    return windows.length > 0;
  });
}

/** A wrong first code of a new second factor. */
async function sendWrongCode(): Promise<void> {
  const { email, token } = await signUp();
  await sql()`update users set email_verified_at = now() where email = ${email}`;
  const begun = await plane().call('POST', '/v1/second-factor', { token, body: { password: PASSWORD } });
  expect(begun.status).toBe(201);
  const wrong = await plane().call('POST', '/v1/second-factor/confirm', { token, body: { code: '000000' } });
  expect(wrong.status).toBe(403);
}

async function createEndpoint(owner: Member): Promise<{ id: string }> {
  const { body } = await owner.call('POST', '/v1/webhooks', { url: 'http://127.0.0.1:9/', events: ['agent.created'] });
  return body.endpoint;
}

/** The newest of that kind. */
async function readWindowEnd(kind: string): Promise<Date | null> {
  const [row] = await sql()<{ end: Date }[]>`
    select expires_at as end from throttle_windows where key like ${`${kind}:%`} order by expires_at desc limit 1`;
  return row?.end ?? null;
}

test('expiries: every counter with a window is listed here', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const found = files
    .flatMap((file) => [
      ...readFileSync(join(SOURCES, file), 'utf8').matchAll(/throttle\.(?:c|tryC)onsume\(\s*([^,]+),/g),
    ])
    .map(([, name]) => name!.replaceAll('`', '').replaceAll(/\$\{.*?\}/g, '*'));
  expect(found.sort()).toEqual([...new Set(Object.values(THROTTLE_WINDOWS).map(({ counted }) => counted))].sort());
});

test.each(Object.entries(THROTTLE_WINDOWS))(
  'expiries: the window of %s is as long as it says',
  async (kind, { seconds, count }) => {
    await expectExpiration(seconds, count, async () => (await readWindowEnd(kind))!);
  },
);

const failedLogin = async () => post('/v1/auth/login', { email: (await signUp()).email, password: 'a wrong password' });
const readFailedLoginMarks = (pattern: string) => async (): Promise<Date> =>
  (
    await sql()`select expires_at as end from throttle_marks where key ~ ${pattern} order by expires_at desc limit 1`
  )[0]!.end;

test.each([
  ['of an account from one address', 900, '^login:[^:]+:'],
  ['of an account', 3_600, '^login:[^:]+$'],
])('expiries: failed logins %s count for %i seconds', async (_what, seconds, pattern) => {
  await expectExpiration(seconds, failedLogin, readFailedLoginMarks(pattern));
});

test('expiries: the IP of a successful login is known for 30 days', async () => {
  const loggedIn = async () => post('/v1/auth/login', { email: (await signUp()).email, password: PASSWORD });
  await expectExpiration(30 * DAY_S, loggedIn, async () => (await readWindowEnd('known-login'))!);
});

/** Tests that a result without its lease changes nothing are elsewhere. */
const LEASES: Readonly<Record<string, string>> = {
  'billing_accounts.lease': 'reconciliation.test.ts: a check whose lease has ended changes nothing',
  'circuit_probes.lease': 'circuit.test.ts: a success that a data plane reports by itself counts once',
  'minted_credentials.lease_until': 'connections.test.ts: a control plane that dies during a strict refresh',
  'webhook_deliveries.lease': 'fairness.test.ts: a result without the lease is written nowhere',
};

test('leases: a probe slot is leased for a minute', async () => {
  const key = `openai ${randomBytes(6).toString('hex')}`;
  await sql()`
    insert into circuits (circuit_key, provider_slug, state, epoch) values (${key}, 'openai', 'HALF_OPEN', 3)`;
  const rules = { ...plane().config.circuit };
  await expectExpiration(
    60,
    () => new ProbeLeases(sql(), rules).acquire(key, 3, 'd'),
    async () => (await sql()`select expires_at as end from circuit_probes where circuit_key = ${key}`)[0]!.end,
  );
});

test('leases: a delivery is leased for the receiver s timeout plus five seconds', async () => {
  const receiver = await startReceiver();
  receiver.on('/silent', () => {});
  const owner = await plane().createMember('owner');
  const { body } = await owner.call('POST', '/v1/webhooks', {
    url: `${receiver.url}/silent`,
    events: ['agent.created'],
  });
  const { id } = body.endpoint;
  const deliver = async (): Promise<void> => {
    await createAgent(owner);
    await waitUntil('the delivery is under way', () => receiver.open() > 0);
  };
  await expectExpiration(
    plane().config.webhookTimeoutMs / 1_000 + 5,
    deliver,
    async () => (await sql()`select next_attempt_at as end from webhook_deliveries where endpoint_id = ${id}`)[0]!.end,
  );
  await receiver.close();
});

test('leases: every column with a lease is listed here', async () => {
  const columns = await sql()<{ name: string }[]>`
    select c.relname || '.' || a.attname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attname ~ '(^|_)lease(_|$)' order by 1`;
  expect(columns.map(({ name }) => name)).toEqual(Object.keys(LEASES));
});
