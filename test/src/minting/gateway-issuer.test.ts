/**
 * The gateway as issuer: what verifiers read and what token endpoints get. The stand-ins are written from RFC 7519, RFC
 * 8693, RFC 7523 and the vendors' references, with node:crypto.
 */
import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GatewayIssuer } from '@acg/controlplane/issuer/gateway-issuer';
import { Vault } from '@acg/controlplane/vault/aes-gcm-vault';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Member, startControlPlane, type TestControlPlane } from '../fixtures/control-plane.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { type ConnectedContextCache, connectContextCache } from '../plane-link/connected-context-cache.js';
import { RecordingTokenEndpoints } from './recording-token-endpoints.js';

let endpoints: RecordingTokenEndpoints;
let origin = '';
let plane: TestControlPlane;
let watched: ConnectedContextCache;
let owner: Member;
let stranger: Member;

beforeAll(async () => {
  endpoints = await RecordingTokenEndpoints.start();
  origin = endpoints.origin;
  const file = join(mkdtempSync(join(tmpdir(), 'issuer-')), 'providers.json');
  const entry = (method: string, path: string) => ({ baseUrl: origin, tokenUrls: { [method]: `${origin}${path}` } });
  writeFileSync(
    file,
    JSON.stringify({
      vertex: entry('federation', '/google'),
      'azure-openai': entry('federated', '/entra'),
      bedrock: { ...entry('web_identity', '/sts'), origins: { control: origin } },
      anthropic: entry('federation', '/anthropic'),
      openai: entry('federation', '/openai'),
      openrouter: entry('federation', '/openrouter'),
    }),
  );
  const env = { PROVIDERS_FILE: file, ISSUER_URL: 'https://gateway.acme.com/', EGRESS_ALLOW_CIDRS: '127.0.0.0/8' };
  plane = await startControlPlane(env);
  watched = connectContextCache([plane.grpcAddress], plane.config.link);
  await waitUntil('the watch is up', () => watched.source.isUp);
  owner = await plane.createMember('owner');
  stranger = await plane.createMember('owner');
});
afterAll(async () => {
  watched?.stop();
  await plane?.stop();
  endpoints?.close();
});

const issuerOf = async (member: Member, query = '') => (await member.call('GET', `/v1/issuer${query}`)).body.issuer;

async function createAgent(member: Member, name: string): Promise<{ id: string; subject: string }> {
  const { project } = (await member.call('POST', '/v1/projects', { name })).body;
  const { id } = (await member.call('POST', '/v1/agents', { projectId: project.id, name })).body.agent;
  return { id, subject: `project:${project.id}:agent:${id}` };
}

/** What the data plane injects for a new account, and the last request to a token endpoint. */
async function mint(providerSlug: string, credentials: object) {
  const agent = await createAgent(owner, providerSlug);
  const made = await owner.call('POST', '/v1/providers/accounts', { agentId: agent.id, providerSlug, credentials });
  expect([made.status, made.body.error]).toEqual([201, undefined]);
  const { secretKey } = (await owner.call('POST', '/v1/api-keys', { name: 'k', agentId: agent.id })).body;
  const hash = createHash('sha256').update(secretKey).digest('hex');
  const { context } = await watched.source.resolveMinted(hash, '', made.body.account.id, 0);
  return { agent, account: made.body.account, injection: context!.upstreams.get(providerSlug)?.injection };
}

