/** Google service accounts, Entra and AWS roles: what the vendors' endpoints get, and what data planes get. */
import { createHash, createHmac, createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Member, startControlPlane, type TestControlPlane } from '../fixtures/control-plane.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { type ConnectedContextCache, connectContextCache } from '../plane-link/connected-context-cache.js';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
const EMAIL = 'agents@my-project.iam.gserviceaccount.com';
const USER_SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const requests: { readonly path: string; readonly body: URLSearchParams }[] = [];
let orgId = '';

/** https://developers.google.com/identity/protocols/oauth2/service-account */
function isGoogleAssertion(body: URLSearchParams): boolean {
  const [head = '', claims = '', signature = ''] = (body.get('assertion') ?? '').split('.');
  const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  const { iss, scope, aud, iat, exp, sub } = decode(claims);
  const { alg, kid } = decode(head);
  const nowS = Date.now() / 1_000;
  const key = createPublicKey(PEM);
  return (
    body.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer' &&
    verify('sha256', Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url')) &&
    alg === 'RS256' &&
    kid === 'a1b2' &&
    iss === EMAIL &&
    sub === undefined &&
    scope === 'https://www.googleapis.com/auth/cloud-platform' &&
    aud === `${origin}/google` &&
    iat <= nowS - 60 &&
    exp >= nowS + 60 &&
    exp - iat <= 3_600
  );
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** Signature Version 4, by https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html */
function isSignedForSts({ headers, url = '' }: IncomingMessage, body: string): boolean {
  const [, id, date, names = '', signature] =
    /Credential=([^/]+)\/(\d{8})\/us-east-1\/sts\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]+)/.exec(
      headers.authorization ?? '',
    ) ?? [];
  const canonicalHeaders = names
    .split(';')
    .map((name) => `${name}:${headers[name]}\n`)
    .join('');
  const bodyHash = createHash('sha256').update(body).digest('hex');
  const canonical = `POST\n${url}\n\n${canonicalHeaders}\n${names}\n${bodyHash}`;
  const scope = `${date}/us-east-1/sts/aws4_request`;
  const hash = createHash('sha256').update(canonical).digest('hex');
  const key = hmac(hmac(hmac(hmac(`AWS4${USER_SECRET}`, date ?? ''), 'us-east-1'), 'sts'), 'aws4_request');
  const expected = hmac(key, `AWS4-HMAC-SHA256\n${headers['x-amz-date']}\n${scope}\n${hash}`).toString('hex');
  return id === 'AKIAIOSFODNN7EXAMPLE' && signature === expected;
}

const STS_ANSWER = `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>
<Credentials><AccessKeyId>ASIAIOSFODNN7EXAMPLE</AccessKeyId><SecretAccessKey>temporary-secret-0123456789</SecretAccessKey>
<SessionToken>session-token-0123456789</SessionToken><Expiration>2026-11-28T03:00:00Z</Expiration></Credentials>
</AssumeRoleResult></AssumeRoleResponse>`;

const server = createServer(async (request, response) => {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  const { url: path = '' } = request;
  const body = new URLSearchParams(text);
  requests.push({ path, body });
  const token = (accessToken: string) =>
    response.end(JSON.stringify({ access_token: accessToken, token_type: 'Bearer', expires_in: 3_599 }));
  if (path === '/google' && isGoogleAssertion(body)) return token('ya29.minted-0123456789');
  if (path === '/entra' && body.get('client_secret') === 'entra-secret-0123456789') return token('eyJ.minted-entra');
  const isRole = body.get('Action') === 'AssumeRole' && body.get('ExternalId') === `acg-${orgId}`;
  if (path === '/sts' && isRole && isSignedForSts(request, text)) return response.end(STS_ANSWER);
  response.statusCode = 403;
  return response.end('<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>');
});
let origin = '';
let plane: TestControlPlane;
let watched: ConnectedContextCache;
let owner: Member;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const file = join(mkdtempSync(join(tmpdir(), 'minting-')), 'providers.json');
  const entry = (method: string, path: string) => ({ baseUrl: origin, tokenUrls: { [method]: `${origin}${path}` } });
  writeFileSync(
    file,
    JSON.stringify({
      vertex: entry('service_account', '/google'),
      'azure-openai': entry('entra', '/entra'),
      bedrock: { ...entry('assume_role', '/sts'), origins: { control: origin } },
    }),
  );
  plane = await startControlPlane({ PROVIDERS_FILE: file });
  watched = connectContextCache([plane.grpcAddress], plane.config.link);
  await waitUntil('the watch is up', () => watched.source.isUp);
  owner = await plane.createMember('owner');
  orgId = owner.orgId;
});
afterAll(async () => {
  watched?.stop();
  await plane?.stop();
  server.close();
});

