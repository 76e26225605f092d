/** The test of the settings of single sign-on: each step, without a login. */
import { expect, test } from 'vitest';
import { configure } from './gateway-login.js';
import { CLIENT_ID, CLIENT_SECRET, HostileProvider } from './hostile-provider.js';
import { newDomain, type Organization, useSingleSignOn } from './use-single-sign-on.js';

const { plane, sql, provider, createOrganization, entriesOf, countMembers } = useSingleSignOn();

interface TestStep {
  readonly name: string;
  readonly ok: boolean | null;
  readonly message: string;
  readonly action: string | null;
}

const runTest = async ({ owner }: Pick<Organization, 'owner'>) => {
  const { status, body } = await owner.call('POST', '/v1/sso/test');
  const steps = (body.steps ?? []) as readonly TestStep[];
  return { status, ok: body.ok, body, states: Object.fromEntries(steps.map(({ name, ok }) => [name, ok])), steps };
};

const answerError = (error: string) =>
  ((_request, response) => {
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
  }) satisfies HostileProvider['answerToken'];

test('test of the settings: every step, without a login; admins only, in the audit trail, 30 an hour', async () => {
  const groupRoles = [{ group: 'g', role: 'member' }];
  const org = await createOrganization({ groupRoles, groupsClaim: 'teams' });
  provider.answerToken = answerError('invalid_grant');
  provider.document = { claims_supported: ['sub', 'teams'] };
  const passed = await runTest(org);
  expect(passed).toMatchObject({ status: 200, ok: true });
  expect(passed.states).toEqual({
    provider: true,
    discovery: true,
    issuer: true,
    endpoints: true,
    keys: true,
    client: true,
    'redirect URI': null,
    groups: true,
    domains: true,
  });
  expect(passed.steps.find(({ name }) => name === 'redirect URI')!.message).toBe(
    `${plane().config.publicUrl}/sso/${org.orgId}/callback`,
  );
  expect(JSON.stringify(passed.body)).not.toContain(CLIENT_SECRET);
  const [request] = provider.tokenRequests;
  expect(Object.fromEntries(request!)).toMatchObject({
    grant_type: 'authorization_code',
    client_id: CLIENT_ID,
    client_secret: CLIENT_SECRET,
    code: expect.stringMatching(/^[\w-]{43}$/),
  });
  expect(await countMembers(org.orgId)).toBe(1);

  await org.owner.call('POST', '/v1/sso/domains', { domain: newDomain() });
  const member = await plane().createMember('member', org.orgId);
  expect((await member.call('POST', '/v1/sso/test')).status).toBe(403);
  const admin = await plane().createMember('admin', org.orgId);
  expect((await runTest({ owner: admin })).states).toMatchObject({ domains: false });
  expect(await entriesOf(org, 'sso.test')).toEqual([{ failed: [null, []] }, { failed: [null, ['domains']] }]);
  const [window] = await sql()<{ left: number }[]>`
    update throttle_windows set count = 29 where key = ${`sso-test:${org.orgId}`}
    returning extract(epoch from expires_at - now())::float8 as left`;
  expect(window!.left).toBeGreaterThan(3_000);
  expect(window!.left).toBeLessThanOrEqual(3_600);
  expect((await runTest(org)).status).toBe(200);
  expect((await runTest(org)).status).toBe(429);

  const without = await runTest({ owner: await plane().createMember('owner') });
  expect(without).toMatchObject({ ok: false, states: { provider: false, 'redirect URI': null, domains: false } });
});

test.each<[string, () => void, Readonly<Record<string, boolean | null>>]>([
  [
    'another issuer',
    () => (provider.document = { issuer: 'https://other.example.com' }),
    { discovery: true, issuer: false },
  ],
  ['no token endpoint', () => (provider.document = { token_endpoint: undefined }), { endpoints: false, client: null }],
  [
    'an authorization endpoint that is a script',
    () => (provider.document = { authorization_endpoint: 'javascript:alert(1)' }),
    { endpoints: false },
  ],
  [
    'a token endpoint inside of the network',
    () => (provider.document = { token_endpoint: 'https://10.0.0.1/token' }),
    { endpoints: false, keys: true, client: null },
  ],
  [
    'a key set inside of the network',
    () => (provider.document = { jwks_uri: 'https://169.254.169.254/latest' }),
    { endpoints: false, keys: false, client: null },
  ],
  ['HMAC only', () => (provider.document = { id_token_signing_alg_values_supported: ['HS256'] }), { keys: false }],
  [
    'ES256 without such a key',
    () => (provider.document = { id_token_signing_alg_values_supported: ['ES256'] }),
    { keys: false },
  ],
  [
    'no list of algorithms',
    () => (provider.document = { id_token_signing_alg_values_supported: undefined }),
    { keys: true },
  ],
  [
    'an object as list of algorithms',
    () => (provider.document = { id_token_signing_alg_values_supported: {} }),
    { keys: true },
  ],
  [
    'a key set that redirects',
    () => (provider.answerKeys = (_, response) => void response.writeHead(302, { location: '/jwks' }).end()),
    { endpoints: true, keys: false },
  ],
  [
    'a key set that is no JSON',
    () => (provider.answerKeys = (_, response) => void response.end('<script>alert(1)</script>')),
    { keys: false },
  ],
  ['a wrong secret', () => (provider.answerToken = answerError('invalid_client')), { client: false }],
  ['a wrong secret at Keycloak', () => (provider.answerToken = answerError('unauthorized_client')), { client: false }],
  ['another error', () => (provider.answerToken = answerError('server_error')), { client: null }],
  ['HTML as an answer', () => (provider.answerToken = (_, response) => void response.end('<b>')), { client: null }],
])('test of the settings with %s', async (_name, change, expected) => {
  const org = await createOrganization();
  provider.answerToken = answerError('invalid_grant');
  change();
  const result = await runTest(org);
  expect(result).toMatchObject({ status: 200, states: expected });
  expect(result.ok).toBe(!Object.values(expected).includes(false));
  for (const { ok, action } of result.steps) expect(action === null).toBe(ok === true);
  expect(JSON.stringify(result.body)).not.toMatch(/alert\(1\)|a client secret/);
});

test('test of the settings while the provider is away', async () => {
  const gone = await HostileProvider.start();
  const owner = await plane().createMember('owner');
  await configure(owner, gone.issuer);
  await gone.stop();
  const result = await runTest({ owner });
  expect(result).toMatchObject({ status: 200, ok: false, states: { discovery: false } });
  expect(result.steps.find(({ name }) => name === 'discovery')!.message).toContain('ECONNREFUSED');
});
