/**
 * Single sign-on of an organization: its provider and its verified domains. Only owners change them, because the provider
 * decides who gets in. A changed provider ends the sessions that the earlier one opened.
 */
import { randomBytes } from 'node:crypto';
import { checkTenantUrl } from '@acg/base/egress/check-tenant-url';
import { uuidv7 } from '@acg/base/uuidv7';
import { recordAudit } from '../audit/audit-trail.js';
import { assertConfirmed } from '../auth/second-factor/confirmation.js';
import { isUniqueViolation, type Sql, type Tx } from '../db/postgres-client.js';
import { Conflict, InvalidInput, NotFound } from '../domain/errors.js';
import { runWithoutRequestSlot } from '../http/org-request-slots.js';
import type { Actor } from '../http/route-access.js';
import { lockOrganizationMembers } from '../members/store.js';
import type { Vault } from '../vault/aes-gcm-vault.js';
import type { GroupRole } from './decide-login.js';
import { isPublicMailDomain, parseMailDomain } from './domain-name.js';
import type { ProviderFailure } from './issuer-requests.js';
import type { OidcClient } from './oidc-client.js';
import type { SsoDomain, SsoInput, SsoSettings } from './schema.js';
import * as store from './store.js';

const DOMAINS_MAX = 50;
export const GROUPS_CLAIM_DEFAULT = 'groups';
const RECORD_PREFIX = '_acg-challenge.';
const VALUE_PREFIX = 'acg-domain-verification=';
const RECHECK_S = 7 * 86_400;
const RECHECKS_PER_RUN = 20;

/** Texts of the TXT records of a name; null: the name server gave no answer. */
export type ResolveTxt = (name: string) => Promise<readonly string[] | null>;
type ResolveHost = Parameters<typeof checkTenantUrl>[1]['resolve'];

interface SettingsDependencies {
  readonly sql: Sql;
  readonly vault: Vault;
  readonly oidc: OidcClient;
  readonly publicUrl: string;
  readonly allowCidrs: readonly string[];
  readonly resolveHost: (orgId: string) => ResolveHost;
  readonly resolveTxt: ResolveTxt;
}

/** Each organization has a redirect URI of its own, so that no provider gets the code of another one. */
export const buildRedirectUri = (publicUrl: string, orgId: string): string => `${publicUrl}/sso/${orgId}/callback`;

export class SsoSettingsService {
  constructor(readonly dependencies: SettingsDependencies) {}

  async get({ orgId }: Actor): Promise<SsoSettings> {
    const { sql, publicUrl } = this.dependencies;
    const connection = await store.loadConnection(sql, orgId);
    const domains = await store.listDomains(sql, orgId);
    return {
      connection:
        connection === null
          ? null
          : {
              issuer: connection.issuer,
              clientId: connection.clientId,
              defaultRole: connection.defaultRole as 'viewer' | 'member' | 'admin' | null,
              groupsClaim: connection.groupsClaim ?? GROUPS_CLAIM_DEFAULT,
              groupRoles: [...(connection.groupRoles ?? [])],
              breakGlassUserId: connection.breakGlassUserId,
              createdAt: connection.createdAt.toISOString(),
            },
      redirectUri: buildRedirectUri(publicUrl, orgId),
      domains: domains.map(presentDomain),
    };
  }

