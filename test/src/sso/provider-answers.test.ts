/** Single sign-on: what a hostile provider or browser gains by its answers and callbacks: nothing. */
import { expect, test } from 'vitest';
import { openCallback, startLogin } from './gateway-login.js';
import { CLIENT_ID } from './hostile-provider.js';
import { type LoginOptions, useSingleSignOn } from './use-single-sign-on.js';

const { plane, sql, provider, createOrganization, logIn, rejectionReasons, membersWith } = useSingleSignOn();

test.each<[string, LoginOptions]>([
  ['alg none', { sign: (claims) => provider.unsigned(claims) }],
  ['HMAC with the public key', { sign: (claims) => provider.signWithPublicKey(claims) }],
  ["a stranger's key", { sign: (claims) => provider.signWithStrangersKey(claims) }],
  ['no ID token', { sign: () => '' }],
  ['an unknown key id', { sign: (claims) => provider.sign(claims, { kid: 'unknown' }) }],
  ['a nonce of another login', { claims: { nonce: 'of another login' } }],
  ['no nonce', { claims: { nonce: undefined } }],
  ['another issuer', { claims: { iss: 'https://other.example.com' } }],
  ['an issuer with a slash', { sign: (claims) => provider.sign({ ...claims, iss: `${provider.issuer}/` }) }],
  ['an issuer in capitals', { sign: (claims) => provider.sign({ ...claims, iss: provider.issuer.toUpperCase() }) }],
  ['an issuer with a fragment', { sign: (claims) => provider.sign({ ...claims, iss: `${provider.issuer}#` }) }],
  [
    'an issuer with credentials',
    { sign: (claims) => provider.sign({ ...claims, iss: provider.issuer.replace('//', '//x@') }) },
  ],
  ['an issuer with a comment', { sign: (claims) => provider.sign({ ...claims, iss: `${provider.issuer}<!-- -->` }) }],
  ['no issuer', { claims: { iss: undefined } }],
  ['an issuer in a list', { sign: (claims) => provider.sign({ ...claims, iss: [provider.issuer] }) }],
  ['another audience', { claims: { aud: 'another client' } }],
  ['several audiences without azp', { claims: { aud: [CLIENT_ID, 'another client'] } }],
  ['an expired token', { claims: { exp: Math.floor(Date.now() / 1000) - 120 } }],
  ['no subject', { claims: { sub: undefined } }],
  ['a subject of 300 characters', { claims: { sub: 's'.repeat(300) } }],
  ['a subject with NUL', { claims: { sub: 'a\0b' } }],
  ['a subject with half of a character', { claims: { sub: 'a\ud83db' } }],
  ['iss of another provider in the callback', { parameters: { iss: 'https://other.example.com' } }],
  ['an error of the provider', { parameters: { error: 'access_denied' } }],
])('attack: the answer of the provider is rejected: %s', async (_name, options) => {
  const org = await createOrganization();
  const result = await logIn(org, 'attacker', options);
  expect(result).toMatchObject({ status: 403, text: expect.stringContaining('was rejected') });
  expect(result.cookies).toEqual({});
  expect(await rejectionReasons(org)).toHaveLength(1);
  expect(await membersWith(org.orgId, org.email)).toEqual([]);
});

test('a clock that is 30 s ahead or behind is no problem', async () => {
  const org = await createOrganization();
  const now = Math.floor(Date.now() / 1000);
  expect((await logIn(org, 'ahead', { claims: { iat: now + 30, nbf: now + 30 } })).status).toBe(200);
  const late = await logIn({ ...org, email: `late@${org.domain}` }, 'behind', { claims: { exp: now - 30 } });
  expect(late.status).toBe(200);
});

