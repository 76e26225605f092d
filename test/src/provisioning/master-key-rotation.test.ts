/** Secrets at rest: what a stolen or meddled-with database gives, and how master keys are changed under load. */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Secret } from '@acg/base/secret';
import { Vault } from '@acg/controlplane/vault/aes-gcm-vault';
import { checkMasterKeys } from '@acg/controlplane/vault/master-key-check';
import { reencryptAll } from '@acg/controlplane/vault/reencrypt';
import { expect, test } from 'vitest';
import { type Member, startControlPlane, type TestControlPlane, useControlPlane } from '../fixtures/control-plane.js';
import { holdPostgresLock } from '../fixtures/hold-postgres-lock.js';
import { createTestDatabase } from '../fixtures/test-database.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { connectContextCache } from '../plane-link/connected-context-cache.js';

const plane = useControlPlane();
const masterKey = (id: string, key: Buffer) => ({ id, key: new Secret(key) });
const testKey = () => masterKey('test', Buffer.alloc(32, 7)); // of control-plane.ts

async function createAgentWithAccount(owner: Member, apiKey: string): Promise<{ agentId: string; accountId: string }> {
  const project = await owner.call('POST', '/v1/projects', { name: 'P' });
  const agent = await owner.call('POST', '/v1/agents', { projectId: project.body.project.id, name: 'A' });
  const agentId: string = agent.body.agent.id;
  const account = await owner.call('POST', '/v1/providers/accounts', {
    agentId,
    providerSlug: 'openai',
    credentials: { apiKey },
  });
  expect(account.status).toBe(201);
  return { agentId, accountId: account.body.account.id };
}

const createGatewayToken = async (owner: Member, agentId: string): Promise<string> =>
  (await owner.call('POST', '/v1/api-keys', { name: 'k', agentId })).body.secretKey;

/** The account that the second test damages. */
let damagedAccountId = '';

