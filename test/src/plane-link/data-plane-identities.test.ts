/**
 * Data planes with tokens and certificates of their own: what each may do, what a stolen one opens, and revocation. The
 * shared INTERNAL_TOKEN where identities are optional and where they are required.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Secret } from '@acg/base/secret';
import { createIdentity, revokeIdentity, rotateIdentityToken } from '@acg/controlplane/data-planes/identity-store';
import { ControlPlaneClient, grpcStatus, LinkError } from '@acg/proto/control-plane-client';
import type { LinkSecurity } from '@acg/proto/link-tls-or-shared-secret';
import { Outcome } from '@acg/proto/messages';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startControlPlane, type TestControlPlane } from '../fixtures/control-plane.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { insertAgent, usageRecord } from '../ledger/usage-fixture.js';
import { connectContextCache } from './connected-context-cache.js';

const CERTIFICATES = fileURLToPath(new URL('../../../deploy/make-certificates.sh', import.meta.url));
const COMMAND = fileURLToPath(new URL('../../../controlplane/dist/manage-data-planes/main.js', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'acg-identities-'));
let plane: TestControlPlane;
/** Beside `plane`, on its database. */
let strict: TestControlPlane;

beforeAll(async () => {
  execFileSync('sh', [CERTIFICATES, home], { stdio: 'pipe' });
  const tls = (name: string) => join(home, 'controlplane', name);
  plane = await startControlPlane();
  strict = await startControlPlane(
    {
      DATAPLANE_IDENTITIES: 'required',
      ...{ GRPC_TLS_CA: tls('ca.crt'), GRPC_TLS_CERT: tls('tls.crt'), GRPC_TLS_KEY: tls('tls.key') },
    },
    plane.database,
  );
});
afterAll(async () => {
  await strict?.stop();
  await plane?.stop();
  rmSync(home, { recursive: true, force: true });
});

const withToken = (token: string): LinkSecurity => ({ tls: null, internalTokens: [new Secret(token)] });
const withCertificate = (tokens: readonly string[] = []): LinkSecurity => {
  const file = (name: string): Buffer => readFileSync(join(home, 'dataplane', name));
  return {
    tls: { ca: file('ca.crt'), cert: file('tls.crt'), key: file('tls.key') },
    internalTokens: tokens.map((token) => new Secret(token)),
  };
};

/** The status of one call with these credentials. */
async function statusOf(security: LinkSecurity, address = plane.grpcAddress): Promise<number> {
  const client = new ControlPlaneClient([address], security);
  try {
    await client.resolveTokens({ tokens: [] }, 10_000);
    return grpcStatus.OK;
  } catch (error) {
    return error instanceof LinkError ? error.code : -1;
  } finally {
    client.close();
  }
}

const create = async (name: string, certificateName: string | null = null, hasToken = true): Promise<string> =>
  (await createIdentity(plane.database.sql, { name, certificateName, hasToken }, 'test@test')) ?? '';

/** An agent of a new organization with a token of its own. */
async function createAgent(): Promise<{ id: string; orgId: string; gatewayToken: string }> {
  const owner = await plane.createMember('owner');
  const agent = await insertAgent(plane.database.sql, owner.orgId);
  const made = await owner.call('POST', '/v1/api-keys', { name: 'k', scope: 'agent', agentId: agent.id });
  expect(made.status).toBe(201);
  return { id: agent.id, orgId: owner.orgId, gatewayToken: made.body.secretKey };
}

const recordsOf = async (orgId: string): Promise<number> =>
  (await plane.database.sql`select 1 from usage_records where org_id = ${orgId}`).length;

test('identities: each token is accepted by itself; a revoked one is rejected and its watch ends, others stay', async () => {
  const [first, second] = [await create('one-a'), await create('one-b')];
  await waitUntil('both are known', async () => (await statusOf(withToken(second))) === grpcStatus.OK);
  expect(await statusOf(withToken(first))).toBe(grpcStatus.OK);
  const caches = [first, second].map((token) => connectContextCache([plane.grpcAddress], withToken(token)));
  try {
    await waitUntil('both watch', async () => caches.every(({ source }) => source.isUp));
    expect(await revokeIdentity(plane.database.sql, 'one-a', 'test@test')).toBe(true);
    await waitUntil('its watch has ended', async () => !caches[0]!.source.isUp);
    expect(await statusOf(withToken(first))).toBe(grpcStatus.UNAUTHENTICATED);
    expect(caches[1]!.source.isUp).toBe(true);
    expect(await statusOf(withToken(second))).toBe(grpcStatus.OK);
  } finally {
    for (const cache of caches) cache.stop();
  }
  expect(await revokeIdentity(plane.database.sql, 'one-a', 'test@test')).toBe(false);
});

