/** TLS, ACL users and the warning about eviction. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedisCounters } from '@acg/dataplane/counters/redis/redis-counters';
import { TPM_ROW } from '@acg/dataplane/limits/limit-table';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RedisServer } from '../fixtures/redis-server.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { admit, CountingMetrics, captureLog, createAdmissionRequest, peek, silentLogger } from './counters-fixture.js';

let directory: string;
let server: RedisServer;
let caPem: string;
/** The ACL rights of the data planes' user as in docs/operations.md. */
const ACL_RIGHTS = [
  '~acg:*',
  '+evalsha',
  '+eval',
  '+get',
  '+set',
  '+expire',
  '+pexpire',
  '+getrange',
  '+setrange',
  '+time',
  '+hmget',
  '+hset',
  '+hdel',
  '+hgetall',
];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'acg-tls-'));
  const at = (name: string): string => join(directory, name);
  const openssl = (...args: string[]): unknown => execFileSync('openssl', args, { stdio: 'ignore' });
  openssl(
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=test ca',
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.pem'),
  );
  openssl(
    'req',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-subj',
    '/CN=localhost',
    '-addext',
    'subjectAltName=IP:127.0.0.1',
    '-keyout',
    at('redis.key'),
    '-out',
    at('redis.csr'),
  );
  openssl(
    'x509',
    '-req',
    '-in',
    at('redis.csr'),
    '-CA',
    at('ca.pem'),
    '-CAkey',
    at('ca.key'),
    '-CAcreateserial',
    '-days',
    '2',
    '-copy_extensions',
    'copy',
    '-out',
    at('redis.pem'),
  );
  caPem = readFileSync(at('ca.pem'), 'utf8');
  server = await RedisServer.start({
    tls: { ca: at('ca.pem'), cert: at('redis.pem'), key: at('redis.key'), caPem },
    args: ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'],
  });
  await server.admin.call('ACL', 'SETUSER', 'gateway', 'on', '>p@ss/word:1', ...ACL_RIGHTS);
});
afterAll(async () => {
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
});

const redisUrlWithUser = (password: string): URL => {
  const url = new URL(server.url);
  url.username = 'gateway';
  url.password = encodeURIComponent(password);
  return url;
};
const counterOptions = (url: URL, tlsCa: string | null) => ({
  urls: [url],
  connectionName: 'acg-named',
  tlsCa,
  timeoutMs: 1_000,
});

test('redis access: works over TLS with an ACL user that has only the rights of the script', async () => {
  const counters = new RedisCounters(
    counterOptions(redisUrlWithUser('p@ss/word:1'), caPem),
    silentLogger,
    new CountingMetrics(),
  );
  await counters.waitForStoreAndCheckEviction();
  expect(counters.isEnforcing).toBe(true);
  const request = createAdmissionRequest({ rpmLimit: 1, tpmLimit: 9, budgetNanos: 100, hardBudget: true });
  const { limits, providerSlug } = request;
  const admittedAtSec = Math.floor(Date.now() / 1000);
  counters.settle({ limits, providerSlug, admittedAtSec, costNanos: 7, tokens: 8, reservationNanos: 0 });
  expect(await admit(counters, { ...request, reservationNanos: 9 })).toMatchObject({
    outcome: 'admitted',
    spentNanos: 7,
  });
  expect((await admit(counters, request)).outcome).toBe('rpm');
  counters.settle({ limits, providerSlug, admittedAtSec, costNanos: 0, tokens: 1, reservationNanos: 9 });
  expect((await admit(counters, { ...request, providerSlug: 'other' })).outcome).toBe('admitted');
  const shown = await peek(counters, { limits, providerSlugs: [providerSlug] });
  expect(shown?.windows[0]?.remaining[TPM_ROW]).toBe(0);
  await counters.close();
});

test('redis access: the connection has a name', async () => {
  const counters = new RedisCounters(counterOptions(server.url, caPem), silentLogger, new CountingMetrics());
  await counters.waitForStoreAndCheckEviction();
  expect(String(await server.admin.client('LIST'))).toContain('name=acg-named');
  await counters.close();
});

test.each([
  ['a wrong password', () => counterOptions(redisUrlWithUser('wrong'), caPem)],
  ['a certificate of an unknown authority', () => counterOptions(server.url, null)],
])('redis access: %s fails open, is logged once, and never shows the password', async (_name, made) => {
  const { log, lines } = captureLog();
  const counters = new RedisCounters(made(), log, new CountingMetrics());
  await counters.waitForStoreAndCheckEviction();
  expect(counters.isEnforcing).toBe(false);
  expect((await admit(counters, createAdmissionRequest())).outcome).toBe('unchecked');
  expect(lines).toEqual(['warn: counter store unavailable: requests pass unchecked']);
  await counters.close();
});

test('redis access: an eviction policy that changes is noticed at the next connection, and logged once', async () => {
  const { log, lines } = captureLog();
  const metrics = new CountingMetrics();
  const counters = new RedisCounters(counterOptions(server.url, caPem), log, metrics);
  const reconnect = async (policy: string) => {
    await server.admin.config('SET', 'maxmemory-policy', policy);
    counters.client.reconnect(0);
  };
  try {
    await counters.waitForStoreAndCheckEviction();
    expect([metrics.isEvictable, lines]).toEqual([
      true,
      [expect.stringContaining('Set maxmemory-policy to noeviction')],
    ]);
    await reconnect('noeviction');
    await waitUntil('the safe policy is known', () => !metrics.isEvictable);
    await reconnect('volatile-ttl');
    await waitUntil('the other one is known', () => metrics.isEvictable);
    expect(lines.filter((line) => line.includes('maxmemory-policy'))).toHaveLength(2);
  } finally {
    await counters.close();
  }
});
