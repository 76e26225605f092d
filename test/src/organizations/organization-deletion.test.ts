/** Deleting an organization: it stops at once, an owner can restore it for seven days, then it is purged. */
import { randomBytes } from 'node:crypto';
import { createLogger } from '@acg/base/log';
import { openPool } from '@acg/controlplane/db/postgres-client';
import { purgeDueOrganizations } from '@acg/controlplane/orgs/deletion-service';
import { expect, test } from 'vitest';
import { useControlPlane } from '../fixtures/control-plane.js';
import { countLockWaiters, holdPostgresLock } from '../fixtures/hold-postgres-lock.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { connectContextCache } from '../plane-link/connected-context-cache.js';
import { startReceiver } from '../webhooks/webhook-receiver.js';

const plane = useControlPlane();
const PASSWORD = 'correct horse battery';
const sql = () => plane().database.sql;
const bearer = (token: string) => ({
  token,
  call: (method: string, path: string, body?: unknown) => plane().call(method, path, { token, body }),
});

async function signUp() {
  const email = `${randomBytes(5).toString('hex')}@example.com`;
  const body = { email, password: PASSWORD, name: 'Ada', orgName: 'Engines' };
  const answer = (await plane().call('POST', '/v1/auth/signup', { body })).body;
  return { ...bearer(answer.token), email, userId: answer.user.id as string, orgId: answer.org.id as string };
}

/** An owner with an organization in use and a second organization. */
async function createOwnerWithOrganization() {
  const person = await signUp();
  const other = (await person.call('POST', '/v1/orgs', { name: 'Other' })).body.org.id as string;
  const projectId = (await person.call('GET', '/v1/projects')).body.projects[0].id as string;
  const agentId = (await person.call('POST', '/v1/agents', { projectId, name: 'a' })).body.agent.id as string;
  const key = (await person.call('POST', '/v1/api-keys', { name: 'k', agentId })).body.secretKey as string;
  const program = bearer(
    (await person.call('POST', '/v1/management-tokens', { name: 'CI', role: 'admin' })).body.secretToken,
  );
  const remove = (password?: string) =>
    person.call('DELETE', `/v1/orgs/${person.orgId}`, password === undefined ? undefined : { password });
  return { ...person, other, projectId, agentId, key, program, remove };
}

const lines: string[] = [];
const log = createLogger('test', 'info', (line) => void lines.push(line));
/** As the job does it, which runs each minute. */
const runPurge = () => purgeDueOrganizations(sql(), log);
const makePurgeDue = (orgId: string) => sql()`update organizations set purge_at = now() where id = ${orgId}`;
const organizationExists = async (orgId: string) =>
  (await sql()`select 1 from organizations where id = ${orgId}`).length === 1;

test('delete: needs the password again, and it is not the only organization', async () => {
  const only = await signUp();
  expect((await only.call('DELETE', `/v1/orgs/${only.orgId}`, { password: PASSWORD })).status).toBe(409);
  const ada = await createOwnerWithOrganization();
  expect((await ada.remove()).status).toBe(400);
  const wrong = await ada.remove('not the password');
  expect([wrong.status, wrong.body.error]).toEqual([403, expect.stringContaining('password is not')]);
  expect((await ada.call('GET', '/v1/projects')).status).toBe(200);
  for (let n = 0; n < 9; n++) await ada.remove(`guess ${n}`);
  expect((await ada.remove(PASSWORD)).status).toBe(429);
});

