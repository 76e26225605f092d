/** Google service accounts, Entra and AWS roles: what the vendors' endpoints get, and what data planes get. */
import { createHash } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Member, startControlPlane, type TestControlPlane } from '../fixtures/control-plane.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { type ConnectedContextCache, connectContextCache } from '../plane-link/connected-context-cache.js';
import { MINTED, MINTED_ACCOUNTS, VendorTokenEndpoints } from '../stand-in-providers/vendor-token-endpoints.js';

const endpoints = new VendorTokenEndpoints();
let plane: TestControlPlane;
let watched: ConnectedContextCache;
let owner: Member;

beforeAll(async () => {
  await endpoints.start();
  const file = join(mkdtempSync(join(tmpdir(), 'minting-')), 'providers.json');
  const { origin } = endpoints;
  writeFileSync(file, JSON.stringify(endpoints.addressesFor({ vertex: origin, azure: origin, bedrock: origin })));
  plane = await startControlPlane({ PROVIDERS_FILE: file });
  watched = connectContextCache([plane.grpcAddress], plane.config.link);
  await waitUntil('the watch is up', () => watched.source.isUp);
  owner = await plane.createMember('owner');
  endpoints.orgId = owner.orgId;
});
afterAll(async () => {
  watched?.stop();
  await plane?.stop();
  endpoints.stop();
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
  const { upstream, account } = await mint('vertex', MINTED_ACCOUNTS.vertex);
  expect(upstream.injection).toMatchObject({ name: 'authorization', value: `Bearer ${MINTED.google}` });
  expect(account.minted).toMatchObject({
    method: 'service_account',
    kind: 'jwt_bearer',
    state: 'active',
    failure: null,
  });
  expect(JSON.stringify(upstream.injection)).not.toContain('PRIVATE');
});

test('Entra: client credentials for Azure OpenAI, sent as Bearer', async () => {
  const { upstream } = await mint('azure-openai', MINTED_ACCOUNTS['azure-openai']);
  expect(upstream.injection).toMatchObject({ name: 'authorization', value: `Bearer ${MINTED.entra}` });
  const { body } = endpoints.requests.find(({ path }) => path === '/entra')!;
  expect(body.get('scope')).toBe('https://cognitiveservices.azure.com/.default');
});

test('an AWS role: STS gets a signed request with the external id of the organization', async () => {
  const { upstream } = await mint('bedrock', MINTED_ACCOUNTS.bedrock);
  expect(upstream.injection).toMatchObject({
    kind: 'sigv4',
    ...MINTED.aws,
  });
  const failed = await mint('bedrock', { ...MINTED_ACCOUNTS.bedrock, userSecretAccessKey: 'x'.repeat(40) });
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
