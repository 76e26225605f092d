/** One session with many slow concurrent requests does not delay the requests of others. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TooManyRequestsDelay } from '@acg/controlplane/http/delay-429-responses';
import { afterEach, expect, test } from 'vitest';
import { useControlPlane } from '../fixtures/control-plane.js';

const plane = useControlPlane();

test('requests that wait in the database do not delay other organizations, and finish in the end', async () => {
  const [hostile, other] = [await plane().createMember('owner'), await plane().createMember('owner')];
  const made = await hostile.call('POST', '/v1/projects', { name: 'Mine' });
  const { id } = made.body.project;
  const { sql } = plane().database;
  let release = (): void => {};
  const held = new Promise<void>((go) => {
    release = go;
  });
  const lock = sql.begin(async (tx) => {
    await tx`select 1 from projects where id = ${id} for update`;
    await held;
  });
  const waiting = async (): Promise<number> => {
    const [row] = await sql`
      select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    return row!.n;
  };
  const asked = Array.from({ length: 60 }, (_, n) => hostile.call('PATCH', `/v1/projects/${id}`, { name: `n${n}` }));
  await expect.poll(waiting).toBeGreaterThanOrEqual(6);
  expect((await other.call('GET', '/v1/me')).status).toBe(200);
  expect((await other.call('POST', '/v1/projects', { name: 'Theirs' })).status).toBe(201);
  expect(await waiting()).toBe(6);
  release();
  await lock;
  expect(new Set((await Promise.all(asked)).map(({ status }) => status))).toEqual(new Set([200]));
});

test('rejected, failed and aborted requests release their slot', async () => {
  const owner = await plane().createMember('owner');
  const authorization = `Bearer ${owner.token}`;
  for (let n = 0; n < 20; n++) {
    expect((await owner.call('POST', '/v1/projects', { name: '' })).status).toBe(400);
    expect((await owner.call('GET', '/v1/projects/00000000-0000-4000-8000-000000000000')).status).toBe(404);
    const gone = new AbortController();
    const sent = fetch(`${plane().url}/v1/projects`, { headers: { authorization }, signal: gone.signal });
    gone.abort();
    await sent.catch(() => {});
  }
  expect((await owner.call('GET', '/v1/me')).status).toBe(200);
});

/** Rejections that wait here, from the first use of {@link holdTarpit} to the end of the test. */
const delayedRejections: (() => void)[] = [];
const { delay: wait } = TooManyRequestsDelay.prototype;
const holdTarpit = (): void => {
  TooManyRequestsDelay.prototype.delay = () => new Promise((go) => delayedRejections.push(go));
};
const releaseTarpit = (): void => {
  TooManyRequestsDelay.prototype.delay = wait;
  for (const go of delayedRejections.splice(0)) go();
};
afterEach(releaseTarpit);

test('tarpit: rejections of excess requests are delayed, so immediate retries do not pay off', async () => {
  const owner = await plane().createMember('owner');
  const invite = (n: number) => owner.call('POST', '/v1/members', { email: `n${n}@example.org`, role: 'viewer' });
  for (let n = 0; n < 20; n++) expect((await invite(n)).status).toBe(201);
  holdTarpit();
  const refused = invite(20);
  await expect.poll(() => delayedRejections.length).toBe(1);
  expect((await owner.call('GET', '/v1/me')).status).toBe(200);
  releaseTarpit();
  expect((await refused).status).toBe(429);
});

test.each([
  ['plain', () => ({})],
  ['with an Idempotency-Key', () => ({ 'idempotency-key': randomUUID() })],
] as const)('refused calls, %s, keep nobody waiting until they are told, however many', async (_how, headers) => {
  const { sql } = plane().database;
  const other = await plane().createMember('owner');
  const asked = Array.from({ length: 14 }, async () => {
    const owner = await plane().createMember('owner');
    const hook = { url: 'http://127.0.0.1:9/', events: ['agent.created'] };
    const { id } = (await owner.call('POST', '/v1/webhooks', hook)).body.endpoint;
    await sql`
      insert into throttle_windows (key, count, expires_at)
      values (${`webhook-test:${owner.orgId}`}, 1000000, now() + interval '1 day')`;
    return () => owner.call('POST', `/v1/webhooks/${id}/test`, undefined, headers());
  });
  const calls = await Promise.all(asked);
  holdTarpit();
  const refused = calls.map((call) => call());
  await expect.poll(() => delayedRejections.length).toBe(14);
  expect((await other.call('GET', '/v1/me')).status).toBe(200);
  expect((await other.call('POST', '/v1/projects', { name: 'Theirs' }, headers())).status).toBe(201);
  releaseTarpit();
  for (const { status } of await Promise.all(refused)) expect(status).toBe(429);
});

test('organizations with unresponsive providers delay no other organization, in any number', async () => {
  let hanging = 0;
  const provider = createServer(() => {
    hanging++;
  });
  await once(provider.listen(0, '127.0.0.1'), 'listening');
  const baseUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const other = await plane().createMember('owner');
  let answered = 0;
  const asked: Promise<unknown>[] = [];
  const hostile = await Promise.all(Array.from({ length: 14 }, () => plane().createMember('owner')));
  for (const owner of hostile) {
    const own = { slug: 'own', displayName: 'x', baseUrl, authType: 'bearer' };
    expect((await owner.call('POST', '/v1/custom-providers', own)).status).toBe(201);
  }
  const body = { providerSlug: 'own', credentials: { apiKey: 'key-0123456789' } };
  for (let n = 0; n < 42; n++) {
    asked.push(hostile[n % 14]!.call('POST', '/v1/providers/accounts/test', body).then(() => answered++));
  }
  await expect.poll(() => hanging).toBeGreaterThanOrEqual(6);
  expect((await other.call('GET', '/v1/me')).status).toBe(200);
  expect((await other.call('POST', '/v1/projects', { name: 'Theirs' })).status).toBe(201);
  expect(answered).toBe(0);
  const timer = setInterval(() => provider.closeAllConnections(), 50);
  await Promise.all(asked);
  clearInterval(timer);
  provider.close();
  for (let n = 0; n < 20; n++) expect((await other.call('GET', '/v1/me')).status).toBe(200);
});
