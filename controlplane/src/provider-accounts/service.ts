/**
 * Provider accounts: the credentials that the gateway adds to an agent's calls to a provider
 * (docs/contract.md#providers).
 */

import type { NameResolver } from '@acg/base/dns/name-resolver-interface';
import { checkTenantUrl } from '@acg/base/egress/check-tenant-url';
import { uuidv7 } from '@acg/base/uuidv7';
import type { AgentService } from '../agents/service.js';
import { recordAudit } from '../audit/audit-trail.js';
import { isUniqueViolation, type Sql, type Tx } from '../db/postgres-client.js';
import { Conflict, InvalidInput, NotFound } from '../domain/errors.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import { runWithoutRequestSlot } from '../http/org-request-slots.js';
import type { Actor } from '../http/route-access.js';
import { forgetMinted } from '../minting/minted-credential-store.js';
import { presentMinted } from '../minting/present-minted.js';
import { accountCircuitKeys } from '../providers/build-upstream.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import type { Credentials } from '../providers/catalogue/credential-template.js';
import { parseCredentials } from '../providers/catalogue/parse-credentials.js';
import type { Provider } from '../providers/catalogue/provider.js';
import { toProvider } from '../providers/custom/custom-provider.js';
import type { CustomProviderService } from '../providers/custom/custom-provider-service.js';
import type { Vault } from '../vault/aes-gcm-vault.js';
import { publishInvalidations } from '../watch/publish-invalidations.js';
import { encryptCredentials } from './credential-encryption.js';
import { deleteRotation, endFormerCalls, presentRotation } from './rotation-store.js';
import type { Account, AccountInput, AccountPatch, ListedAccount } from './schema.js';
import { lockSharedCredential } from './shared-credential-store.js';
import * as store from './store.js';

type CredentialFieldsInput = Readonly<Record<string, unknown>>;
type AccountCredential = Pick<store.NewAccount, 'sealed' | 'credentialId' | 'circuitKeys' | 'method'>;
type LockedProvider = { readonly provider: Provider; readonly customProviderId: string | null };

export class ProviderAccountService {
  constructor(
    readonly sql: Sql,
    readonly vault: Vault,
    readonly catalogue: Catalogue,
    readonly agents: AgentService,
    readonly customProviders: CustomProviderService,
    readonly allowCidrs: readonly string[],
    readonly names: NameResolver,
  ) {}

  async list(actor: Actor, filter: store.AccountFilter, page: Page): Promise<ListResult<ListedAccount>> {
    if (filter.agentId !== null) await this.agents.get(actor, filter.agentId);
    if (filter.projectId !== null)
      await this.agents.list(actor, { projectId: filter.projectId }, { limit: 1, offset: 0 });
    const { rows, total } = await store.listAccounts(this.sql, actor.orgId, filter, page);
    return { rows: rows.map((row) => ({ ...present(row), agentName: row.agentName })), total };
  }

  async get(actor: Actor, id: string): Promise<ListedAccount> {
    const row = await store.loadListedAccount(this.sql, actor.orgId, id);
    if (row === null) throw new NotFound('account');
    return { ...present(row), agentName: row.agentName };
  }

  /** The account without what lists add. */
  async show(actor: Actor, id: string): Promise<Account> {
    const row = await store.loadAccount(this.sql, actor.orgId, id);
    if (row === null) throw new NotFound('account');
    return present(row);
  }

  /** Throws {@link Conflict} when the agent already has an account with the provider. */
  async create(actor: Actor, input: AccountInput): Promise<Account> {
    const { orgId } = actor;
    const { agentId, providerSlug, credentials, credentialId = null } = input;
    if ((credentials === undefined) === (credentialId === null)) {
      throw new InvalidInput('send either credentials or credentialId');
    }
    await this.agents.get(actor, agentId);
    if (credentials !== undefined) await this.assertAddressesAllowed(orgId, providerSlug, credentials);
    try {
      return await this.sql.begin(async (tx) => {
        const row = await this.insert(tx, actor, input);
        await publishInvalidations(tx, [{ kind: 'agent', id: agentId }]);
        return present(row);
      });
    } catch (error) {
      if (!isUniqueViolation(error, 'provider_accounts_agent_id_provider_slug_key')) throw error;
      throw new Conflict(`the agent has an account with ${providerSlug} already: rotate it, or delete it first`);
    }
  }

