/** The list of rejected calls: what real calls leave in it, who may read it, and its bounds. */
import { createLogger } from '@acg/base/log';
import { uuidv7 } from '@acg/base/uuidv7';
import { REJECTED_CALLS_PER_AGENT } from '@acg/controlplane/ledger/rejection-and-quarantine-store';
import { UsageRetention } from '@acg/controlplane/ledger/usage-retention';
import { OpenAiStandIn } from '@acg/stand-in-provider/openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Stack, waitForCondition } from '../fixtures/stack.js';
import { useTestDatabase } from '../fixtures/test-database.js';
import { createIngest, newId } from '../ledger/usage-fixture.js';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';

const openai = new OpenAiStandIn();
let stack: Stack;
let gateway = '';
const db = useTestDatabase();

beforeAll(async () => {
  await openai.start();
  stack = await Stack.start({ providers: { openai: openai.origin } });
  gateway = (await stack.addDataPlane()).url;
});
afterAll(async () => {
  await stack?.stop();
  await openai.close();
});

test('rejected calls: key, path, model, reason and client network are listed, and no token is', async () => {
  const [tenant, stranger] = [await stack.signUpTenant(), await stack.signUpTenant()];
  const agent = await tenant.createAgent({
    name: 'Curious',
    policy: { openai: { models: { allow: ['gpt-5-mini'] } } },
  });
  await tenant.createAccount(agent.id, 'openai', { apiKey: PROVIDER_CREDENTIALS.openai });
  const token = await tenant.createToken(agent.id);
  const call = async (method: string, path: string, body?: object): Promise<number> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const url = `${gateway}/v1/proxy/openai${path}`;
    return (await fetch(url, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }))
      .status;
  };
  expect(await call('GET', `/v1/organization/admin_api_keys?after=${token}`)).toBe(403);
  expect(await call('POST', '/v1/chat/completions', { model: `gpt-5 ${token}`, messages: [] })).toBe(403);
  const list = (query = '') => tenant.call('GET', `/v1/usage/rejected-calls${query}`);
  await waitForCondition(async () => (await list()).body.total === 2, 'the rejected calls');
  const { calls } = (await list(`?agentId=${agent.id}`)).body;
  const common = { agentId: agent.id, agentName: 'Curious', providerSlug: 'openai', clientNetwork: '127.0.0.1' };
  expect(calls).toMatchObject([
    { ...common, status: 403, reason: 'denied_model', method: 'POST', path: '/v1/chat/completions', tool: null },
    { ...common, status: 403, reason: 'sensitive_path', path: '/v1/organization/admin_api_keys', model: null },
  ]);
  expect(JSON.stringify(calls)).not.toContain(token);
  expect(calls[0].model).toContain('gpt-5 acg_');
  expect(calls[0].keyPrefix).toBe(token.slice(0, calls[0].keyPrefix.length));

  const total = async (query: string): Promise<number> => (await list(query)).body.total;
  expect(await total('?reason=sensitive_path')).toBe(1);
  expect(await total(`?keyId=${calls[0].keyId}&projectId=${tenant.projectId}&limit=1`)).toBe(2);
  expect(await total(`?endTime=${calls[1].rejectedAt}`)).toBe(0);
  expect((await stranger.call('GET', '/v1/usage/rejected-calls')).body.total).toBe(0);
  expect((await stranger.call('GET', `/v1/usage/rejected-calls?agentId=${agent.id}`)).status).toBe(404);
});

const rejectedCall = (atMs: number) => ({
  ...{ id: uuidv7(atMs), keyId: newId(), rejectedAtMs: atMs, status: 429, method: 'GET', path: '/v1/models' },
  ...{ model: '', tool: '', clientNetwork: '192.0.2.1' },
});

const rejectionCount = (ids: { orgId: string; agentId: string }, nowMs: number, calls: object[]) => ({
  ...{ id: newId(), ...ids, providerSlug: 'openai', reason: 'rpm', minuteMs: nowMs - (nowMs % 60_000) },
  ...{ count: calls.length, calls },
});

test('rejected calls: the newest of each agent stay, a report counts once, and what is invalid is left out', async () => {
  const { sql } = db();
  const ingest = createIngest(sql);
  const ids = { orgId: newId(), agentId: newId() };
  const quiet = { orgId: ids.orgId, agentId: newId() };
  const nowMs = Date.now();
  const startMs = nowMs - 3_600_000;
  const flood = Array.from({ length: REJECTED_CALLS_PER_AGENT + 40 }, (_, i) => rejectedCall(startMs + i * 10));
  const counts = Array.from({ length: flood.length / 10 }, (_, i) =>
    rejectionCount(ids, nowMs, flood.slice(i * 10, i * 10 + 10)),
  );
  const one = rejectionCount(quiet, nowMs, [
    rejectedCall(nowMs),
    { ...rejectedCall(nowMs), keyId: 'none' },
    rejectedCall(nowMs + 9 * 86_400_000),
    { ...rejectedCall(nowMs), path: `/a\0b${'x'.repeat(5_000)}`, status: 70_000 },
  ]);
  await ingest.report({ dataPlaneId: 'd', rejections: [...counts, one] });
  await ingest.report({ dataPlaneId: 'd', rejections: [one, counts[0]!] });
  const kept = async (agentId: string) =>
    (
      await sql<{ id: string }[]>`
        select id from rejected_calls where org_id = ${ids.orgId} and agent_id = ${agentId} order by rejected_at desc`
    ).map(({ id }) => id);
  expect(await kept(ids.agentId)).toEqual(
    flood
      .slice(-REJECTED_CALLS_PER_AGENT)
      .map(({ id }) => id)
      .reverse(),
  );
  expect(await kept(quiet.agentId)).toHaveLength(2);
  const [long] = await sql<{ path: string; status: number }[]>`
    select path, status from rejected_calls where agent_id = ${quiet.agentId} and path <> '/v1/models'`;
  expect([long!.path.length <= 1_024, long!.path.includes('\0'), long!.status]).toEqual([true, false, 999]);

  const retention = new UsageRetention(
    sql,
    { logs: 90, rejections: 400, rollups: null },
    createLogger('test', 'silent'),
  );
  await retention.deleteExpiredUsage(nowMs + 29 * 86_400_000);
  expect(await kept(quiet.agentId)).toHaveLength(2);
  await retention.deleteExpiredUsage(nowMs + 31 * 86_400_000);
  expect([await kept(quiet.agentId), await kept(ids.agentId)]).toEqual([[], []]);
});
