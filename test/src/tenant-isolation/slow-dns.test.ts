/**
 * Host names of tenants whose DNS never responds: calls that wait for them occupy nothing that other organizations
 * need.
 */
import { randomUUID } from 'node:crypto';
import { TenantNameResolver } from '@acg/base/dns/tenant-name-resolver';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';

const plane = useControlPlane();

/** Lookups of `*.slow.com`, each pending until it is answered. */
const pendingLookups: (() => void)[] = [];
let isResolverSilent = true;
const { resolve } = TenantNameResolver.prototype;
const answerPendingLookups = (): void => {
  isResolverSilent = false;
  for (const answer of pendingLookups.splice(0)) answer();
};
beforeAll(() => {
  TenantNameResolver.prototype.resolve = async function (name, tenant) {
    if (!name.endsWith('.slow.com')) return resolve.call(this, name, tenant);
    if (isResolverSilent) await new Promise<void>((answer) => pendingLookups.push(answer));
    return [{ address: '127.0.0.1', family: 4 }];
  };
});
afterAll(() => {
  TenantNameResolver.prototype.resolve = resolve;
});
afterEach(() => {
  answerPendingLookups();
  isResolverSilent = true;
});

const WEBHOOK = ['/v1/webhooks', { url: 'http://hook.slow.com/', events: ['agent.created'] }] as const;
const headersOf = (key: string) => ({ 'idempotency-key': key });
const postWithIdempotencyKey = (by: Member, [path, body]: readonly [string, unknown], key = randomUUID() as string) =>
  by.call('POST', path, body, headersOf(key));
const project = (name: string) => ['/v1/projects', { name }] as const;
const openTransactions = async (): Promise<number> => {
  const [row] = await plane().database.sql`
    select count(*)::int as n from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`;
  return row!.n;
};

test('organizations with hanging lookups delay no other organization, and get a response in the end', async () => {
  const hostile = await Promise.all(Array.from({ length: 6 }, () => plane().createMember('owner')));
  const other = await plane().createMember('owner');
  const asked = Array.from({ length: 60 }, (_, n) => postWithIdempotencyKey(hostile[n % 6]!, WEBHOOK));
  await expect.poll(() => pendingLookups.length).toBe(60);
  await expect.poll(openTransactions).toBe(0); // of the background, there may be one for a moment
  expect((await postWithIdempotencyKey(other, project('Theirs'))).status).toBe(201);
  answerPendingLookups();
  expect(new Set((await Promise.all(asked)).map(({ status }) => status))).toEqual(new Set([201]));
});

test('the call takes effect once, and its response is repeated without a lookup', async () => {
  const owner = await plane().createMember('owner');
  const own = { slug: 'own', displayName: 'x', baseUrl: 'http://own.slow.com/', authType: 'bearer' };
  const key = randomUUID();
  const twins: ReturnType<typeof postWithIdempotencyKey>[] = [];
  for (let n = 1; n <= 3; n++) {
    twins.push(postWithIdempotencyKey(owner, ['/v1/custom-providers', own], key));
    await expect.poll(() => pendingLookups.length).toBe(n);
  }
  answerPendingLookups();
  const statuses = (await Promise.all(twins)).map(({ status }) => status);
  expect([statuses.filter((status) => status === 201).length, new Set(statuses)]).toEqual([1, new Set([201, 409])]);
  isResolverSilent = true;
  const again = await postWithIdempotencyKey(owner, ['/v1/custom-providers', own], key);
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
  expect((await postWithIdempotencyKey(owner, WEBHOOK, key)).status).toBe(409);
  expect((await owner.call('GET', '/v1/audit?action=custom_provider.create')).body.total).toBe(1);
});

test('a call that reads before it waits, and secrets after it, are whole', async () => {
  const owner = await plane().createMember('owner');
  const projectId = (await owner.call('POST', '/v1/projects', { name: 'P' })).body.project.id;
  const agentId = (await owner.call('POST', '/v1/agents', { projectId, name: 'A' })).body.agent.id;
  const credentials = { url: 'https://db.slow.com', apiKey: 'key-0123456789' };
  const calls = [
    postWithIdempotencyKey(owner, ['/v1/providers/accounts', { agentId, providerSlug: 'supabase', credentials }]),
    postWithIdempotencyKey(owner, WEBHOOK, 'one'),
  ];
  await expect.poll(() => pendingLookups.length).toBe(2);
  answerPendingLookups();
  const [account, webhook] = await Promise.all(calls);
  expect([account!.status, account!.body, webhook!.status]).toEqual([201, expect.anything(), 201]);
  expect((await postWithIdempotencyKey(owner, WEBHOOK, 'one')).body).toEqual(webhook!.body);
});

test('a client that disconnects during a lookup leaves nothing behind', async () => {
  const owner = await plane().createMember('owner');
  const headers = { authorization: `Bearer ${owner.token}`, 'content-type': 'application/json' };
  const left = Array.from({ length: 12 }, () => {
    const gone = new AbortController();
    const [path, body] = WEBHOOK;
    const more = { ...headers, ...headersOf(randomUUID()) };
    const init = { method: 'POST', headers: more, body: JSON.stringify(body), signal: gone.signal };
    void fetch(plane().url + path, init).catch(() => {});
    return gone;
  });
  await expect.poll(() => pendingLookups.length).toBe(12);
  for (const gone of left) gone.abort();
  answerPendingLookups();
  for (let n = 0; n < 12; n++) expect((await postWithIdempotencyKey(owner, project(`n${n}`))).status).toBe(201);
  await expect.poll(openTransactions).toBe(0);
});