  /** Creates an account in the caller's transaction. The caller invalidates the agent. */
  async insert(tx: Tx, actor: Actor, input: AccountInput): Promise<store.AccountRow> {
    const { orgId } = actor;
    const { agentId, providerSlug, credentials, credentialId = null } = input;
    const { projectId } = await this.agents.lock(tx, orgId, agentId);
    const { provider, customProviderId } = await this.lockProvider(tx, orgId, providerSlug);
    const id = uuidv7(Date.now());
    const accountCredential =
      credentials === undefined
        ? await lockAssignableCredential(tx, orgId, credentialId!, providerSlug, projectId)
        : this.#encryptOwnCredential(orgId, id, provider, credentials);
    const { allowSensitivePaths = false, allowOpaque = false } = input;
    const account = {
      id,
      orgId,
      agentId,
      providerSlug,
      customProviderId,
      allowSensitivePaths,
      allowOpaque,
      ...accountCredential,
    };
    const row = await store.insertAccount(tx, account);
    const changes = {
      agentId: [null, agentId],
      providerSlug: [null, providerSlug],
      ...(credentialId === null ? {} : { credentialId: [null, credentialId] as const }),
      ...(allowSensitivePaths ? { allowSensitivePaths: [null, true] as const } : {}),
      ...(allowOpaque ? { allowOpaque: [null, true] as const } : {}),
    } as const;
    await recordAudit(tx, actor, 'account.create', { type: 'account', id }, changes);
    return row;
  }