test('at rest: neither the credential nor the gateway token is anywhere in the database', async () => {
  const owner = await plane().createMember('owner');
  const apiKey = `sk-${randomBytes(20).toString('hex')}`;
  const { agentId, accountId } = await createAgentWithAccount(owner, apiKey);
  const token = await createGatewayToken(owner, agentId);
  const rotated = `sk-${randomBytes(20).toString('hex')}`;
  await owner.call('POST', `/v1/providers/accounts/${accountId}/rotate`, { credentials: { apiKey: rotated } });
  const { sql } = plane().database;
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'public'`;
  expect(tables.length).toBeGreaterThan(15);
  let bytes = 0;
  for (const { name } of tables) {
    const rows = await sql`select to_jsonb(t)::text as row from ${sql(name)} t`;
    const dump = rows.map((row) => row.row).join('\n');
    bytes += dump.length;
    for (const secret of [apiKey, rotated, token]) {
      for (const form of [secret, Buffer.from(secret).toString('hex'), Buffer.from(secret).toString('base64')]) {
        expect([name, dump.includes(form)]).toEqual([name, false]);
      }
    }
  }
  expect(bytes).toBeGreaterThan(1_000);
});

test('at rest: a ciphertext copied to another account cannot be decrypted there and affects only that account', async () => {
  const thief = await plane().createMember('owner');
  const victim = await plane().createMember('owner');
  const stolen = await createAgentWithAccount(victim, 'sk-victim-0123456789');
  const own = await createAgentWithAccount(thief, 'sk-thief-0123456789');
  await thief.call('POST', '/v1/providers/accounts', {
    agentId: own.agentId,
    providerSlug: 'resend',
    credentials: { apiKey: 're_0123456789' },
  });
  await plane().database.sql`
    update provider_accounts t set ciphertext = s.ciphertext, nonce = s.nonce, key_id = s.key_id
      from provider_accounts s where s.id = ${stolen.accountId} and t.id = ${own.accountId}`;
  damagedAccountId = own.accountId;
  const watched = connectContextCache([plane().grpcAddress], plane().config.link);
  try {
    const { context } = await watched.resolve(await createGatewayToken(thief, own.agentId));
    expect(context!.upstreams.get('openai')).toMatchObject({
      accountStatus: 'needs_credentials',
      injection: { kind: 'none' },
    });
    expect(context!.upstreams.get('resend')!.accountStatus).toBe('active');
  } finally {
    watched.stop();
  }
});

test('rotation: every secret is re-encrypted during concurrent credential rotations, and none is lost', async () => {
  const owner = await plane().createMember('owner');
  const accounts = await Promise.all(
    Array.from({ length: 8 }, (_, n) => createAgentWithAccount(owner, `sk-before-0123456789-${n}`)),
  );
  await owner.call('POST', '/v1/webhooks', { url: 'http://127.0.0.1:9/hook', events: ['agent.created'] });
  const next = masterKey('next', randomBytes(32));
  const ring = new Vault([next, testKey()]);
  const { sql } = plane().database;
  // The old instances continue to write with their old first key.
  const rotating = accounts.slice(0, 4).map(({ accountId }, n) =>
    owner.call('POST', `/v1/providers/accounts/${accountId}/rotate`, {
      credentials: { apiKey: `sk-after-0123456789-${n}` },
    }),
  );
  await checkMasterKeys(sql, ring);
  const first = await reencryptAll(sql, ring);
  expect(first.unreadable).toEqual([`provider_accounts ${damagedAccountId}`]); // of the test before
  await sql`delete from provider_accounts where id = ${damagedAccountId}`;
  expect((await Promise.all(rotating)).map((answer) => answer.status)).toEqual([200, 200, 200, 200]);
  const second = await reencryptAll(sql, ring); // what the old instances wrote after the first had passed
  expect([...Object.keys(second.written), ...second.unreadable]).toEqual([
    'provider_accounts',
    'credentials',
    'webhook_endpoints',
    'billing_accounts',
    'webhook_previous_secrets',
    'sso_connections',
    'minted_credentials',
    'oauth_grants',
    'oauth_clients',
    'credential_rotations',
    'issuer_keys',
    'second_factor_secrets',
    'suspended_accounts',
    'suspended_credentials',
    'suspended_webhooks',
    'suspended_sso',
  ]);
  const onlyNew = new Vault([next]);
  await checkMasterKeys(sql, onlyNew);
  for (const [n, { accountId }] of accounts.entries()) {
    const [row] = await sql<{ keyId: string; nonce: Buffer; ciphertext: Buffer }[]>`
      select key_id as "keyId", nonce, ciphertext from provider_accounts where id = ${accountId}`;
    const opened = onlyNew.decrypt({ purpose: 'account', orgId: owner.orgId, id: accountId }, row!);
    expect(JSON.parse(opened)).toEqual({ apiKey: `sk-${n < 4 ? 'after' : 'before'}-0123456789-${n}` });
  }
  await reencryptAll(sql, new Vault([testKey(), next])); // restored for the other tests of this database
});

test('start: a key ring that cannot decrypt the stored secrets is rejected in one line and writes nothing', async () => {
  const database = await createTestDatabase();
  try {
    const first = await startControlPlane({}, database);
    await createAgentWithAccount(await first.createMember('owner'), 'sk-stored-0123456789');
    await first.stop();
    const start = (masterKeys: string) => startControlPlane({ MASTER_KEYS: masterKeys }, database);
    const other = randomBytes(32).toString('base64');
    await expect(start(`test:${other}`)).rejects.toThrow(
      /^MASTER_KEYS: test is not the key that was used under this id: set the original key$/,
    );
    await expect(start(`new:${other}`)).rejects.toThrow(
      /^MASTER_KEYS: the key test is missing, and 1 stored secrets need it: add it after the other keys$/,
    );
    const known = await database.sql`select key_id from master_key_checks`;
    expect(known.map((row) => row.key_id)).toEqual(['test']);
    const both = await start(`new:${other},test:${Buffer.alloc(32, 7).toString('base64')}`);
    await both.stop();
  } finally {
    await database.drop();
  }
});

const ROTATE = fileURLToPath(new URL('../../../controlplane/dist/rotate-master-key/main.js', import.meta.url));

/** `npm run rotate-master-key` without the build before it. */
function runRotateMasterKeyCommand(env: Record<string, string>): { code: number | null; out: string; err: string } {
  const run = spawnSync(process.execPath, [ROTATE], { env: { PATH: process.env.PATH, ...env }, encoding: 'utf8' });
  return { code: run.status, out: run.stdout, err: run.stderr };
}

test('command: re-encrypts, names the keys that are no longer needed, and rejects a wrong key ring', async () => {
  const database = await createTestDatabase();
  try {
    const first = await startControlPlane({}, database);
    await createAgentWithAccount(await first.createMember('owner'), 'sk-stored-0123456789');
    await first.stop();
    const fresh = `new:${randomBytes(32).toString('base64')}`;
    const old = `test:${Buffer.alloc(32, 7).toString('base64')}`;
    const DATABASE_URL = database.url.reveal();
    expect(runRotateMasterKeyCommand({ DATABASE_URL, MASTER_KEYS: fresh })).toMatchObject({
      code: 69,
      err: expect.stringContaining('the key test is missing'),
    });
    expect(runRotateMasterKeyCommand({ DATABASE_URL }).code).toBe(78);
    expect(runRotateMasterKeyCommand({ DATABASE_URL, MASTER_KEYS: `${fresh},${old}` })).toEqual({
      code: 0,
      out:
        're-encrypted with key new: 1 of provider_accounts, 0 of credentials, 0 of webhook_endpoints, ' +
        '0 of billing_accounts, 0 of webhook_previous_secrets, 0 of sso_connections, 0 of minted_credentials, ' +
        '0 of oauth_grants, 0 of oauth_clients, 0 of credential_rotations, 0 of issuer_keys, 0 of second_factor_secrets, 0 of suspended_accounts, ' +
        '0 of suspended_credentials, 0 of suspended_webhooks, 0 of suspended_sso\nMASTER_KEYS no longer needs: test\n',
      err: '',
    });
    await (await startControlPlane({ MASTER_KEYS: fresh }, database)).stop();
  } finally {
    await database.drop();
  }
});

/** Each control plane decrypts what the other has written and accepts its sessions. */
async function expectInteroperable(writer: TestControlPlane, reader: TestControlPlane): Promise<void> {
  const owner = await writer.createMember('owner');
  const { agentId } = await createAgentWithAccount(owner, `sk-${randomBytes(12).toString('hex')}`);
  const token = await createGatewayToken(owner, agentId);
  const watched = connectContextCache([reader.grpcAddress], reader.config.link);
  try {
    const { context } = await watched.resolve(token);
    expect(context!.upstreams.get('openai')!.accountStatus).toBe('active');
  } finally {
    watched.stop();
  }
  expect((await reader.call('GET', '/v1/me', { token: owner.token })).status).toBe(200);
}

test('documented procedure: control planes that restart one after the other stay compatible at each step', async () => {
  const database = await createTestDatabase();
  const [k1, k2] = ['k1', 'k2'].map((id) => `${id}:${randomBytes(32).toString('base64')}`);
  const [j1, j2] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')];
  const start = (MASTER_KEYS: string, JWT_SECRET: string) => startControlPlane({ MASTER_KEYS, JWT_SECRET }, database);
  let planes = [await start(k1!, j1), await start(k1!, j1)];
  const restartAll = async (masterKeys: string, jwtSecret: string): Promise<void> => {
    for (let n = 0; n < planes.length; n++) {
      await planes[n]!.stop();
      planes = planes.with(n, await start(masterKeys, jwtSecret));
      await expectInteroperable(planes[0]!, planes[1]!);
      await expectInteroperable(planes[1]!, planes[0]!);
    }
  };
  const inUse = async (): Promise<string[]> => {
    const rows = await database.sql<{ id: string }[]>`select distinct key_id as id from provider_accounts`;
    return rows.map(({ id }) => id).sort();
  };
  try {
    await expectInteroperable(planes[0]!, planes[1]!);
    // docs/operations.md, "Settings that matter", word for word.
    await restartAll(`${k1},${k2}`, `${j1},${j2}`);
    expect(await inUse()).toEqual(['k1']);
    await restartAll(`${k2},${k1}`, `${j2},${j1}`);
    expect(await inUse()).toEqual(['k1', 'k2']);

    const env = { DATABASE_URL: database.url.reveal(), MASTER_KEYS: `${k2},${k1}` };
    const release = await holdPostgresLock(
      database.sql,
      (tx) => tx`select 1 from provider_accounts where key_id = 'k1' limit 1 for update`,
    );
    const killed = spawn(process.execPath, [ROTATE], { env: { PATH: process.env.PATH, ...env }, stdio: 'ignore' });
    const ended = once(killed, 'exit');
    await waitUntil('only the row in use is left', async () => {
      const [row] = await database.sql<{ left: number }[]>`
        select count(*) as left from provider_accounts where key_id = 'k1'`;
      return row!.left === 1;
    });
    killed.kill('SIGKILL');
    expect(await ended).toEqual([null, 'SIGKILL']);
    await release();
    const ring = new Vault(planes[0]!.config.masterKeys);
    const [first, second] = await Promise.all([1, 2].map(() => reencryptAll(database.sql, ring)));
    expect(first!.written.provider_accounts! + second!.written.provider_accounts!).toBe(1);
    expect([...first!.unreadable, ...second!.unreadable]).toEqual([]);
    expect(runRotateMasterKeyCommand(env)).toMatchObject({
      code: 0,
      out: expect.stringContaining('no longer needs: k1'),
    });

    await restartAll(k2!, j2);
    expect(await inUse()).toEqual(['k2']);
  } finally {
    for (const plane of planes) await plane.stop();
    await database.drop();
  }
});
