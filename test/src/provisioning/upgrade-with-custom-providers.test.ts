/**
 * Both planes start on a database of commit 1822593 (old-database-fixture.ts). Calls to the organization's own `github`
 * and `groq` arrive as before, under the old policies and breakers, and the upgrade changes no row of them.
 */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Stack } from '../fixtures/stack.js';
import type { TestDatabase } from '../fixtures/test-database.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { createOldDatabase, insertOldTenant, MASTER_KEY, type OldTenant } from './old-database-fixture.js';

interface Arrival {
  readonly call: string;
  readonly headers: IncomingHttpHeaders;
}

const arrivals: Arrival[] = [];
let recorder: Server;
let origin: string;
let database: TestDatabase;
let tenant: OldTenant;
let stack: Stack;
let url: string;
let rowsBefore: object;

/** What the upgrade must not change; columns of later migrations are not read. */
const readRows = async () => ({
  providers: await database.sql`
    select id, org_id, slug, display_name, base_url, auth_type, auth_name, auth_prefix, usage_format, sensitive_paths,
           created_at, deleted_at from custom_providers order by id`,
  accounts: await database.sql`
    select id, org_id, agent_id, provider_slug, custom_provider_id, credential_id, key_id, nonce, ciphertext, status,
           allow_sensitive_paths, circuit_key, created_at from provider_accounts order by id`,
  policies: await database.sql`select id, policy from agents order by id`,
  circuits: await database.sql`
    select circuit_key, provider_slug, org_id, state, epoch, open_until, reason, changed_at from circuits order by 1`,
});

beforeAll(async () => {
  recorder = createServer((request, response) => {
    arrivals.push({ call: `${request.method} ${request.url}`, headers: request.headers });
    const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ id: 'c-1', object: 'chat.completion', model: 'llama-3', choices: [], usage }));
    });
  });
  await new Promise<void>((resolve) => recorder.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(recorder.address() as AddressInfo).port}`;
  database = await createOldDatabase();
  tenant = await insertOldTenant(database, [
    { slug: 'github', baseUrl: `${origin}/api/v3`, authType: 'header', usageFormat: null },
    { slug: 'groq', baseUrl: `${origin}/openai/v1`, authType: 'bearer', usageFormat: 'openai' },
  ]);
  await database.sql`
    insert into circuits (circuit_key, provider_slug, org_id, state, epoch, open_until, reason)
    values (${`groq|${origin}|${tenant.orgId}`}, 'groq', ${tenant.orgId}, 'OPEN', 7, now() + interval '1 day', 'error_rate')`;
  rowsBefore = await readRows();
  stack = await Stack.start({
    database,
    env: { MASTER_KEYS: `${MASTER_KEY.id}:${MASTER_KEY.key.reveal().toString('base64')}` },
  });
  url = (await stack.addDataPlane()).url;
});
afterAll(async () => {
  await stack?.stop();
  recorder?.close();
});

async function call(method: string, path: string, body?: object) {
  const response = await fetch(`${url}/v1/proxy${path}`, {
    method,
    headers: { authorization: `Bearer ${tenant.secretKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const chat = (model = 'llama-3') => call('POST', '/groq/chat/completions', { model, messages: [] });

test('calls through both planes arrive at the own providers with their own credentials', async () => {
  expect((await call('GET', '/github/repos/acme/app')).status).toBe(200);
  expect(arrivals).toMatchObject([{ call: 'GET /api/v3/repos/acme/app', headers: { 'x-token': 'own-github-key' } }]);
  expect(arrivals[0]!.headers.authorization).toBeUndefined();
});

test('policies and sensitive paths are the old ones', async () => {
  expect(await call('GET', '/github/user')).toMatchObject({ status: 403, body: { denied: 'call' } });
  expect(await call('GET', '/github/admin/users')).toMatchObject({ status: 403, body: { denied: 'sensitive_path' } });
  expect(arrivals).toHaveLength(1);
});

test('a breaker that was open is open, and closes as before', async () => {
  expect((await chat()).status).toBe(503);
  expect(arrivals).toHaveLength(1);
  expect(await readRows()).toEqual(rowsBefore);
  await database.sql`
    update circuits set state = 'CLOSED', epoch = epoch + 1, open_until = null, reason = null, changed_at = now()`;
  await waitUntil('the breaker closes', async () => (await chat()).status === 200);
  expect(arrivals.at(-1)).toMatchObject({
    call: 'POST /openai/v1/chat/completions',
    headers: { authorization: 'Bearer own-groq-key' },
  });
  expect(await chat('mixtral')).toMatchObject({ status: 403, body: { denied: 'model' } });
});

test('usage is booked under the own slug', async () => {
  const read = () => database.sql`
    select provider_slug as slug, tokens_in_uncached::int as "in", tokens_out::int as "out" from usage_records
     where org_id = ${tenant.orgId} and model <> ''`;
  await waitUntil('the call is booked', async () => (await read()).some(({ out }) => out > 0));
  expect(await read()).toContainEqual({ slug: 'groq', in: 5, out: 7 });
});
