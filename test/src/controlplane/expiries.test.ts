/**
 * Everything that has an end: each column of the schema that says when something is over has a test here of what it ends.
 * What was made a moment ago works; with the end in the past, and nothing else changed, it does not.
 */
import { createHash, randomBytes } from 'node:crypto';
import { GatewayClient } from '@acg/proto/client';
import { expect, test } from 'vitest';
import { type Member, useControlPlane } from '../control-plane.js';

const plane = useControlPlane();
const sql = () => plane().database.sql;
const post = (path: string, body: object, token: string | null = null) => plane().call('POST', path, { body, token });
const PASSWORD = 'a password for tests';
const newEmail = () => `${randomBytes(6).toString('hex')}@example.com`;

interface Made {
  /** Of the row. */
  readonly where: string;
  /** Whether it works. May use it up. */
  works(): Promise<boolean>;
}

interface Ending {
  make(): Promise<Made>;
  /** Seconds from now that the end lies at most; null: whoever makes it says. */
  readonly secondsMax: number | null;
}

const DAY_S = 86_400;

async function agentOf(owner: Member): Promise<string> {
  const projectId = (await owner.call('POST', '/v1/projects', { name: 'P' })).body.project.id;
  return (await owner.call('POST', '/v1/agents', { projectId, name: 'A' })).body.agent.id;
}

