/** What a member created is listed when the member leaves, and kept or revoked. */
import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { expectCutsChangeNothing } from '../fixtures/cut-writes.js';

const plane = useControlPlane();
const sql = () => plane().database.sql;

async function createAgent(owner: Member): Promise<string> {
  const project = await owner.call('POST', '/v1/projects', { name: 'P' });
  const agent = await owner.call('POST', '/v1/agents', { name: 'A', projectId: project.body.project.id });
  return agent.body.agent.id;
}

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

/** One of each kind. */
async function createItems(by: Member, agentId: string, name: string) {
  const key = await by.call('POST', '/v1/api-keys', { name: `key ${name}`, agentId });
  await by.call('POST', '/v1/webhooks', { url: 'https://example.com/hook', events: ['agent.created'] });
  // The path of a chat's webhook is its secret.
  await sql()`
    update webhook_endpoints set kind = 'slack', url = 'https://hooks.slack.com/services/T0/B0/the-secret'
     where created_by = ${by.userId}`;
  await by.call('POST', '/v1/management-tokens', { name: `CI ${name}`, role: 'viewer' });
  const run = await by.call('POST', '/v1/runs', { agentId, budgetCents: 100, expiresIn: 600 });
  expect(run.status).toBe(201);
  const rule = { name: `rule ${name}`, agentId, issuer: 'spiffe://example.com', jwks: { keys: [createJwk()] } };
  const conditions = [{ claim: 'sub', values: ['spiffe://example.com/ci'] }];
  const created = await by.call('POST', '/v1/trust-rules', { ...rule, conditions });
  expect(created.body).toMatchObject({ rule: { name: rule.name } });
  // Once an owner, who may create them.
  await sql()`
    insert into scim_tokens (id, org_id, name, token_prefix, token_hash, created_by)
    values (gen_random_uuid(), ${by.orgId}, ${`Okta ${name}`}, 'scim_abc', ${randomBytes(32)}, ${by.userId})`;
  return { keyId: key.body.key.id as string, runId: run.body.run.id as string, ruleId: created.body.rule.id as string };
}

