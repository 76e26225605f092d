/** Lists are searched, filtered and sorted; totals count the matching rows. */
import { beforeAll, expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { newId } from '../ledger/usage-fixture.js';

const plane = useControlPlane();
let owner: Member;
let projectId: string;
let endpointId: string;

/** Of this file: its conditions are written before its rows. */
const NOW_MS = Date.now();
const minutesAgo = (minutes: number): Date => new Date(NOW_MS - minutes * 60_000);

beforeAll(async () => {
  owner = await plane().createMember('owner');
  const { sql } = plane().database;
  const { orgId } = owner;
  const create = async (path: string, body: object) => (await owner.call('POST', path, body)).body;
  for (const name of ['Zeta', 'alpha 100%', 'Beta_1']) {
    const { project } = await create('/v1/projects', { name });
    projectId = project.id;
  }
  const made: string[] = [];
  for (const name of ['Zeta bot', 'alpha bot', 'Beta_1']) {
    made.push((await create('/v1/agents', { projectId, name })).agent.id);
  }
  await owner.call('PATCH', `/v1/agents/${made[1]}/status`, { status: 'paused' });
  for (const [i, name] of ['zeta', 'Alpha', 'beta'].entries()) {
    const { key } = await create('/v1/api-keys', { projectId, agentId: made[0], name });
    await sql`update api_keys set last_used_at = ${i === 0 ? null : minutesAgo(i)},
      expires_at = ${i === 1 ? null : minutesAgo(-60 * (3 - i))} where id = ${key.id}`;
  }
  for (const providerSlug of ['openai', 'anthropic']) {
    const body = { providerSlug, credentials: { apiKey: 'sk-example-not-a-real-key' } };
    await create('/v1/providers/accounts', { agentId: made[0], ...body });
    await create('/v1/credentials', { name: providerSlug === 'openai' ? 'Main' : 'Spare', ...body });
  }
  await sql`update credentials set rotated_at = now() - length(name) * interval '1 hour' where org_id = ${orgId}`;
  await sql`update credentials set status = 'needs_credentials' where org_id = ${orgId} and name = 'Main'`;
  for (const role of ['viewer', 'admin'] as const) await plane().createMember(role, orgId);
  await sql`update users set name = 'Person ' || right(id::text, 6)
    where id in (select user_id from memberships where org_id = ${orgId})`;
  for (const role of ['viewer', 'member']) await create('/v1/members', { email: `${role}-x@example.com`, role });
  for (const [i, url] of ['http://127.0.0.1:9/b', 'http://127.0.0.1:9/a_c'].entries()) {
    const { endpoint } = await create('/v1/webhooks', { url, events: ['abuse.detected'] });
    if (i === 0) await owner.call('PATCH', `/v1/webhooks/${endpoint.id}`, { status: 'paused' });
    endpointId = endpoint.id;
  }
  for (const [i, event] of ['agent.created', 'agent.deleted', 'agent.created'].entries()) {
    await sql`
      insert into webhook_deliveries (id, org_id, endpoint_id, event_id, event, payload, status, attempts, last_attempt_at,
        created_at, next_attempt_at)
      values (${newId()}, ${orgId}, ${endpointId}, ${newId()}, ${event}, '{}', ${['success', 'failed', 'failed'][i]!},
        ${[2, 3, 1][i]!}, ${i === 1 ? null : minutesAgo(10 - i)}, ${minutesAgo(30 + i)}, ${minutesAgo(-9_999)})`;
  }
  await create('/v1/providers/accounts', {
    agentId: made[1],
    providerSlug: 'openai',
    credentials: { apiKey: 'sk-example-not-a-real-key' },
  });
  await sql`update provider_accounts set last_used_at = now() - interval '1 hour' * length(agent_id::text || provider_slug)
    where org_id = ${orgId} and (agent_id, provider_slug) <> (${made[1]!}, 'openai')`;
  await sql`update provider_accounts set credential_id = c.id, key_id = null, nonce = null, ciphertext = null
    from credentials c where c.org_id = ${orgId} and c.name = 'Spare' and c.provider_slug = provider_accounts.provider_slug
     and provider_accounts.org_id = ${orgId}`;
  await seedTimedLists(orgId, made);
});

/** Trust rules, management tokens, alert rules with alerts, and runs: three of each, one without its optional instant. */
async function seedTimedLists(orgId: string, agentIds: readonly string[]): Promise<void> {
  const { sql } = plane().database;
  for (const [i, name] of ['zeta', 'Alpha', 'beta'].entries()) {
    const [agentId, at, optional] = [agentIds[i]!, minutesAgo(50 - i), i === 1 ? null : minutesAgo(9 + i)];
    await sql`
      insert into trust_rules (id, org_id, project_id, agent_id, name, issuer, audience, conditions, key_lifetime_s, jti_once,
        keys_uploaded, last_used_at, created_at)
      values (${newId()}, ${orgId}, ${projectId}, ${agentId}, ${name}, 'https://issuer.example', 'a', '[]', 900, false, true,
        ${optional}, ${at})`;
    await sql`
      insert into management_tokens (id, org_id, name, role, token_prefix, token_hash, created_by, last_used_at, expires_at,
        created_at)
      values (${newId()}, ${orgId}, ${name}, ${['viewer', 'admin', 'member'][i]!}, 'acgm_00000000', ${Buffer.from(newId())},
        ${owner.userId}, ${optional}, ${i === 0 ? null : minutesAgo(-60 * (3 - i))}, ${at})`;
    const ruleId = newId();
    await sql`
      insert into alert_rules (id, org_id, name, metric, window_hours, increase_percent, at_least, created_at)
      values (${ruleId}, ${orgId}, ${name}, 'spend', 1, 50, 1, ${at})`;
    await sql`
      insert into alerts (id, org_id, rule_id, value, opened_at, resolved_at)
      values (${newId()}, ${orgId}, ${ruleId}, 1, ${at}, ${optional})`;
    const runId = newId();
    await sql`
      insert into runs (id, org_id, agent_id, root_id, label, budget_cents, token_hash, key_prefix, created_at, expires_at)
      values (${runId}, ${orgId}, ${agentId}, ${runId}, ${name}, 100, ${Buffer.from(runId)}, 'acg_00000000', now(),
        ${minutesAgo(-10 * (i + 1))})`;
    await sql`
      insert into budget_spend (org_id, budget_id, period, slot, spent_nanos, ledger_nanos, calls)
      values (${orgId}, ${runId}, 'total', 0, ${[3, 1, 2][i]! * 10_000_000}, 0, ${[2, 3, 1][i]!})`;
  }
}

const LISTS: Readonly<Record<string, { readonly items: string; readonly sorts: readonly string[] }>> = {
  projects: { items: 'projects', sorts: ['createdAt', 'name'] },
  'agents?projectId=PROJECT': { items: 'agents', sorts: ['createdAt', 'name'] },
  'api-keys': { items: 'keys', sorts: ['createdAt', 'name', 'lastUsedAt', 'expiresAt'] },
  members: { items: 'members', sorts: ['createdAt', 'name', 'email', 'role', 'lastSeenAt'] },
  webhooks: { items: 'endpoints', sorts: ['createdAt', 'url'] },
  'webhooks/ENDPOINT/deliveries': { items: 'deliveries', sorts: ['createdAt', 'lastAttemptAt', 'attempts'] },
  audit: { items: 'entries', sorts: ['at'] },
  'providers/accounts': { items: 'accounts', sorts: ['createdAt', 'agentName', 'providerSlug', 'lastUsedAt'] },
  credentials: { items: 'credentials', sorts: ['createdAt', 'name', 'providerSlug', 'accounts', 'rotatedAt'] },
  'trust-rules': { items: 'rules', sorts: ['createdAt', 'name', 'agentName', 'lastUsedAt'] },
  'management-tokens': { items: 'tokens', sorts: ['createdAt', 'name', 'role', 'lastUsedAt', 'expiresAt'] },
  'alert-rules': { items: 'rules', sorts: ['createdAt', 'name'] },
  alerts: { items: 'alerts', sorts: ['openedAt', 'ruleName', 'resolvedAt'] },
  runs: { items: 'runs', sorts: ['createdAt', 'label', 'agentName', 'spentCents', 'calls', 'end'] },
};
type Item = Readonly<Record<string, string | number | null>>;

async function list(path: string, query: Readonly<Record<string, string>>): Promise<{ items: Item[]; total: number }> {
  const [pathname, fixed = ''] = path.replace('PROJECT', projectId).replace('ENDPOINT', endpointId).split('?');
  const search = new URLSearchParams({ ...Object.fromEntries(new URLSearchParams(fixed)), ...query });
  const { status, body } = await owner.call('GET', `/v1/${pathname}?${search}`);
  expect([path, query, status, body.error]).toEqual([path, query, 200, undefined]);
  return { items: body[LISTS[path]!.items], total: body.total };
}

const ROLES = ['viewer', 'member', 'admin', 'owner'];
const TEXTS = ['name', 'email', 'url', 'agentName', 'providerSlug', 'label', 'ruleName'];
const figureOf = (item: Item, field: string): string | number | null => {
  const value = field === 'end' ? (item.endedAt ?? item.expiresAt)! : item[field]!;
  if (field === 'role') return ROLES.indexOf(String(value));
  return TEXTS.includes(field) && value !== null ? String(value).toLowerCase() : value;
};

test.each(Object.entries(LISTS).flatMap(([path, { sorts }]) => sorts.map((sort) => [path, sort] as const)))(
  '%s sorted by %s, whichever way, what has no value last; pages follow',
  async (path, sort) => {
    const ordered = async (order: string | null) => {
      const { items } = await list(path, { sort, ...(order === null ? {} : { order }) });
      return items;
    };
    const [ascending, descending] = [await ordered('asc'), await ordered('desc')];
    const values = ascending.map((item) => figureOf(item, sort));
    const known = values.filter((value) => value !== null);
    expect(known).toEqual([...known].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)));
    expect(new Set(known).size).toBeGreaterThan(1);
    const nulls = values.length - known.length;
    expect(values.slice(known.length)).toEqual(Array(nulls).fill(null));
    expect(descending.map((item) => figureOf(item, sort))).toEqual([
      ...[...known].reverse(),
      ...Array(nulls).fill(null),
    ]);
    expect(await ordered(null)).toEqual(TEXTS.includes(sort) ? ascending : descending);
    const page = await list(path, { sort, order: 'asc', limit: '2', offset: '1' });
    expect([page.items, page.total]).toEqual([ascending.slice(1, 3), ascending.length]);
  },
);

