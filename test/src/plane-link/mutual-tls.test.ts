/** The plane link with the certificates of deploy/make-certificates.sh and with other certificates. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EnvReader } from '@acg/base/env-reader';
import { ControlPlaneClient, grpcStatus, type LinkError } from '@acg/proto/control-plane-client';
import {
  createChannelCredentials,
  createLinkMetadata,
  createServerCredentials,
  type LinkSecurity,
  readLinkSecurity,
} from '@acg/proto/link-tls-or-shared-secret';
import { Server } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startControlPlane, type TestControlPlane } from '../fixtures/control-plane.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { connectContextCache } from './connected-context-cache.js';
import { AUTHORIZED_STATUSES, callStatus, LINK_METHODS } from './link-methods.js';

const SCRIPT = fileURLToPath(new URL('../../../deploy/make-certificates.sh', import.meta.url));
const TOKEN = 'test-internal-token-0123456789-0123456789';
const home = mkdtempSync(join(tmpdir(), 'acg-certificates-'));
let plane: TestControlPlane;

const tlsFiles = (ca: string, end: string, plane = 'dataplane'): Record<string, string> => ({
  GRPC_TLS_CA: join(home, ca, plane, 'ca.crt'),
  GRPC_TLS_CERT: join(home, end, plane, 'tls.crt'),
  GRPC_TLS_KEY: join(home, end, plane, 'tls.key'),
});

function securityOf(env: Readonly<Record<string, string>>): LinkSecurity {
  const read = new EnvReader(env);
  const security = readLinkSecurity(read, ['127.0.0.1:1']);
  read.throwIfInvalid();
  return security;
}

beforeAll(async () => {
  for (const name of ['ours', 'theirs']) execFileSync('sh', [SCRIPT, join(home, name)], { stdio: 'pipe' });
  plane = await startControlPlane(tlsFiles('ours', 'ours', 'controlplane'));
});
afterAll(async () => {
  await plane?.stop();
  rmSync(home, { recursive: true, force: true });
});

test('mutual TLS: both ends with certificates of one CA connect, watch and resolve', async () => {
  const security = securityOf({ ...tlsFiles('ours', 'ours'), INTERNAL_TOKEN: TOKEN });
  const watched = connectContextCache([plane.grpcAddress], security);
  try {
    await waitUntil('the watch is up', () => watched.source.isUp);
    expect((await watched.resolve(`acg_${'0'.repeat(64)}`)).rejection).toBe('unknown_token');
  } finally {
    watched.stop();
  }
});

const REJECTED_CALLERS: readonly (readonly [string, () => LinkSecurity, number])[] = [
  [
    'a certificate of another CA',
    () => securityOf({ ...tlsFiles('ours', 'theirs'), INTERNAL_TOKEN: TOKEN }),
    grpcStatus.UNAVAILABLE,
  ],
  [
    'a control plane of another CA',
    () => securityOf({ ...tlsFiles('theirs', 'theirs'), INTERNAL_TOKEN: TOKEN }),
    grpcStatus.UNAVAILABLE,
  ],
  [
    "the control plane's own certificate",
    () => securityOf({ ...tlsFiles('ours', 'ours', 'controlplane'), INTERNAL_TOKEN: TOKEN }),
    grpcStatus.UNAVAILABLE,
  ],
  ['no TLS at all', () => securityOf({ INTERNAL_TOKEN: TOKEN }), grpcStatus.UNAVAILABLE],
  [
    'the right certificate and another INTERNAL_TOKEN',
    () => securityOf({ ...tlsFiles('ours', 'ours'), INTERNAL_TOKEN: 'x'.repeat(40) }),
    grpcStatus.UNAUTHENTICATED,
  ],
  [
    'the right certificate and no INTERNAL_TOKEN',
    () => securityOf(tlsFiles('ours', 'ours')),
    grpcStatus.UNAUTHENTICATED,
  ],
];

for (const [name, method] of LINK_METHODS) {
  const statusFor = (security: LinkSecurity): Promise<number> =>
    callStatus(method, plane.grpcAddress, createChannelCredentials(security), createLinkMetadata(security));

  test.each(REJECTED_CALLERS)(`mutual TLS: ${name} rejects a caller with %s`, async (_what, security, code) => {
    expect(await statusFor(security())).toBe(code);
  });

  test(`mutual TLS: ${name} accepts a data plane of the same CA`, async () => {
    expect(AUTHORIZED_STATUSES).toContain(
      await statusFor(securityOf({ ...tlsFiles('ours', 'ours'), INTERNAL_TOKEN: TOKEN })),
    );
  });
}

test("mutual TLS: a data plane's certificate cannot serve the link", async () => {
  const imposter = new Server();
  const port = await new Promise<number>((resolve, reject) =>
    imposter.bindAsync('127.0.0.1:0', createServerCredentials(securityOf(tlsFiles('ours', 'ours'))), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  const client = new ControlPlaneClient([`localhost:${port}`], securityOf(tlsFiles('ours', 'ours')));
  try {
    const call = client.resolveToken({ tokenHash: new Uint8Array(32) }, 5_000);
    const error = (await call.catch((e: unknown) => e)) as LinkError;
    expect(error.code).toBe(grpcStatus.UNAVAILABLE);
    expect(error.message).toContain('unsuitable certificate purpose');
  } finally {
    client.close();
    imposter.forceShutdown();
  }
});

test('mutual TLS: off loopback, startup without TLS fails with a message that names the files', () => {
  const read = new EnvReader({ INTERNAL_TOKEN: TOKEN });
  readLinkSecurity(read, ['10.0.0.1:9090']);
  expect(() => read.throwIfInvalid()).toThrow(
    'GRPC_TLS_CA, GRPC_TLS_CERT, GRPC_TLS_KEY must be set: the gRPC link at 10.0.0.1:9090 leaves this machine',
  );
});

test('mutual TLS: replaced certificates hold for new connections of both ends, without a restart', async () => {
  const own = await startControlPlane(tlsFiles('ours', 'ours', 'controlplane'));
  const [ours, theirs] = ['ours', 'theirs'].map((ca) => securityOf({ ...tlsFiles(ca, ca), INTERNAL_TOKEN: TOKEN }));
  const isAccepted = async (security: LinkSecurity): Promise<boolean> => {
    const client = new ControlPlaneClient([own.grpcAddress], security);
    try {
      return await client.resolveTokens({ tokens: [] }, 5_000).then(
        () => true,
        () => false,
      );
    } finally {
      client.close();
    }
  };
  const open = new ControlPlaneClient([own.grpcAddress], ours!);
  const client = new ControlPlaneClient([own.grpcAddress], ours!);
  try {
    await open.resolveTokens({ tokens: [] }, 5_000);
    expect([await isAccepted(ours!), await isAccepted(theirs!)]).toEqual([true, false]);
    await own.service.replaceSecrets({
      ...own.config,
      link: securityOf({ ...tlsFiles('theirs', 'theirs', 'controlplane'), INTERNAL_TOKEN: TOKEN }),
    });
    expect([await isAccepted(ours!), await isAccepted(theirs!)]).toEqual([false, true]);
    expect(await open.resolveTokens({ tokens: [] }, 5_000)).toBeDefined();
    client.replaceSecurity(theirs!);
    expect(await client.resolveTokens({ tokens: [] }, 10_000)).toBeDefined();
  } finally {
    open.close();
    client.close();
    await own.stop();
  }
});
