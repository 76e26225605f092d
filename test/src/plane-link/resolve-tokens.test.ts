/** Resolving unknown tokens: many in one request, whatever the size of their tenants. */
import { createHash, randomUUID } from 'node:crypto';
import { ControlPlaneClient } from '@acg/proto/control-plane-client';
import { Outcome } from '@acg/proto/messages';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { seedTenants } from '../fixtures/seed-skewed-tenants.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { connectContextCache } from './connected-context-cache.js';

const plane = useControlPlane();
let client: ControlPlaneClient;
beforeAll(() => {
  client = new ControlPlaneClient([plane().grpcAddress], plane().config.link);
});
afterAll(() => client.close());

const sql = () => plane().database.sql;
const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

test('resolve: one request resolves many tokens of every kind, in order', async () => {
  await seedTenants(sql(), { bigAgents: 20, smallOrgs: 3 });
  const [big] = await sql()<{ id: string; slug: string }[]>`
    select a.id, a.slug from agents a join organizations o on o.id = a.org_id where o.slug = 'tenant-0' and a.slug = 'agent-7'`;
  const ask: readonly [string, string, number][] = [
    ['agent-0', '', Outcome.FOUND],
    ['nobody', '', Outcome.UNKNOWN_TOKEN],
    ['org-0', '', Outcome.AGENT_REQUIRED],
    ['org-0', 'agent-7', Outcome.FOUND],
    ['project-0', big!.id, Outcome.FOUND],
    ['project-0', 'agent-70', Outcome.AGENT_OUT_OF_SCOPE],
    ['project-1', big!.id, Outcome.AGENT_OUT_OF_SCOPE],
    ['org-1', randomUUID(), Outcome.AGENT_OUT_OF_SCOPE],
    ['agent-1', 'agent-1', Outcome.FOUND],
    ['agent-1', 'agent-2', Outcome.AGENT_OUT_OF_SCOPE],
    ['agent-0', '"{},\\', Outcome.AGENT_OUT_OF_SCOPE],
  ];
  const tokens = ask.map(([token, agentRef]) => ({ tokenHash: hashOf(token), agentRef }));
  const { answers } = await client.resolveTokens({ tokens, dataPlaneId: 'dp' }, 20_000);
  expect(answers!.map(({ outcome }) => outcome)).toEqual(ask.map(([, , outcome]) => outcome));
  expect(answers![3]!.context).toMatchObject({ agentId: big!.id, agentSlug: 'agent-7' });
  expect(answers![4]!.context!.agentId).toBe(big!.id);
  expect((await client.resolveTokens({ tokens: [], dataPlaneId: 'dp' }, 20_000)).answers).toEqual([]);
});

test('resolve: an agent slug that two projects use is ambiguous, an id is not', async () => {
  const [org] = await sql()<{ id: string }[]>`select id from organizations where slug = 'tenant-2'`;
  const [agent] = await sql()<{ id: string }[]>`
    with p as (insert into projects (id, org_id, name, slug) values (gen_random_uuid(), ${org!.id}, 'q', 'q') returning id)
    insert into agents (id, org_id, project_id, name, slug)
    select gen_random_uuid(), ${org!.id}, id, 'a', 'agent-1' from p returning id`;
  const token = { tokenHash: hashOf('org-2') };
  const tokens = [
    { ...token, agentRef: 'agent-1' },
    { ...token, agentRef: agent!.id.toUpperCase() },
  ];
  const { answers } = await client.resolveTokens({ tokens, dataPlaneId: 'dp' }, 20_000);
  expect(answers!.map(({ outcome }) => outcome)).toEqual([Outcome.AGENT_AMBIGUOUS, Outcome.FOUND]);
  expect(answers![1]!.context!.agentId).toBe(agent!.id);
});

test('resolve: rejects too many tokens at once and invalid hashes', async () => {
  const one = { tokenHash: hashOf('x'), agentRef: '' };
  const rejected = (tokens: object[]) =>
    client.resolveTokens({ tokens, dataPlaneId: 'dp' }, 20_000).catch((e) => e.code);
  expect(await rejected(new Array(257).fill(one))).toBe(3);
  expect(await rejected([one, { ...one, tokenHash: Buffer.alloc(31) }])).toBe(3);
});

/** Creates a token of an agent with this many accounts, each with a credential of maximum length. */
async function createTokenWithAccounts(owner: Member, accounts: number): Promise<string> {
  const projectId = (await owner.call('POST', '/v1/projects', { name: 'P' })).body.project.id;
  const agentId = (await owner.call('POST', '/v1/agents', { projectId, name: 'A' })).body.agent.id;
  for (let n = 0; n < accounts; n++) {
    const settings = { slug: `own-${n}`, displayName: 'x', baseUrl: 'http://127.0.0.1:9', authType: 'basic' };
    expect((await owner.call('POST', '/v1/custom-providers', settings)).status).toBe(201);
    const credentials = { username: 'u'.repeat(8_192), password: 'p'.repeat(8_192) };
    const account = { agentId, providerSlug: settings.slug, credentials };
    expect((await owner.call('POST', '/v1/providers/accounts', account)).status).toBe(201);
  }
  return (await owner.call('POST', '/v1/api-keys', { name: 'k', agentId })).body.secretKey;
}

test('resolve: contexts too large for one response arrive in several, for any organizations', async () => {
  const [hostile, other] = [await plane().createMember('owner'), await plane().createMember('owner')];
  const [heavy, light] = [await createTokenWithAccounts(hostile, 100), await createTokenWithAccounts(other, 1)];
  const [{ agentId }] = (await hostile.call('GET', '/v1/api-keys')).body.keys;
  const all = [heavy];
  while (all.length < 11) {
    all.push((await hostile.call('POST', '/v1/api-keys', { name: 'k', agentId })).body.secretKey);
  }
  all.push(light);
  const tokens = all.map((token) => ({ tokenHash: hashOf(token), agentRef: '' }));
  const { answers } = await client.resolveTokens({ tokens, dataPlaneId: 'dp' }, 20_000);
  expect(answers!.map(({ outcome }) => outcome)).toEqual([Outcome.FOUND, Outcome.FOUND]);
  const watched = connectContextCache([plane().grpcAddress], plane().config.link);
  await waitUntil('the watch is up', () => watched.source.isUp);
  const found = await Promise.all(all.map((token) => watched.resolve(token)));
  watched.stop();
  expect(found.map(({ context }) => context?.orgId)).toEqual([...Array(11).fill(hostile.orgId), other.orgId]);
});

test('resolve: budget rows count in the size of a response', async () => {
  const owner = await plane().createMember('owner');
  const first = await createTokenWithAccounts(owner, 1);
  const [{ agentId }] = (await owner.call('GET', '/v1/api-keys')).body.keys;
  const second = (await owner.call('POST', '/v1/api-keys', { name: 'k', agentId })).body.secretKey;
  const tokens = [first, second].map((token) => ({ tokenHash: hashOf(token), agentRef: '' }));
  const countAnswers = async () => (await client.resolveTokens({ tokens, dataPlaneId: 'dp' }, 20_000)).answers!.length;
  expect(await countAnswers()).toBe(2);
  await sql()`
    insert into budgets (id, org_id, time_window, cents, mode, tag, models)
    select gen_random_uuid(), ${owner.orgId}, 'day', 1, 'soft', 'n=' || n, array_fill('gpt-5-mini'::text, array[100])
      from generate_series(1, 2000) n`;
  expect(await countAnswers()).toBe(1);
});
