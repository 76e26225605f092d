/** Both planes with all secrets in files, which are replaced while they run: nothing is restarted and no call fails. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Stack } from '../fixtures/stack.js';
import { createTestDatabase } from '../fixtures/test-database.js';
import { waitUntil } from '../fixtures/wait-until.js';

const random = (): string => randomBytes(32).toString('hex');
const masterKey = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`;

test('secret files: tokens, session secrets and master keys are replaced without a restart; a faulty file changes nothing', async () => {
  const home = mkdtempSync(join(tmpdir(), 'acg-secret-files-'));
  const path = (name: string): string => join(home, name);
  const write = (name: string, value: string): void => writeFileSync(path(name), `${value}\n`);
  const database = await createTestDatabase();
  const [firstToken, secondToken, firstJwt, secondJwt] = [random(), random(), random(), random()];
  const [firstKey, secondKey] = [masterKey('k1'), masterKey('k2')];
  write('token', firstToken);
  write('jwt', firstJwt);
  write('keys', firstKey);
  write('database', database.url.reveal());
  const stack = await Stack.start({
    database,
    env: {
      ...{ INTERNAL_TOKEN: '', INTERNAL_TOKEN_FILE: path('token'), JWT_SECRET: '', JWT_SECRET_FILE: path('jwt') },
      ...{ MASTER_KEYS: '', MASTER_KEYS_FILE: path('keys'), DATABASE_URL: '', DATABASE_URL_FILE: path('database') },
    },
    dataPlaneEnv: { INTERNAL_TOKEN: '', INTERNAL_TOKEN_FILE: path('token') },
  });
  try {
    const { url, plane } = await stack.addDataPlane();
    const tenant = await stack.signUpTenant();
    const agent = await tenant.createAgent();
    /** A new token is in no cache: the data plane needs the control plane. */
    const resolvesNewToken = async (): Promise<boolean> => {
      const headers = { authorization: `Bearer ${await tenant.createToken(agent.id)}` };
      return (await fetch(`${url}/v1/self`, { headers })).status === 200;
    };
    const isSessionValid = async (): Promise<boolean> => (await tenant.call('GET', '/v1/projects')).status === 200;
    const lastKeyId = async (): Promise<string> => {
      const id = await tenant.createAccount((await tenant.createAgent()).id, 'openai', { apiKey: `sk-${random()}` });
      const [row] = await database.sql<{ keyId: string }[]>`
        select key_id as "keyId" from provider_accounts where id = ${id}`;
      return row!.keyId;
    };
    expect([await resolvesNewToken(), await isSessionValid(), await lastKeyId()]).toEqual([true, true, 'k1']);

    write('keys', `${secondKey},${firstKey}`);
    await waitUntil('the new master key encrypts', async () => (await lastKeyId()) === 'k2');
    write('jwt', `${secondJwt},${firstJwt}`);
    await waitUntil('both planes have reloaded', () => /reloaded/.test(stack.controlPlane.output));
    expect(await isSessionValid()).toBe(true);
    write('token', secondToken);
    await waitUntil('both planes use the new token', () => /reloaded/.test(plane.output));
    await waitUntil('the link works with it', resolvesNewToken);

    write('jwt', 'too short');
    await waitUntil('the control plane says so', () =>
      /changed secrets cannot be used/.test(stack.controlPlane.output),
    );
    expect(stack.controlPlane.output).toContain('JWT_SECRET must have at least 32 bytes');
    expect(await isSessionValid()).toBe(true);
    write('jwt', `${secondJwt},${firstJwt}`);
    write('keys', masterKey('k3'));
    await waitUntil('keys that do not fit are rejected', () => /is missing, and/.test(stack.controlPlane.output));
    expect(await lastKeyId()).toBe('k2');

    write('keys', `${secondKey},${firstKey}`);
    write('jwt', secondJwt);
    await waitUntil('sessions of the removed secret are rejected', async () => !(await isSessionValid()));
  } finally {
    await stack.stop();
    rmSync(home, { recursive: true, force: true });
  }
});