  async configure(actor: Actor, input: SsoInput): Promise<SsoSettings> {
    const { sql, vault, oidc } = this.dependencies;
    const { orgId } = actor;
    await runWithoutRequestSlot(() => this.#assertUsableIssuer(orgId, input.issuer, oidc));
    await sql.begin(async (tx) => {
      await assertConfirmed(tx, actor);
      // Logins hold this lock, too: one that the former provider has answered ends before its sessions do, or opens none.
      if ((await lockOrganizationMembers(tx, orgId)) === null) throw new NotFound('organization');
      const before = await store.loadConnection(tx, orgId);
      const isSameClient = before?.issuer === input.issuer && before.clientId === input.clientId;
      if (input.clientSecret === undefined && !isSameClient)
        throw new InvalidInput('clientSecret is required with a new issuer or clientId');
      const id = before?.id ?? uuidv7(Date.now());
      const secret =
        input.clientSecret === undefined ? before! : vault.encrypt({ purpose: 'sso', orgId, id }, input.clientSecret);
      const { keyId, nonce, ciphertext } = secret;
      const { issuer, clientId, defaultRole } = input;
      const {
        groupsClaim = before?.groupsClaim ?? null,
        groupRoles = before?.groupRoles ?? null,
        breakGlassUserId = before?.breakGlassUserId ?? null,
      } = input;
      assertDistinctGroups(groupRoles ?? []);
      if (breakGlassUserId !== null && !(await store.isOwnerWithSecondFactor(tx, orgId, breakGlassUserId)))
        throw new Conflict(
          'breakGlassUserId must be an owner with a second factor, who logs in while the provider is away',
        );
      const settings = { defaultRole, groupsClaim, groupRoles, breakGlassUserId };
      await store.upsertConnection(tx, { id, orgId, issuer, clientId, ...settings, keyId, nonce, ciphertext });
      await recordAudit(
        tx,
        actor,
        'sso.configure',
        { type: 'sso', id },
        {
          issuer: [before?.issuer ?? null, issuer],
          clientId: [before?.clientId ?? null, clientId],
          defaultRole: [before?.defaultRole ?? null, defaultRole],
          groupsClaim: [before?.groupsClaim ?? null, groupsClaim],
          groupRoles: [describeGroupRoles(before?.groupRoles), describeGroupRoles(groupRoles)],
          breakGlassUserId: [before?.breakGlassUserId ?? null, breakGlassUserId],
        },
      );
      // At last: the actor's own session may be one of them, and the audit entry needs it.
      if (!isSameClient) await store.endSsoSessions(tx, orgId);
    });
    return this.get(actor);
  }

  async remove(actor: Actor): Promise<void> {
    await this.dependencies.sql.begin(async (tx) => {
      await assertConfirmed(tx, actor);
      await lockOrganizationMembers(tx, actor.orgId);
      const before = await store.loadConnection(tx, actor.orgId);
      if (before === null) throw new NotFound('single sign-on connection');
      await recordAudit(tx, actor, 'sso.remove', { type: 'sso', id: before.id }, { issuer: [before.issuer, null] });
      await store.deleteConnection(tx, actor.orgId);
    });
  }

  async addDomain(actor: Actor, text: string): Promise<SsoDomain> {
    const domain = parseMailDomain(text);
    if (domain === null) throw new InvalidInput('domain must be a domain name like example.com');
    if (isPublicMailDomain(domain))
      throw new InvalidInput(`domain must be your own: everybody can have an address at ${domain}`);
    const row = { id: uuidv7(Date.now()), orgId: actor.orgId, domain, token: randomBytes(16).toString('hex') };
    await this.dependencies.sql.begin(async (tx) => {
      if (!(await store.insertDomain(tx, row, DOMAINS_MAX)))
        throw new Conflict(`${domain} is in the list already, or the list has ${DOMAINS_MAX} domains`);
      await recordAudit(tx, actor, 'sso_domain.create', { type: 'sso_domain', id: row.id }, { domain: [null, domain] });
    });
    return presentDomain({ ...row, verifiedAt: null, checkedAt: null });
  }

  /** Looks up the TXT record now. The domain stays as it was where the name server gives no answer. */
  async verifyDomain(actor: Actor, id: string): Promise<SsoDomain> {
    const { sql, resolveTxt } = this.dependencies;
    const before = await store.loadDomain(sql, actor.orgId, id);
    if (before === null) throw new NotFound('domain');
    const texts = await runWithoutRequestSlot(() => resolveTxt(RECORD_PREFIX + before.domain));
    if (texts === null) throw new Conflict(`the name servers of ${before.domain} do not respond: try again`);
    const isVerified = texts.includes(VALUE_PREFIX + before.token);
    await sql.begin(async (tx) => {
      if (!(await markChecked(tx, before, isVerified))) throw new NotFound('domain'); // removed meanwhile
      await recordAudit(
        tx,
        actor,
        'sso_domain.verify',
        { type: 'sso_domain', id },
        {
          domain: [before.domain, before.domain],
          verified: [before.verifiedAt !== null, isVerified],
        },
      );
    });
    return presentDomain((await store.loadDomain(sql, actor.orgId, id)) ?? before);
  }

  async removeDomain(actor: Actor, id: string): Promise<void> {
    await this.dependencies.sql.begin(async (tx) => {
      const domain = await store.deleteDomain(tx, actor.orgId, id);
      if (domain === null) throw new NotFound('domain');
      await recordAudit(tx, actor, 'sso_domain.delete', { type: 'sso_domain', id }, { domain: [domain, null] });
    });
  }

  /** Checks verified domains again, each once a week: an expired domain may have another owner by then. */
  async recheckDomains(): Promise<void> {
    const { sql, resolveTxt } = this.dependencies;
    for (const row of await store.claimDomainsToCheck(sql, RECHECK_S, RECHECKS_PER_RUN)) {
      const texts = await resolveTxt(RECORD_PREFIX + row.domain);
      if (texts !== null && !texts.includes(VALUE_PREFIX + row.token))
        await sql.begin((tx) => store.markDomainChecked(tx, row.id, false));
    }
  }

  async #assertUsableIssuer(orgId: string, issuer: string, oidc: OidcClient): Promise<void> {
    const { allowCidrs, resolveHost } = this.dependencies;
    const problem = await checkTenantUrl(issuer, { allowCidrs, httpsOnly: true, resolve: resolveHost(orgId) });
    if (problem !== null) throw new InvalidInput(`issuer ${problem}`);
    await oidc.checkIssuer({ orgId, issuer }).catch(({ message }: ProviderFailure) => {
      throw new InvalidInput(`issuer has no usable discovery document: ${message}`);
    });
  }
}

function assertDistinctGroups(groupRoles: readonly GroupRole[]): void {
  const names = new Set<string>();
  for (const { group } of groupRoles) {
    if (names.has(group)) throw new InvalidInput(`groupRoles has ${group} twice: a group has one role`);
    names.add(group);
  }
}

const describeGroupRoles = (groupRoles: readonly GroupRole[] | null | undefined): string[] =>
  (groupRoles ?? []).map(({ group, role }) => `${group}: ${role}`);

async function markChecked(tx: Tx, row: store.DomainRow, isVerified: boolean): Promise<boolean> {
  try {
    return (await tx.savepoint((inner) =>
      store.markDomainChecked(inner as unknown as Tx, row.id, isVerified),
    )) as boolean;
  } catch (error) {
    if (isUniqueViolation(error, 'sso_domains_verified'))
      throw new Conflict(`another organization has verified ${row.domain}`);
    throw error;
  }
}

const presentDomain = (row: store.DomainRow): SsoDomain => ({
  id: row.id,
  domain: row.domain,
  recordName: RECORD_PREFIX + row.domain,
  recordValue: VALUE_PREFIX + row.token,
  verifiedAt: row.verifiedAt?.toISOString() ?? null,
  checkedAt: row.checkedAt?.toISOString() ?? null,
});
