/** Each kind of e-mailed token works for one call: every other call rejects it, and it stays valid for its own. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { useControlPlane } from '../fixtures/control-plane.js';

const plane = useControlPlane();
const newEmail = () => `${randomBytes(5).toString('hex')}@example.com`;
const post = (path: string, body: object) => plane().call('POST', path, { body });
const PASSWORD = 'the first password';

/** What a token of each kind does where it belongs. */
const TOKEN_USES = {
  verify: (token: string) => post('/v1/auth/verify-email', { token }),
  reset: (token: string) => post('/v1/auth/reset-password', { token, password: 'a whole new password' }),
  invitation: (token: string) =>
    post('/v1/invitations/accept', { token, name: 'Guest', password: 'a whole new password' }),
} as const;
type Kind = keyof typeof TOKEN_USES;
const KINDS = Object.keys(TOKEN_USES) as Kind[];

async function createEmailToken(kind: Kind): Promise<{ email: string; token: string }> {
  const email = newEmail();
  if (kind === 'invitation') {
    await (await plane().createMember('owner')).call('POST', '/v1/members', { email, role: 'viewer' });
    return { email, ...(await plane().waitForMail(email, 'Invitation')) };
  }
  await post('/v1/auth/signup', { email, password: PASSWORD, name: 'Ada', orgName: 'Own' });
  if (kind === 'verify') return { email, ...(await plane().waitForMail(email, 'Confirm')) };
  await post('/v1/auth/forgot-password', { email });
  return { email, ...(await plane().waitForMail(email, 'new password')) };
}

test('e-mail tokens: this test covers every stored kind and every call that accepts one', async () => {
  const [constraint] = await plane().database.sql`
    select pg_get_constraintdef(oid) as text from pg_constraint where conname = 'email_tokens_purpose_check'`;
  const stored = [...constraint!.text.matchAll(/'(\w+)'/g)].map(([, purpose]) => purpose);
  expect([...stored, 'invitation'].sort()).toEqual([...KINDS].sort());
  const takers = plane().service.app.routeTable.filter(({ schema }) => {
    const body = schema?.body as { properties?: Record<string, unknown> } | undefined;
    return body?.properties?.token !== undefined;
  });
  expect(takers.map(({ method, url }) => `${method} ${url}`).sort()).toEqual([
    'POST /v1/auth/reset-password',
    'POST /v1/auth/verify-email',
    'POST /v1/invitations/accept',
    'POST /v1/invitations/lookup',
  ]);
});

const PAIRS = KINDS.flatMap((kind) => KINDS.filter((door) => door !== kind).map((door) => [kind, door] as const));

test.each(PAIRS)('e-mail tokens: a token of kind %s is rejected by %s', async (kind, door) => {
  const { email, token } = await createEmailToken(kind);
  const refused = await TOKEN_USES[door](token);
  expect([refused.status, refused.body]).toEqual([400, { error: expect.stringContaining('unknown, used or expired') }]);
  if (kind !== 'invitation') {
    expect((await post('/v1/auth/login', { email, password: PASSWORD })).status).toBe(200); // not reset
  }
  expect((await TOKEN_USES[kind](token)).status).toBe(200);
});

test.each(KINDS)('mail tokens: one of the kind %s is no session, and no code of a device', async (kind) => {
  const { token } = await createEmailToken(kind);
  expect((await post('/v1/auth/device/token', { deviceCode: token })).body).toEqual({ error: 'expired_token' });
  for (const [method, path] of [
    ['GET', '/v1/me'],
    ['POST', '/v1/auth/refresh'],
  ] as const) {
    expect((await plane().call(method, path, { token })).status).toBe(401);
  }
});