/** RFC 7515 and RFC 7519, with the keys that the issuer publishes. */
async function readToken(token: unknown, orgId = owner.orgId) {
  const [head = '', claims = '', signature = ''] = String(token).split('.');
  const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  const { alg, kid } = decode(head);
  const { keys } = (await (await fetch(`${plane.url}/oidc/${orgId}/jwks.json`)).json()) as {
    keys: (JsonWebKey & { kid: string })[];
  };
  const jwk = keys.find((key) => key.kid === kid)!;
  expect([alg, jwk?.kty]).toEqual(['RS256', 'RSA']);
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  expect(verify('sha256', Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url'))).toBe(true);
  return decode(claims);
}

const lastAt = (path: string) => endpoints.lastAt(path);

test('discovery and keys: public, cacheable, without private members; unknown organizations have none', async () => {
  const read = (orgId: string, path: string) => fetch(`${plane.url}/oidc/${orgId}${path}`);
  // A request without a login never makes the gateway create keys.
  expect((await read(stranger.orgId, '/jwks.json')).status).toBe(404);
  expect((await read('0199a0f2-7c3d-7e41-9f5a-0123456789ab', '/.well-known/openid-configuration')).status).toBe(404);
  const { url, isPublic, keys } = await issuerOf(owner);
  expect([url, isPublic, keys.length]).toEqual([`https://gateway.acme.com/oidc/${owner.orgId}`, true, 1]);
  const discovery = await read(owner.orgId, '/.well-known/openid-configuration');
  expect(discovery.headers.get('cache-control')).toBe('public, max-age=300');
  expect(await discovery.json()).toMatchObject({ issuer: url, jwks_uri: `${url}/jwks.json` });
  const set = (await (await read(owner.orgId, '/jwks.json')).json()) as { keys: object[] };
  expect(set.keys.map((key) => Object.keys(key).sort())).toEqual([['alg', 'e', 'kid', 'kty', 'n', 'use']]);
});

test('AWS: a role by web identity, unsigned, with the audience of AWS and a new token for each attempt', async () => {
  const credentials = { method: 'web_identity', roleArn: 'arn:aws:iam::123456789012:role/agents', region: 'us-east-1' };
  const { agent, account, injection } = await mint('bedrock', credentials);
  expect(injection).toMatchObject({ accessKeyId: 'ASIAIOSFODNN7EXAMPLE', sessionToken: 'session-token-0123456789' });
  const { params, authorization } = lastAt('/sts');
  expect(authorization).toBeUndefined();
  expect(params).toMatchObject({ Action: 'AssumeRoleWithWebIdentity', RoleSessionName: agent.id });
  const claims = await readToken(params.WebIdentityToken);
  const { iat, exp, jti } = claims;
  expect(claims).toMatchObject({
    iss: `https://gateway.acme.com/oidc/${owner.orgId}`,
    sub: agent.subject,
    aud: 'sts.amazonaws.com',
    nbf: iat,
  });
  const nowS = Date.now() / 1_000;
  expect([exp - iat, exp > nowS + 120, iat < nowS - 50]).toEqual([300, true, true]);
  const tested = (await owner.call('POST', `/v1/providers/accounts/${account.id}/test`)).body;
  expect(tested.steps[0]).toMatchObject({ name: `Exchange at ${origin}/sts`, ok: true });
  const again = lastAt('/sts').params.WebIdentityToken;
  expect((await readToken(again)).jti).not.toBe(jti);
  expect(JSON.stringify(tested)).not.toContain(again);
});

test('Google: STS, then a token of the service account', async () => {
  const pool = 'projects/123456/locations/global/workloadIdentityPools/agents/providers/gateway';
  const ids = { projectNumber: '123456', poolId: 'agents', poolProviderId: 'gateway' };
  const serviceAccount = 'agents@my-project.iam.gserviceaccount.com';
  const { injection } = await mint('vertex', { method: 'federation', ...ids, serviceAccount, location: 'us-central1' });
  expect(injection).toMatchObject({ value: 'Bearer ya29.impersonated-0123456789' });
  const { params } = lastAt('/google');
  expect(params).toMatchObject({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    audience: `//iam.googleapis.com/${pool}`,
  });
  expect((await readToken(params.subject_token)).aud).toBe(`https://iam.googleapis.com/${pool}`);
  const second = lastAt(`/v1/projects/-/serviceAccounts/${encodeURIComponent(serviceAccount)}:generateAccessToken`);
  expect(second.authorization).toBe('Bearer minted-at/google-0123456789');
  expect(second.params.scope).toEqual(['https://www.googleapis.com/auth/cloud-platform']);
});

test('Entra: the token is the client assertion', async () => {
  const tenantId = '11111111-2222-3333-4444-555555555555';
  const { injection } = await mint('azure-openai', {
    method: 'federated',
    tenantId,
    clientId: 'app',
    resource: 'acme',
  });
  expect(injection).toMatchObject({ value: 'Bearer minted-at/entra-0123456789' });
  const { params } = lastAt('/entra');
  expect(params).toMatchObject({
    grant_type: 'client_credentials',
    client_id: 'app',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  });
  expect(params).not.toHaveProperty('client_secret');
  expect((await readToken(params.client_assertion)).aud).toBe('api://AzureADTokenExchange');
});

test('OpenAI and OpenRouter: token exchange', async () => {
  const openai = { method: 'federation', identityProviderId: 'idp_1', serviceAccountId: 'sa_1' };
  expect((await mint('openai', openai)).injection).toMatchObject({ value: 'Bearer minted-at/openai-0123456789' });
  expect(lastAt('/openai').params).toMatchObject({ identity_provider_id: 'idp_1', service_account_id: 'sa_1' });
  const federationPolicyId = '4b2f7d1e-8c3a-4e5f-9a6b-1c2d3e4f5a6b';
  await mint('openrouter', { method: 'federation', federationPolicyId });
  const { params } = lastAt('/openrouter');
  expect(params.federation_policy_id).toBe(federationPolicyId);
  expect((await readToken(params.subject_token)).aud).toBe('https://openrouter.ai');
});

/** https://platform.claude.com/docs/en/manage-claude/wif-reference, and oidc-federation.ts of Anthropic's SDK. */
test('Anthropic: the token is the assertion, with the beta headers of the exchange and of the calls', async () => {
  const ids = {
    federationRuleId: 'fdrl_01Abc',
    organizationId: '0199a0f2-7c3d-7e41-9f5a-0123456789ab',
    serviceAccountId: 'svac_01Abc',
  };
  const { agent, account, injection } = await mint('anthropic', { method: 'federation', ...ids });
  expect(injection).toMatchObject({
    kind: 'header',
    name: 'authorization',
    value: 'Bearer minted-at/anthropic-0123456789',
    appendHeaders: [['anthropic-beta', 'oauth-2025-04-20']],
  });
  const { params, beta, authorization } = lastAt('/anthropic');
  expect([beta, authorization]).toEqual(['oauth-2025-04-20,oidc-federation-2026-04-01', undefined]);
  const { assertion, ...others } = params;
  expect(others).toEqual({
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    federation_rule_id: 'fdrl_01Abc',
    organization_id: '0199a0f2-7c3d-7e41-9f5a-0123456789ab',
    service_account_id: 'svac_01Abc',
  });
  expect(await readToken(assertion)).toMatchObject({ aud: 'https://api.anthropic.com', sub: agent.subject });
  // The gateway's own call has the beta header as well.
  const { steps } = (await owner.call('POST', `/v1/providers/accounts/${account.id}/test`)).body;
  expect(steps.map(({ ok }: { ok: boolean }) => ok)).toEqual([true, true]);
  expect(lastAt('/v1/models?limit=1')).toMatchObject({
    beta: 'oauth-2025-04-20',
    authorization: 'Bearer minted-at/anthropic-0123456789',
  });
});

/** A custom provider of the attacker, whose token endpoint is at `path` of the attacker's server. */
async function createAttackersAccount(slug: string, path: string) {
  const definition = {
    credentials: {
      kind: 'api_key',
      fields: [{ name: 'apiKey', label: 'Key', secret: true, required: true }],
      methods: [
        {
          name: 'exchange',
          label: 'Exchange',
          kind: 'token_exchange',
          fields: [],
          token: { url: `${origin}${path}`, audience: 'sts.amazonaws.com' },
          inject: [{ header: 'authorization', value: 'Bearer {accessToken}' }],
        },
      ],
    },
    origins: { default: origin },
    inject: [{ header: 'authorization', value: 'Bearer {apiKey}' }],
    usage: { format: 'none' },
  };
  const made = await stranger.call('POST', '/v1/custom-providers', { slug, displayName: slug, definition });
  expect([made.status, made.body.error]).toEqual([201, undefined]);
  const agent = await createAgent(stranger, slug);
  const account = { agentId: agent.id, providerSlug: slug, credentials: { method: 'exchange' } };
  const added = await stranger.call('POST', '/v1/providers/accounts', account);
  expect([added.status, added.body.error]).toEqual([201, undefined]);
  return { agent, id: added.body.account.id as string };
}

test('an attacker’s endpoint gets tokens for its own URL only, of its own issuer and agents', async () => {
  const { agent, id } = await createAttackersAccount('evil', '/evil');
  await stranger.call('POST', `/v1/providers/accounts/${id}/test`);
  const claims = await readToken(lastAt('/evil').params.subject_token, stranger.orgId);
  expect(claims).toMatchObject({
    aud: `${origin}/evil`,
    sub: agent.subject,
    iss: `https://gateway.acme.com/oidc/${stranger.orgId}`,
  });
  // The agent of another organization is no subject, neither of a test nor of instructions.
  const foreign = await createAgent(owner, 'victim');
  const before = endpoints.received.length;
  const credentials = { method: 'exchange' };
  const test = { providerSlug: 'evil', credentials, agentId: foreign.id };
  expect((await stranger.call('POST', '/v1/providers/accounts/test', test)).body.ok).toBe(false);
  expect(endpoints.received.length).toBe(before);
  expect((await stranger.call('GET', `/v1/issuer?agentId=${foreign.id}`)).status).toBe(404);
  const shared = { name: 's', providerSlug: 'evil', credentials };
  expect((await stranger.call('POST', '/v1/credentials', shared)).status).toBe(400);
});

test('redirecting and huge endpoints: an error that names the cause, and no request elsewhere', async () => {
  for (const [path, cause] of [
    ['/redirect', 'redirect'],
    ['/huge', '64 KiB'],
  ] as const) {
    const { id } = await createAttackersAccount(`evil-${path.slice(1)}`, path);
    const { ok, steps } = (await stranger.call('POST', `/v1/providers/accounts/${id}/test`)).body;
    expect([ok, steps[0].message]).toEqual([false, expect.stringContaining(cause)]);
  }
  expect(endpoints.received.some(({ path }) => path === '/elsewhere')).toBe(false);
});

test('rotation: the next key is published before it signs, and the former one stays for a day', async () => {
  const { sql } = plane.database;
  const { orgId } = owner;
  const states = async () => (await issuerOf(owner)).keys.map(({ state }: { state: string }) => state);
  const shift = (days: number) =>
    sql`update issuer_keys set active_from = active_from - make_interval(days => ${days}),
               created_at = created_at - make_interval(days => ${days}) where org_id = ${orgId}`;
  await shift(29);
  // The task of the control plane runs each hour; a person may publish the next key earlier.
  expect((await owner.call('POST', '/v1/issuer/keys')).status).toBe(201);
  expect(await states()).toEqual(['next', 'signing']);
  expect((await owner.call('POST', '/v1/issuer/keys')).status).toBe(409);
  const [next] = (await issuerOf(owner)).keys;
  const waitsMs = Date.parse(next.activeFrom) - Date.parse(next.createdAt);
  expect(waitsMs).toBeGreaterThanOrEqual(86_400_000);
  await shift(1);
  expect(await states()).toEqual(['signing', 'former']);
  await mint('openrouter', { method: 'federation', federationPolicyId: '4b2f7d1e-8c3a-4e5f-9a6b-1c2d3e4f5a6b' });
  const token = String(lastAt('/openrouter').params.subject_token);
  expect(JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).kid).toBe(next.id);
  await shift(1);
  await shift(1);
  expect(await states()).toEqual(['signing']);
});

test('control planes that sign for a new organization at once create one key, with which all of them sign', async () => {
  const member = await plane.createMember('owner');
  const { id, subject } = await createAgent(member, 'race');
  const vault = new Vault(plane.config.masterKeys);
  const issuers = Array.from(
    { length: 3 },
    () => new GatewayIssuer(plane.database.sql, vault, 'https://gateway.acme.com'),
  );
  const tokens = await Promise.all(issuers.flatMap((issuer) => [1, 2].map(() => issuer.sign(member.orgId, id, 'aud'))));
  expect((await issuerOf(member)).keys).toHaveLength(1);
  const claims = await Promise.all(tokens.map((token) => readToken(token, member.orgId)));
  expect(new Set(claims.map(({ sub }) => sub))).toEqual(new Set([subject]));
  expect(new Set(claims.map(({ jti }) => jti)).size).toBe(6);
  // The agent of another organization is no subject.
  expect(await issuers[0]!.sign(owner.orgId, id, 'aud')).toBeNull();
});

test('keys are rotated in time by any control plane, one next key for each organization', async () => {
  const { sql } = plane.database;
  const member = await plane.createMember('owner');
  await issuerOf(member);
  const vault = new Vault(plane.config.masterKeys);
  const issuers = [1, 2].map(() => new GatewayIssuer(sql, vault, 'https://gateway.acme.com'));
  const statesAfter = async () => {
    await Promise.all(issuers.map((issuer) => issuer.rotateDue()));
    return (await issuerOf(member)).keys.map(({ state }: { state: string }) => state);
  };
  expect(await statesAfter()).toEqual(['signing']);
  await sql`update issuer_keys set active_from = now() - interval '29 days 1 minute' where org_id = ${member.orgId}`;
  expect(await statesAfter()).toEqual(['next', 'signing']);
  expect(await statesAfter()).toEqual(['next', 'signing']);
});

test('rotation by hand: the next key signs only after a person has activated it', async () => {
  await owner.call('PATCH', '/v1/issuer', { manualRotation: true });
  const [next, signing] = (await owner.call('POST', '/v1/issuer/keys')).body.issuer.keys;
  expect([next.state, next.activeFrom, signing.state]).toEqual(['next', null, 'signing']);
  expect((await stranger.call('POST', `/v1/issuer/keys/${next.id}/activate`)).status).toBe(404);
  const { issuer } = (await owner.call('POST', `/v1/issuer/keys/${next.id}/activate`)).body;
  expect(issuer.keys.map(({ id, state }: { id: string; state: string }) => [id, state])).toEqual([
    [next.id, 'signing'],
    [signing.id, 'former'],
  ]);
});

test('a shared credential cannot be rotated to one that names an agent, tested first or not', async () => {
  const input = { name: 'shared', providerSlug: 'openrouter', credentials: { apiKey: 'sk-or-v1-0123456789abcdef' } };
  const { credential } = (await owner.call('POST', '/v1/credentials', input)).body;
  const credentials = { method: 'federation', federationPolicyId: '4b2f7d1e-8c3a-4e5f-9a6b-1c2d3e4f5a6b' };
  for (const testFirst of [true, false]) {
    const answer = await owner.call('POST', `/v1/credentials/${credential.id}/rotate`, { credentials, testFirst });
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining('names one agent')]);
  }
});