test('delete: calls, management tokens, invitations and members stop at once; all owners get an e-mail', async () => {
  const ada = await createOwnerWithOrganization();
  const second = await plane().createMember('owner', ada.orgId);
  const viewer = await plane().createMember('viewer', ada.orgId);
  const [{ email: secondEmail }] = await sql()<
    [{ email: string }]
  >`select email from users where id = ${second.userId}`;
  const guest = `${randomBytes(5).toString('hex')}@example.com`;
  await ada.call('POST', '/v1/members', { email: guest, role: 'viewer' });
  const invitation = (await plane().waitForMail(guest, 'Invitation')).token;
  const receiver = await startReceiver();
  await ada.call('POST', '/v1/webhooks', { url: receiver.url, events: ['agent.created'] });
  const data = connectContextCache([plane().grpcAddress], plane().config.link);
  expect((await data.resolve(ada.key)).context).not.toBeNull();

  expect((await ada.remove(PASSWORD)).body).toEqual({ deleted: true });

  await waitUntil(
    'the gateway token is refused',
    async () => (await data.resolve(ada.key)).rejection === 'unknown_token',
  );
  expect((await ada.program.call('GET', '/v1/projects')).status).toBe(401);
  for (const member of [ada, second, viewer]) {
    const refused = await member.call('GET', '/v1/projects');
    expect([refused.status, refused.body.error]).toEqual([403, expect.stringContaining('will be deleted at')]);
  }
  const accept = { token: invitation, name: 'Guest', password: 'a long password' };
  expect((await plane().call('POST', '/v1/invitations/accept', { body: accept })).status).toBe(400);
  await sql()`
    insert into events (id, org_id, event, data) values (gen_random_uuid(), ${ada.orgId}, 'agent.created', '{}')`;
  await waitUntil('the event is fanned out', async () => {
    const waiting = await sql()`select 1 from events where org_id = ${ada.orgId} and fanned_out_at is null`;
    return waiting.length === 0;
  });
  expect(receiver.received).toEqual([]);
  expect(await sql()`select 1 from webhook_deliveries where org_id = ${ada.orgId} and event = 'agent.created'`).toEqual(
    [],
  );
  for (const email of [ada.email, secondEmail]) {
    expect((await plane().waitForMail(email, 'will be deleted')).text).toContain(ada.email);
  }
  // Calls about the own account work: the second owner has no other organization and can still log in.
  const me = await second.call('GET', '/v1/me');
  expect(me.body.orgs).toEqual([expect.objectContaining({ id: ada.orgId, purgeAt: expect.stringMatching(/Z$/) })]);
  expect((await ada.call('POST', '/v1/auth/switch-org', { orgId: ada.other })).status).toBe(200);
  const login = await plane().call('POST', '/v1/auth/login', { body: { email: ada.email, password: PASSWORD } });
  expect(login.body.orgId).toBe(ada.other); // not the one that is being deleted
  expect((await ada.remove(PASSWORD)).status).toBe(403);
  data.stop();
  await receiver.close();
});

test('delete: a key created afterwards by a control plane of the previous release is rejected', async () => {
  const ada = await createOwnerWithOrganization();
  expect((await ada.remove(PASSWORD)).body).toEqual({ deleted: true });
  // The release before does not read `purge_at`, so its control planes still insert keys during a rolling upgrade.
  const later = `${ada.key.slice(0, -4)}late`;
  await sql()`
    insert into api_keys (id, org_id, name, scope, agent_id, token_hash, key_prefix)
    values (gen_random_uuid(), ${ada.orgId}, 'late', 'agent', ${ada.agentId}, sha256(${later}::text::bytea), 'acg_')`;
  const data = connectContextCache([plane().grpcAddress], plane().config.link);
  expect((await data.resolve(later)).rejection).toBe('unknown_token');
  await sql()`update organizations set purge_at = null where id = ${ada.orgId}`;
  const restored = connectContextCache([plane().grpcAddress], plane().config.link);
  expect((await restored.resolve(later)).context).not.toBeNull(); // only the deletion rejected it
  data.stop();
  restored.stop();
});

