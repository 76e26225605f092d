/** Trust rules: what may be saved, hostile issuers, and what ends with a rule. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { CONDITIONS, createAgent, createRule, exchangeToken } from './exchange-token.js';
import { SigningKey, StandInIssuer, workloadClaims } from './stand-in-issuer.js';

const plane = useControlPlane();
const KEY = new SigningKey('k1');
let issuer: StandInIssuer;
let owner: Member;
let agentId: string;

beforeAll(async () => {
  issuer = await StandInIssuer.start();
  owner = await plane().createMember('owner');
  agentId = (await createAgent(owner)).id;
});
afterAll(() => issuer.stop());
afterEach(() => {
  issuer.answerKeys = null;
  issuer.answerDiscovery = null;
});

const create = (fields: object) =>
  owner.call('POST', '/v1/trust-rules', { name: 'CI', agentId, issuer: issuer.url, conditions: CONDITIONS, ...fields });
const GITHUB = 'https://token.actions.githubusercontent.com';
const condition = (claim: string, ...values: string[]) => ({ claim, values });

test('issuers that many share need an immutable id among the conditions; the error names it', async () => {
  const jwks = { keys: [KEY.jwk] };
  const named = [condition('repository', 'octo/app'), condition('sub', 'repo:octo/app:ref:refs/heads/main')];
  for (const [url, claims] of [
    [GITHUB, ['repository_id', 'repository_owner_id']],
    [`${GITHUB}/acme`, ['repository_id']],
    ['https://TOKEN.actions.githubusercontent.com.', ['repository_id']],
    ['https://gitlab.com', ['project_id', 'namespace_id']],
    ['https://agent.buildkite.com', ['pipeline_id']],
    ['https://accounts.google.com', []],
  ] as const) {
    const rejected = await create({ issuer: url, jwks, conditions: named.slice(0, 1) });
    expect([url, rejected.status]).toEqual([url, 400]);
    for (const claim of claims) {
      expect(rejected.body.error).toContain(claim);
      expect((await create({ issuer: url, jwks, conditions: [...named, condition(claim, '1')] })).status).toBe(201);
    }
  }
  const created = await create({ issuer: GITHUB, jwks, conditions: [condition('repository_id', '1')] });
  const path = `/v1/trust-rules/${created.body.rule.id}`;
  expect((await owner.call('PATCH', path, { conditions: named })).body.error).toContain('repository_owner_id');
});

test('conditions: none, patterns and a claim twice are rejected', async () => {
  for (const [conditions, text] of [
    [[], 'conditions'],
    [[condition('sub', 'repo:octo/*')], 'compared whole'],
    [[condition('sub', 'a'), condition('sub', 'b')], 'twice'],
    [[condition('sub')], 'values'],
  ] as const) {
    const { status, body } = await create({ conditions });
    expect({ status, error: body.error }).toEqual({ status: 400, error: expect.stringContaining(text) });
  }
});

test('uploaded keys: private and symmetric keys, short moduli and unknown types are rejected by their place', async () => {
  const rsa = new SigningKey('rsa', 'RS256').jwk;
  for (const [key, text] of [
    [KEY.privateJwk, 'private or symmetric'],
    [{ kty: 'oct', k: 'c2VjcmV0' }, 'private or symmetric'],
    [{ ...rsa, n: 'AQAB' }, 'modulus'],
    [{ ...rsa, e: 'AQABAQABAQAB' }, 'exponent'],
    [{ ...KEY.jwk, alg: 'HS256' }, 'alg'],
    [{ ...KEY.jwk, crv: 'secp256k1' }, 'crv'],
    [{ ...KEY.jwk, use: 'enc' }, 'use'],
    [{ kty: 'constructor' }, 'kty'],
    [{}, 'kty'],
  ] as const) {
    const { status, body } = await create({ jwks: { keys: [rsa, key] } });
    expect({ status, error: body.error }).toEqual({ status: 400, error: expect.stringMatching(text) });
    expect(body.error).toContain('keys[1]');
  }
});

test('SPIFFE: the trust domain is that of sub; uploaded bundles may contain X.509 keys', async () => {
  const trustDomain = 'spiffe://prod.example.com';
  const jwks = {
    keys: [
      { ...KEY.jwk, use: 'jwt-svid' },
      { kty: 'EC', use: 'x509-svid', crv: 'P-256', x: 'AA', y: 'AA', x5c: ['MII='] },
    ],
  };
  expect((await create({ issuer: trustDomain })).body.error).toContain('jwks');
  expect((await create({ issuer: `${trustDomain}/a`, jwks })).body.error).toContain('trust domain');
  const sub = `${trustDomain}/agents/triage`;
  const { body } = await create({ issuer: trustDomain, jwks, conditions: [condition('sub', sub)] });
  const exchange = (claims: object) => {
    const token = KEY.sign({ ...workloadClaims('', body.rule.audience), iss: undefined, ...claims });
    return exchangeToken(plane().url, body.rule.id, token);
  };
  expect((await exchange({ sub })).status).toBe(200);
  expect((await exchange({ sub: `${trustDomain}.evil.example/agents/triage` })).status).toBe(400);
});

test('hostile issuers: internal addresses, redirects, huge, slow, endless and wrong answers are rejected without their text', async () => {
  for (const url of [
    'https://169.254.169.254',
    'https://10.0.0.1',
    'http://example.com',
    'https://localhost',
    'ftp://example.com',
    'https://user@example.com',
  ]) {
    const { status, body } = await create({ issuer: url });
    expect([url, status]).toEqual([url, 400]);
    expect(body.error).toMatch(/^issuer/);
  }
  const secret = 'internal-service-banner';
  const discovery = (fields: object) =>
    JSON.stringify({ issuer: issuer.url, jwks_uri: `${issuer.url}/jwks`, ...fields });
  const discoveries: readonly string[] = [
    'not json',
    secret,
    '[]',
    '{}',
    discovery({ issuer: `${issuer.url}/` }),
    discovery({ jwks_uri: undefined }),
    discovery({ jwks_uri: 'file:///etc/passwd' }),
    discovery({ jwks_uri: 'http://169.254.169.254/latest/meta-data' }),
    discovery({ jwks_uri: 'http://10.0.0.1/jwks' }),
  ];
  for (const text of discoveries) {
    issuer.answerDiscovery = (_request, response) => response.setHeader('content-type', 'application/json').end(text);
    const { status, body } = await create({});
    expect([text, status]).toEqual([text, 400]);
    expect(body.error).not.toContain(secret);
  }
  issuer.answerDiscovery = null;
  const answers: readonly NonNullable<StandInIssuer['answerKeys']>[] = [
    (_request, response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    (_request, response) => response.end(secret),
    (_request, response) => response.end('{"keys":{}}'),
    (_request, response) => response.end('null'),
    (_request, response) => response.end(JSON.stringify({ keys: [KEY.privateJwk] })),
    (_request, response) => response.end(JSON.stringify({ keys: Array.from({ length: 51 }, () => KEY.jwk) })),
    (_request, response) => response.end(`{"keys":[],"more":"${'x'.repeat(300_000)}"}`),
    (request) => request.socket.destroy(),
  ];
  for (const answer of answers) {
    issuer.answerKeys = answer;
    const { status, body } = await create({});
    expect(status).toBe(400);
    expect(body.error).toMatch(/^issuer/);
    expect(body.error).not.toContain(secret);
  }
});

test('a slow issuer does not hold the rule’s other exchanges, and its failure is shown', {
  timeout: 40_000,
}, async () => {
  const rule = await createRule(owner, issuer.url);
  const key = issuer.keys[0]!;
  const exchange = (kid: string) =>
    exchangeToken(plane().url, rule.id, key.sign(workloadClaims(issuer.url, rule.audience), { kid }));
  await plane().database
    .sql`update trust_rules set keys_attempted_at = now() - interval '2 minutes' where id = ${rule.id}`;
  issuer.answerKeys = () => {};
  const slow = exchange('unknown');
  expect((await exchange('k1')).status).toBe(200);
  expect((await slow).status).toBe(400);
  expect((await owner.call('GET', `/v1/trust-rules/${rule.id}`)).body.rule.keysFailure).not.toBeNull();
});

test('changes: a new name keeps the keys of a rule, every other change ends them; issuer and agent never change', async () => {
  const { body } = await create({ jwks: { keys: [KEY.jwk] }, issuer: 'https://kubernetes.default.svc' });
  const { id, audience } = body.rule;
  const patch = (fields: object) => owner.call('PATCH', `/v1/trust-rules/${id}`, fields);
  const countKeys = async () =>
    (await plane().database.sql`select 1 from trust_rule_keys where rule_id = ${id}`).length;
  const exchange = () =>
    exchangeToken(plane().url, id, KEY.sign(workloadClaims('https://kubernetes.default.svc', audience)));
  await exchange();
  expect((await patch({ name: 'other' })).body.rule.name).toBe('other');
  expect(await countKeys()).toBe(1);
  for (const change of [
    { keyLifetimeSeconds: 60 },
    { conditions: [condition('repository_id', '4711')] },
    { jwks: { keys: [KEY.jwk] } },
  ]) {
    await exchange();
    expect((await patch(change)).status).toBe(200);
    expect(await countKeys()).toBe(0);
  }
  expect((await patch({ jtiOnce: true })).body.rule).toMatchObject({ jtiOnce: true, keyLifetimeSeconds: 60 });
  for (const fields of [{ issuer: GITHUB }, { agentId }, { audience: 'x' }, { keyLifetimeSeconds: 3_601 }])
    expect((await patch(fields)).status).toBe(400);
  const discovered = await createRule(owner, issuer.url);
  expect(
    (await owner.call('PATCH', `/v1/trust-rules/${discovered.id}`, { jwks: { keys: [KEY.jwk] } })).body.error,
  ).toContain('jwks');
});

test('the deletion of the agent deletes its rules; expired keys and ids of tokens are pruned', async () => {
  const { sql } = plane().database;
  const rule = await createRule(owner, issuer.url, { jtiOnce: true });
  const token = issuer.keys[0]!.sign(workloadClaims(issuer.url, rule.audience, { jti: 'a' }));
  expect((await exchangeToken(plane().url, rule.id, token)).status).toBe(200);
  await sql`update trust_rule_keys set expires_at = now() - interval '1 second' where rule_id = ${rule.id}`;
  const { pruneRuleKeys } = await import('@acg/controlplane/trust-rules/store');
  await pruneRuleKeys(sql);
  expect(await sql`select 1 from trust_rule_keys where rule_id = ${rule.id}`).toHaveLength(0);
  expect(await sql`select 1 from trust_rule_used_tokens where rule_id = ${rule.id}`).toHaveLength(1);
  await sql`update trust_rule_used_tokens set expires_at = now() - interval '1 second'`;
  await pruneRuleKeys(sql);
  expect(await sql`select 1 from trust_rule_used_tokens where rule_id = ${rule.id}`).toHaveLength(0);
  await owner.call('DELETE', `/v1/agents/${rule.agentId}`);
  expect((await owner.call('GET', `/v1/trust-rules/${rule.id}`)).status).toBe(404);
});