test('identities: after a rotation both tokens are accepted, after the next one only the newer two', async () => {
  const first = await create('rotated');
  const second = (await rotateIdentityToken(plane.database.sql, 'rotated', 'test@test'))!;
  await waitUntil('the new one is known', async () => (await statusOf(withToken(second))) === grpcStatus.OK);
  expect(await statusOf(withToken(first))).toBe(grpcStatus.OK);
  const third = (await rotateIdentityToken(plane.database.sql, 'rotated', 'test@test'))!;
  await waitUntil('the first is rejected', async () => (await statusOf(withToken(first))) !== grpcStatus.OK);
  expect([await statusOf(withToken(second)), await statusOf(withToken(third))]).toEqual([0, 0]);
  await plane.database.sql`update data_plane_identities set previous_until = now() where name = 'rotated'`;
  await waitUntil('the second has expired', async () => (await statusOf(withToken(second))) !== grpcStatus.OK);
  expect(await rotateIdentityToken(plane.database.sql, 'unknown', 'test@test')).toBe(null);
});

test('identities: usage is booked only for organizations of which this data plane was given a context', async () => {
  const token = await create('booking');
  await waitUntil('it is known', async () => (await statusOf(withToken(token))) === grpcStatus.OK);
  const [own, victim] = [await createAgent(), await createAgent()];
  const client = new ControlPlaneClient([plane.grpcAddress], withToken(token));
  const dataPlaneId = randomUUID();
  try {
    const report = (orgId: string, agentId: string) => {
      const record = usageRecord({ orgId, agentId });
      return client.reportUsage(
        {
          dataPlaneId,
          records: [record],
          rejections: [
            { id: randomUUID(), orgId, agentId, providerSlug: '', reason: 'rpm', minuteMs: Date.now(), count: 1 },
          ],
        },
        10_000,
      );
    };
    const forged = await report(victim.orgId, victim.id);
    expect(forged.rejected).toMatchObject([{ reason: 'the data plane was given no context of the organization' }]);
    expect(await recordsOf(victim.orgId)).toBe(0);
    expect(await plane.database.sql`select 1 from rejections_hourly where org_id = ${victim.orgId}`).toEqual([]);
    const kept = await plane.database.sql<{ orgId: string }[]>`
      select org_id as "orgId" from poison_records where id = ${forged.rejected![0]!.id!}`;
    expect(kept.map(({ orgId }) => orgId)).toEqual(['00000000-0000-0000-0000-000000000000']);

    const cache = connectContextCache([plane.grpcAddress], withToken(token), { dataPlaneId });
    const { context } = await cache.resolve(own.gatewayToken);
    cache.stop();
    expect(context?.orgId).toBe(own.orgId);
    expect((await report(own.orgId, own.id)).rejected ?? []).toEqual([]);
    expect(await recordsOf(own.orgId)).toBe(1);
    expect((await report(victim.orgId, victim.id)).rejected).toHaveLength(1);

    // The grant is in Postgres: another control plane, which never sent the context, books as well.
    const other = await startControlPlane({}, plane.database);
    const elsewhere = new ControlPlaneClient([other.grpcAddress], withToken(token));
    try {
      const record = usageRecord({ orgId: own.orgId, agentId: own.id });
      expect((await elsewhere.reportUsage({ dataPlaneId, records: [record] }, 10_000)).rejected ?? []).toEqual([]);
    } finally {
      elsewhere.close();
      await other.stop();
    }
    expect(await recordsOf(own.orgId)).toBe(2);
  } finally {
    client.close();
  }
});

