/** Manages an organization's custom providers (docs/contract.md#providers). */

import type { NameResolver } from '@acg/base/dns/name-resolver-interface';
import { checkTenantUrl } from '@acg/base/egress/check-tenant-url';
import { uuidv7 } from '@acg/base/uuidv7';
import { type AuditChanges, recordAudit } from '../../audit/audit-trail.js';
import { isUniqueViolation, type Sql, type Tx } from '../../db/postgres-client.js';
import { Conflict, InvalidInput, NotFound } from '../../domain/errors.js';
import type { ListResult, Page } from '../../http/limit-offset-pagination.js';
import { runWithoutRequestSlot } from '../../http/org-request-slots.js';
import type { Actor } from '../../http/route-access.js';
import { publishInvalidations } from '../../watch/publish-invalidations.js';
import { splitBaseUrl } from '../catalogue/built-in-provider.js';
import { BUILT_IN_SLUGS, type Catalogue } from '../catalogue/catalogue.js';
import { checkAuthSettings } from './auth-settings-validation.js';
import { type AuthType, type CustomProvider, customCredentialFields } from './custom-provider.js';
import * as store from './custom-provider-store.js';
import type { CustomProviderInput, CustomProviderPut, CustomProviderView, ListedProvider } from './schema.js';

/** Custom providers per organization; every context of the organization lists them. */
const PROVIDERS_MAX = 100;
/** Sensitive paths of all custom providers of an organization together, because the same contexts contain them. */
const SENSITIVE_PATHS_MAX = 500;

export class CustomProviderService {
  constructor(
    readonly sql: Sql,
    readonly catalogue: Catalogue,
    readonly allowCidrs: readonly string[],
    readonly names: NameResolver,
    /** URLs of this deployment. A provider at one of them would turn each call into another call. */
    readonly ownUrls: readonly string[],
  ) {}

  /** Lists the custom providers, newest first, then the built-in providers. */
  async list(actor: Actor, page: Page): Promise<ListResult<ListedProvider>> {
    const listOwn = await store.listProviders(this.sql, actor.orgId, page);
    const builtIn = this.catalogue.providers.map(presentBuiltIn);
    const from = Math.max(0, page.offset - listOwn.total);
    const rows = [
      ...listOwn.rows.map(presentCustomProvider),
      ...builtIn.slice(from, from + page.limit - listOwn.rows.length),
    ];
    return { rows, total: listOwn.total + builtIn.length };
  }

  /** Returns all custom providers of the organization. */
  async own(orgId: string): Promise<readonly CustomProvider[]> {
    return (await store.listProviders(this.sql, orgId, { limit: PROVIDERS_MAX, offset: 0 })).rows;
  }

  async create(actor: Actor, input: CustomProviderInput): Promise<CustomProviderView> {
    const { slug } = input;
    if (BUILT_IN_SLUGS.has(slug)) throw new Conflict(`slug ${slug} belongs to a built-in provider: choose another one`);
    const { orgId } = actor;
    const settings = {
      displayName: input.displayName,
      baseUrl: input.baseUrl,
      authType: input.authType,
      authName: input.authName ?? null,
      authPrefix: input.authPrefix ?? null,
      usageFormat: input.usageFormat ?? null,
      sensitivePaths: input.sensitivePaths ?? [],
    };
    checkAuthSettings(settings);
    await this.#checkBaseUrl(orgId, input.baseUrl);
    try {
      return await this.sql.begin(async (tx) => {
        await store.lockProvidersOfOrg(tx, orgId);
        if ((await store.countProviders(tx, orgId)) >= PROVIDERS_MAX) {
          throw new Conflict(`the organization already has ${PROVIDERS_MAX} custom providers: delete one first`);
        }
        const row = await store.insertProvider(tx, orgId, { id: uuidv7(Date.now()), slug, ...settings });
        if (settings.sensitivePaths.length > 0) await assertSensitivePathsMax(tx, orgId);
        const created = Object.entries({ slug, ...settings }).map(([field, value]) => [field, [null, value]] as const);
        const target = { type: 'custom_provider', id: row.id };
        await recordAudit(tx, actor, 'custom_provider.create', target, Object.fromEntries(created));
        // Contexts list the existing providers. Without the invalidation the new slug would get 404 instead of 403 for
        // a while.
        await publishInvalidations(tx, [{ kind: 'org', id: orgId }]);
        return presentCustomProvider(row);
      });
    } catch (error) {
      if (isUniqueViolation(error, 'custom_providers_live_slug'))
        throw new Conflict(`slug ${slug} is taken: choose another one`);
      throw error;
    }
  }

  async update(actor: Actor, id: string, put: CustomProviderPut): Promise<CustomProviderView> {
    if (put.baseUrl !== undefined) await this.#checkBaseUrl(actor.orgId, put.baseUrl);
    const { orgId } = actor;
    return this.sql.begin(async (tx) => {
      await store.lockProvidersOfOrg(tx, orgId);
      const before = await store.lockProvider(tx, orgId, { id }, 'update');
      if (before === null) throw new NotFound('custom provider');
      const settings = mergeSettings(before, put);
      checkAuthSettings(settings);
      const row = await store.updateProvider(tx, orgId, id, settings);
      if (row.sensitivePaths.length > before.sensitivePaths.length) await assertSensitivePathsMax(tx, orgId);
      const status = accountStatusAfter(before, row);
      if (status !== null) await store.setAccountStatus(tx, orgId, id, status);
      await recordAudit(tx, actor, 'custom_provider.update', { type: 'custom_provider', id }, changesOf(before, row));
      const endsSessions = status === 'needs_credentials';
      await publishInvalidations(tx, [{ kind: 'provider', id: `${orgId}/${row.slug}`, endsSessions }]);
      return presentCustomProvider(row);
    });
  }

