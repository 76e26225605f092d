import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PasswordHasher } from '@acg/controlplane/auth/passwords/password-hasher';
import { computeTotpCode, TOTP_SECRET_BYTES, totpStepAt } from '@acg/controlplane/auth/second-factor/totp';
import { secretIdentityOf } from '@acg/controlplane/auth/second-factor/verifier';
import { createCookieSecret } from '@acg/controlplane/auth/sessions/session-cookie';
import { Vault } from '@acg/controlplane/vault/aes-gcm-vault';
import type { Member, TestControlPlane } from '../../fixtures/control-plane.js';
import type { ExampleContext, Examples } from './route-example.js';

const newEmail = (): string => `${randomBytes(6).toString('hex')}@example.com`;
const PASSWORD = 'a long enough password';
/** What a browser sends with calls of the service's own pages. */
const OWN_PAGE = { 'sec-fetch-site': 'same-origin' } as const;
const UNAUDITED_REASON = 'nothing of an organization changes';

/** A user who signed up, with a new organization. */
async function signUpUser({ plane }: ExampleContext): Promise<{ email: string; token: string }> {
  const email = newEmail();
  const body = { email, password: PASSWORD, name: 'Example', orgName: 'Example' };
  const { body: reply } = await plane.call('POST', '/v1/auth/signup', { body });
  return { email, token: reply.token };
}

/** A browser session of the member, in addition to its token session. */
export async function createBrowserSession(plane: TestControlPlane, member: Member): Promise<Record<string, string>> {
  const { secret, hash } = createCookieSecret();
  await plane.database.sql`
    insert into sessions (id, user_id, org_id, kind, secret_hash, ip, user_agent, expires_at)
    values (gen_random_uuid(), ${member.userId}, ${member.orgId}, 'browser', ${hash}, '', '', now() + interval '1 day')`;
  return { ...OWN_PAGE, cookie: `acg_session=${secret}` };
}

/** A device that waits for its approval by the owner, or has it. */
async function createDeviceLogin({ plane, owner }: ExampleContext, approved = false) {
  const letters = Array.from(randomBytes(8), (byte) => 'BCDFGHJKLMNPQRSTVWXZ'[byte % 20]).join('');
  const deviceCode = randomBytes(32).toString('base64url');
  const hash = (text: string) => createHash('sha256').update(text).digest();
  await plane.database.sql`
    insert into device_logins (id, device_code_hash, user_code_hash, client, hostname, ip, status, user_id,
                               session_version, org_id, role, expires_at)
    values (gen_random_uuid(), ${hash(deviceCode)}, ${hash(letters)}, 'acg', '', '', ${approved ? 'approved' : 'pending'},
            ${owner.userId}, 1, ${owner.orgId}, 'viewer', now() + interval '10 minutes')`;
  return { deviceCode, userCode: letters };
}

/** Its password is {@link PASSWORD}. */
async function setPassword(plane: TestControlPlane, { userId }: Member): Promise<void> {
  const passwordHash = await new PasswordHasher().assertStrongAndHash(PASSWORD, '192.0.2.1');
  await plane.database.sql`update users set password_hash = ${passwordHash} where id = ${userId}`;
}

/** A second factor of the caller; returns a code that is valid now. */
async function createSecondFactor({ plane, owner, caller }: ExampleContext, confirmed = true): Promise<string> {
  const { userId } = caller ?? owner;
  const secret = randomBytes(TOTP_SECRET_BYTES);
  const sealed = new Vault(plane.config.masterKeys).encrypt(secretIdentityOf(userId), secret.toString('hex'));
  await plane.database.sql`
    insert into second_factors (user_id, key_id, nonce, ciphertext, confirmed_at)
    values (${userId}, ${sealed.keyId}, ${sealed.nonce}, ${sealed.ciphertext}, ${confirmed ? new Date() : null})
    on conflict (user_id) do update set key_id = excluded.key_id, nonce = excluded.nonce, last_step = -1,
           ciphertext = excluded.ciphertext, confirmed_at = excluded.confirmed_at`;
  return computeTotpCode(secret, totpStepAt(Date.now()));
}