  #encryptOwnCredential(
    orgId: string,
    id: string,
    provider: Provider,
    fields: CredentialFieldsInput,
  ): AccountCredential {
    const credentials = parseCredentials(provider.rules, fields);
    const sealed = encryptCredentials(this.vault, { purpose: 'account', orgId, id }, credentials);
    const method = provider.method(credentials);
    return { sealed, credentialId: null, circuitKeys: accountCircuitKeys(provider, credentials), method };
  }

  /**
   * Replaces the credentials. Calls in flight finish with the previous ones, unless these are compromised; the next calls
   * carry the new ones.
   */
  async rotate(actor: Actor, id: string, fields: CredentialFieldsInput, compromised: boolean): Promise<void> {
    const { orgId } = actor;
    const before = await store.loadAccount(this.sql, orgId, id);
    if (before === null) throw new NotFound('provider account');
    if (before.credentialId !== null) {
      throw new Conflict(
        `this account uses the shared credential ${before.credentialId}: rotate the shared credential`,
      );
    }
    await this.assertAddressesAllowed(actor.orgId, before.providerSlug, fields);
    await this.sql.begin(async (tx) => {
      await this.agents.lock(tx, orgId, before.agentId);
      const { provider } = await this.lockProvider(tx, orgId, before.providerSlug);
      const credentials = parseCredentials(provider.rules, fields);
      const sealed = encryptCredentials(this.vault, { purpose: 'account', orgId, id }, credentials);
      const keys = accountCircuitKeys(provider, credentials);
      const row = await store.replaceCredentials(tx, orgId, id, sealed, keys, provider.method(credentials));
      if (row === null) throw new NotFound('provider account');
      await forgetMinted(tx, 'account_id', id);
      await deleteRotation(tx, { kind: 'account', id });
      const changes = {
        credentials: ['[secret]', '[secret]'],
        ...(compromised ? { compromised: [null, true] as const } : {}),
      } as const;
      await recordAudit(tx, actor, 'account.rotate', { type: 'account', id }, changes);
      const stale = [{ kind: 'agent', id: row.agentId }] as const;
      await publishInvalidations(tx, compromised ? await endFormerCalls(tx, { kind: 'account', id }, stale) : stale);
    });
  }

  async update(actor: Actor, id: string, patch: AccountPatch): Promise<Account> {
    const { orgId } = actor;
    return this.sql.begin(async (tx) => {
      const before = await store.lockAccount(tx, orgId, id);
      if (before === null) throw new NotFound('provider account');
      const { allowSensitivePaths = before.allowSensitivePaths, allowOpaque = before.allowOpaque } = patch;
      const row = await store.setPermissions(tx, orgId, id, { allowSensitivePaths, allowOpaque });
      const changed = (['allowSensitivePaths', 'allowOpaque'] as const).filter((field) => field in patch);
      const changes = Object.fromEntries(changed.map((field) => [field, [before[field], row[field]] as const]));
      await recordAudit(tx, actor, 'account.update', { type: 'account', id }, changes);
      await publishInvalidations(tx, [{ kind: 'agent', id: row.agentId }]);
      return present(row);
    });
  }

  async delete(actor: Actor, id: string): Promise<void> {
    await this.sql.begin(async (tx) => {
      const row = await store.deleteAccount(tx, actor.orgId, id);
      if (row === null) throw new NotFound('provider account');
      const changes = { agentId: [row.agentId, null], providerSlug: [row.providerSlug, null] } as const;
      await recordAudit(tx, actor, 'account.delete', { type: 'account', id }, changes);
      await publishInvalidations(tx, [{ kind: 'account', id: `${row.agentId}/${id}`, endsSessions: true }]);
    });
  }

  /** Validates credentials and returns them as they would be stored, with their provider. */
  async parseCredentialInput(
    actor: Actor,
    providerSlug: string,
    fields: CredentialFieldsInput,
  ): Promise<{ readonly provider: Provider; readonly credentials: Credentials }> {
    await this.assertAddressesAllowed(actor.orgId, providerSlug, fields);
    const { provider } = await this.sql.begin((tx) => this.lockProvider(tx, actor.orgId, providerSlug));
    return { provider, credentials: parseCredentials(provider.rules, fields) };
  }

  /**
   * Locks the provider against changes until the transaction ends. The organization's own provider wins over a built-in
   * one of the same slug. Throws {@link NotFound}.
   */
  async lockProvider(tx: Tx, orgId: string, slug: string): Promise<LockedProvider> {
    const custom = await this.customProviders.lockBySlug(tx, orgId, slug);
    if (custom !== null) {
      return { provider: toProvider(custom, this.catalogue.presetCalls), customProviderId: custom.id };
    }
    const provider = this.catalogue.get(slug);
    if (provider === null) throw new NotFound(`provider ${JSON.stringify(slug)}`);
    return { provider, customProviderId: null };
  }

  /**
   * Checks the addresses that the credentials state. Resolves names, so it must run outside the transaction. A provider
   * that does not exist is found later.
   */
  async assertAddressesAllowed(orgId: string, slug: string, fields: CredentialFieldsInput): Promise<void> {
    const provider = await this.customProviders.find(orgId, slug);
    if (provider === null) return;
    const credentials: Credentials = parseCredentials(provider.rules, fields);
    await this.#assertTokenEndpointAllowed(orgId, provider, credentials);
    if (!provider.isBuiltIn) return this.customProviders.assertAccountAddressesAllowed(orgId, provider, credentials);
    // The operator's address overrides the tenant's, which is stored but never connected to.
    if (provider.address(credentials)?.tenantGiven !== true) return;
    for (const { name, kind } of provider.fieldsOf(credentials)) {
      const value = credentials[name];
      if (kind !== 'url' || value === undefined) continue;
      await this.#assertUrlAllowed(orgId, `credentials.${name}`, value);
      if (new URL(value).search !== '') throw new InvalidInput(`credentials.${name} must not contain a query string`);
    }
  }

  async #assertTokenEndpointAllowed(orgId: string, provider: Provider, credentials: Credentials): Promise<void> {
    const method = provider.method(credentials);
    const endpoint = method === null ? null : provider.tokenEndpoint(method, credentials);
    if (endpoint?.tenantGiven) await this.#assertUrlAllowed(orgId, 'credentials: the token endpoint', endpoint.url);
  }

  async #assertUrlAllowed(orgId: string, name: string, url: string): Promise<void> {
    const resolve = (host: string) => this.names.resolve(host, orgId);
    const problem = await runWithoutRequestSlot(() =>
      checkTenantUrl(url, { allowCidrs: this.allowCidrs, httpsOnly: true, resolve }),
    );
    if (problem !== null) throw new InvalidInput(`${name} ${problem}`);
  }
}

/** Locks a shared credential for an agent of that project until the transaction ends. */
async function lockAssignableCredential(
  tx: Tx,
  orgId: string,
  id: string,
  providerSlug: string,
  projectId: string,
): Promise<AccountCredential> {
  const shared = await lockSharedCredential(tx, orgId, id, 'share');
  if (shared === null) throw new NotFound('credential');
  if (shared.providerSlug !== providerSlug) {
    throw new InvalidInput(`credentialId: that credential is for ${shared.providerSlug}, not for ${providerSlug}`);
  }
  if (shared.projectId !== null && shared.projectId !== projectId) {
    throw new InvalidInput('credentialId: that credential is for the agents of another project');
  }
  return { sealed: null, credentialId: shared.id, circuitKeys: shared, method: null };
}

const present = ({ method, mintKind, mintedRow, rotationRow, ...row }: store.AccountRow): Account => ({
  ...row,
  minted: presentMinted({ method, mintKind, mintedRow }),
  rotation: presentRotation({ rotationRow }),
  isByok: 'true',
  mode: 'byok',
  lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  createdAt: row.createdAt.toISOString(),
});
