/**
 * Vendors' own SDKs through accounts whose credential the gateway mints, and what the gateway's stores hold afterwards:
 * neither the database nor any file holds a secret of a provider, a minted token or a gateway token in plain text.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { jsonResponse } from '@acg/stand-in-provider/stand-in-response';
import { BedrockRuntimeClient, ConverseCommand, ConverseStreamCommand } from '@aws-sdk/client-bedrock-runtime';
import { GoogleGenAI } from '@google/genai';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { AzureOpenAI } from 'openai';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callApi } from '../fixtures/api-call.js';
import { encodingsOf, SecretLeakDetector } from '../fixtures/secret-leak-detector.js';
import { Stack, type Tenant } from '../fixtures/stack.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { azure, BEDROCK_MODEL, bedrock, gemini, geminiAnswer, SAID } from '../stand-in-providers/model-vendors.js';
import { RotatingGrants } from '../stand-in-providers/rotating-grants.js';
import { sha256, verifySignature } from '../stand-in-providers/s3-signature.js';
import { TokenEndpoint } from '../stand-in-providers/token-endpoint.js';
import { hasOnlyCredential, VendorStandIn } from '../stand-in-providers/vendor-stand-in.js';
import { MINTED, MINTED_ACCOUNTS, STORED, VendorTokenEndpoints } from '../stand-in-providers/vendor-token-endpoints.js';

const VERTEX_MODEL = 'projects/my-project/locations/us-central1/publishers/google/models/gemini-3.5-flash';
const CLIENT_ID = 'oauth-app';
const CLIENT_SECRET = 'client-secret-0123456789';
const API_KEY = 'sk-static-key-0123456789abcdef';
const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };

const endpoints = new VendorTokenEndpoints();
const oauth = new TokenEndpoint();
const grants = new RotatingGrants(oauth);
const googleToken = hasOnlyCredential('authorization', `Bearer ${MINTED.google}`);
const mintedVertex = gemini.variant({
  isAuthorized: googleToken,
  calls: {
    [`POST /v1beta1/${VERTEX_MODEL}:generateContent`]: () => jsonResponse(200, geminiAnswer(SAID, true)),
  },
});
const mintedAzure = azure.variant({ isAuthorized: hasOnlyCredential('authorization', `Bearer ${MINTED.entra}`) });
const mintedBedrock = bedrock.variant({
  isAuthorized: (request) => {
    const keys = { ...MINTED.aws, region: 'us-east-1', service: 'bedrock' };
    const verified = verifySignature(request, keys, Date.now());
    return 'payload' in verified && verified.payload === sha256(request.body);
  },
});
const ownApi = new VendorStandIn({
  isAuthorized: ({ headers }) =>
    headers.authorization === `Bearer ${API_KEY}` ||
    oauth.issued.some((token) => headers.authorization === `Bearer ${token}`),
  notFound: jsonResponse(404, {}),
  calls: { 'GET /me': () => jsonResponse(200, { ok: true }) },
});
const standIns = [mintedVertex, mintedAzure, mintedBedrock, ownApi];
let stack: Stack;
let tenant: Tenant;
let agentId = '';
let key = '';
let proxy = '';

beforeAll(async () => {
  await Promise.all([endpoints.start(), oauth.start(), ...standIns.map((standIn) => standIn.start())]);
  oauth.secrets.set(CLIENT_ID, CLIENT_SECRET);
  oauth.respond = (request) =>
    request.parameters.get('grant_type') === 'client_credentials' ? undefined : grants.answer(request);
  stack = await Stack.start({
    providers: endpoints.addressesFor({
      vertex: mintedVertex.origin,
      azure: mintedAzure.origin,
      bedrock: mintedBedrock.origin,
    }),
    env: { PUBLIC_URL: 'http://127.0.0.1:8080' },
  });
  tenant = await stack.signUpTenant();
  endpoints.orgId = tenant.orgId;
  agentId = (await tenant.createAgent({ rpmLimit: 10_000 })).id;
  for (const [slug, credentials] of Object.entries(MINTED_ACCOUNTS))
    await tenant.createAccount(agentId, slug, credentials as Record<string, string>);
  key = await tenant.createToken(agentId);
  proxy = `${(await stack.addDataPlane()).url}/v1/proxy`;
});
afterAll(async () => {
  await stack?.stop();
  endpoints.stop();
  oauth.stop();
  await Promise.all(standIns.map((standIn) => standIn.close()));
});

test('@google/genai with a service account: the model names the project', async () => {
  const ai = new GoogleGenAI({ vertexai: true, apiKey: key, httpOptions: { baseUrl: `${proxy}/vertex` } });
  for (let i = 0; i < 3; i++) {
    const answer = await ai.models.generateContent({ model: VERTEX_MODEL, contents: 'hi' });
    expect([answer.text, answer.usageMetadata?.totalTokenCount]).toEqual([SAID, 12]);
  }
  expect(endpoints.requests.filter(({ path }) => path === '/google')).toHaveLength(1);
});

test('the AWS SDK with a role: requests are signed with the session of the role', async () => {
  const client = new BedrockRuntimeClient({
    region: 'eu-west-1',
    endpoint: `${proxy}/bedrock`,
    credentials: { accessKeyId: key, secretAccessKey: 'unused' },
    requestHandler: new NodeHttpHandler(),
    maxAttempts: 1,
  });
  const messages = [{ role: 'user' as const, content: [{ text: 'hi' }] }];
  const answer = await client.send(new ConverseCommand({ modelId: BEDROCK_MODEL, messages }));
  expect(answer.output?.message?.content?.[0]?.text).toBe(SAID);
  const { stream } = await client.send(new ConverseStreamCommand({ modelId: BEDROCK_MODEL, messages }));
  let said = '';
  for await (const event of stream!) said += event.contentBlockDelta?.delta?.text ?? '';
  expect(said).toBe(SAID);
  expect(endpoints.requests.filter(({ path }) => path === '/sts')).toHaveLength(1);
});

test('AzureOpenAI with Entra: the key of the SDK becomes a Bearer token', async () => {
  const client = new AzureOpenAI({
    baseURL: `${proxy}/azure-openai/openai`,
    apiKey: key,
    apiVersion: '2024-10-21',
    maxRetries: 0,
  });
  const call = { model: 'gpt-5-mini', messages: [{ role: 'user' as const, content: 'hi' }] };
  const answer = await client.chat.completions.create(call);
  expect(answer.choices[0]?.message.content).toBe(SAID);
  let said = '';
  for await (const chunk of await client.chat.completions.create({ ...call, stream: true }))
    said += chunk.choices[0]?.delta.content ?? '';
  expect(said).toBe(SAID);
  expect(endpoints.requests.filter(({ path }) => path === '/entra')).toHaveLength(1);
});

/** An account at a provider of the tenant itself. */
async function createOwnAccount(slug: string, methods: readonly object[], given: Record<string, string>) {
  const definition = {
    credentials: {
      kind: 'api_key',
      fields: [{ name: 'apiKey', label: 'Key', secret: true, required: true }],
      ...(methods.length === 0 ? {} : { methods }),
    },
    origins: { default: ownApi.origin },
    inject: [{ header: 'authorization', value: 'Bearer {apiKey}' }],
    usage: { format: 'none' },
  };
  const made = await tenant.call('POST', '/v1/custom-providers', { slug, displayName: slug, definition });
  expect([made.status, made.body.error]).toEqual([201, undefined]);
  return tenant.createAccount(agentId, slug, given);
}

