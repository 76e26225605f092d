/** Organizations with single sign-on at a hostile provider, for one test file: a real control plane, logins, what is stored. */
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import {
  type CallbackResult,
  callWithSession,
  configure,
  openCallback,
  startLogin,
  useTxtRecords,
  verifyDomain,
} from './gateway-login.js';
import { HostileProvider } from './hostile-provider.js';

/** An organization with the provider and a verified domain. */
export interface Organization {
  readonly owner: Member;
  readonly orgId: string;
  readonly domain: string;
  readonly domainId: string;
  readonly email: string;
}

export interface LoginOptions {
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Signs the claims; default: as the provider does. */
  readonly sign?: (claims: Readonly<Record<string, unknown>>) => string;
  readonly parameters?: Readonly<Record<string, string>>;
}

export const newDomain = () => `${randomBytes(5).toString('hex')}.example.com`;

export function useSingleSignOn() {
  const plane = useControlPlane();
  const sql = () => plane().database.sql;
  const provider = new HostileProvider();
  const txtRecords = new Map<string, readonly string[] | 'silent'>();
  let restoreTxt: () => void;

  beforeAll(async () => {
    await provider.listen();
    restoreTxt = useTxtRecords(txtRecords).restore;
  });
  afterAll(async () => {
    restoreTxt();
    await provider.stop();
  });
  afterEach(() => {
    provider.answerToken = null;
    provider.answerKeys = null;
    provider.document = {};
    provider.tokenRequests.splice(0);
  });

  async function createOrganization(more: object = {}): Promise<Organization> {
    const owner = await plane().createMember('owner');
    const domain = newDomain();
    const domainId = await verifyDomain(owner, domain, txtRecords);
    expect((await configure(owner, provider.issuer, more)).status).toBe(200);
    return { owner, orgId: owner.orgId, domain, domainId, email: `ada@${domain}` };
  }

  /** A whole login of the person with that subject. */
  async function logIn(
    { orgId, email, domain }: Organization,
    subject: string,
    options: LoginOptions = {},
  ): Promise<CallbackResult> {
    const started = await startLogin(plane(), `someone@${domain}`);
    const claims = provider.claims(started.nonce, { sub: subject, email, ...options.claims });
    provider.idToken = (options.sign ?? ((all) => provider.sign(all)))(claims);
    const parameters = { code: 'a code', state: started.state, ...options.parameters };
    return openCallback(plane(), orgId, parameters, started.cookie);
  }

  const readChanges = async <T>({ orgId }: Pick<Organization, 'orgId'>, action: string): Promise<readonly T[]> => {
    const rows = await sql()<{ changes: T }[]>`
      select changes from audit_entries where org_id = ${orgId} and action = ${action} order by at, id`;
    return rows.map(({ changes }) => changes);
  };

  return {
    plane,
    sql,
    provider,
    txtRecords,
    createOrganization,
    logIn,
    /** Changes in the audit entries of that action, the oldest first. */
    entriesOf: readChanges<unknown>,
    /** Of the rejected logins in the audit trail, the oldest first. */
    rejectionReasons: async (org: Organization): Promise<readonly unknown[]> =>
      (await readChanges<{ reason: [null, string] }>(org, 'sso.reject')).map(({ reason }) => reason[1]),
    membersWith: (orgId: string, email: string) => sql()<{ role: string; userId: string }[]>`
      select m.role, u.id as "userId" from memberships m join users u on u.id = m.user_id
       where m.org_id = ${orgId} and u.email = ${email}`,
    countMembers: async (orgId: string): Promise<number> =>
      (await sql()`select 1 from memberships where org_id = ${orgId}`).length,
    sessionStatus: async (session: string | undefined): Promise<number> =>
      (await callWithSession(plane(), session, 'GET', '/v1/me')).status,
    /** An account with a password, outside of the organization. */
    async signUp(email: string, password = 'correct horse battery'): Promise<{ token: string; userId: string }> {
      const body = { email, password, name: 'Ada', orgName: 'Own' };
      const { body: reply } = await plane().call('POST', '/v1/auth/signup', { body });
      return { token: reply.token, userId: reply.user.id };
    },
  };
}
