/** The spool of a data plane that is gone, sent by the command `ship-spool`: everything is booked once, as its owner's. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createIdentity } from '@acg/controlplane/data-planes/identity-store';
import { OPENAI_CREDENTIAL, OpenAiStandIn } from '@acg/stand-in-provider/openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Stack } from '../fixtures/stack.js';
import { createTestDatabase, type TestDatabase } from '../fixtures/test-database.js';

const SHIP = fileURLToPath(new URL('../../../dataplane/dist/ship-spool/main.js', import.meta.url));

interface Run {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function ship(directory: string, env: Readonly<Record<string, string>>): Promise<Run> {
  const child = spawn(process.execPath, [SHIP, directory], {
    env: { PATH: process.env.PATH, ...env, LOG_LEVEL: 'silent' },
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => (out += chunk));
  child.stderr.on('data', (chunk) => (err += chunk));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })));
}

const provider = new OpenAiStandIn();
let database: TestDatabase;
let stack: Stack;
beforeAll(async () => {
  await provider.start();
  database = await createTestDatabase();
  stack = await Stack.start({ database, providers: { openai: provider.origin } });
});
afterAll(async () => {
  await stack?.stop();
  await provider.close();
});

test('ship-spool: usage of a removed data plane with an identity is booked once, and its directory must not be in use', async () => {
  const token = (await createIdentity(database.sql, { name: 'gone', certificateName: null, hasToken: true }, 'test'))!;
  const { plane, url } = await stack.addDataPlane({ INTERNAL_TOKEN: '', DATAPLANE_TOKEN: token });
  const tenant = await stack.signUpTenant();
  const agent = await tenant.createAgent();
  await tenant.createAccount(agent.id, 'openai', { apiKey: OPENAI_CREDENTIAL });
  const gatewayToken = await tenant.createToken(agent.id);
  const call = async (): Promise<number> => {
    const answer = await fetch(`${url}/v1/proxy/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gatewayToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] }),
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  expect(await call()).toBe(200);
  await stack.controlPlane.kill();
  for (let n = 0; n < 7; n++) expect(await call()).toBe(200);

  const directory = plane.env.GATEWAY_DATA_DIR!;
  const env = {
    CONTROLPLANE_GRPC: plane.env.CONTROLPLANE_GRPC!,
    DATAPLANE_TOKEN: token,
  };
  expect(await ship(directory, env)).toMatchObject({ code: 73, err: expect.stringContaining('in use') });
  await plane.kill();
  await stack.startControlPlane();
  const shipped = await ship(directory, env);
  expect(shipped).toMatchObject({
    code: 0,
    err: '',
    out: expect.stringMatching(/^sent \d+ records and observations, (\d+) of \1 bytes$/m),
  });
  const rows = await database.sql<{ id: string }[]>`select id from usage_records where org_id = ${tenant.orgId}`;
  expect(rows).toHaveLength(8);
  expect((await database.sql`select 1 from poison_records`).length).toBe(0);
  expect(provider.requests).toHaveLength(8);
  expect(await ship(directory, env)).toEqual({
    code: 0,
    err: '',
    out: 'sent 0 records and observations, 0 of 0 bytes\n',
  });
  expect(await ship(`${directory}-none`, env)).toMatchObject({ code: 73, out: '' });
}, 120_000);
