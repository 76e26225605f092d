/** Token exchange: what a workload gets, and that no forged, foreign, old or replayed token gets a key. */
import { pruneRuleKeys } from '@acg/controlplane/trust-rules/store';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { type CreatedRule, createRule, exchangeToken, GRANT_TYPE, JWT_TYPE, postForm } from './exchange-token.js';
import { SigningKey, StandInIssuer, unsigned, workloadClaims } from './stand-in-issuer.js';

const plane = useControlPlane();
const sql = () => plane().database.sql;
const FIRST_KEY = new SigningKey('k1');
let issuer: StandInIssuer;
let owner: Member;
let rule: CreatedRule;

beforeAll(async () => {
  issuer = await StandInIssuer.start();
  issuer.keys = [FIRST_KEY];
  owner = await plane().createMember('owner');
  rule = await createRule(owner, issuer.url);
});
afterAll(() => issuer.stop());
afterEach(() => {
  issuer.keys = [FIRST_KEY];
  issuer.answerKeys = null;
});

const claimsFor = ({ audience }: CreatedRule, overrides: object = {}) =>
  workloadClaims(issuer.url, audience, overrides as Record<string, unknown>);
const exchange = (token: string, { id }: CreatedRule = rule) => exchangeToken(plane().url, id, token);
const keysOf = async ({ id }: CreatedRule): Promise<number> => {
  const [row] = await sql()<{ n: number }[]>`select count(*)::int as n from trust_rule_keys where rule_id = ${id}`;
  return row!.n;
};
/** The rule's keys become so old that the next exchange may request them. */
const ageKeys = ({ id }: CreatedRule, age: string) => sql()`
  update trust_rules set keys_read_at = now() - ${age}::interval, keys_attempted_at = now() - ${age}::interval
   where id = ${id}`;

async function expectRejected(token: string, text: string | RegExp, by: CreatedRule = rule): Promise<void> {
  const before = await keysOf(by);
  const { status, body } = await exchange(token, by);
  expect({ status, body }).toEqual({
    status: 400,
    body: { error: 'invalid_grant', error_description: expect.stringMatching(text) },
  });
  expect(await keysOf(by)).toBe(before);
}

test('a workload’s token becomes a gateway key of the rule’s agent, with the rule’s lifetime, and an audit entry', async () => {
  const own = await createRule(owner, issuer.url, { keyLifetimeSeconds: 120 });
  const { status, headers, body } = await exchange(FIRST_KEY.sign(claimsFor(own, { jti: 'run-1' })), own);
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      access_token: expect.stringMatching(/^acg_[0-9a-f]{64}$/),
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      token_type: 'Bearer',
      expires_in: 120,
    },
  });
  expect(headers.get('cache-control')).toBe('no-store');
  const { body: audit } = await owner.call('GET', '/v1/audit?action=trust_rule.exchange');
  expect(audit.entries[0]).toMatchObject({
    target: { type: 'trust_rule', id: own.id },
    changes: {
      subject: [null, 'repo:octo/app:ref:refs/heads/main'],
      tokenId: [null, 'run-1'],
      keyPrefix: [null, body.access_token.slice(0, 12)],
    },
  });
  const { body: keys } = await owner.call('GET', '/v1/api-keys');
  expect(keys.total).toBe(0);
});

test('RS256, an id in upper case and a JSON body work as well', async () => {
  const rsa = new SigningKey('rsa', 'RS256');
  issuer.keys = [rsa];
  const own = await createRule(owner, issuer.url);
  const fields = {
    grant_type: GRANT_TYPE,
    trust_rule: own.id.toUpperCase(),
    subject_token: rsa.sign(claimsFor(own, { aud: [own.audience] })),
    subject_token_type: JWT_TYPE,
  };
  expect((await plane().call('POST', '/v1/token', { body: fields })).status).toBe(200);
});

test('alg: none, HMAC with the public key, and another algorithm than that of the key are rejected', async () => {
  const claims = claimsFor(rule);
  for (const alg of ['none', 'None', 'NONE', '']) await expectRejected(unsigned(claims, alg), /alg|form/);
  for (const alg of ['HS256', 'HS384', 'HS512']) await expectRejected(FIRST_KEY.signWithPublicKey(claims, alg), /alg/);
  await expectRejected(FIRST_KEY.signWithPublicKey(claims, 'ES256'), /signature/);
  await expectRejected(FIRST_KEY.sign(claims, { alg: 'RS256' }), /kid, alg/);
  await expectRejected(FIRST_KEY.sign(claims, { alg: 'ES384' }), /kid, alg/);
});

