/** The command erase-person: what is gone, what stays without the person's data, and when it is rejected. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { BreakGlassOwner, erasePerson } from '@acg/controlplane/erase-person/erase-person';
import { expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';

const plane = useControlPlane();
const COMMAND = fileURLToPath(new URL('../../../controlplane/dist/erase-person/main.js', import.meta.url));

function erase(...args: string[]): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args], {
    env: { PATH: process.env.PATH, DATABASE_URL: plane().database.url.reveal() },
    encoding: 'utf8',
  });
  return { code: status, out: stdout, err: stderr };
}

const emailOf = async (member: Member): Promise<string> => (await member.call('GET', '/v1/me')).body.user.email;

/** Names of tables with a row that holds the text. */
async function tablesWith(text: string): Promise<readonly string[]> {
  const { sql } = plane().database;
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`;
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await sql`select 1 from ${sql(name)} t where strpos(to_jsonb(t)::text, ${text}) > 0 limit 1`;
    if (rows.length > 0) found.push(name);
  }
  return found;
}

test('erase-person: the address is in no table afterwards, the trail keeps what was done, and others are not touched', async () => {
  const owner = await plane().createMember('owner');
  const person = await plane().createMember('admin', owner.orgId);
  const [email, ownerEmail] = [await emailOf(person), await emailOf(owner)];
  const { sql } = plane().database;
  const { id } = (await person.call('GET', '/v1/me')).body.user;
  const hook = { url: 'https://hooks.example.com/trail', events: ['audit.entry'] };
  expect((await owner.call('POST', '/v1/webhooks', hook)).status).toBe(201);
  const project = (await person.call('POST', '/v1/projects', { name: 'Made by the person' })).body.project;
  const token = await person.call('POST', '/v1/management-tokens', { name: 'ci', role: 'viewer' });
  expect(token.status).toBe(201);
  expect((await person.call('GET', '/v1/projects')).status).toBe(200);
  expect(await tablesWith(email)).toEqual(expect.arrayContaining(['audit_entries', 'events', 'users']));
  const before = await sql`select id from audit_entries where org_id = ${owner.orgId}`;

  const dry = erase(email.toUpperCase(), '--dry-run');
  expect([dry.code, dry.err, dry.out]).toEqual([0, '', expect.stringContaining(`would erase ${id}`)]);
  expect((await person.call('GET', '/v1/projects')).status).toBe(200);

  const done = erase(email);
  expect([done.code, done.err]).toEqual([0, '']);
  expect(done.out).toContain(`erased ${id}\n`);
  expect(done.out).toContain('1 accounts');
  expect(await tablesWith(email)).toEqual([]);
  expect((await person.call('GET', '/v1/projects')).status).toBe(401);

  const entries = await sql<{ action: string; userId: string | null; email: string; ip: string; targetId: string }[]>`
    select action, actor_user_id as "userId", actor_email as email, ip, target_id as "targetId"
      from audit_entries where org_id = ${owner.orgId}`;
  expect(entries).toHaveLength(before.length + 1);
  expect(entries.find(({ targetId }) => targetId === project.id)).toMatchObject({
    userId: id,
    email: 'erased',
    ip: '',
  });
  expect(entries.find(({ action }) => action === 'user.erase')).toMatchObject({ userId: null, targetId: id });
  expect((await owner.call('GET', `/v1/projects/${project.id}`)).status).toBe(200);
  expect((await owner.call('GET', '/v1/audit')).status).toBe(200);
  expect(await emailOf(owner)).toBe(ownerEmail);
  expect(erase(email)).toMatchObject({ code: 0, out: expect.stringContaining('an address without an account') });
});

test('erase-person: an invited address without an account is erased, too', async () => {
  const owner = await plane().createMember('owner');
  const email = 'only.invited@example.com';
  expect((await owner.call('POST', '/v1/members', { email, role: 'viewer' })).status).toBe(201);
  expect(await tablesWith(email)).toEqual(expect.arrayContaining(['audit_entries', 'invitations']));
  expect(erase(email).code).toBe(0);
  expect(await tablesWith(email)).toEqual([]);
});

test('erase-person: the only owner of an organization is rejected and keeps everything', async () => {
  const owner = await plane().createMember('owner');
  const email = await emailOf(owner);
  const rejected = erase(email);
  expect([rejected.code, rejected.out]).toEqual([65, '']);
  expect(rejected.err).toMatch(
    /^erase-person: the only owner of .*: make another member owner, or delete the organization/,
  );
  expect((await owner.call('GET', '/v1/me')).status).toBe(200);
  expect(erase('not-an-address').code).toBe(64);
});

test('erase-person: the break-glass owner of single sign-on is rejected with advice', async () => {
  const owner = await plane().createMember('owner');
  const other = await plane().createMember('owner', owner.orgId);
  const email = await emailOf(owner);
  const { sql } = plane().database;
  await sql`
    insert into sso_connections (id, org_id, issuer, client_id, key_id, nonce, ciphertext, break_glass_user_id)
    values (gen_random_uuid(), ${owner.orgId}, 'https://idp.example.com', 'c', 'k', '\\x00', '\\x00', ${owner.userId})`;
  const rejected = erasePerson(sql, email, 'test', false);
  await expect(rejected).rejects.toThrow(BreakGlassOwner);
  await expect(rejected).rejects.toThrow(/^the break-glass owner of single sign-on of .*: name another/);
  expect((await owner.call('GET', '/v1/me')).status).toBe(200);
  await sql`update sso_connections set break_glass_user_id = ${other.userId} where org_id = ${owner.orgId}`;
  expect((await erasePerson(sql, email, 'test', false)).userId).toBe(owner.userId);
});