test('delete: a key created concurrently is revoked as well', async () => {
  for (let round = 0; round < 3; round++) {
    const ada = await createOwnerWithOrganization();
    const make = () => ada.call('POST', '/v1/api-keys', { name: 'k', agentId: ada.agentId });
    const before = Array.from({ length: 5 }, make);
    const removed = ada.remove(PASSWORD);
    const answers = await Promise.all([...before, ...Array.from({ length: 5 }, make), removed]);
    expect((await removed).status).toBe(200);
    expect(answers.filter(({ status }) => ![200, 201, 403, 409].includes(status))).toEqual([]);
    expect(await sql()`select 1 from api_keys where org_id = ${ada.orgId} and revoked_at is null`).toEqual([]);
  }
});

test.each([
  ['a management token', '/v1/management-tokens', { name: 'CI', role: 'admin' }],
  ['an invitation', '/v1/members', { email: 'late@example.org', role: 'viewer' }],
])('delete: %s that is made at the same time does not outlive it', async (_what, path, body) => {
  const ada = await createOwnerWithOrganization();
  const release = await holdPostgresLock(sql(), async (tx) => {
    await tx`select 1 from organizations where id = ${ada.orgId} for update`;
    await tx`update organizations set purge_at = now() + interval '7 days' where id = ${ada.orgId}`;
  });
  const call = ada.call('POST', path, body);
  await expect.poll(() => countLockWaiters(sql())).toBe(1);
  await release();
  expect((await call).status).toBe(409);
});

test('restore: by any owner, with everything but the tokens; both are in the trail', async () => {
  const ada = await createOwnerWithOrganization();
  const second = await plane().createMember('owner', ada.orgId);
  const admin = await plane().createMember('admin', ada.orgId);
  const stranger = await plane().createMember('owner');
  const restore = (who: { call: typeof second.call }) => who.call('POST', `/v1/orgs/${ada.orgId}/restore`);
  expect((await restore(second)).status).toBe(409);
  await ada.remove(PASSWORD);
  expect([(await restore(admin)).status, (await restore(stranger)).status]).toEqual([403, 404]);
  expect(await restore(second)).toMatchObject({ status: 201, body: { restored: true } });
  expect((await ada.call('GET', `/v1/agents/${ada.agentId}`)).status).toBe(200);
  expect((await ada.program.call('GET', '/v1/projects')).status).toBe(401);
  const data = connectContextCache([plane().grpcAddress], plane().config.link);
  expect((await data.resolve(ada.key)).rejection).toBe('unknown_token');
  const fresh = (await ada.call('POST', '/v1/api-keys', { name: 'again', agentId: ada.agentId })).body.secretKey;
  expect((await data.resolve(fresh)).context).not.toBeNull();
  data.stop();
  const actions = (await ada.call('GET', '/v1/audit?limit=2')).body.entries;
  expect(actions.map(({ action }: { action: string }) => action)).toContain('api_key.create');
  for (const action of ['organization.delete', 'organization.restore']) {
    expect((await ada.call('GET', `/v1/audit?action=${action}`)).body.total).toBe(1);
  }
  expect((await plane().waitForMail(ada.email, 'was restored')).text).toContain('stay revoked');
  const { body } = await second.call('GET', '/v1/deleted-orgs');
  expect(body.deletions).toMatchObject([{ orgId: ada.orgId, status: 'restored', requestedBy: { email: ada.email } }]);
});