test('keys in the header of the token are not used: jwk, jku, x5c; an unknown crit is rejected', async () => {
  const own = new SigningKey('k1');
  const claims = claimsFor(rule);
  await expectRejected(own.sign(claims, { jwk: own.jwk }), /signature/);
  await expectRejected(own.sign(claims, { jku: `${issuer.url}/jwks`, x5u: issuer.url }), /signature/);
  await expectRejected(FIRST_KEY.sign(claims, { crit: ['exp'], exp: 1 }), /form/);
});

test('times: expired, not yet valid and future tokens are rejected; clocks may differ by 60 s', async () => {
  const now = Math.floor(Date.now() / 1000);
  const sign = (overrides: object) => FIRST_KEY.sign(claimsFor(rule, overrides));
  await expectRejected(sign({ exp: now - 70 }), /expired/);
  await expectRejected(sign({ nbf: now + 120 }), /nbf/);
  await expectRejected(sign({ iat: now + 120 }), /iat/);
  for (const exp of [undefined, null, '9999999999', now + 0.5 + 1e20 * Number.NaN])
    await expectRejected(sign({ exp }), /exp/);
  expect((await exchange(sign({ exp: now - 45 }))).status).toBe(200);
  expect((await exchange(sign({ nbf: now + 45, iat: now + 45 }))).status).toBe(200);
});

test('issuer and audience: foreign, missing, partial and additional ones are rejected', async () => {
  const sign = (overrides: object) => FIRST_KEY.sign(claimsFor(rule, overrides));
  for (const iss of [`${issuer.url}/`, 'https://example.com', undefined, [issuer.url], null])
    await expectRejected(sign({ iss }), /another issuer/);
  const audiences = [undefined, null, [], 'https://example.com', `${rule.audience}/`, rule.audience.slice(0, -1)];
  for (const aud of [...audiences, [rule.audience, 'https://example.com'], [[rule.audience]], { 0: rule.audience }])
    await expectRejected(sign({ aud }), /aud/);
});

test('conditions: whole values only; lists, objects, prefixes and other types are rejected', async () => {
  const sign = (overrides: object) => FIRST_KEY.sign(claimsFor(rule, overrides));
  const values = [
    '47',
    '47111',
    '4711 ',
    ' 4711',
    '4711\u0000',
    '4711,4712',
    ['4711'],
    { 4711: true },
    null,
    true,
    4711.5,
  ];
  for (const repository_id of [...values, undefined]) await expectRejected(sign({ repository_id }), /repository_id/);
  for (const repository_id of ['4712', 4711]) expect((await exchange(sign({ repository_id }))).status).toBe(200);
});

test('conditions: JSON pointers read members of claims, and own members only', async () => {
  const conditions = [
    { claim: '/kubernetes.io/namespace', values: ['agents'] },
    { claim: '/kubernetes.io/a~1b', values: ['true'] },
  ];
  const own = await createRule(owner, issuer.url, { conditions });
  const sign = (io: object) => FIRST_KEY.sign(claimsFor(own, { 'kubernetes.io': io }));
  expect((await exchange(sign({ namespace: 'agents', 'a/b': true }), own)).status).toBe(200);
  await expectRejected(sign({ namespace: 'agents' }), /a~1b/, own);
  await expectRejected(sign([]), /namespace/, own);
  const inherited = await createRule(owner, issuer.url, {
    conditions: [{ claim: '/constructor/name', values: ['Object'] }],
  });
  await expectRejected(FIRST_KEY.sign(claimsFor(inherited)), /constructor/, inherited);
});

test('a token of one organization is worthless at the rules of another, and unknown rules answer without details', async () => {
  const stranger = await plane().createMember('owner');
  const foreign = await createRule(stranger, issuer.url);
  await expectRejected(FIRST_KEY.sign(claimsFor(rule)), /aud/, foreign);
  await expectRejected(FIRST_KEY.sign(claimsFor(foreign)), /aud/, rule);
  const token = FIRST_KEY.sign(claimsFor(rule));
  const unknown = await exchange(token, { ...rule, id: '01a1fe80-3c00-7a10-9c41-5d2e8f6a0bff' });
  expect(unknown.body).toMatchObject({ error: 'invalid_grant', error_description: expect.stringContaining('no such') });
  await stranger.call('DELETE', `/v1/trust-rules/${foreign.id}`);
  const deleted = await exchange(FIRST_KEY.sign(claimsFor(foreign)), foreign);
  expect(deleted.body).toEqual(unknown.body);
  const text = JSON.stringify((await exchange(FIRST_KEY.sign(claimsFor(rule, { repository_id: '1' })))).body);
  for (const secret of ['4711', '4712', rule.agentId, rule.audience]) expect(text).not.toContain(secret);
});

test('a token for one rule is worthless at another rule of the same organization', async () => {
  const other = await createRule(owner, issuer.url);
  await expectRejected(FIRST_KEY.sign(claimsFor(rule)), /aud/, other);
});

