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
import type { Catalogue } from '../catalogue/catalogue.js';
import type { Credentials } from '../catalogue/credential-template.js';
import { listHostPatterns } from '../catalogue/host-claims.js';
import { parseTenantDefinition } from '../catalogue/parse-definition.js';
import type { Provider } from '../catalogue/provider.js';
import type { TenantDefinition } from '../catalogue/provider-definition.js';
import { checkAuthSettings } from './auth-settings-validation.js';
import { toProvider } from './custom-provider.js';
import * as store from './custom-provider-store.js';
import { presentBuiltIn, presentCustomProvider } from './present-provider.js';
import type { CustomProviderInput, CustomProviderPut, CustomProviderView, ListedProvider } from './schema.js';

/** Sensitive paths of all custom providers of an organization together, because the same contexts contain them. */
const SENSITIVE_PATHS_MAX = 500;
/** Of all definitions of an organization together, because lists and contexts contain them. A large one has 48 KiB. */
const DEFINITIONS_BYTES_MAX = 524_288;

export class CustomProviderService {
  constructor(
    readonly sql: Sql,
    readonly catalogue: Catalogue,
    readonly allowCidrs: readonly string[],
    readonly names: NameResolver,
    /** URLs of this deployment. A provider at one of them would turn each call into another call. */
    readonly ownUrls: readonly string[],
  ) {}