test('a tenant can publish at most five keys', async () => {
  const member = await plane.createMember('owner');
  await issuerOf(member);
  await member.call('PATCH', '/v1/issuer', { manualRotation: true });
  for (let published = 1; ; published++) {
    const { status, body } = await member.call('POST', '/v1/issuer/keys');
    if (status === 409) {
      expect([published, body.error]).toEqual([5, expect.stringContaining('5 keys are published')]);
      break;
    }
    await member.call('POST', `/v1/issuer/keys/${body.issuer.keys[0].id}/activate`);
  }
  expect((await issuerOf(member)).keys).toHaveLength(5);
});

test('the database holds no private key in plain text', async () => {
  const rows = await plane.database
    .sql`select public_jwk::text as jwk, encode(ciphertext, 'escape') as sealed from issuer_keys`;
  expect(rows.length).toBeGreaterThan(1);
  for (const { jwk, sealed } of rows) {
    expect(Object.keys(JSON.parse(jwk)).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
    expect(sealed).not.toContain('PRIVATE KEY');
  }
});

test('instructions hold the values of the organization', async () => {
  const { id, subject } = await createAgent(owner, 'guide');
  const issuer = await issuerOf(owner, `?agentId=${id}`);
  const setups = new Map<string, string>(
    issuer.setups.map((one: { providerSlug: string; steps: string[] }) => [one.providerSlug, one.steps.join('\n')]),
  );
  expect([...setups.keys()].sort()).toEqual(['anthropic', 'azure-openai', 'bedrock', 'openai', 'openrouter', 'vertex']);
  for (const steps of setups.values()) {
    expect(steps).toContain(issuer.url);
    expect(steps).not.toMatch(/[{}]/);
  }
  expect(setups.get('bedrock')).toContain(`gateway.acme.com/oidc/${owner.orgId}:sub equals ${subject}`);
});
