import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LOOKUPS_PER_TENANT, TenantNameResolver, type TenantNameResolverOptions } from './tenant-name-resolver.js';
import { NameServer, type Zone } from './testing/name-server-fixture.js';

let directory: string;
const closing: (() => void)[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'acg-names-'));
  closing.push(() => rmSync(directory, { recursive: true }));
});
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const put = (name: string, text: string): string => {
  const path = join(directory, name);
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
  return path;
};

async function start(zone: Zone, over: Partial<TenantNameResolverOptions> = {}, conf = '') {
  const server = await NameServer.start(zone);
  closing.push(() => server.stop());
  const [hostsPath, resolvConfPath] = [put('hosts', ''), put('resolv.conf', conf)];
  const names = new TenantNameResolver({
    hostsPath,
    resolvConfPath,
    servers: [server.address],
    fileCheckIntervalMs: 0,
    ...over,
  });
  const resolve = async (name: string, tenant = 'a'): Promise<string[]> =>
    (await names.resolve(name, tenant)).map(({ address }) => address);
  return { server, names, resolve };
}

const dead = (i: number): string => `dead-${i}.example.com`;

test('tenant names: silent name servers of one organization do not delay other organizations', async () => {
  const { server, resolve } = await start({ 'good.example.com': ['93.184.216.34'] });
  const hanging = Array.from({ length: 40 }, (_, i) => resolve(dead(i)));
  for (const lookup of hanging) lookup.catch(() => {});
  await server.until(() => server.names(/^dead/).size === LOOKUPS_PER_TENANT);
  expect(await resolve('good.example.com', 'b')).toEqual(['93.184.216.34']);
  // The first organization's other lookups are still queued.
  expect(server.names(/^dead/).size).toBe(LOOKUPS_PER_TENANT);
});

test('tenant names: a released slot goes to the next lookup of the same organization', async () => {
  const { server, resolve } = await start({ 'last.example.com': ['93.184.216.34'] }, { tryTimeoutMs: 50 });
  const hanging = Array.from({ length: LOOKUPS_PER_TENANT }, (_, i) => resolve(dead(i)));
  const last = resolve('last.example.com');
  const ends = await Promise.allSettled(hanging);
  expect(ends.every((end) => end.status === 'rejected' && end.reason.code === 'EAI_AGAIN')).toBe(true);
  expect(await last).toEqual(['93.184.216.34']);
  expect(server.asked.indexOf('last.example.com')).toBeGreaterThan(server.asked.indexOf(dead(0)));
});

test('tenant names: rejects lookups of an organization that has too many queued', async () => {
  const { resolve } = await start({});
  const codes = new Map<string, number>();
  const lookups = Array.from({ length: 300 }, (_, i) =>
    resolve(dead(i)).catch((error: { code: string }) => codes.set(error.code, (codes.get(error.code) ?? 0) + 1)),
  );
  await Promise.race([lookups[299], Promise.all(lookups)]);
  expect(codes.get('LOOKUPS_BUSY')).toBeGreaterThan(0);
});

test('tenant names: queries A and AAAA separately, and one answer is enough', async () => {
  const { server, resolve } = await start({ 'two.example.com': ['93.184.216.34', '2606:4700::1111'] });
  expect((await resolve('two.example.com')).sort()).toEqual(['2606:4700::1111', '93.184.216.34']);
  const half = await start({ 'two.example.com': ['93.184.216.34', '2606:4700::1111'] });
  half.server.muteV6 = true;
  expect(await half.resolve('two.example.com')).toEqual(['93.184.216.34']);
  expect(server.asked.length).toBe(2);
});

test('tenant names: concurrent callers share one lookup, and its answer is cached', async () => {
  const { server, resolve } = await start({ 'good.example.com': ['93.184.216.34'] });
  await Promise.all(['a', 'b', 'c'].map((tenant) => resolve('good.example.com', tenant)));
  await resolve('GOOD.example.com', 'd');
  expect(server.asked).toEqual(['good.example.com', 'good.example.com']);
});