test('renewal: the key of the rule lives on, with a fresh token of the workload only; no other key can be renewed', async () => {
  const [own, other] = [await createRule(owner, issuer.url), await createRule(owner, issuer.url)];
  const { body } = await exchange(FIRST_KEY.sign(claimsFor(own)), own);
  const renew = (at: CreatedRule, renewToken: string, overrides = {}) =>
    postForm(plane().url, {
      grant_type: GRANT_TYPE,
      trust_rule: at.id,
      subject_token: FIRST_KEY.sign(claimsFor(at, overrides)),
      subject_token_type: JWT_TYPE,
      renew_token: renewToken,
    });
  await sql()`update trust_rule_keys set expires_at = now() + interval '5 seconds' where rule_id = ${own.id}`;
  expect((await renew(own, body.access_token, { repository_id: '1' })).status).toBe(400);
  expect((await renew(other, body.access_token)).body.error_description).toContain('renew_token');
  expect((await renew(own, `acg_${'0'.repeat(64)}`)).status).toBe(400);
  expect((await renew(own, body.access_token)).body).toEqual(body);
  const [row] = await sql()<{ left: number; n: number }[]>`
    select extract(epoch from max(expires_at) - now())::float8 as left, count(*)::int as n
      from trust_rule_keys where rule_id = ${own.id}`;
  expect(row).toEqual({ left: expect.closeTo(900, -2), n: 1 });
  await sql()`update trust_rule_keys set expires_at = now() where rule_id = ${own.id}`;
  expect((await renew(own, body.access_token)).status).toBe(400);
});

test('jtiOnce: the second exchange of a token is rejected, at the same time too; a token without jti never passes', async () => {
  const own = await createRule(owner, issuer.url, { jtiOnce: true });
  const token = FIRST_KEY.sign(claimsFor(own, { jti: 'once' }));
  const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(token, own)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(await keysOf(own)).toBe(1);
  // The same id in a token that is signed again.
  await expectRejected(FIRST_KEY.sign(claimsFor(own, { jti: 'once', n: 1 })), /exchanged before/, own);
  for (const jti of [undefined, null, '', 7, ['x'], 'x'.repeat(3_000)])
    await expectRejected(FIRST_KEY.sign(claimsFor(own, { jti })), /no jti/, own);
  const exp = Math.floor(Date.now() / 1000) + 90_000;
  await expectRejected(FIRST_KEY.sign(claimsFor(own, { jti: 'long', exp })), /more than a day/, own);
  expect((await exchange(FIRST_KEY.sign(claimsFor(own, { jti: 'other' })), own)).status).toBe(200);
});

test('jtiOnce: the id of an expired token is kept for as long as the clocks may differ', async () => {
  const own = await createRule(owner, issuer.url, { jtiOnce: true });
  const exp = Math.floor(Date.now() / 1000) - 30;
  const token = FIRST_KEY.sign(claimsFor(own, { jti: 'late', exp }));
  expect((await exchange(token, own)).status).toBe(200);
  await pruneRuleKeys(sql());
  await expectRejected(token, /exchanged before/, own);
});

test('rotation: a new key is read at its first token; a withdrawn one is rejected once the keys are read again', async () => {
  const own = await createRule(owner, issuer.url);
  const next = new SigningKey('k2');
  issuer.keys = [next];
  await ageKeys(own, '61 seconds');
  expect((await exchange(next.sign(claimsFor(own)), own)).status).toBe(200);
  await expectRejected(FIRST_KEY.sign(claimsFor(own)), /no key/, own);
  // A key of another rule's issuer.
  await expectRejected(new SigningKey('k2').sign(claimsFor(own)), /signature/, own);
});

test('withdrawn keys: after five minutes the keys are read again, although all tokens have a known kid', async () => {
  const own = await createRule(owner, issuer.url);
  issuer.keys = [new SigningKey('k2')];
  expect((await exchange(FIRST_KEY.sign(claimsFor(own)), own)).status).toBe(200);
  await ageKeys(own, '6 minutes');
  await expectRejected(FIRST_KEY.sign(claimsFor(own)), /no key/, own);
});

test('kid floods cause at most one request a minute, and known keys keep working', async () => {
  const own = await createRule(owner, issuer.url);
  await ageKeys(own, '61 seconds');
  const before = issuer.keyRequests;
  const tokens = Array.from({ length: 40 }, (_, i) => FIRST_KEY.sign(claimsFor(own), { kid: `flood-${i}` }));
  for (const { status } of await Promise.all(tokens.map((token) => exchange(token, own)))) expect(status).toBe(400);
  expect(issuer.keyRequests - before).toBe(1);
  expect((await exchange(FIRST_KEY.sign(claimsFor(own)), own)).status).toBe(200);
  expect(issuer.keyRequests - before).toBe(1);
});