test('attack: a callback counts once, in the browser that began the login, at the organization of its login', async () => {
  const org = await createOrganization();
  const other = await createOrganization();
  const attempt = async (orgId: string, cookie: (own: string) => string | null) => {
    const started = await startLogin(plane(), org.email);
    provider.idToken = provider.sign(provider.claims(started.nonce, { sub: 'attacker', email: org.email }));
    return openCallback(plane(), orgId, { code: 'a code', state: started.state }, cookie(started.cookie));
  };
  const strangersCookie = (await startLogin(plane(), org.email)).cookie;
  expect((await attempt(org.orgId, () => null)).status).toBe(403);
  expect((await attempt(org.orgId, () => strangersCookie)).status).toBe(403);
  expect((await attempt(other.orgId, (own) => own)).status).toBe(403); // mix-up of two providers
  const begun = await startLogin(plane(), org.email);
  for (const parameters of [{ code: 'a code', state: 'of another login' }, { code: 'a code' }])
    expect((await openCallback(plane(), org.orgId, parameters as never, begun.cookie)).status).toBe(403);
  expect(provider.tokenRequests).toEqual([]);

  const started = await startLogin(plane(), org.email);
  provider.idToken = provider.sign(provider.claims(started.nonce, { sub: 'once', email: org.email }));
  const callback = () => openCallback(plane(), org.orgId, { code: 'a code', state: started.state }, started.cookie);
  const results = await Promise.all([callback(), callback(), callback()]);
  expect(results.map(({ status }) => status).sort()).toEqual([200, 403, 403]);
  expect((await callback()).status).toBe(403);
  const late = await startLogin(plane(), org.email);
  await sql()`update sso_logins set expires_at = now() - interval '1 second' where org_id = ${org.orgId}`;
  expect((await openCallback(plane(), org.orgId, { code: 'a code', state: late.state }, late.cookie)).status).toBe(403);
});

test('a login lasts 10 minutes; its cookie and its page are for this browser and this service only', async () => {
  const org = await createOrganization();
  const body = JSON.stringify({ email: org.email });
  const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
  const started = await fetch(`${plane().url}/v1/sso/start`, { method: 'POST', headers, body });
  const [cookie] = started.headers.getSetCookie();
  expect(cookie).toMatch(/^acg_sso=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);
  const [row] = await sql()<{ left: number }[]>`
    select extract(epoch from expires_at - now())::float8 as left from sso_logins where org_id = ${org.orgId}`;
  expect(row!.left).toBeGreaterThan(300);
  expect(row!.left).toBeLessThanOrEqual(600);
  const page = await fetch(`${plane().url}/sso/${org.orgId}/callback?state=x`);
  expect(page.status).toBe(403);
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const crossSite = { headers: { 'sec-fetch-site': 'cross-site', cookie: 'acg_sso=x' }, body: { password: 'x' } };
  expect((await plane().call('POST', '/v1/sso/link', crossSite)).status).toBe(403);
});

test.each([
  ['closes the connection', (_request: unknown, response: { destroy(): void }) => response.destroy()],
  [
    'redirects',
    (_request: unknown, response: { writeHead(status: number, headers: object): { end(): void } }) =>
      response.writeHead(307, { location: `${provider.issuer}/token` }).end(),
  ],
  [
    'answers 300 KB',
    (_request: unknown, response: { setHeader(name: string, value: string): { end(text: string): void } }) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ access_token: 'x'.repeat(300_000) })),
  ],
  [
    'answers HTML',
    (_request: unknown, response: { setHeader(name: string, value: string): { end(text: string): void } }) =>
      response.setHeader('content-type', 'text/html').end('<script>alert(1)</script>'),
  ],
])('bad input: the token endpoint %s', async (_name, answer) => {
  const org = await createOrganization();
  provider.answerToken = answer as never;
  const result = await logIn(org, 'nobody');
  expect(result).toMatchObject({ status: 403, text: expect.stringContaining('was rejected') });
  expect(result.text).not.toContain('alert(1)');
  expect(provider.tokenRequests).toHaveLength(1);
});