async function signedUp(): Promise<{ email: string; token: string }> {
  const email = newEmail();
  const { body } = await post('/v1/auth/signup', { email, password: PASSWORD, name: 'Ada', orgName: 'Own' });
  return { email, token: body.token };
}

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/** By table and column; what stands behind a comma tells the ways apart in which one is set. */
const ENDINGS: Readonly<Record<string, Ending>> = {
  'email_tokens.expires_at, of a reset': {
    secondsMax: 3_600,
    make: async () => {
      const { email } = await signedUp();
      await post('/v1/auth/forgot-password', { email });
      const { token } = await plane().mail(email, 'new password');
      const works = async () =>
        (await post('/v1/auth/reset-password', { token, password: 'another password' })).status === 200;
      return { where: `purpose = 'reset' and user_id = (select id from users where email = '${email}')`, works };
    },
  },
  'email_tokens.expires_at, behind the page of a link': {
    secondsMax: DAY_S,
    make: async () => {
      const { email } = await signedUp();
      const body = { token: (await plane().mail(email, 'Confirm')).token, password: PASSWORD };
      const works = async () => (await post('/v1/auth/verify-email', body)).status === 200;
      return { where: `user_id = (select id from users where email = '${email}')`, works };
    },
  },
  'email_tokens.expires_at': {
    secondsMax: DAY_S,
    make: async () => {
      const { email } = await signedUp();
      const { token } = await plane().mail(email, 'Confirm');
      const works = async () => (await post('/v1/auth/verify-email', { token })).status === 200;
      return { where: `user_id = (select id from users where email = '${email}')`, works };
    },
  },
  'invitations.expires_at': {
    secondsMax: 7 * DAY_S,
    make: async () => {
      const email = newEmail();
      await (await plane().member('owner')).call('POST', '/v1/members', { email, role: 'viewer' });
      const { token } = await plane().mail(email, 'Invitation');
      const body = { token, name: 'Guest', password: PASSWORD };
      return {
        where: `email = '${email}'`,
        works: async () => (await post('/v1/invitations/accept', body)).status === 200,
      };
    },
  },
  'invitations.expires_at, in the list of members': {
    secondsMax: 7 * DAY_S,
    make: async () => {
      const email = newEmail();
      const owner = await plane().member('owner');
      await owner.call('POST', '/v1/members', { email, role: 'viewer' });
      const works = async () => (await owner.call('GET', '/v1/members?status=invited')).body.total === 1;
      return { where: `email = '${email}'`, works };
    },
  },
  // A bearer token carries its own end; the row ends what a cookie opens.
  'sessions.expires_at': {
    secondsMax: 7 * DAY_S,
    make: async () => {
      const { email } = await signedUp();
      const headers = { 'sec-fetch-site': 'same-origin' };
      const entered = await plane().call('POST', '/v1/session', { body: { email, password: PASSWORD }, headers });
      const cookie = entered.headers.get('set-cookie')!.split(';')[0]!;
      const works = async () => (await plane().call('GET', '/v1/me', { headers: { cookie } })).status === 200;
      return { where: `kind = 'browser' and user_id = (select id from users where email = '${email}')`, works };
    },
  },
  'sessions.expires_at, of a bearer token that became a cookie': {
    secondsMax: 7 * DAY_S,
    make: async () => {
      const { email, token } = await signedUp();
      const headers = { 'sec-fetch-site': 'same-origin' };
      const turned = await plane().call('POST', '/v1/session', { token, headers });
      const cookie = turned.headers.get('set-cookie')!.split(';')[0]!;
      const works = async () => (await plane().call('GET', '/v1/me', { headers: { cookie } })).status === 200;
      return { where: `user_id = (select id from users where email = '${email}')`, works };
    },
  },
  'sessions.previous_until': {
    secondsMax: 60,
    make: async () => {
      const { email, token } = await signedUp();
      expect((await post('/v1/auth/refresh', {}, token)).status).toBe(200);
      const works = async () => (await plane().call('GET', '/v1/me', { token })).status === 200;
      return { where: `user_id = (select id from users where email = '${email}')`, works };
    },
  },
  'device_logins.expires_at': {
    secondsMax: 600,
    make: async () => {
      const owner = await plane().member('owner');
      const { body } = await post('/v1/auth/device', { client: 'acg 0.1.0', hostname: 'laptop' });
      const approval = { userCode: body.userCode, orgId: owner.orgId, role: 'viewer' };
      return {
        where: 'id = (select id from device_logins order by created_at desc limit 1)',
        works: async () => (await owner.call('POST', '/v1/auth/device/approve', approval)).status === 200,
      };
    },
  },
  'device_logins.expires_at, for the device that asks': {
    secondsMax: 600,
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
    secondsMax: 600,
    make: async () => {
      const owner = await plane().member('owner');
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
    secondsMax: null,
    make: async () => {
      const owner = await plane().member('owner');
      const expiresAt = new Date(Date.now() + DAY_S * 1_000).toISOString();
      const { body } = await owner.call('POST', '/v1/management-tokens', { name: 'T', role: 'viewer', expiresAt });
      const works = async () => (await plane().call('GET', '/v1/projects', { token: body.secretToken })).status === 200;
      return { where: `id = '${body.token.id}'`, works };
    },
  },
  'api_keys.expires_at': {
    secondsMax: null,
    make: async () => {
      const owner = await plane().member('owner');
      const expiresAt = new Date(Date.now() + DAY_S * 1_000).toISOString();
      const { body } = await owner.call('POST', '/v1/api-keys', {
        name: 'K',
        agentId: await agentOf(owner),
        expiresAt,
      });
      return { where: `id = '${body.key.id}'`, works: () => resolves(body.secretKey) };
    },
  },
  'api_keys.expires_at, of a key that was replaced': {
    secondsMax: DAY_S,
    make: async () => {
      const owner = await plane().member('owner');
      const made = await owner.call('POST', '/v1/api-keys', { name: 'K', agentId: await agentOf(owner) });
      const { key, secretKey } = made.body;
      expect((await owner.call('POST', `/v1/api-keys/${key.id}/rotate`, {})).status).toBe(201);
      return { where: `id = '${key.id}'`, works: () => resolves(secretKey) };
    },
  },
  'webhook_previous_secrets.until': {
    secondsMax: DAY_S,
    make: async () => {
      const owner = await plane().member('owner');
      const made = await owner.call('POST', '/v1/webhooks', { url: 'http://127.0.0.1:9/', events: ['agent.created'] });
      const { id } = made.body.endpoint;
      await owner.call('POST', `/v1/webhooks/${id}/rotate`, {});
      const works = async () =>
        (await owner.call('GET', `/v1/webhooks/${id}`)).body.endpoint.previousSecretUntil !== null;
      return { where: `id = '${id}'`, works };
    },
  },
};

/** Ends that other files test, and columns that say how far something has come. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'throttle_windows.expires_at': 'throttle.test.ts: the window of an address begins anew when it has ended',
  'throttle_marks.expires_at': 'throttle.test.ts: what has ended is pruned',
  'circuits.open_until': 'circuit.test.ts: the cooldown ends by itself',
  'circuit_probes.expires_at': 'circuit.test.ts: a place comes back when its lease has ended',
  'usage_daily_progress.rolled_until': 'progress',
  'usage_hourly_progress.rolled_until': 'progress',
};

async function resolves(token: string): Promise<boolean> {
  const client = new GatewayClient([plane().grpcAddress], plane().config.link);
  try {
    const answer = await client.resolveToken({ tokenHash: Buffer.from(hashOf(token), 'hex') }, 10_000);
    return answer.context != null;
  } finally {
    client.close();
  }
}

test('expiries: every column that says when something ends is known here', async () => {
  const columns = await sql()<{ name: string }[]>`
    select c.relname || '.' || a.attname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and a.attname ~ '(^|_)(expires_at|until|ends_at)$' order by 1`;
  const here = Object.keys(ENDINGS).map((name) => name.split(',')[0]!);
  expect(columns.map(({ name }) => name)).toEqual([...new Set([...here, ...Object.keys(ELSEWHERE)])].sort());
});

test.each(Object.entries(ENDINGS))('expiries: what %s ends works before and not after', async (name, ending) => {
  const [table, column] = name.split(',')[0]!.split('.') as [string, string];
  const fresh = await ending.make();
  const [row] = await sql().unsafe(
    `select extract(epoch from ${column} - now())::float8 as seconds from ${table} where ${fresh.where}`,
  );
  expect(row!.seconds).toBeGreaterThan(0);
  if (ending.secondsMax !== null) expect(row!.seconds).toBeLessThanOrEqual(ending.secondsMax);
  expect(await fresh.works()).toBe(true);
  const over = await ending.make();
  const { count } = await sql().unsafe(
    `update ${table} set ${column} = now() - interval '1 second' where ${over.where}`,
  );
  expect(count).toBe(1);
  expect(await over.works()).toBe(false);
});

/** Where it is tested that a result without its lease changes nothing. */
const LEASES: Readonly<Record<string, string>> = {
  'circuit_probes.lease': 'circuit.test.ts: a success that a data plane reports by itself counts once',
  'webhook_deliveries.lease': 'fairness.test.ts: a result without the lease is written nowhere',
};

test('leases: every column that holds one is known here', async () => {
  const columns = await sql()<{ name: string }[]>`
    select c.relname || '.' || a.attname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attname ~ '(^|_)lease(_|$)' order by 1`;
  expect(columns.map(({ name }) => name)).toEqual(Object.keys(LEASES));
});