  /** Lists the custom providers, newest first, then the built-in providers of other slugs. */
  async list(actor: Actor, page: Page): Promise<ListResult<ListedProvider>> {
    const listOwn = await store.listProviders(this.sql, actor.orgId, page);
    const builtIn = await this.listBuiltIn(actor.orgId);
    const from = Math.max(0, page.offset - listOwn.total);
    const rows = [
      ...listOwn.rows.map((row) => this.#present(row)),
      ...builtIn.slice(from, from + page.limit - listOwn.rows.length).map(presentBuiltIn),
    ];
    return { rows, total: listOwn.total + builtIn.length };
  }

  /** The built-in providers, apart from those whose slug an own provider of the organization has. */
  async listBuiltIn(orgId: string): Promise<readonly Provider[]> {
    const taken = new Set((await this.own(orgId)).map(({ slug }) => slug));
    return this.catalogue.providers.filter(({ slug }) => !taken.has(slug));
  }

  /** Returns all custom providers of the organization. */
  async own(orgId: string): Promise<readonly Provider[]> {
    const { rows } = await store.listProviders(this.sql, orgId, { limit: store.CUSTOM_PROVIDERS_MAX, offset: 0 });
    return rows.map((row) => toProvider(row, this.catalogue.presetCalls));
  }

  /** The provider that the slug names for this organization: its own one, else the built-in one. */
  async find(orgId: string, slug: string): Promise<Provider | null> {
    const row = await store.loadProvider(this.sql, orgId, slug);
    return row === null ? this.catalogue.get(slug) : toProvider(row, this.catalogue.presetCalls);
  }

  async create(actor: Actor, input: CustomProviderInput): Promise<CustomProviderView> {
    const { slug } = input;
    this.#assertNotBuiltIn(slug);
    const { orgId } = actor;
    const settings = { slug, displayName: input.displayName, ...(await this.#checkInput(orgId, input)) };
    return this.#withFreeSlug(slug, () =>
      this.sql.begin(async (tx) => {
        await store.lockProvidersOfOrg(tx, orgId);
        if ((await store.countProviders(tx, orgId)) >= store.CUSTOM_PROVIDERS_MAX) {
          throw new Conflict(
            `the organization already has ${store.CUSTOM_PROVIDERS_MAX} custom providers: delete one first`,
          );
        }
        const row = await store.insertProvider(tx, orgId, { id: uuidv7(Date.now()), ...settings });
        await assertSensitivePathsMax(tx, orgId);
        await assertDefinitionsBytesMax(tx, orgId);
        const created = Object.entries(settings).map(([field, value]) => [field, [null, value as never]] as const);
        const target = { type: 'custom_provider', id: row.id };
        await recordAudit(tx, actor, 'custom_provider.create', target, Object.fromEntries(created));
        // Contexts list the existing providers. Without the invalidation the new slug would get 404 instead of 403 for
        // a while.
        await publishInvalidations(tx, [{ kind: 'org', id: orgId }]);
        return this.#present(row);
      }),
    );
  }

  async update(actor: Actor, id: string, put: CustomProviderPut): Promise<CustomProviderView> {
    const { orgId } = actor;
    if (put.baseUrl !== undefined) await this.#checkBaseUrl(orgId, put.baseUrl);
    const definition = put.definition === undefined ? null : await this.#checkDefinition(orgId, put.definition);
    return this.#withFreeSlug(put.slug ?? '', () =>
      this.sql.begin(async (tx) => {
        await store.lockProvidersOfOrg(tx, orgId);
        const before = await store.lockProvider(tx, orgId, { id }, 'update');
        if (before === null) throw new NotFound('custom provider');
        const settings = mergeSettings(before, put, definition ?? before.definition);
        if (settings.slug !== before.slug) this.#assertNotBuiltIn(settings.slug);
        if (settings.definition === null) checkAuthSettings(settings);
        const row = await store.updateProvider(tx, orgId, id, settings);
        if (countSensitive(row) > countSensitive(before)) await assertSensitivePathsMax(tx, orgId);
        if (put.definition !== undefined) await assertDefinitionsBytesMax(tx, orgId);
        const status = accountStatusAfter(this.#toProvider(before), this.#toProvider(row));
        if (status !== null) await store.setAccountStatus(tx, orgId, id, status);
        await recordAudit(tx, actor, 'custom_provider.update', { type: 'custom_provider', id }, changesOf(before, row));
        const endsSessions = status === 'needs_credentials';
        await publishInvalidations(tx, [{ kind: 'provider', id: `${orgId}/${before.slug}`, endsSessions }]);
        if (row.slug !== before.slug) {
          await store.renameProviderOfAccounts(tx, orgId, id, before.slug, row.slug);
          await publishInvalidations(tx, [{ kind: 'org', id: orgId }]);
        }
        return this.#present(row);
      }),
    );
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

  #toProvider(row: store.CustomProviderRow): Provider {
    return toProvider(row, this.catalogue.presetCalls, row.displayName);
  }

  #present(row: store.CustomProviderRow): CustomProviderView {
    return presentCustomProvider(row, this.#toProvider(row));
  }

  #assertNotBuiltIn(slug: string): void {
    if (this.catalogue.get(slug) !== null)
      throw new Conflict(`slug ${slug} belongs to a built-in provider: choose another one`);
  }

  async #withFreeSlug<T>(slug: string, write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (isUniqueViolation(error, 'custom_providers_live_slug'))
        throw new Conflict(`slug ${slug} is taken: choose another one`);
      throw error;
    }
  }

  /** The columns of a new provider. */
  async #checkInput(orgId: string, input: CustomProviderInput): Promise<ProviderColumns> {
    const { baseUrl, authType } = input;
    if (input.definition !== undefined) {
      assertNoShortForm(input);
      const definition = await this.#checkDefinition(orgId, input.definition);
      return { ...definitionColumns(definition), definition };
    }
    if (baseUrl === undefined) throw new InvalidInput('baseUrl is required');
    if (authType === undefined) throw new InvalidInput('authType is required');
    const columns = {
      baseUrl,
      authType,
      authName: input.authName ?? null,
      authPrefix: input.authPrefix ?? null,
      usageFormat: input.usageFormat ?? null,
      sensitivePaths: input.sensitivePaths ?? [],
      definition: null,
    };
    checkAuthSettings(columns);
    await this.#checkBaseUrl(orgId, baseUrl);
    return columns;
  }

  async #checkBaseUrl(orgId: string, baseUrl: string): Promise<void> {
    await this.#checkAddress(orgId, 'baseUrl', baseUrl);
    if (new URL(baseUrl).search !== '') throw new InvalidInput('baseUrl must hold no query');
  }

  async #checkAddress(orgId: string, name: string, url: string): Promise<void> {
    if (isGatewayAddress(url, this.ownUrls)) {
      throw new InvalidInput(`${name} points to this gateway: enter the URL of the provider`);
    }
    const resolve = (host: string) => this.names.resolve(host, orgId);
    const problem = await runWithoutRequestSlot(() => checkTenantUrl(url, { allowCidrs: this.allowCidrs, resolve }));
    if (problem !== null) throw new InvalidInput(`${name} ${problem}`);
  }

  /** Checks the addresses that depend on the credentials of an account. */
  async assertAccountAddressesAllowed(orgId: string, provider: Provider, credentials: Credentials): Promise<void> {
    for (const name of provider.originNames) {
      const address = provider.fixedAddress(name) === null ? provider.address(credentials, name) : null;
      if (address === null) continue;
      await this.#checkAddress(orgId, `credentials: the address ${address.baseUrl}:`, address.baseUrl);
      const { hostname, search } = new URL(address.baseUrl);
      if (this.catalogue.claimsHost(hostname))
        throw new InvalidInput(`credentials: ${hostname} belongs to a built-in provider: use that one`);
      if (search !== '') throw new InvalidInput('credentials: an address must hold no query');
    }
  }

  /** Addresses that hold a field are checked when an account is created, and every address at every connect. */
  async #checkDefinition(orgId: string, given: Record<string, unknown>): Promise<TenantDefinition> {
    const definition = parseTenantDefinition(given);
    const claimed = listHostPatterns(definition).find((pattern) => this.catalogue.claimsHost(pattern));
    if (claimed !== undefined) {
      throw new InvalidInput(`definition.origins: ${claimed} belongs to a built-in provider: use that one`);
    }
    for (const url of listFixedAddresses(definition)) await this.#checkAddress(orgId, 'definition.origins:', url);
    return definition;
  }
}