let issuerServer: Promise<string> | null = null;

/** The issuer of a server that answers nothing but its discovery document; it does not keep the process alive. */
function sharedIssuer(): Promise<string> {
  issuerServer ??= new Promise((resolve) => {
    let issuer = '';
    const server = createServer((_request, response) => {
      const document = { issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(document));
    });
    server.unref().listen(0, '127.0.0.1', () => {
      issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      resolve(issuer);
    });
  });
  return issuerServer;
}

/** A connection of the owner's organization. */
async function createSsoConnection({ plane, owner }: ExampleContext): Promise<void> {
  const id = randomUUID();
  const sealed = new Vault(plane.config.masterKeys).encrypt({ purpose: 'sso', orgId: owner.orgId, id }, 'secret');
  await plane.database.sql`
    insert into sso_connections (id, org_id, issuer, client_id, key_id, nonce, ciphertext, default_role)
    values (${id}, ${owner.orgId}, ${await sharedIssuer()}, 'gateway', ${sealed.keyId}, ${sealed.nonce},
            ${sealed.ciphertext}, 'viewer')
    on conflict (org_id) do nothing`;
}

async function createSsoDomain({ plane, owner }: ExampleContext, domain: string): Promise<string> {
  const id = randomUUID();
  await plane.database.sql`
    insert into sso_domains (id, org_id, domain, token) values (${id}, ${owner.orgId}, ${domain}, 'token')
    on conflict (org_id, domain) do update set id = excluded.id`;
  return id;
}

/** An item that waits for the review of the owner; what the caller has, works. */
async function createSuspendedItem({ plane, owner }: ExampleContext): Promise<string> {
  const { body } = await owner.call('POST', '/v1/management-tokens', { name: 'CI', role: 'viewer' });
  await plane.database.sql`
    with t as (delete from management_tokens t where id = ${body.token.id} returning t.*)
    insert into suspended_items (id, org_id, kind, name, detail, contents, made_at)
    select id, org_id, 'management_token', name, role, to_jsonb(t), created_at from t`;
  return body.token.id;
}

async function createInvitation({ plane, owner }: ExampleContext): Promise<{ id: string; token: string }> {
  const email = newEmail();
  const { body } = await owner.call('POST', '/v1/members', { email, role: 'viewer' });
  return { id: body.member.userId, token: (await plane.waitForMail(email, 'Invitation')).token };
}

export async function newProject({ owner }: ExampleContext): Promise<string> {
  const { body } = await owner.call('POST', '/v1/projects', { name: 'Example' });
  return body.project.id;
}

