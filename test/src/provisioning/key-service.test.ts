/** Master keys that a key service has wrapped: how they are created, used, rotated, and what an outage does. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '@acg/controlplane/config';
import { MasterKeyUnwrapper } from '@acg/controlplane/vault/key-services/master-key-ring';
import { expect, test } from 'vitest';
import { Stack } from '../fixtures/stack.js';
import { createTestDatabase } from '../fixtures/test-database.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { StandInKms, StandInVault } from './stand-in-key-services.js';

interface Run {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a program of the control plane beside this process, which has the stand-ins. */
function run(program: string, args: readonly string[], env: Record<string, string>): Promise<Run> {
  const path = fileURLToPath(new URL(`../../../controlplane/dist/${program}/main.js`, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { env: { PATH: process.env.PATH, ...env } });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => (out += chunk));
  child.stderr.on('data', (chunk) => (err += chunk));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })));
}

const BASE = {
  DATABASE_URL: 'postgres://localhost/none',
  JWT_SECRET: 'j'.repeat(32),
  INTERNAL_TOKEN: 't'.repeat(32),
};
const unwrap = (env: Record<string, string>) =>
  new MasterKeyUnwrapper(1).unwrapAll(loadConfig({ ...BASE, ...env }).masterKeyRing);

const services = [
  ['aws-kms', 'alias/gateway', () => new StandInKms()],
  ['vault-transit', 'gateway', () => new StandInVault()],
] as const;

test.each(services)(
  '%s: wraps a new key, which no output shows, and unwraps it again',
  async (name, serviceKey, create) => {
    const service = await create().start();
    try {
      const first = await run('wrap-master-key', ['k1', name, serviceKey], service.env());
      const second = await run('wrap-master-key', ['k2', name, serviceKey], service.env());
      expect([first.code, first.err, second.code]).toEqual([0, '', 0]);
      const [entry1, entry2] = [first.out.trim(), second.out.trim()];
      expect(entry1).toMatch(new RegExp(`^k1:${name}:[^,\\s]+$`));
      const plain = randomBytes(32);
      const ring = `${entry2},${entry1},k0:${plain.toString('base64')}`;
      const keys = await unwrap({ ...service.env(), MASTER_KEYS: ring });
      expect(keys.map(({ id }) => id)).toEqual(['k2', 'k1', 'k0']);
      expect(keys[2]!.key.reveal()).toEqual(plain);
      for (const [n, { out }] of [second, first].entries()) {
        expect(keys[n]!.key.reveal()).toHaveLength(32);
        for (const form of ['base64', 'hex', 'base64url'] as const)
          expect(out).not.toContain(keys[n]!.key.reveal().toString(form));
      }
      const [again] = await unwrap({ ...service.env(), MASTER_KEYS: entry2 });
      expect(again!.key.reveal()).toEqual(keys[0]!.key.reveal());
      expect(keys[0]!.key.reveal()).not.toEqual(keys[1]!.key.reveal());
    } finally {
      await service.close();
    }
  },
);

