/**
 * Failovers of Postgres under real planes: the primary is killed with SIGKILL and its standby promoted. With a lagging
 * asynchronous standby, lost usage is recorded again and revocations are still pushed; with a synchronous standby
 * nothing is lost and nothing is reset. docs/operations.md has the results of these drills.
 */

import { OpenAiStandIn } from '@acg/stand-in-provider/openai';
import { request } from 'undici';
import { expect, test } from 'vitest';
import { PostgresPair } from '../fixtures/postgres-pair.js';
import { RedisServer } from '../fixtures/redis-server.js';
import { Stack } from '../fixtures/stack.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';

const CALLS_BEFORE = 20;
const CALLS_LOST = 40;

async function startFailoverDrill(synchronous: boolean) {
  const openai = new OpenAiStandIn();
  await openai.start();
  const [pair, redis] = [await PostgresPair.start(synchronous), await RedisServer.start()];
  const stack = await Stack.start({
    database: pair.database,
    providers: { openai: openai.origin },
    redisUrl: redis.url.href,
  });
  const sql = pair.open();
  const tenant = await stack.signUpTenant();
  const agent = await tenant.createAgent({ rpmLimit: 10_000 });
  await tenant.createAccount(agent.id, 'openai', { apiKey: PROVIDER_CREDENTIALS.openai });
  const planes = [await stack.addDataPlane(), await stack.addDataPlane()];
  const sent: string[] = [];

  /** Returns the status; 0 when the connection was closed first, as a rejection that does not read the body may do. */
  const call = async (token: string, plane = planes[0]!): Promise<number> => {
    try {
      const answer = await request(`${plane.url}/v1/proxy/openai/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'hello' }] }),
      });
      if (answer.statusCode === 200) sent.push(String(answer.headers['x-gateway-request-id']));
      await answer.body.dump();
      return answer.statusCode;
    } catch {
      return 0;
    }
  };
  /** Status of a request that is not a call: a revocation that arrives meanwhile cannot abort a recorded call. */
  const self = async (token: string): Promise<number> =>
    (await fetch(`${planes[0]!.url}/v1/self`, { headers: { authorization: `Bearer ${token}` } })).status;
  const sumMetric = async (url: string, name: string): Promise<number> => {
    const text = await (await fetch(`${url}/metrics`)).text();
    const lines = text.split('\n').filter((line) => line.startsWith(name) && !line.startsWith('#'));
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  };
  const readRecordIds = async (): Promise<readonly string[]> => {
    const rows = await sql<{ id: string }[]>`select id from usage_records where agent_id = ${agent.id} order by id`;
    return rows.map(({ id }) => id);
  };
  return {
    pair,
    sql,
    tenant,
    agent,
    planes,
    sent,
    call,
    self,
    readRecordIds,
    rewinds: (seenIn: string) => sumMetric(stack.apiUrl, `gateway_database_rewinds_total{seen_in="${seenIn}"}`),
    sentAgain: () => Promise.all(planes.map(({ metricsUrl }) => sumMetric(metricsUrl, 'gateway_spool_rewinds_total'))),
    msPerBatch: async () => {
      const [seconds, batches] = await Promise.all([
        sumMetric(stack.apiUrl, 'gateway_ingest_batch_seconds_sum'),
        sumMetric(stack.apiUrl, 'gateway_ingest_batch_seconds_count'),
      ]);
      return (1_000 * seconds) / batches;
    },
    /** Sends calls alternately through both planes; resolves when the ledger has them. */
    async calls(token: string, count: number): Promise<void> {
      for (let i = 0; i < count; i++) expect(await call(token, planes[i % 2]!)).toBe(200);
      // Connections to a killed primary may still fail after the failover.
      await waitUntil(
        'the ledger has them',
        async () => (await readRecordIds().catch(() => [])).length === sent.length,
      );
    },
    async stop(): Promise<void> {
      await sql.end({ timeout: 1 });
      await stack.stop();
      await pair.stop();
      await redis.stop();
      await openai.close();
    },
  };
}

const readSpentNanos = async ({ sql, agent }: Awaited<ReturnType<typeof startFailoverDrill>>) => {
  const [row] = await sql<{ month: string; records: string; hours: string; scopes: string }[]>`
    select (select sum(spent_nanos) from month_spend where agent_id = ${agent.id}) as month,
           (select sum(cost_nanos) from usage_records where agent_id = ${agent.id}) as records,
           (select sum(cost_nanos) from usage_hourly where agent_id = ${agent.id}) as hours`;
  return row!;
};

test('failover: with a lagging standby lost usage is recorded again, and revocations are still pushed', async () => {
  const environment = await startFailoverDrill(false);
  try {
    const { tenant, agent, pair, call, self, calls, planes, sent, readRecordIds } = environment;
    const [kept, revoked] = [await tenant.createToken(agent.id), await tenant.createToken(agent.id)];
    const keys = await tenant.call('GET', `/v1/api-keys?agentId=${agent.id}`);
    const idOf = (token: string): string =>
      keys.body.keys.find((key: { keyPrefix: string }) => token.startsWith(key.keyPrefix)).id;
    await calls(kept, CALLS_BEFORE);
    const msPerBatch = await environment.msPerBatch();
    await pair.waitUntilCaughtUp();

    pair.stopReplication();
    expect(await call(revoked)).toBe(200);
    await calls(kept, CALLS_LOST - 1);
    expect((await tenant.call('DELETE', `/v1/api-keys/${idOf(revoked)}`)).status).toBe(200);
    await waitUntil('the revocation is pushed', async () => (await self(revoked)) === 401);
    for (let i = 0; i < 5; i++) await tenant.call('PATCH', `/v1/agents/${agent.id}`, { description: `lost ${i}` });
    const before = [...sent].sort();
    expect(await readRecordIds()).toEqual(before);

    const outageMs = await pair.failOver();
    const promotedMs = performance.now();
    const left = await waitUntil('the new primary answers', () => readRecordIds().catch(() => null));
    await waitUntil('all usage is back', async () => (await readRecordIds().catch(() => [])).length >= before.length);
    const backMs = performance.now() - promotedMs;
    expect(await readRecordIds()).toEqual(before);
    const { month, records, hours } = await readSpentNanos(environment);
    expect([month, hours]).toEqual([records, records]);
    await waitUntil('both data planes have sent theirs', async () =>
      (await environment.sentAgain()).every((times) => times === 1),
    );

    // A token revoked in the lost time is valid again: only another revocation helps, and it is pushed.
    await waitUntil('the key is good again', async () => (await call(revoked)) === 200);
    expect((await tenant.call('DELETE', `/v1/api-keys/${idOf(revoked)}`)).status).toBe(200);
    const revokedMs = performance.now();
    for (const plane of planes) await waitUntil('it is rejected', async () => (await call(revoked, plane)) === 401);
    const pushMs = performance.now() - revokedMs;
    expect(await environment.rewinds('revisions')).toBe(1);
    expect(await environment.rewinds('usage')).toBe(planes.length);
    console.info(
      `asynchronous: ${before.length - left.length} of ${before.length} acknowledged calls lost at the promotion, all recorded again ` +
        `${Math.round(backMs)} ms after it; outage ${Math.round(outageMs)} ms; next revocation pushed in ${Math.round(pushMs)} ms; ` +
        `${msPerBatch.toFixed(1)} ms a batch`,
    );
  } finally {
    await environment.stop();
  }
});

test('failover: with a synchronous standby nothing is lost and nothing is sent again', async () => {
  const environment = await startFailoverDrill(true);
  try {
    const { tenant, agent, pair, call, calls, planes, sent, readRecordIds } = environment;
    const token = await tenant.createToken(agent.id);
    await calls(token, CALLS_BEFORE);
    const msPerBatch = await environment.msPerBatch();
    // Revisions and usage of the last moment, immediately before the kill.
    await tenant.call('PATCH', `/v1/agents/${agent.id}`, { description: 'last' });
    await calls(token, 2);
    const before = [...sent].sort();
    const outageMs = await pair.failOver();
    expect(await waitUntil('the new primary answers', () => readRecordIds().catch(() => null))).toEqual(before);
    await calls(token, 10);
    const { body } = await waitUntil('the API answers', async () => {
      const answer = await tenant.call('GET', `/v1/api-keys?agentId=${agent.id}`);
      return answer.status === 200 ? answer : null;
    });
    expect((await tenant.call('DELETE', `/v1/api-keys/${body.keys[0].id}`)).status).toBe(200);
    for (const plane of planes) await waitUntil('it is rejected', async () => (await call(token, plane)) === 401);
    expect([
      await environment.rewinds('revisions'),
      await environment.rewinds('usage'),
      await environment.sentAgain(),
    ]).toEqual([0, 0, [0, 0]]);
    console.info(`synchronous: nothing lost; outage ${Math.round(outageMs)} ms; ${msPerBatch.toFixed(1)} ms per batch`);
  } finally {
    await environment.stop();
  }
});