test('leavers: what a member created is listed, and kept or revoked with the member', async () => {
  const owner = await plane().createMember('owner');
  const agentId = await createAgent(owner);
  const leavers = [];
  for (let n = 0; n < 2; n++) {
    const leaver = await plane().createMember('admin', owner.orgId);
    const { keyId, runId } = await createItems(leaver, agentId, `${n}`);
    const rotated = await owner.call('POST', `/v1/api-keys/${keyId}/rotate`, {});
    expect(rotated.body).toMatchObject({ key: { createdBy: owner.userId }, previous: { createdBy: leaver.userId } });
    await insertSubRun(runId);
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
  expect(await countOf(keeps!.userId)).toEqual({ keys: 1, webhooks: 1, tokens: 0, scimTokens: 1, rules: 1, runs: 2 });
  const ended = await sql()`select changes from audit_entries where org_id = ${owner.orgId} and action = 'run.end'`;
  expect(ended).toEqual([{ changes: { label: ['', null], subRuns: [1, 0] } }]);
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

/** A run that a workload started by that trust rule. */
async function insertRunOfRule(ruleId: string, state: 'running' | 'ended' | 'expired'): Promise<string> {
  const id = randomUUID();
  await sql()`
    insert into runs (id, org_id, agent_id, trust_rule_id, root_id, budget_cents, token_hash, key_prefix, created_at,
                      expires_at, ended_at, end_reason)
    select ${id}, org_id, agent_id, id, ${id}, 1, ${randomBytes(32)}, 'acg_', now(),
           now() + make_interval(mins => ${state === 'expired' ? -1 : 1}),
           case when ${state === 'ended'} then now() - interval '1 hour' end, case when ${state === 'ended'} then 'ended' end
      from trust_rules where id = ${ruleId}`;
  return id;
}

const kindsOf = (items: readonly { kind: string }[]): readonly string[] => items.map(({ kind }) => kind).sort();
const KINDS = ['api_key', 'management_token', 'run', 'scim_token', 'trust_rule', 'webhook'];

test('leavers: what others created, what has ended and what is elsewhere is neither listed nor revoked', async () => {
  const owner = await plane().createMember('owner');
  const agentId = await createAgent(owner);
  const [leaver, colleague] = [
    await plane().createMember('admin', owner.orgId),
    await plane().createMember('admin', owner.orgId),
  ];
  const elsewhere = await plane().createMember('owner');
  const own = await createItems(leaver, agentId, 'own');
  const colleagues = await createItems(colleague, agentId, 'of a colleague');
  const foreign = await createItems(elsewhere, await createAgent(elsewhere), 'elsewhere');
  // The leaver is a member of the other organization, too, and created what is there.
  await sql()`insert into memberships (org_id, user_id, role) values (${elsewhere.orgId}, ${leaver.userId}, 'admin')`;
  for (const table of ['api_keys', 'webhook_endpoints', 'management_tokens', 'runs', 'scim_tokens', 'trust_rules'])
    await sql()`update ${sql()(table)} set created_by = ${leaver.userId} where created_by = ${elsewhere.userId}`;
  const ended = await createItems(leaver, agentId, 'ended');
  const expired = (await leaver.call('POST', '/v1/runs', { agentId, budgetCents: 100, expiresIn: 600 })).body.run.id;
  await sql()`update api_keys set revoked_at = now() - interval '1 hour' where id = ${ended.keyId}`;
  await sql()`update runs set ended_at = now() - interval '1 hour', end_reason = 'ended' where id = ${ended.runId}`;
  await sql()`update runs set expires_at = now() - interval '1 minute' where id = ${expired}`;
  await sql()`update trust_rules set deleted_at = now() - interval '1 hour' where id = ${ended.ruleId}`;
  for (const table of ['webhook_endpoints', 'management_tokens', 'scim_tokens'])
    await sql()`
      delete from ${sql()(table)} where id = (
        select id from ${sql()(table)} where org_id = ${owner.orgId} and created_by = ${leaver.userId} order by created_at desc limit 1)`;
  // The key and the run of a personal agent end with the membership in any case.
  const personal = await createAgent(owner);
  await sql()`update agents set owner_user_id = ${leaver.userId} where id = ${personal}`;
  await leaver.call('POST', '/v1/api-keys', { name: 'personal', agentId: personal });
  await leaver.call('POST', '/v1/runs', { agentId: personal, budgetCents: 100, expiresIn: 600 });
  for (const { ruleId } of [own, colleagues, foreign]) {
    await sql()`insert into trust_rule_keys values (${randomBytes(32)}, ${ruleId}, now() + interval '1 hour')`;
    await sql()`insert into trust_rule_used_tokens values (${ruleId}, ${randomBytes(32)}, now() + interval '1 hour')`;
  }
  const running = [await insertRunOfRule(own.ruleId, 'running'), await insertRunOfRule(own.ruleId, 'running')];
  await sql()`update runs set trust_rule_id = null, key_id = ${own.keyId} where id = ${running[1]!}`;
  const unchanged = [
    await insertRunOfRule(own.ruleId, 'ended'),
    await insertRunOfRule(own.ruleId, 'expired'),
    await insertRunOfRule(colleagues.ruleId, 'running'),
    await insertRunOfRule(ended.ruleId, 'running'),
    ...[ended.keyId, ended.runId, ended.ruleId, expired],
  ];
  const list = (by: Member, userId: string) => by.call('GET', `/v1/members/${userId}/created`);
  const { body } = await list(owner, leaver.userId);
  expect({ total: body.total, kinds: kindsOf(body.items) }).toEqual({ total: 6, kinds: KINDS });
  const times = body.items.map(({ createdAt }: { createdAt: string }) => createdAt);
  expect(times).toEqual([...times].sort().reverse());

  const isOthers = sql()`
    (t.org_id <> ${owner.orgId} or t.created_by is distinct from ${leaver.userId} or t.id = any(${unchanged}::uuid[]))
    and t.id <> all(${running}::uuid[])`;
  const readOthers = () =>
    Promise.all([
      sql()`select t.id, t.revoked_at from api_keys t where ${isOthers} order by id`,
      // A sweep ends expired runs.
      sql()`
        select t.id, case when t.end_reason = 'ended' then t.ended_at end as ended from runs t
         where ${isOthers} order by id`,
      sql()`select t.id, t.deleted_at, t.revision from trust_rules t where ${isOthers} order by id`,
      ...['webhook_endpoints', 'management_tokens', 'scim_tokens'].map(
        (table) => sql()`select t.id from ${sql()(table)} t where ${isOthers} order by id`,
      ),
      ...['trust_rule_keys', 'trust_rule_used_tokens'].map(
        (table) => sql()`select rule_id from ${sql()(table)} where rule_id <> ${own.ruleId} order by rule_id`,
      ),
    ]);
  const before = await readOthers();
  expect((await owner.call('DELETE', `/v1/members/${leaver.userId}?revoke=created`)).status).toBe(200);
  expect(await readOthers()).toEqual(before);
  expect(kindsOf((await list(owner, colleague.userId)).body.items)).toEqual(KINDS);
  expect(kindsOf((await list(elsewhere, leaver.userId)).body.items)).toEqual(KINDS);
  expect(await sql()`select end_reason as reason from runs where id = any(${running}::uuid[])`).toEqual([
    { reason: 'ended' },
    { reason: 'ended' },
  ]);
  const events = (await owner.call('GET', '/v1/events?event=run.ended&limit=100')).body.events;
  expect(events.map(({ data }: { data: { runId: string } }) => data.runId)).toEqual(expect.arrayContaining(running));
  expect(await sql()`select jwks, revision > 1 as changed from trust_rules where id = ${own.ruleId}`).toEqual([
    { jwks: null, changed: true },
  ]);
  for (const table of ['trust_rule_keys', 'trust_rule_used_tokens'])
    expect(await sql()`select 1 from ${sql()(table)} where rule_id = ${own.ruleId}`).toEqual([]);
});

test('the list of what a member created has at most 200 items, and the number of all', async () => {
  const owner = await plane().createMember('owner');
  await sql()`
    insert into management_tokens (id, org_id, name, role, token_prefix, token_hash, created_by)
    select gen_random_uuid(), ${owner.orgId}, 'token ' || n, 'viewer', 'acgm_', sha256(n::text::bytea || ${randomBytes(8)}), ${owner.userId}
      from generate_series(1, 201) n`;
  const { body } = await owner.call('GET', `/v1/members/${owner.userId}/created`);
  expect({ length: body.items.length, total: body.total }).toEqual({ length: 200, total: 201 });
});

test('a removal with what the member created that loses its database connection at any write changes nothing', async () => {
  await sql()`delete from webhook_endpoints`; // of other tests: deliveries write rows, too
  const owner = await plane().createMember('owner');
  const leaver = await plane().createMember('admin', owner.orgId);
  const { runId } = await createItems(leaver, await createAgent(owner), 'of the leaver');
  await insertSubRun(runId);
  const remove = () => owner.call('DELETE', `/v1/members/${leaver.userId}?revoke=created`);
  expect(await expectCutsChangeNothing(sql(), remove)).toMatchObject({ status: 200 });
});