const ago = (minutes: number): string => minutesAgo(minutes).toISOString();
const matches = (text: string) => (item: Item) => JSON.stringify(item).toLowerCase().includes(text.toLowerCase());
test.each<[string, Record<string, string>, (item: Item) => boolean]>([
  ['projects', { search: 'ALPHA' }, matches('alpha')],
  ['projects', { search: '100%' }, matches('100%')],
  ['projects', { search: 'beta-1' }, matches('beta-1')],
  ['agents?projectId=PROJECT', { search: 'BOT' }, matches('bot')],
  ['agents?projectId=PROJECT', { search: 'a_1' }, matches('a_1')],
  ['agents?projectId=PROJECT', { status: 'paused' }, (item) => item.status === 'paused'],
  ['agents?projectId=PROJECT', { status: 'paused', search: 'bot' }, (item) => item.status === 'paused'],
  ['members', { search: '-X@example' }, matches('-x@example')],
  ['members', { role: 'viewer' }, (item) => item.role === 'viewer'],
  ['members', { status: 'invited' }, (item) => item.status === 'invited'],
  ['members', { status: 'invited', role: 'member' }, (item) => item.status === 'invited' && item.role === 'member'],
  ['webhooks', { search: 'a_c' }, matches('a_c')],
  ['webhooks', { status: 'paused' }, (item) => item.status === 'paused'],
  ['webhooks/ENDPOINT/deliveries', { event: 'agent.created' }, (item) => item.event === 'agent.created'],
  ['webhooks/ENDPOINT/deliveries', { status: 'failed', event: 'agent.created' }, (item) => item.attempts === 1],
  ['webhooks/ENDPOINT/deliveries', { start: ago(31.5), end: ago(30.5) }, (item) => item.event === 'agent.deleted'],
  ['api-keys', { neverUsed: 'true' }, (item) => item.lastUsedAt === null],
  ['api-keys', { neverUsed: 'false' }, (item) => item.lastUsedAt !== null],
  ['api-keys', { unusedSince: ago(1.5) }, (item) => item.name === 'beta'],
  ['providers/accounts', { providerSlug: 'anthropic' }, (item) => item.providerSlug === 'anthropic'],
  ['credentials', { search: 'MAIN' }, matches('main')],
  ['credentials', { status: 'needs_credentials' }, (item) => item.status === 'needs_credentials'],
  ['audit', { search: 'PROJECT.create' }, (item) => item.action === 'project.create'],
  ['audit', { targetType: 'agent' }, (item) => matches('"type":"agent"')(item)],
  ['audit', { targetType: 'agent', search: 'set_status' }, (item) => item.action === 'agent.set_status'],
])('%s narrowed by %o', async (path, query, isWanted) => {
  const all = (await list(path, { limit: '100' })).items;
  const wanted = all.filter(isWanted);
  expect(wanted.length).toBeGreaterThan(0);
  expect(wanted.length).toBeLessThan(all.length);
  expect(await list(path, { ...query, limit: '100' })).toEqual({ items: wanted, total: wanted.length });
});

test('audit: what was done to one thing', async () => {
  const all = (await list('audit', { limit: '100' })).items;
  const agent = all.find(({ action }) => action === 'agent.set_status') as unknown as { target: { id: string } };
  const { items, total } = await list('audit', { targetId: agent.target.id });
  expect(items.map(({ action }) => action).sort()).toEqual(['agent.create', 'agent.set_status']);
  expect(total).toBe(2);
});

const SORTED = Object.keys(LISTS).filter((path) => LISTS[path]!.sorts.length > 0);
test.each(SORTED)('%s: a sort or an order that does not exist is 400', async (path) => {
  const pathname = path.replace('PROJECT', projectId).replace('ENDPOINT', endpointId);
  for (const query of ['sort=secret', 'order=up']) {
    const { status } = await owner.call('GET', `/v1/${pathname}${path.includes('?') ? '&' : '?'}${query}`);
    expect([query, status]).toEqual([query, 400]);
  }
});

test('a second that no calendar has is 400', async () => {
  for (const path of [`webhooks/${endpointId}/deliveries?start=`, 'api-keys?unusedSince=']) {
    expect((await owner.call('GET', `/v1/${path}2016-12-31T23:59:60Z`)).status).toBe(400);
  }
});