  /** Keeps the record and frees the slug. The provider's accounts and their credentials are deleted. */
  async delete(actor: Actor, id: string): Promise<void> {
    const { orgId } = actor;
    await this.sql.begin(async (tx) => {
      const row = await store.lockProvider(tx, orgId, { id }, 'update');
      if (row === null) throw new NotFound('custom provider');
      await store.deleteAccountsOfProvider(tx, orgId, id);
      await store.markProviderDeleted(tx, orgId, id);
      const target = { type: 'custom_provider', id };
      await recordAudit(tx, actor, 'custom_provider.delete', target, { slug: [row.slug, null] });
      await publishInvalidations(tx, [
        { kind: 'provider', id: `${orgId}/${row.slug}`, endsSessions: true },
        { kind: 'org', id: orgId },
      ]);
    });
  }

  /** Locks the provider for account changes until the transaction ends. Returns null for an unknown slug. */
  async lockBySlug(tx: Tx, orgId: string, slug: string): Promise<store.CustomProviderRow | null> {
    return store.lockProvider(tx, orgId, { slug }, 'share');
  }

  async #checkBaseUrl(orgId: string, baseUrl: string): Promise<void> {
    if (isGatewayAddress(baseUrl, this.ownUrls)) {
      throw new InvalidInput('baseUrl points to this gateway: enter the URL of the provider');
    }
    const resolve = (host: string) => this.names.resolve(host, orgId);
    const problem = await runWithoutRequestSlot(() =>
      checkTenantUrl(baseUrl, { allowCidrs: this.allowCidrs, resolve }),
    );
    if (problem !== null) throw new InvalidInput(`baseUrl ${problem}`);
    if (new URL(baseUrl).search !== '') throw new InvalidInput('baseUrl must hold no query');
  }
}

/** Compares host and port and ignores the scheme. Returns false for an invalid URL, which is rejected elsewhere. */
export function isGatewayAddress(url: string, ownUrls: readonly string[]): boolean {
  const host = hostOf(url);
  return host !== null && ownUrls.some((own) => hostOf(own) === host);
}

function hostOf(url: string): string | null {
  if (!URL.canParse(url)) return null;
  return new URL(url).host.replace(/\.(?=:|$)/, ''); // a trailing dot names the same host
}

async function assertSensitivePathsMax(tx: Tx, orgId: string): Promise<void> {
  if ((await store.countSensitivePaths(tx, orgId)) <= SENSITIVE_PATHS_MAX) return;
  throw new Conflict(`the organization's providers may have ${SENSITIVE_PATHS_MAX} sensitivePaths together`);
}

/** A new authType removes the old name and prefix unless the request contains new ones. */
function mergeSettings(before: store.CustomProviderRow, put: CustomProviderPut): store.CustomProviderSettings {
  const sameAuth = put.authType === undefined || put.authType === before.authType;
  return {
    displayName: put.displayName ?? before.displayName,
    baseUrl: put.baseUrl ?? before.baseUrl,
    authType: put.authType ?? before.authType,
    authName: put.authName === undefined ? (sameAuth ? before.authName : null) : put.authName,
    authPrefix: put.authPrefix === undefined ? (sameAuth ? before.authPrefix : null) : put.authPrefix,
    usageFormat: put.usageFormat === undefined ? before.usageFormat : put.usageFormat,
    sensitivePaths: put.sensitivePaths ?? before.sensitivePaths,
  };
}

/**
 * A credential is never sent to another origin, and a credential of another form is useless. Null: accounts keep their
 * status.
 */
function accountStatusAfter(
  before: store.CustomProviderRow,
  after: store.CustomProviderRow,
): 'active' | 'needs_credentials' | null {
  if (after.authType === 'none') return 'active';
  const moved = splitBaseUrl(before.baseUrl).origin !== splitBaseUrl(after.baseUrl).origin;
  return moved || fieldNames(before.authType) !== fieldNames(after.authType) ? 'needs_credentials' : null;
}

const fieldNames = (authType: AuthType): string =>
  customCredentialFields(authType)
    .map((field) => field.name)
    .join();

function changesOf(before: store.CustomProviderRow, after: store.CustomProviderRow): AuditChanges {
  const fields = [
    'displayName',
    'baseUrl',
    'authType',
    'authName',
    'authPrefix',
    'usageFormat',
    'sensitivePaths',
  ] as const;
  const changed = fields.filter((field) => String(before[field]) !== String(after[field]));
  return Object.fromEntries(changed.map((field) => [field, [before[field], after[field]] as const]));
}

const presentCustomProvider = (row: store.CustomProviderRow): CustomProviderView => ({
  ...row,
  sensitivePaths: [...row.sensitivePaths],
  credentialFields: [...customCredentialFields(row.authType)],
  builtIn: false,
  createdAt: row.createdAt.toISOString(),
});

const presentBuiltIn = (provider: Catalogue['providers'][number]): ListedProvider => ({
  id: null,
  slug: provider.slug,
  displayName: provider.displayName,
  baseUrl: provider.baseUrl,
  authType: provider.authType,
  authName: provider.authName,
  authPrefix: null,
  usageFormat: provider.usageFormat === 'none' ? null : provider.usageFormat,
  sensitivePaths: provider.sensitiveCalls.map(({ call }) => call),
  credentialFields: [...provider.credentialFields],
  builtIn: true,
  createdAt: null,
});
