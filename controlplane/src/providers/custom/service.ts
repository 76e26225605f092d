/** An organization's own providers (docs/contract.md#providers). */
import { checkTenantUrl } from '@acg/base/egress/check-url';
import type { Names } from '@acg/base/names/names';
import { uuidv7 } from '@acg/base/uuidv7';
import { type Changes, recordAudit } from '../../audit/trail.js';
import { type Sql, type Tx, violates } from '../../db/sql.js';
import { Conflict, InvalidInput, NotFound } from '../../domain/errors.js';
import type { Actor } from '../../http/access.js';
import type { Listed, Page } from '../../http/pagination.js';
import { outsideTurn } from '../../http/request-turns.js';
import { invalidate } from '../../watch/invalidate.js';
import { BUILT_IN_SLUGS, type Catalogue } from '../catalogue/catalogue.js';
import { splitBaseUrl } from '../catalogue/provider.js';
import { checkAuthSettings } from './auth-rules.js';
import { type AuthType, type CustomProvider, customCredentialFields } from './provider.js';
import type { CustomProviderInput, CustomProviderPut, CustomProviderView, ListedProvider } from './schema.js';
import * as store from './store.js';

/** Every context of the organization names them, so there are so many and no more. */
const PROVIDERS_MAX = 100;
/** In the same contexts, so of all of an organization's providers together. */
const SENSITIVE_PATHS_MAX = 500;

export class CustomProviderService {
  constructor(
    readonly sql: Sql,
    readonly catalogue: Catalogue,
    readonly allowCidrs: readonly string[],
    readonly names: Names,
    /** Addresses of this deployment: each call to them would become another call. */
    readonly ownUrls: readonly string[],
  ) {}

  /** The organization's own, newest first, then the built-in ones. */
  async list(actor: Actor, page: Page): Promise<Listed<ListedProvider>> {
    const own = await store.listLive(this.sql, actor.orgId, page);
    const builtIn = this.catalogue.providers.map(presentBuiltIn);
    const from = Math.max(0, page.offset - own.total);
    const rows = [...own.rows.map(present), ...builtIn.slice(from, from + page.limit - own.rows.length)];
    return { rows, total: own.total + builtIn.length };
  }

  /** All of the organization's own. */
  async own(orgId: string): Promise<readonly CustomProvider[]> {
    return (await store.listLive(this.sql, orgId, { limit: PROVIDERS_MAX, offset: 0 })).rows;
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
        await store.lockOwn(tx, orgId);
        if ((await store.countLive(tx, orgId)) >= PROVIDERS_MAX) {
          throw new Conflict(`the organization already has ${PROVIDERS_MAX} custom providers: delete one first`);
        }
        const row = await store.insertProvider(tx, orgId, { id: uuidv7(Date.now()), slug, ...settings });
        if (settings.sensitivePaths.length > 0) await assertFewPaths(tx, orgId);
        const created = Object.entries({ slug, ...settings }).map(([field, value]) => [field, [null, value]] as const);
        const target = { type: 'custom_provider', id: row.id };
        await recordAudit(tx, actor, 'custom_provider.create', target, Object.fromEntries(created));
        // Contexts list the providers that exist: without it the new slug would be 404 instead of 403 for a while.
        await invalidate(tx, [{ kind: 'org', id: orgId }]);
        return present(row);
      });
    } catch (error) {
      if (violates(error, 'custom_providers_live_slug'))
        throw new Conflict(`slug ${slug} is taken: choose another one`);
      throw error;
    }
  }

  async update(actor: Actor, id: string, put: CustomProviderPut): Promise<CustomProviderView> {
    if (put.baseUrl !== undefined) await this.#checkBaseUrl(actor.orgId, put.baseUrl);
    const { orgId } = actor;
    return this.sql.begin(async (tx) => {
      await store.lockOwn(tx, orgId);
      const before = await store.lockLive(tx, orgId, { id }, 'update');
      if (before === null) throw new NotFound('custom provider');
      const settings = merge(before, put);
      checkAuthSettings(settings);
      const row = await store.updateProvider(tx, orgId, id, settings);
      if (row.sensitivePaths.length > before.sensitivePaths.length) await assertFewPaths(tx, orgId);
      const status = accountStatusAfter(before, row);
      if (status !== null) await store.setAccountStatus(tx, orgId, id, status);
      await recordAudit(tx, actor, 'custom_provider.update', { type: 'custom_provider', id }, changesOf(before, row));
      const endsSessions = status === 'needs_credentials';
      await invalidate(tx, [{ kind: 'provider', id: `${orgId}/${row.slug}`, endsSessions }]);
      return present(row);
    });
  }

  /** The record stays, the slug is free again; its accounts and their credentials are gone. */
  async delete(actor: Actor, id: string): Promise<void> {
    const { orgId } = actor;
    await this.sql.begin(async (tx) => {
      const row = await store.lockLive(tx, orgId, { id }, 'update');
      if (row === null) throw new NotFound('custom provider');
      await store.deleteAccounts(tx, orgId, id);
      await store.markDeleted(tx, orgId, id);
      const target = { type: 'custom_provider', id };
      await recordAudit(tx, actor, 'custom_provider.delete', target, { slug: [row.slug, null] });
      await invalidate(tx, [
        { kind: 'provider', id: `${orgId}/${row.slug}`, endsSessions: true },
        { kind: 'org', id: orgId },
      ]);
    });
  }

  /** For accounts: it stays as it is until the transaction ends. Null: the organization has none of that slug. */
  async holdBySlug(tx: Tx, orgId: string, slug: string): Promise<store.CustomProviderRow | null> {
    return store.lockLive(tx, orgId, { slug }, 'share');
  }

  async #checkBaseUrl(orgId: string, baseUrl: string): Promise<void> {
    if (isOwnAddress(baseUrl, this.ownUrls)) {
      throw new InvalidInput('baseUrl is an address of this gateway: give that of the provider');
    }
    const resolve = (host: string) => this.names.resolve(host, orgId);
    const problem = await outsideTurn(() => checkTenantUrl(baseUrl, { allowCidrs: this.allowCidrs, resolve }));
    if (problem !== null) throw new InvalidInput(`baseUrl ${problem}`);
    if (new URL(baseUrl).search !== '') throw new InvalidInput('baseUrl must hold no query');
  }
}

/** Same host and port, whatever the scheme. False for what is no URL: that is refused for its own reason. */
export function isOwnAddress(url: string, ownUrls: readonly string[]): boolean {
  const host = hostOf(url);
  return host !== null && ownUrls.some((own) => hostOf(own) === host);
}

function hostOf(url: string): string | null {
  if (!URL.canParse(url)) return null;
  return new URL(url).host.replace(/\.(?=:|$)/, ''); // a dot at the end of a name means the same host
}

async function assertFewPaths(tx: Tx, orgId: string): Promise<void> {
  if ((await store.countSensitivePaths(tx, orgId)) <= SENSITIVE_PATHS_MAX) return;
  throw new Conflict(`the organization's providers may have ${SENSITIVE_PATHS_MAX} sensitivePaths together`);
}

/** A new authType drops the name and prefix of the old one unless new ones come with it. */
function merge(before: store.CustomProviderRow, put: CustomProviderPut): store.CustomProviderSettings {
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

/** A credential never follows to another origin, and one of another form is of no use. Null: accounts stay as they are. */
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

function changesOf(before: store.CustomProviderRow, after: store.CustomProviderRow): Changes {
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

const present = (row: store.CustomProviderRow): CustomProviderView => ({
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
