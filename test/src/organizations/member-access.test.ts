/** Owners see and end sessions of members, and see what leavers created; the lookup of an invitation says what it needs. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { useControlPlane } from '../fixtures/control-plane.js';

const plane = useControlPlane();
const sql = () => plane().database.sql;
const newEmail = () => `${randomBytes(5).toString('hex')}@example.com`;
const PASSWORD = 'correct horse battery';

async function createAgent(owner: Awaited<ReturnType<ReturnType<typeof plane>['createMember']>>): Promise<string> {
  const project = await owner.call('POST', '/v1/projects', { name: 'P' });
  const agent = await owner.call('POST', '/v1/agents', { name: 'A', projectId: project.body.project.id });
  return agent.body.agent.id;
}

test('owners list and end sessions of a member in their organization, one or all, and no others', async () => {
  const owner = await plane().createMember('owner');
  const admin = await plane().createMember('admin', owner.orgId);
  const member = await plane().createMember('member', owner.orgId);
  const path = `/v1/members/${member.userId}/sessions`;
  await member.call('GET', '/v1/me');
  const listed = await owner.call('GET', path);
  expect(listed.body).toMatchObject({ total: 1, sessions: [{ kind: 'api', current: false, userAgent: 'test' }] });
  const rows = await owner.call('GET', '/v1/members?search=');
  const row = rows.body.members.find(({ userId }: { userId: string }) => userId === member.userId);
  expect(row).toMatchObject({ lastSeenAt: expect.any(String), emailVerified: false });
  for (const [method, url] of [
    ['GET', path],
    ['DELETE', path],
    ['DELETE', `${path}/${listed.body.sessions[0].id}`],
  ] as const)
    expect((await admin.call(method, url)).status).toBe(403);
  // A session of the same account in another organization is neither shown nor ended.
  const elsewhere = await plane().createMember('owner');
  await sql()`insert into memberships (org_id, user_id, role) values (${elsewhere.orgId}, ${member.userId}, 'viewer')`;
  const [other] = await sql()<{ id: string }[]>`
    insert into sessions (id, user_id, org_id, kind, ip, user_agent, expires_at)
    values (gen_random_uuid(), ${member.userId}, ${elsewhere.orgId}, 'api', '127.0.0.1', 'other', now() + interval '1 day')
    returning id`;
  expect((await owner.call('GET', path)).body.total).toBe(1);
  expect((await owner.call('DELETE', `${path}/${other!.id}`)).status).toBe(404);
  expect((await elsewhere.call('DELETE', `${path}/${listed.body.sessions[0].id}`)).status).toBe(404);
  expect((await owner.call('DELETE', `${path}/${listed.body.sessions[0].id}`)).status).toBe(200);
  expect((await member.call('GET', '/v1/me')).status).toBe(401);
  expect((await owner.call('DELETE', path)).status).toBe(200);
  expect(await sql()`select 1 from sessions where id = ${other!.id}`).toHaveLength(1);
  const stranger = await plane().createMember('viewer');
  expect((await owner.call('GET', `/v1/members/${stranger.userId}/sessions`)).status).toBe(404);
  const invited = await owner.call('POST', '/v1/members', { email: newEmail(), role: 'viewer' });
  expect((await owner.call('GET', `/v1/members/${invited.body.member.userId}/sessions`)).status).toBe(404);
  expect((await owner.call('DELETE', `/v1/members/${invited.body.member.userId}/sessions`)).status).toBe(404);
});

async function insertSubRun(runId: string): Promise<void> {
  await sql()`
    insert into runs (id, org_id, agent_id, root_id, ancestors, budget_cents, token_hash, key_prefix, created_at, expires_at)
    select gen_random_uuid(), org_id, agent_id, id, array[id], 1, ${randomBytes(32)}, 'acg_', now(), expires_at
      from runs where id = ${runId}`;
}

const createJwk = () => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...publicKey.export({ format: 'jwk' }), kid: 'k', use: 'sig', alg: 'RS256' };
};

test('leavers: what a member created is listed, and kept or revoked with the member', async () => {
  const owner = await plane().createMember('owner');
  const agentId = await createAgent(owner);
  const leavers = [];
  for (let n = 0; n < 2; n++) {
    const leaver = await plane().createMember('admin', owner.orgId);
    const key = await leaver.call('POST', '/v1/api-keys', { name: `key ${n}`, agentId });
    const rotated = await owner.call('POST', `/v1/api-keys/${key.body.key.id}/rotate`, {});
    expect(rotated.body).toMatchObject({ key: { createdBy: owner.userId }, previous: { createdBy: leaver.userId } });
    await leaver.call('POST', '/v1/webhooks', { url: 'https://example.com/hook', events: ['agent.created'] });
    // The path of a chat's webhook is its secret.
    await sql()`
      update webhook_endpoints set kind = 'slack', url = 'https://hooks.slack.com/services/T0/B0/the-secret'
       where created_by = ${leaver.userId}`;
    await leaver.call('POST', '/v1/management-tokens', { name: 'CI', role: 'viewer' });
    const run = await leaver.call('POST', '/v1/runs', { agentId, budgetCents: 100, expiresIn: 600 });
    expect(run.status).toBe(201);
    await insertSubRun(run.body.run.id);
    const rule = { name: `rule ${n}`, agentId, issuer: 'spiffe://example.com', jwks: { keys: [createJwk()] } };
    const conditions = [{ claim: 'sub', values: ['spiffe://example.com/ci'] }];
    const created = await leaver.call('POST', '/v1/trust-rules', { ...rule, conditions });
    expect(created.body).toMatchObject({ rule: { name: rule.name } });
    // Once an owner, who may create them.
    await sql()`
      insert into scim_tokens (id, org_id, name, token_prefix, token_hash, created_by)
      values (gen_random_uuid(), ${owner.orgId}, 'Okta', 'scim_abc', ${randomBytes(32)}, ${leaver.userId})`;
    leavers.push(leaver);
  }
  const [keeps, revokes] = leavers;
  const created = await owner.call('GET', `/v1/members/${keeps!.userId}/created`);
  expect(created.body.items.map(({ kind }: { kind: string }) => kind).sort()).toEqual([
    'api_key',
    'management_token',
    'run',
    'scim_token',
    'trust_rule',
    'webhook',
  ]);
  expect(created.body.total).toBe(6);
  expect(created.body.items.find(({ kind }: { kind: string }) => kind === 'webhook').name).toBe(
    'https://hooks.slack.com/…',
  );
  const countOf = async (userId: string) => {
    const [row] = await sql()`
      select (select count(*)::int from api_keys where created_by = ${userId} and revoked_at is null) as keys,
             (select count(*)::int from webhook_endpoints where created_by = ${userId}) as webhooks,
             (select count(*)::int from management_tokens where created_by = ${userId}) as tokens,
             (select count(*)::int from scim_tokens where created_by = ${userId}) as "scimTokens",
             (select count(*)::int from trust_rules where created_by = ${userId} and deleted_at is null) as rules,
             (select count(*)::int from runs r join runs top on top.id = r.root_id
               where top.created_by = ${userId} and r.ended_at is null) as runs`;
    return row;
  };
  expect((await owner.call('DELETE', `/v1/members/${keeps!.userId}`)).status).toBe(200);
  expect(await countOf(keeps!.userId)).toEqual({ keys: 1, webhooks: 1, tokens: 0, scimTokens: 1, rules: 1, runs: 2 });
  expect((await owner.call('GET', `/v1/members/${keeps!.userId}/created`)).status).toBe(404);
  expect((await owner.call('DELETE', `/v1/members/${revokes!.userId}?revoke=all`)).status).toBe(400);
  expect((await owner.call('DELETE', `/v1/members/${revokes!.userId}?revoke=created`)).status).toBe(200);
  expect(await countOf(revokes!.userId)).toEqual({ keys: 0, webhooks: 0, tokens: 0, scimTokens: 0, rules: 0, runs: 0 });
  const audited = await sql()<{ action: string }[]>`
    select action from audit_entries where org_id = ${owner.orgId} and actor_user_id = ${owner.userId}
       and action in ('api_key.revoke', 'webhook.delete', 'member.remove', 'run.end', 'scim_token.delete', 'trust_rule.delete')
     order by action`;
  expect(
    JSON.stringify(
      await sql()`select changes from audit_entries where org_id = ${owner.orgId} and action = 'webhook.delete'`,
    ),
  ).not.toContain('the-secret');
  expect(audited.map(({ action }) => action)).toEqual([
    'api_key.revoke',
    'member.remove',
    'member.remove',
    'run.end',
    'scim_token.delete',
    'trust_rule.delete',
    'webhook.delete',
  ]);
  // Contexts of runs and of a rule's keys have these ids as those of their key.
  const invalidated = await sql()`
    select from invalidations i where i.kind = 'key' and i.ends_sessions and i.id in (
      select id::text from runs where created_by = ${revokes!.userId}
      union all select id::text from trust_rules where created_by = ${revokes!.userId})`;
  expect(invalidated).toHaveLength(2);
});

test('the lookup of an invitation says who invites to what as which role, and what the address needs', async () => {
  const owner = await plane().createMember('owner');
  const lookUp = (token: string, session: string | null = null) =>
    plane().call('POST', '/v1/invitations/lookup', { body: { token }, token: session });
  const invite = async (email: string): Promise<string> => {
    await owner.call('POST', '/v1/members', { email, role: 'member' });
    return (await plane().waitForMail(email, 'Invitation')).token;
  };
  const [{ email: inviterEmail }] = (await sql()`select email from users where id = ${owner.userId}`) as unknown as [
    { email: string },
  ];
  const email = newEmail();
  const token = await invite(email);
  const details = {
    orgName: 'Test org',
    role: 'member',
    email,
    inviter: { name: 'Test', email: inviterEmail },
    account: 'new',
    sso: false,
    ssoRequired: false,
  };
  expect((await lookUp(token)).body).toEqual(details);
  // The link was shown to the inviter, so it proves nothing about the mailbox: the account needs its own login.
  const body = { email, password: PASSWORD, name: 'Ada', orgName: 'Own' };
  const signup = await plane().call('POST', '/v1/auth/signup', { body });
  expect((await lookUp(token)).body).toEqual({ ...details, account: 'existing' });
  expect((await lookUp(token, signup.body.token)).body).toEqual({ ...details, account: 'session' });
  await sql()`update invitations set link_shown = false where email = ${email}`;
  expect((await lookUp(token)).body.account).toBe('unconfirmed');
  await sql()`update users set email_verified_at = now() where email = ${email}`;
  expect((await lookUp(token)).body.account).toBe('existing');
  await sql()`delete from memberships where user_id = ${owner.userId}`;
  expect((await lookUp(token)).body.inviter).toBeNull();
  expect((await lookUp('unknown')).body).toEqual({ error: expect.stringContaining('ask for a new invitation') });
});