test('aws-kms: a wrapped key does not unwrap under another id or with another secret, and errors show no secret', async () => {
  const kms = await new StandInKms().start();
  try {
    const { out } = await run('wrap-master-key', ['k1', 'aws-kms', 'alias/gateway'], kms.env());
    const moved = unwrap({ ...kms.env(), MASTER_KEYS: out.trim().replace('k1:', 'k2:') });
    await expect(moved).rejects.toThrow(
      /^the master key k2 cannot be unwrapped: AWS KMS rejected Decrypt \(400 Invalid/,
    );
    const forged = { ...kms.env(), AWS_SECRET_ACCESS_KEY: 'another-secret', MASTER_KEYS: out.trim() };
    const error = (await unwrap(forged).catch((e: unknown) => e)) as Error;
    expect(error.message).toMatch(/SignatureDoesNotMatch/);
    expect(error.message).not.toContain('another-secret');
    expect(await run('wrap-master-key', ['k1', 'aws-kms', 'alias/none'], kms.env())).toMatchObject({
      code: 69,
      out: '',
      err: expect.stringContaining('NotFoundException Alias alias/none is not found.'),
    });
    kms.permitsDecrypt = false;
    expect(await run('wrap-master-key', ['k1', 'aws-kms', 'alias/gateway'], kms.env())).toMatchObject({
      code: 69,
      out: '',
    });
  } finally {
    await kms.close();
  }
});

test.each<[string, Record<string, string>, RegExp]>([
  [
    'without its variables',
    { MASTER_KEYS: 'k1:vault-transit:gateway/vault:v1:AAAA' },
    /needs VAULT_ADDR and VAULT_TOKEN/,
  ],
  [
    'without TLS',
    { VAULT_ADDR: 'http://vault.example:8200', MASTER_KEYS: 'k1:aws-kms:AAAA' },
    /VAULT_ADDR must begin with https/,
  ],
  [
    'of an unknown service',
    { MASTER_KEYS: 'k1:gcp-kms:AAAA' },
    /MASTER_KEYS must be id:base64key or id:service:wrapped/,
  ],
  ['with the same id', { MASTER_KEYS: `k1:aws-kms:AAAA,k1:${Buffer.alloc(32).toString('base64')}` }, /key id twice/],
])('rejects a key %s at startup', (_what, env, problem) => {
  expect(() => loadConfig({ ...BASE, ...env })).toThrow(problem);
});

test('an unreachable or sealed service: tries again, then says so; a key in memory needs no service', async () => {
  const vault = await new StandInVault().start();
  try {
    const { out } = await run('wrap-master-key', ['k1', 'vault-transit', 'gateway'], vault.env());
    const env = { ...BASE, ...vault.env(), MASTER_KEYS: out.trim() };
    vault.isSealed = true;
    const before = vault.requests.length;
    await expect(unwrap(env)).rejects.toThrow(/Vault rejected decrypt with the key gateway \(503 Vault is sealed\)/);
    expect(vault.requests.length - before).toBe(4);
    vault.isSealed = false;
    const unwrapper = new MasterKeyUnwrapper(1);
    const [key] = await unwrapper.unwrapAll(loadConfig(env).masterKeyRing);
    await vault.close();
    expect(await unwrapper.unwrapAll(loadConfig(env).masterKeyRing)).toEqual([key]);
    await expect(unwrap(env)).rejects.toThrow(/Vault at 127\.0\.0\.1:\d+ cannot be reached: ECONNREFUSED$/);
  } finally {
    await vault.close();
  }
});

test('a control plane runs with wrapped keys, goes on without the service, and is moved to them by a rotation', async () => {
  const home = mkdtempSync(join(tmpdir(), 'acg-key-service-'));
  const database = await createTestDatabase();
  const kms = await new StandInKms().start();
  const keysFile = join(home, 'keys');
  const plain = `k1:${randomBytes(32).toString('base64')}`;
  writeFileSync(keysFile, plain);
  const env = { MASTER_KEYS: '', MASTER_KEYS_FILE: keysFile, ...kms.env() };
  const stack = await Stack.start({ database, env });
  try {
    const tenant = await stack.signUpTenant();
    const lastKeyId = async (): Promise<string> => {
      const id = await tenant.createAccount((await tenant.createAgent()).id, 'openai', { apiKey: 'sk-0123456789' });
      const [row] = await database.sql<{ keyId: string }[]>`
        select key_id as "keyId" from provider_accounts where id = ${id}`;
      return row!.keyId;
    };
    expect(await lastKeyId()).toBe('k1');
    const wrapped = (await run('wrap-master-key', ['k2', 'aws-kms', 'alias/gateway'], kms.env())).out.trim();
    writeFileSync(keysFile, `${wrapped},${plain}`);
    await waitUntil('the wrapped key encrypts', async () => (await lastKeyId()) === 'k2');
    const DATABASE_URL = database.url.reveal();
    const rotation = { DATABASE_URL, MASTER_KEYS: `${wrapped},${plain}`, ...kms.env() };
    const rotated = await run('rotate-master-key', [], rotation);
    expect([rotated.code, rotated.out]).toEqual([0, expect.stringContaining('MASTER_KEYS no longer needs: k1')]);

    await kms.close();
    writeFileSync(keysFile, wrapped); // a reload without the service
    const reloads = () => stack.controlPlane.output.match(/secrets and certificates reloaded/g)?.length ?? 0;
    await waitUntil('both rings were loaded', () => reloads() === 2);
    expect(await lastKeyId()).toBe('k2');
    expect(await run('rotate-master-key', [], rotation)).toMatchObject({
      code: 69,
      err: expect.stringContaining('the master key k2 cannot be unwrapped: AWS KMS at'),
    });
  } finally {
    await stack.stop();
    await kms.close();
    rmSync(home, { recursive: true, force: true });
  }
}, 120_000);