test('identities: a data plane that gets its own token still books what it was given with the shared one', async () => {
  const agent = await createAgent();
  const dataPlaneId = randomUUID();
  const shared = new ControlPlaneClient([plane.grpcAddress], withToken(plane.env.INTERNAL_TOKEN!));
  const tokenHash = Buffer.from(await hashOf(agent.gatewayToken));
  const { answers } = await shared.resolveTokens({ tokens: [{ tokenHash }], dataPlaneId: `${dataPlaneId}-0` }, 10_000);
  expect(answers![0]!.outcome).toBe(Outcome.FOUND);
  shared.close();
  const token = await create('moved');
  await waitUntil('it is known', async () => (await statusOf(withToken(token))) === grpcStatus.OK);
  const own = new ControlPlaneClient([plane.grpcAddress], withToken(token));
  try {
    const record = () => usageRecord({ orgId: agent.orgId, agentId: agent.id });
    const stranger = await own.reportUsage({ dataPlaneId: randomUUID(), records: [record()] }, 10_000);
    expect(stranger.rejected).toHaveLength(1);
    const booked = await own.reportUsage({ dataPlaneId: `${dataPlaneId}-1`, records: [record()] }, 10_000);
    expect(booked.rejected ?? []).toEqual([]);
    expect(await recordsOf(agent.orgId)).toBe(1);
  } finally {
    own.close();
  }
});

async function hashOf(token: string): Promise<ArrayBuffer> {
  return crypto.subtle.digest('SHA-256', new TextEncoder().encode(token));
}

test('identities: where they are required, INTERNAL_TOKEN opens nothing, a certificate of its own name does', async () => {
  const address = strict.grpcAddress.replace('127.0.0.1', 'localhost');
  const internalToken = plane.env.INTERNAL_TOKEN!;
  expect(await statusOf(withCertificate([internalToken]), address)).toBe(grpcStatus.UNAUTHENTICATED);
  expect(await statusOf(withCertificate(), address)).toBe(grpcStatus.UNAUTHENTICATED);
  const subject = execFileSync('openssl', ['x509', '-in', join(home, 'dataplane/tls.crt'), '-noout', '-subject'], {
    encoding: 'utf8',
  });
  const commonName = /CN\s*=\s*(\S+)/.exec(subject)![1]!;
  await create('by-certificate', commonName, false);
  await waitUntil('it is known', async () => (await statusOf(withCertificate(), address)) === grpcStatus.OK);
  expect(await statusOf(withCertificate([internalToken]), address)).toBe(grpcStatus.OK);

  // A token that is bound to another certificate is worth nothing with this one.
  const bound = await create('bound', 'another.example.com');
  await waitUntil('it is known', async () => (await statusOf(withCertificate([bound]), address)) !== grpcStatus.OK);
  const free = await create('free');
  expect(await statusOf(withCertificate([free]), address)).toBe(grpcStatus.OK);

  expect(await revokeIdentity(plane.database.sql, 'by-certificate', 'test@test')).toBe(true);
  await waitUntil('it is rejected', async () => (await statusOf(withCertificate(), address)) !== grpcStatus.OK);
  expect(await statusOf(withCertificate([internalToken]), address)).toBe(grpcStatus.UNAUTHENTICATED);
});

test('identities: the command creates, lists, revokes and records who did it; a token is printed once', () => {
  const run = (...args: string[]) => {
    const env = { PATH: process.env.PATH, DATABASE_URL: plane.database.url.reveal() };
    const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args], { encoding: 'utf8', env });
    return { status, stdout, stderr };
  };
  const made = run('create', 'command-1');
  expect([made.status, made.stderr]).toEqual([0, '']);
  expect(made.stdout).toMatch(/^DATAPLANE_TOKEN=acgd_[0-9a-f]{64}\n$/);
  expect(run('create', 'command-1')).toMatchObject({ status: 69, stderr: expect.stringContaining('exists already') });
  const certified = run('create', 'command-2', '--certificate', 'plane-2', '--no-token');
  expect(certified.stdout).toBe('created command-2 for the certificate plane-2\n');
  expect(run('rotate', 'command-1').stdout).toMatch(/^DATAPLANE_TOKEN=/);
  expect(run('revoke', 'command-1')).toMatchObject({ status: 0, stdout: 'revoked command-1\n' });
  expect(run('revoke', 'command-1')).toMatchObject({ status: 1, stdout: '' });
  const list = run('list').stdout;
  expect(list).toMatch(/^command-1 certificate=- connected=0 organizations=0 created=\S+ revoked=\d{4}-\S+$/m);
  expect(list).toMatch(/^command-2 certificate=plane-2 .* revoked=-$/m);
  expect(list).not.toContain('acgd_');
  expect(
    run('history')
      .stdout.replaceAll(/^\S+ /gm, '')
      .match(/^\w+ command-1 by \S+@\S+$/gm),
  ).toHaveLength(3);
  for (const args of [[], ['create'], ['create', 'Not_A_Name'], ['create', 'x', '--no-token'], ['revoke', 'x', 'y']]) {
    expect([args, run(...args).status]).toEqual([args, 64]);
  }
});