/** The upstream of a new account after its first exchange. */
async function mint(providerSlug: string, credentials: object) {
  const { project } = (await owner.call('POST', '/v1/projects', { name: providerSlug })).body;
  const agentId = (await owner.call('POST', '/v1/agents', { projectId: project.id, name: providerSlug })).body.agent.id;
  const made = await owner.call('POST', '/v1/providers/accounts', { agentId, providerSlug, credentials });
  expect([made.status, made.body.error]).toEqual([201, undefined]);
  const { secretKey } = (await owner.call('POST', '/v1/api-keys', { name: 'k', agentId })).body;
  const hash = createHash('sha256').update(secretKey).digest('hex');
  const { id } = made.body.account;
  const { context } = await watched.source.resolveMinted(hash, '', id, 0);
  const { account } = (await owner.call('PATCH', `/v1/providers/accounts/${id}`, { allowOpaque: false })).body;
  return { upstream: context!.upstreams.get(providerSlug)!, account };
}

test('a Google service account: a signed assertion with the scope; URLs of the uploaded key are ignored', async () => {
  const key = {
    type: 'service_account',
    client_email: EMAIL,
    private_key: PEM,
    private_key_id: 'a1b2',
    token_uri: 'http://127.0.0.1:1/evil',
    auth_uri: 'http://127.0.0.1:1/evil',
  };
  const credentials = { method: 'service_account', serviceAccountKey: JSON.stringify(key), location: 'us-central1' };
  const { upstream, account } = await mint('vertex', credentials);
  expect(upstream.injection).toMatchObject({ name: 'authorization', value: 'Bearer ya29.minted-0123456789' });
  expect(account.minted).toMatchObject({
    method: 'service_account',
    kind: 'jwt_bearer',
    state: 'active',
    failure: null,
  });
  expect(JSON.stringify(upstream.injection)).not.toContain('PRIVATE');
});

test('Entra: client credentials for Azure OpenAI, sent as Bearer', async () => {
  const tenantId = '11111111-2222-3333-4444-555555555555';
  const given = {
    method: 'entra',
    tenantId,
    clientId: 'app',
    clientSecret: 'entra-secret-0123456789',
    resource: 'mine',
  };
  const { upstream } = await mint('azure-openai', given);
  expect(upstream.injection).toMatchObject({ name: 'authorization', value: 'Bearer eyJ.minted-entra' });
  const { body } = requests.find(({ path }) => path === '/entra')!;
  expect(body.get('scope')).toBe('https://cognitiveservices.azure.com/.default');
});

test('an AWS role: STS gets a signed request with the external id of the organization', async () => {
  const role = { roleArn: 'arn:aws:iam::123456789012:role/agents', region: 'us-east-1' };
  const user = { userAccessKeyId: 'AKIAIOSFODNN7EXAMPLE', userSecretAccessKey: USER_SECRET };
  const { upstream } = await mint('bedrock', { method: 'assume_role', ...role, ...user });
  expect(upstream.injection).toMatchObject({
    kind: 'sigv4',
    accessKeyId: 'ASIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'temporary-secret-0123456789',
    sessionToken: 'session-token-0123456789',
  });
  const denied = { userAccessKeyId: 'AKIAIOSFODNN7EXAMPLE', userSecretAccessKey: 'x'.repeat(40) };
  const failed = await mint('bedrock', { method: 'assume_role', ...role, ...denied });
  expect(failed.upstream.injection.kind).toBe('none');
  expect(failed.account.minted).toMatchObject({
    state: 'failing',
    failure: { reason: 'invalid_client', detail: 'AccessDenied' },
  });
});

test.each([
  ['{"type":"service_account"}', 'must be the JSON key of a service account'],
  ['not json', 'must be the JSON key of a service account'],
])('the key %s is rejected without being quoted', async (serviceAccountKey, problem) => {
  const { body } = await owner.call('POST', '/v1/providers/accounts/test', {
    providerSlug: 'vertex',
    credentials: { method: 'service_account', serviceAccountKey },
  });
  expect(body.error).toContain(problem);
});