export const IDENTITY_EXAMPLES: Examples = {
  'GET /v1/openapi.json': { prepare: () => ({}) },
  'POST /v1/auth/signup': {
    prepare: () => ({ body: { email: newEmail(), password: PASSWORD, name: 'New', orgName: 'New' } }),
    success: 201,
    unaudited: 'the entry is in the trail of the new organization',
  },
  'POST /v1/auth/login': {
    prepare: async (context) => ({ body: { email: (await signUpUser(context)).email, password: PASSWORD } }),
    unaudited: "the entry is in the trail of the user's organization",
  },
  'POST /v1/auth/refresh': { prepare: () => ({}), statuses: { none: 401 }, unaudited: UNAUDITED_REASON },
  'POST /v1/auth/switch-org': { prepare: ({ owner }) => ({ body: { orgId: owner.orgId } }) },
  'POST /v1/auth/forgot-password': { prepare: () => ({ body: { email: newEmail() } }), unaudited: UNAUDITED_REASON },
  'POST /v1/auth/resend-verification': {
    prepare: () => ({ body: { email: newEmail() } }),
    unaudited: UNAUDITED_REASON,
  },
  'POST /v1/auth/reset-password': {
    async prepare(context) {
      const { email } = await signUpUser(context);
      await context.plane.call('POST', '/v1/auth/forgot-password', { body: { email } });
      const { token } = await context.plane.waitForMail(email, 'new password');
      return { body: { token, password: PASSWORD } };
    },
    unaudited: "the entry is in the trails of the user's organizations",
  },
  'POST /v1/auth/verify-email': {
    async prepare(context) {
      const { email } = await signUpUser(context);
      return { body: { token: (await context.plane.waitForMail(email, 'Confirm')).token } };
    },
    unaudited: "the entry is in the trails of the user's organizations",
  },
  'POST /v1/invitations/accept': {
    prepare: async (context) => ({
      body: { token: (await createInvitation(context)).token, name: 'Invited', password: PASSWORD },
    }),
  },
  'POST /v1/invitations/lookup': {
    prepare: async (context) => ({ body: { token: (await createInvitation(context)).token } }),
    unaudited: 'changes nothing',
  },
  'POST /v1/auth/device': {
    prepare: () => ({ body: { client: 'acg 0.1.0', hostname: 'laptop' } }),
    success: 201,
    unaudited: UNAUDITED_REASON,
  },
  'POST /v1/auth/device/token': {
    prepare: async (context) => ({ body: { deviceCode: (await createDeviceLogin(context, true)).deviceCode } }),
    unaudited: 'the approval is in the trail',
  },
  'POST /v1/auth/device/lookup': {
    prepare: async (context) => ({ body: { userCode: (await createDeviceLogin(context)).userCode } }),
    unaudited: UNAUDITED_REASON,
  },
  'POST /v1/auth/device/approve': {
    prepare: async (context) => ({
      body: { userCode: (await createDeviceLogin(context)).userCode, orgId: context.owner.orgId, role: 'viewer' },
    }),
  },
  'POST /v1/auth/device/deny': {
    prepare: async (context) => ({ body: { userCode: (await createDeviceLogin(context)).userCode } }),
  },
  'POST /v1/auth/logout': { prepare: () => ({}) },
  'POST /v1/auth/change-password': {
    prepare: async ({ plane, owner, caller }) => {
      await setPassword(plane, caller ?? owner);
      return { body: { currentPassword: PASSWORD, newPassword: 'another long password' } };
    },
  },
  'GET /v1/second-factor': { prepare: () => ({}) },
  'POST /v1/second-factor': {
    prepare: async ({ plane, owner, caller }) => {
      const { userId } = caller ?? owner;
      await setPassword(plane, caller ?? owner);
      await plane.database.sql`update users set email_verified_at = now() where id = ${userId}`;
      return { body: { password: PASSWORD } };
    },
    success: 201,
  },
  'POST /v1/second-factor/confirm': {
    prepare: async (context) => ({ body: { code: await createSecondFactor(context, false) } }),
  },
  'POST /v1/second-factor/verify': {
    prepare: async (context) => ({ body: { code: await createSecondFactor(context) } }),
  },
  'POST /v1/second-factor/recovery-codes': {
    prepare: async (context) => ({ body: { code: await createSecondFactor(context) } }),
  },
  'DELETE /v1/second-factor': {
    prepare: async (context) => ({ body: { code: await createSecondFactor(context) } }),
  },
  'GET /v1/sso': { prepare: () => ({}) },
  'PUT /v1/sso': {
    prepare: async () => ({
      body: { issuer: await sharedIssuer(), clientId: 'gateway', clientSecret: 'example secret', defaultRole: null },
    }),
    foreign: { clientId: 200 }, // a name at the provider, not an id of this service
  },
  'DELETE /v1/sso': {
    prepare: async (context) => {
      await createSsoConnection(context);
      return {};
    },
  },
  'POST /v1/sso/test': {
    prepare: async (context) => {
      await createSsoConnection(context);
      return {};
    },
  },
  'POST /v1/sso/domains': {
    prepare: () => ({ body: { domain: `${randomBytes(6).toString('hex')}.example.com` } }),
    success: 201,
  },
  'POST /v1/sso/domains/:id/verify': {
    // A resolver answers for .onion without a network (RFC 7686).
    prepare: async (context) => ({ params: { id: await createSsoDomain(context, 'example.onion') } }),
  },
  'DELETE /v1/sso/domains/:id': {
    prepare: async (context) => ({ params: { id: await createSsoDomain(context, 'example.com') } }),
  },
  'POST /v1/sso/start': {
    async prepare(context) {
      const domain = `${randomBytes(6).toString('hex')}.example.com`;
      await createSsoConnection(context);
      const id = await createSsoDomain(context, domain);
      await context.plane.database.sql`update sso_domains set verified_at = now() where id = ${id}`;
      return { body: { email: `ada@${domain}` }, headers: OWN_PAGE };
    },
    unaudited: UNAUDITED_REASON,
  },
  'POST /v1/sso/link': {
    async prepare(context) {
      const { plane, owner } = context;
      const { secret, hash } = createCookieSecret();
      await createSsoConnection(context);
      const { email } = await signUpUser(context);
      await plane.database.sql`
        insert into sso_links (browser_hash, org_id, issuer, subject, user_id, expires_at)
        select ${hash}, ${owner.orgId}, ${await sharedIssuer()}, ${email}, id, now() + interval '1 minute'
          from users where email = ${email}`;
      return { body: { password: PASSWORD }, headers: { ...OWN_PAGE, cookie: `acg_sso=${secret}` } };
    },
  },
  'GET /v1/scim': { prepare: () => ({}) },
  'POST /v1/scim/tokens': {
    async prepare({ plane, owner }) {
      await plane.database.sql`delete from scim_tokens where org_id = ${owner.orgId}`;
      return { body: { name: 'Okta' } };
    },
    success: 201,
  },
  'DELETE /v1/scim/tokens/:id': {
    async prepare({ plane, owner }) {
      const id = randomUUID();
      await plane.database.sql`
        insert into scim_tokens (id, org_id, name, token_prefix, token_hash)
        values (${id}, ${owner.orgId}, 'Okta', 'acgs_00000000', ${randomBytes(32)})`;
      return { params: { id } };
    },
  },
  'GET /v1/sessions': { prepare: () => ({}) },
  'DELETE /v1/sessions': { prepare: () => ({}) },
  'DELETE /v1/sessions/:id': {
    prepare: async ({ plane, owner, caller }) => {
      const rows = await plane.database.sql<{ id: string }[]>`
        select id from sessions where user_id = ${(caller ?? owner).userId} order by created_at desc`;
      return { params: { id: rows[0]!.id } };
    },
  },
  'POST /v1/session': {
    prepare: async (context) => ({
      body: { email: (await signUpUser(context)).email, password: PASSWORD },
      headers: OWN_PAGE,
    }),
    unaudited: "the entry is in the trail of the user's organization",
  },
  'PATCH /v1/session': {
    prepare: async ({ plane, owner, caller }) => ({
      body: { orgId: owner.orgId },
      ...(caller === null ? {} : { headers: await createBrowserSession(plane, caller) }),
    }),
  },
  'DELETE /v1/session': {
    prepare: async ({ plane, caller }) =>
      caller === null ? {} : { headers: await createBrowserSession(plane, caller) },
  },
  'GET /v1/me': { prepare: () => ({}), otherProject: 200 },
  'GET /v1/config': { prepare: () => ({}) },
  'PATCH /v1/me': { prepare: () => ({ body: { name: 'Renamed' } }) },
  'POST /v1/orgs': {
    prepare: () => ({ body: { name: 'Second' } }),
    success: 201,
    unaudited: 'the entry is in the trail of the new organization',
  },
  'GET /v1/orgs/:id': { prepare: ({ owner }) => ({ params: { id: owner.orgId } }) },
  'PATCH /v1/orgs/:id': { prepare: ({ owner }) => ({ params: { id: owner.orgId }, body: { name: 'Renamed' } }) },
  'DELETE /v1/orgs/:id': {
    async prepare({ plane, owner, caller }) {
      const other = await plane.createMember('owner');
      await plane.database.sql`
        insert into memberships (org_id, user_id, role) values (${other.orgId}, ${(caller ?? owner).userId}, 'viewer')`;
      await setPassword(plane, caller ?? owner);
      return { params: { id: owner.orgId }, body: { password: PASSWORD } };
    },
  },
  'POST /v1/orgs/:id/restore': {
    async prepare({ plane, owner, caller }) {
      const { orgId } = await plane.createMember('viewer');
      await plane.database.sql`
        insert into memberships (org_id, user_id, role) values (${orgId}, ${(caller ?? owner).userId}, 'owner')`;
      await plane.database.sql`update organizations set purge_at = now() + interval '7 days' where id = ${orgId}`;
      return { params: { id: orgId } };
    },
    success: 201,
    unaudited: 'the entry is in the trail of the restored organization',
  },
  'GET /v1/deleted-orgs': { prepare: () => ({}) },
  'GET /v1/suspended-items': { prepare: () => ({ query: { kind: 'api_key' } }) },
  'POST /v1/suspended-items/:id/keep': {
    prepare: async (context) => ({ params: { id: await createSuspendedItem(context) } }),
    success: 201,
  },
  'DELETE /v1/suspended-items/:id': {
    prepare: async (context) => ({ params: { id: await createSuspendedItem(context) } }),
  },
  'POST /v1/members/:userId/resend': {
    prepare: async (context) => ({ params: { userId: (await createInvitation(context)).id } }),
    success: 201,
  },
  'GET /v1/members': { prepare: () => ({}) },
  'POST /v1/members': { prepare: () => ({ body: { email: newEmail(), role: 'viewer' } }), success: 201 },
  'PATCH /v1/members/:userId': {
    prepare: async ({ plane, owner }) => ({
      params: { userId: (await plane.createMember('viewer', owner.orgId)).userId },
      body: { role: 'member' },
    }),
  },
  'DELETE /v1/members/:userId': {
    prepare: async ({ plane, owner }) => ({
      params: { userId: (await plane.createMember('viewer', owner.orgId)).userId },
    }),
  },
  'GET /v1/members/:userId/created': {
    prepare: async ({ plane, owner }) => ({
      params: { userId: (await plane.createMember('viewer', owner.orgId)).userId },
    }),
  },
  'GET /v1/members/:userId/sessions': {
    prepare: async ({ plane, owner }) => ({
      params: { userId: (await plane.createMember('viewer', owner.orgId)).userId },
    }),
  },
  'DELETE /v1/members/:userId/sessions': {
    prepare: async ({ plane, owner }) => ({
      params: { userId: (await plane.createMember('viewer', owner.orgId)).userId },
    }),
  },
  'DELETE /v1/members/:userId/sessions/:sessionId': {
    async prepare({ plane, owner }) {
      const { userId } = await plane.createMember('viewer', owner.orgId);
      const rows = await plane.database.sql<{ id: string }[]>`select id from sessions where user_id = ${userId}`;
      return { params: { userId, sessionId: rows[0]!.id } };
    },
  },
  'DELETE /v1/members/me': {
    // One owner must remain.
    prepare: async ({ plane, owner }) => {
      await plane.createMember('owner', owner.orgId);
      return {};
    },
  },
  'GET /v1/audit': {
    prepare: ({ owner }) => ({ query: { actorId: owner.userId } }),
    foreign: { actorId: 200 }, // a filter: shows nothing, because the trail belongs to the organization
  },
  'GET /v1/management-tokens': { prepare: () => ({}) },
  'POST /v1/management-tokens': {
    prepare: async (context) => ({
      body: { name: 'CI', role: 'admin', projectId: await newProject(context), expiresAt: '2999-01-01T00:00:00.000Z' },
    }),
    success: 201,
  },
  'DELETE /v1/management-tokens/:id': {
    prepare: async ({ owner }) => {
      const { body } = await owner.call('POST', '/v1/management-tokens', { name: 'CI', role: 'viewer' });
      return { params: { id: body.token.id } };
    },
  },
  'GET /v1/projects': { prepare: () => ({}), otherProject: 200 },
  'POST /v1/projects': { prepare: () => ({ body: { name: 'Example' } }), success: 201 },
  'GET /v1/projects/:id': { prepare: async (context) => ({ params: { id: await newProject(context) } }) },
  'PATCH /v1/projects/:id': {
    prepare: async (context) => ({ params: { id: await newProject(context) }, body: { name: 'Renamed' } }),
  },
  'DELETE /v1/projects/:id': { prepare: async (context) => ({ params: { id: await newProject(context) } }) },
};