type ProviderColumns = Omit<store.CustomProviderSettings, 'slug' | 'displayName'>;

const SHORT_FORM = ['baseUrl', 'authType', 'authName', 'authPrefix', 'usageFormat', 'sensitivePaths'] as const;

function assertNoShortForm(input: Partial<Record<(typeof SHORT_FORM)[number], unknown>>): void {
  const other = SHORT_FORM.find((field) => input[field] !== undefined);
  if (other !== undefined) throw new InvalidInput(`${other} does not go with definition: leave it out`);
}

const listFixedAddresses = ({ origins }: TenantDefinition): string[] =>
  Object.values(origins)
    .flatMap((origin) => (typeof origin === 'string' ? origin : origin.map(({ url }) => url)))
    .filter((address) => !address.includes('{'));

/** A control plane of the release before reads these columns only: it finds the address, and sends no credential. */
const definitionColumns = (definition: TenantDefinition) => ({
  baseUrl: listFixedAddresses(definition)[0] ?? 'https://unknown.invalid',
  authType: 'none' as const,
  authName: null,
  authPrefix: null,
  usageFormat: null,
  sensitivePaths: [],
});

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

async function assertDefinitionsBytesMax(tx: Tx, orgId: string): Promise<void> {
  if ((await store.sumDefinitionBytes(tx, orgId)) <= DEFINITIONS_BYTES_MAX) return;
  throw new Conflict(`the organization's definitions may have ${DEFINITIONS_BYTES_MAX} bytes together`);
}

const countSensitive = ({ sensitivePaths, definition }: store.CustomProviderRow): number =>
  sensitivePaths.length + (definition?.sensitive?.length ?? 0) + (definition?.opaque?.length ?? 0);

/** A new authType removes the old name and prefix unless the request contains new ones. */
function mergeSettings(
  before: store.CustomProviderRow,
  put: CustomProviderPut,
  definition: TenantDefinition | null,
): store.CustomProviderSettings {
  const slug = put.slug ?? before.slug;
  const displayName = put.displayName ?? before.displayName;
  if (definition !== null) {
    assertNoShortForm(put);
    return { slug, displayName, ...definitionColumns(definition), definition };
  }
  const sameAuth = put.authType === undefined || put.authType === before.authType;
  return {
    slug,
    displayName,
    baseUrl: put.baseUrl ?? before.baseUrl,
    authType: put.authType ?? before.authType,
    authName: put.authName === undefined ? (sameAuth ? before.authName : null) : put.authName,
    authPrefix: put.authPrefix === undefined ? (sameAuth ? before.authPrefix : null) : put.authPrefix,
    usageFormat: put.usageFormat === undefined ? before.usageFormat : put.usageFormat,
    sensitivePaths: put.sensitivePaths ?? before.sensitivePaths,
    definition,
  };
}

/**
 * A credential is never sent to another origin, and a credential of another form is useless. Null: accounts keep their
 * status.
 */
function accountStatusAfter(before: Provider, after: Provider): 'active' | 'needs_credentials' | null {
  const methods = methodsOf(after);
  if (after.credentialFields.length === 0 && methods === '[]') return 'active';
  const isSame =
    originsOf(before) === originsOf(after) && fieldNames(before) === fieldNames(after) && methodsOf(before) === methods;
  return isSame ? null : 'needs_credentials';
}

/** The short form may have a path, whose change sends no credential elsewhere. */
const originsOf = (provider: Provider): string =>
  JSON.stringify(
    Object.entries(provider.rules.origins).map(([name, rule]) => [
      name,
      provider.fixedAddress(name) === null ? rule : new URL(provider.fixedAddress(name)!).origin,
    ]),
  );

/** A token endpoint receives client secrets, so each change of it or of what is sent there counts. */
const methodsOf = (provider: Provider): string =>
  JSON.stringify(
    (provider.rules.credentials.methods ?? []).map(({ name, kind, fields, uses, token, inject }) => [
      name,
      kind,
      fields.map((field) => field.name),
      uses,
      token,
      inject,
    ]),
  );

const fieldNames = (provider: Provider): string => provider.credentialFields.map((field) => field.name).join();

function changesOf(before: store.CustomProviderRow, after: store.CustomProviderRow): AuditChanges {
  const fields = ['slug', 'displayName', ...SHORT_FORM, 'definition'] as const;
  const changed = fields.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
  return Object.fromEntries(changed.map((field) => [field, [before[field], after[field]] as const]));
}