const oauthMethod = (kind: string, more: object) => ({
  name: 'oauth',
  label: 'OAuth',
  kind,
  fields: [
    { name: 'clientId', label: 'Client id', secret: false, required: true },
    { name: 'clientSecret', label: 'Client secret', secret: true, required: true },
  ],
  token: { url: oauth.url, clientId: '{clientId}', clientSecret: '{clientSecret}', ...more },
  inject: [{ header: 'authorization', value: 'Bearer {accessToken}' }],
});

async function connect(accountId: string): Promise<void> {
  const call = (path: string, body: unknown, headers: Record<string, string>) =>
    callApi(stack.apiUrl, 'POST', path, { token: tenant.session, body, headers }, new SecretLeakDetector());
  const begun = await call(`/v1/providers/accounts/${accountId}/connect`, undefined, OWN_PAGE);
  const { path, parameters } = grants.agree(begun.body.url);
  const cookie = begun.headers.get('set-cookie')!.split(';')[0]!;
  const done = await call('/v1/connections', { redirectPath: path, ...parameters }, { ...OWN_PAGE, cookie });
  expect([done.status, done.body.error]).toEqual([200, undefined]);
}

function* filesBelow(directory: string): Generator<string> {
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    const path = join(directory, name);
    if (statSync(path).isFile()) yield path;
  }
}

test('after calls with each kind neither the database nor a file holds a secret in plain text', async () => {
  const client = { method: 'oauth', clientId: CLIENT_ID, clientSecret: CLIENT_SECRET };
  await createOwnAccount('own-static', [], { apiKey: API_KEY });
  await createOwnAccount('own-client', [oauthMethod('oauth2_client_credentials', {})], client);
  const authorizationUrl = 'https://login.example.com/authorize';
  const connected = await createOwnAccount(
    'own-connected',
    [oauthMethod('oauth2_authorization_code', { authorizationUrl, rotation: 'strict' })],
    client,
  );
  await connect(connected);
  for (const slug of ['own-static', 'own-client', 'own-connected'])
    expect([
      slug,
      (await fetch(`${proxy}/${slug}/me`, { headers: { authorization: `Bearer ${key}` } })).status,
    ]).toEqual([slug, 200]);
  const sql = postgres(stack.database.url.reveal(), { max: 1 });
  try {
    await waitUntil('every call is in the ledger', async () => {
      const rows = await sql<{ slug: string }[]>`select distinct provider_slug as slug from usage_records`;
      return rows.length === 6;
    });
    const secrets = [
      key,
      API_KEY,
      CLIENT_SECRET,
      MINTED.google,
      MINTED.entra,
      MINTED.aws.secretAccessKey,
      MINTED.aws.sessionToken,
      STORED.entraClientSecret,
      STORED.userSecretAccessKey,
      STORED.pem.split('\n')[3]!,
      ...oauth.issued,
      ...grants.refreshTokens,
    ];
    expect(oauth.issued.length).toBeGreaterThanOrEqual(2);
    const forms = secrets.flatMap(encodingsOf);
    const tables = await sql<{ name: string }[]>`
      select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema')`;
    expect(tables.length).toBeGreaterThan(50);
    const found: string[] = [];
    let rowCount = 0;
    for (const { name } of tables) {
      const rows = await sql.unsafe<{ text: string }[]>(`select t::text as text from ${name} t`);
      rowCount += rows.length;
      const text = rows.map((row) => row.text).join('\n');
      if (forms.some((form) => text.includes(form))) found.push(name);
    }
    const files = [...filesBelow(stack.home)];
    for (const path of files) {
      const text = readFileSync(path, 'latin1');
      if (forms.some((form) => text.includes(form))) found.push(path);
    }
    expect(found).toEqual([]);
    // The scan sees what is there: ids of the accounts in rows, and files of both planes.
    expect(rowCount).toBeGreaterThan(20);
    expect(files.some((path) => path.includes('/data-'))).toBe(true);
  } finally {
    await sql.end();
  }
});