test.each([
  [1, 5],
  [30, 30],
  [86_400, 60],
])('tenant names: an answer with a TTL of %i s is cached for %i s', async (ttlSec, keptSec) => {
  let nowPerfMs = 1;
  const { server, resolve } = await start({ 'good.example.com': ['93.184.216.34'] }, { nowPerfMs: () => nowPerfMs });
  server.ttlSec = ttlSec;
  const asked: number[] = [];
  await resolve('good.example.com');
  for (const atSec of [keptSec - 1, 2]) {
    nowPerfMs += atSec * 1_000;
    await resolve('good.example.com');
    asked.push(server.asked.length);
  }
  expect(asked).toEqual([2, 4]);
});

test('tenant names: NXDOMAIN is cached for 5 s', async () => {
  let nowPerfMs = 1;
  const { server, resolve } = await start({ 'none.example.com': [] }, { nowPerfMs: () => nowPerfMs });
  for (let i = 0; i < 2; i++) await expect(resolve('none.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  expect(server.asked.length).toBe(2);
  nowPerfMs += 5_001;
  server.zone['none.example.com'] = ['93.184.216.34'];
  expect(await resolve('none.example.com')).toEqual(['93.184.216.34']);
});

test('tenant names: applies search domains and ndots, so names inside a cluster resolve', async () => {
  const zone: Zone = {
    'minio.storage.svc.cluster.local': ['10.1.2.3'],
    'minio.storage.default.svc.cluster.local': [],
    'minio.storage': [],
    'api.example.com': ['93.184.216.34'],
    'api.example.com.default.svc.cluster.local': [],
    'api.example.com.svc.cluster.local': [],
  };
  const conf = 'nameserver 10.0.0.10\nsearch default.svc.cluster.local svc.cluster.local\noptions ndots:5\n';
  const { server, resolve } = await start(zone, {}, conf);
  expect(await resolve('minio.storage')).toEqual(['10.1.2.3']);
  expect(await resolve('api.example.com')).toEqual(['93.184.216.34']);
  expect([...server.names(/./)]).toEqual([
    'minio.storage.default.svc.cluster.local',
    'minio.storage.svc.cluster.local',
    'api.example.com.default.svc.cluster.local',
    'api.example.com.svc.cluster.local',
    'api.example.com',
  ]);
});

test('tenant names: without ndots, queries a name with a dot unchanged first', async () => {
  const zone: Zone = { 'db.prod': [], 'db.prod.corp.example.com': ['10.1.2.3'] };
  const { server, resolve } = await start(zone, {}, 'search corp.example.com\n');
  expect(await resolve('db.prod')).toEqual(['10.1.2.3']);
  expect([...server.names(/./)]).toEqual(['db.prod', 'db.prod.corp.example.com']);
});

test('tenant names: reads the hosts file first and reloads it after a change', async () => {
  const { server, resolve } = await start({ 'db.example.com': ['93.184.216.34'] });
  put('hosts', '10.1.2.3  Db.example.com db # the database\n::2 db\n');
  const until = async (name: string, address: string): Promise<void> => {
    while ((await resolve(name).catch(() => []))[0] !== address) await new Promise(setImmediate);
  };
  await until('db.example.com', '10.1.2.3');
  expect(await resolve('db')).toEqual(['10.1.2.3', '::2']);
  const asked = server.asked.length;
  await resolve('db.example.com');
  expect(server.asked.length).toBe(asked);
  expect(await resolve('localhost')).toEqual(['127.0.0.1', '::1']);
});

test('tenant names: reloads search domains after a change of resolv.conf', async () => {
  const { server, resolve } = await start({}, {}, 'search one.example.com\n');
  server.silent = false;
  put('resolv.conf', 'search two.example.com\n');
  let found: string[] = [];
  for (let i = 0; found.length === 0; i++) {
    server.zone[`db${i}.two.example.com`] = ['10.0.0.2'];
    found = await resolve(`db${i}`).catch(() => []);
  }
  expect(found).toEqual(['10.0.0.2']);
});