test('purge: after seven days everything is deleted, and the record of it stays visible to its former owners', async () => {
  const ada = await createOwnerWithOrganization();
  await ada.remove(PASSWORD);
  const [row] = await sql()<{ leftH: number }[]>`
    select round(extract(epoch from purge_at - now()) / 3600)::int as "leftH" from organizations where id = ${ada.orgId}`;
  expect(row!.leftH).toBe(7 * 24);
  await runPurge();
  expect(await organizationExists(ada.orgId)).toBe(true);
  await makePurgeDue(ada.orgId);
  await runPurge();
  expect(await organizationExists(ada.orgId)).toBe(false);
  expect(await sql()`select 1 from api_keys where org_id = ${ada.orgId}`).toHaveLength(0);
  expect(await sql()`select 1 from audit_entries where org_id = ${ada.orgId}`).toHaveLength(0);
  const token = (await plane().call('POST', '/v1/auth/login', { body: { email: ada.email, password: PASSWORD } })).body
    .token;
  const { body } = await plane().call('GET', '/v1/deleted-orgs', { token });
  expect(body).toEqual({
    deletions: [
      {
        id: expect.any(String),
        orgId: ada.orgId,
        name: 'Engines',
        slug: expect.stringMatching(/^engines/),
        status: 'deleted',
        requestedBy: { userId: ada.userId, email: ada.email },
        ip: '127.0.0.1',
        requestedAt: expect.stringMatching(/Z$/),
        purgeAt: expect.stringMatching(/Z$/),
        restoredAt: null,
        restoredByEmail: null,
        deletedAt: expect.stringMatching(/Z$/),
      },
    ],
    total: 1,
    limit: 50,
    offset: 0,
  });
  const stranger = await plane().createMember('owner');
  expect((await stranger.call('GET', '/v1/deleted-orgs')).body.total).toBe(0);
  const logged = [...lines, ...plane().logLines].filter((line) => line.includes(ada.orgId));
  expect(logged.filter((line) => line.includes('organization deleted'))).toHaveLength(1);
});

test('purge: an organization that takes longer than the statement timeout is purged as well', async () => {
  const ada = await createOwnerWithOrganization();
  await ada.remove(PASSWORD);
  await makePurgeDue(ada.orgId);
  const limits = { connectionsMax: 1, applicationName: 'test', statementTimeoutMs: 200 };
  const impatient = openPool(plane().database.url, limits);
  const release = await holdPostgresLock(sql(), (tx) => tx`select 1 from agents where id = ${ada.agentId} for update`);
  const purging = purgeDueOrganizations(impatient, log).catch((error: Error) => error);
  await expect.poll(() => countLockWaiters(sql())).toBe(1);
  await sql()`select pg_sleep(${(2 * limits.statementTimeoutMs) / 1_000})`;
  await release();
  expect(await purging).toBeUndefined();
  await impatient.end();
  expect(await organizationExists(ada.orgId)).toBe(false);
});

test('concurrent purge and restore: one wins, and the record shows which', async () => {
  for (let round = 0; round < 5; round++) {
    const ada = await createOwnerWithOrganization();
    const second = await plane().createMember('owner', ada.orgId);
    await ada.remove(PASSWORD);
    await makePurgeDue(ada.orgId);
    const [restored] = await Promise.all([second.call('POST', `/v1/orgs/${ada.orgId}/restore`), runPurge()]);
    const alive = await organizationExists(ada.orgId);
    expect([restored.status, alive]).toEqual(alive ? [201, true] : [expect.any(Number), false]);
    expect(alive || [401, 404].includes(restored.status)).toBe(true);
    const rows = await sql()`
      select 1 from organization_deletions
       where org_id = ${ada.orgId} and (restored_at is not null) = ${alive} and (purged_at is not null) = ${!alive}`;
    expect(rows).toHaveLength(1);
  }
});

test('create: deleted organizations do not count, and can be restored only below the limit', async () => {
  const ada = await signUp();
  const create = async () => ada.call('POST', '/v1/orgs', { name: 'Next' });
  const made: string[] = [];
  for (let n = 0; n < 4; n++) made.push((await create()).body.org.id);
  expect((await create()).status).toBe(409);
  const at = async (orgId: string) => bearer((await ada.call('POST', '/v1/auth/switch-org', { orgId })).body.token);
  const first = await at(made[0]!);
  expect((await first.call('DELETE', `/v1/orgs/${made[0]}`, { password: PASSWORD })).status).toBe(200);
  expect((await create()).status).toBe(201);
  expect((await ada.call('POST', `/v1/orgs/${made[0]}/restore`)).status).toBe(409);
});