test('while the issuer is away, its keys serve for a day; then the answer is 503 with the reason in the rule', async () => {
  const own = await createRule(owner, issuer.url);
  issuer.answerKeys = (_request, response) => response.writeHead(500).end();
  await ageKeys(own, '23 hours');
  expect((await exchange(FIRST_KEY.sign(claimsFor(own)), own)).status).toBe(200);
  const { body } = await owner.call('GET', `/v1/trust-rules/${own.id}`);
  expect(body.rule.keysFailure).toBe('jwks_uri answers 500 instead of 200');
  await ageKeys(own, '25 hours');
  const late = await exchange(FIRST_KEY.sign(claimsFor(own)), own);
  expect(late).toMatchObject({ status: 503, body: { error: 'temporarily_unavailable' } });
  expect(late.headers.get('retry-after')).toBe('60');
  issuer.answerKeys = null;
  await ageKeys(own, '25 hours');
  expect((await exchange(FIRST_KEY.sign(claimsFor(own)), own)).status).toBe(200);
});

test('huge and malformed tokens and bodies are rejected with the errors of RFC 6749', async () => {
  const url = plane().url;
  const valid = { grant_type: GRANT_TYPE, trust_rule: rule.id, subject_token_type: JWT_TYPE };
  const token = FIRST_KEY.sign(claimsFor(rule));
  const errors = async (fields: Record<string, string> | string) => (await postForm(url, fields)).body.error;
  expect(await errors({ ...valid, subject_token: 'x'.repeat(20_000) })).toBe('invalid_request');
  expect(await errors({ ...valid, subject_token: `${'x'.repeat(200_000)}` })).toBe('invalid_request');
  expect(await errors({ ...valid, subject_token: 'a.b' })).toBe('invalid_grant');
  expect(await errors({ ...valid, subject_token: `${token}.x.y` })).toBe('invalid_grant');
  expect(await errors(valid)).toBe('invalid_request');
  expect(await errors({ ...valid, subject_token: token, grant_type: 'password' })).toBe('unsupported_grant_type');
  expect(await errors({ ...valid, subject_token: token, subject_token_type: 'saml' })).toBe('invalid_request');
  expect(await errors({ ...valid, subject_token: token, trust_rule: "' or 1=1" })).toBe('invalid_request');
  expect(await errors(`${new URLSearchParams({ ...valid, subject_token: token })}&trust_rule=${rule.id}`)).toBe(
    'invalid_request',
  );
  expect(await errors('')).toBe('invalid_request');
  const many = Array.from({ length: 60 }, (_, i) => `p${i}=1`).join('&');
  expect(await errors(many)).toBe('invalid_request');
  // Unknown parameters are ignored.
  expect((await postForm(url, { ...valid, subject_token: token, custom: '1', __proto__x: '2' })).status).toBe(200);
});

test('texts of a token that the database cannot store are rejected, and long ones are shortened between characters', async () => {
  for (const text of ['a\u0000b', 'a\ud83db']) {
    await expectRejected(FIRST_KEY.sign(claimsFor(rule, { sub: text })), /no usable sub/);
    const once = await createRule(owner, issuer.url, { jtiOnce: true });
    await expectRejected(FIRST_KEY.sign(claimsFor(once, { jti: text })), /no jti/, once);
    expect((await exchange(FIRST_KEY.sign(claimsFor(rule, { jti: text })))).status).toBe(200);
  }
  const long = `${'x'.repeat(254)}\u{1f600}`;
  expect((await exchange(FIRST_KEY.sign(claimsFor(rule, { sub: long, jti: long })))).status).toBe(200);
  const { body: audit } = await owner.call('GET', '/v1/audit?action=trust_rule.exchange');
  expect(audit.entries[0].changes).toMatchObject({
    subject: [null, 'x'.repeat(254)],
    tokenId: [null, 'x'.repeat(254)],
  });
});

test('a flood from one network gets 429 with Retry-After; a rejected token does not use up the limit of its rule', async () => {
  const own = await createRule(owner, issuer.url);
  await sql()`
    insert into throttle_windows (key, count, expires_at)
    values (${`trust-rule:${own.id}`}, 600, now() + interval '1 minute')`;
  await expectRejected(FIRST_KEY.sign(claimsFor(own, { repository_id: '1' })), /repository_id/, own);
  const limited = await exchange(FIRST_KEY.sign(claimsFor(own)), own);
  expect(limited).toMatchObject({ status: 429, body: { error: 'slow_down' } });
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
  await sql()`update throttle_windows set count = 600 where key like 'exchange:%'`;
  const flooded = await exchange(FIRST_KEY.sign(claimsFor(rule)));
  expect(flooded).toMatchObject({ status: 429, body: { error: 'slow_down' } });
});
