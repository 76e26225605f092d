/**
 * Mints the credentials of accounts (docs/minted-credentials.md). One exchange at a time for each row over all control
 * planes: a lease with a fencing number decides who writes, and neither lock nor transaction is held during the exchange.
 * A process that dies in between leaves the former credential in force; after the lease another one exchanges.
 */
import type { Dialer } from '@acg/base/dialer/dialer';
import { FairSemaphore, QueueFull } from '@acg/base/fairness/fair-semaphore';
import type { Logger } from '@acg/base/log';
import type { Sql, Tx } from '../db/postgres-client.js';
import { appendEvent } from '../events/append-events.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import type { Credentials } from '../providers/catalogue/credential-template.js';
import type { Provider } from '../providers/catalogue/provider.js';
import { toProvider } from '../providers/custom/custom-provider.js';
import type { Vault } from '../vault/aes-gcm-vault.js';
import { type Invalidation, publishInvalidations } from '../watch/publish-invalidations.js';
import { setClientAuthentication } from './client-authentication.js';
import { exchangeCredentials, type TokenSigner } from './exchange.js';
import type { DiscoveredClient, ExchangeContext } from './exchange-context.js';
import { MintFailure, needsPerson } from './mint-failure.js';
import * as store from './minted-credential-store.js';
import type { RegisteredClient, RegistrationScope } from './oauth-client-store.js';
import * as clients from './oauth-client-store.js';
import * as grants from './oauth-grant-store.js';
import { openMinted } from './open-minted.js';
import type { MintedToken } from './read-token-answer.js';
import { TokenEndpointClient } from './token-endpoint-client.js';

/** Exchanges of this process at once. A tenant's token endpoint may keep each of them waiting for 10 seconds. */
const RUNNING_MAX = 32;
const WAITING_MAX = 512;
const DUE_PER_RUN = 100;
const DUE_PER_ORG = 4;
const POLL_MS = 100;
const CURRENT_WAIT_MS = 3_000;
/** Waits between attempts to store a new refresh token. Another control plane may exchange after the lease. */
const STORE_RETRY_MS = [500, 1_000, 2_000, 4_000, 8_000, 8_000];
/** Providers whose clocks are a minute ahead already reject a token; it is not used in its last minute. */
const MARGIN_S = 60;

interface NewClient extends RegistrationScope {
  /** Null: a public client. */
  readonly clientSecret: string | null;
  /** Unix time, seconds; null: the secret never expires. */
  readonly secretExpiresAtS: number | null;
}

type OpenCredentials = (orgId: string, row: store.MintSource) => Credentials | null;

interface MintDependencies {
  readonly sql: Sql;
  readonly vault: Vault;
  readonly catalogue: Catalogue;
  readonly dialer: Dialer;
  readonly log: Logger;
  /** Decrypts the stored credentials of an account; null: they cannot be read. */
  readonly open: OpenCredentials;
  readonly signer: TokenSigner;
}

export class MintService {
  readonly client: TokenEndpointClient;
  readonly #semaphore = new FairSemaphore({ runningMax: RUNNING_MAX, waitingMax: WAITING_MAX, fraction: 1 / 2 });
  /** By row: the attempt of this process, which all callers share. */
  readonly #attempts = new Map<string, Promise<void>>();

  constructor(readonly dependencies: MintDependencies) {
    this.client = new TokenEndpointClient(dependencies.dialer);
  }

  /**
   * Waits until the owner has a valid credential, an attempt has failed, or `waitMs` has passed. `rejectedGeneration`: the
   * provider has rejected that generation; 0 = none.
   */
  async ensure(owner: store.MintOwner, waitMs: number, rejectedGeneration = 0): Promise<void> {
    const { sql } = this.dependencies;
    const untilMs = performance.now() + waitMs;
    const id = await store.findOrCreateRow(sql, owner);
    if (id === null) return;
    for (;;) {
      await Promise.race([this.#attempt(owner.orgId, id, rejectedGeneration), delay(untilMs - performance.now())]);
      const state = await store.loadState(sql, id);
      if (state === null || state.retryMs > 0) return;
      // A rejected generation is exchanged once a minute at most, and serves meanwhile.
      if (state.remainingMs !== null && (state.generation !== rejectedGeneration || !state.isLeased)) return;
      // Another control plane is at it.
      if (performance.now() + POLL_MS >= untilMs) return;
      await delay(POLL_MS);
    }
  }

  /**
   * The provider has rejected the present credential: exchanges it, once a minute at most. Returns false when the owner
   * has no minted credential.
   */
  async replaceRejected(owner: store.MintOwner): Promise<boolean> {
    const row = await store.findRow(this.dependencies.sql, owner);
    if (row === null) return false;
    await this.#attempt(owner.orgId, row.id, row.generation);
    return true;
  }

  /** Refreshes what is due. Called every second by each control plane. */
  async refreshDue(): Promise<void> {
    const due = await store.listDue(this.dependencies.sql, { limit: DUE_PER_RUN, perOrg: DUE_PER_ORG });
    await Promise.all(due.map(({ id, orgId }) => this.#attempt(orgId, id, 0)));
  }

  /** Notes that data planes have received these rows, which are refreshed in advance from then on. */
  markUsed(ids: readonly string[]): void {
    if (ids.length === 0) return;
    store
      .markUsed(this.dependencies.sql, ids)
      .catch((error: unknown) => this.dependencies.log.warn({ err: error }, 'use of minted credentials not recorded'));
  }

  /** The present credential of a connected account, renewed where it has expired. Throws {@link MintFailure}. */
  async currentFields(owner: store.MintOwner): Promise<Credentials> {
    await this.ensure(owner, CURRENT_WAIT_MS);
    const { sql, vault, log } = this.dependencies;
    const fields = openMinted(vault, log, owner.orgId, await store.loadMinted(sql, owner));
    if (fields === null) throw new MintFailure('not_connected');
    return fields;
  }

  /** Exchanges once, without storing anything. Throws {@link MintFailure}. */
  exchange(context: ExchangeContext): Promise<MintedToken> {
    return this.#semaphore.run(context.orgId, () =>
      exchangeCredentials(this.client, context, this.dependencies.signer),
    );
  }

  /** Never rejects. */
  #attempt(orgId: string, id: string, rejectedGeneration: number): Promise<void> {
    const running = this.#attempts.get(id);
    if (running !== undefined) return running;
    const attempt = this.#semaphore
      .run(orgId, () => this.#claimAndExchange(id, rejectedGeneration))
      .catch((error: unknown) => {
        if (!(error instanceof QueueFull)) this.dependencies.log.error({ err: error, orgId }, 'minting failed');
      })
      .finally(() => this.#attempts.delete(id));
    this.#attempts.set(id, attempt);
    return attempt;
  }

  async #claimAndExchange(id: string, rejectedGeneration: number): Promise<void> {
    const { sql } = this.dependencies;
    const claim = await store.claim(sql, id, rejectedGeneration);
    if (claim === null) return;
    const source = await store.loadSource(sql, id);
    if (source === null) return;
    try {
      const context = await this.#prepare(source);
      if (context === null) throw new MintFailure('unusable_credentials');
      const minted = await exchangeCredentials(this.client, context, this.dependencies.signer);
      await this.#store(id, claim, context, source, minted);
    } catch (error) {
      if (!(error instanceof MintFailure)) throw error;
      await this.#storeFailure(id, claim, source, error);
    }
  }

  /** Without its new refresh token a grant may be lost, so a database that is away for a moment is tried again. */
  async #store(
    id: string,
    claim: store.Claim,
    context: ExchangeContext,
    source: store.MintSource,
    minted: MintedToken,
  ): Promise<void> {
    const retryDelaysMs = minted.refreshToken === undefined ? [] : STORE_RETRY_MS;
    for (let attempt = 0; ; attempt++) {
      try {
        await this.dependencies.sql.begin(async (tx) => {
          if (await this.saveToken(tx, id, claim, context, source, minted)) await this.publishChange(tx, source);
        });
        return;
      } catch (error) {
        const delayMs = retryDelaysMs[attempt];
        if (delayMs === undefined) throw error;
        this.dependencies.log.warn({ err: error, orgId: source.orgId }, 'minted credential not stored yet');
        await delay(delayMs);
      }
    }
  }

  /** How the owner's credential is minted. Null: there is no such account, or its credential is stored. */
  async loadContext(owner: store.MintOwner): Promise<(ExchangeContext & { readonly nonce: string }) | null> {
    const source = await store.loadOwner(this.dependencies.sql, owner);
    if (source === null) return null;
    const context = await this.#prepare(source);
    return context === null ? null : { ...context, nonce: source.nonce };
  }

  /** Null: the credentials may not be used, cannot be read, or are not minted. */
  async #prepare(source: store.MintSource): Promise<ExchangeContext | null> {
    const { orgId } = source;
    // A credential is never sent to another host than the one for which it was stored.
    const credentials = source.isUsable ? this.dependencies.open(orgId, source) : null;
    const provider = this.#findProvider(source);
    const method = credentials === null ? null : (provider?.method(credentials) ?? null);
    if (provider === null || credentials === null || method === null) return null;
    const isConnected = method.kind === 'oauth2_authorization_code';
    const { subjectAgentId: agentId } = source;
    const granted = isConnected ? await this.#loadGrant(source) : { grant: null, server: null };
    return { orgId, provider, method, credentials, agentId, ...granted };
  }

  async #loadGrant(source: store.MintSource): Promise<Pick<ExchangeContext, 'grant' | 'server'>> {
    const { sql, vault } = this.dependencies;
    const { orgId } = source;
    const row = await grants.loadGrant(sql, source);
    if (row === null) return { grant: null, server: null };
    const refreshToken = vault.decrypt({ purpose: 'grant', orgId, id: row.id }, row);
    const { server, registrationId } = row;
    const grant = { refreshToken: refreshToken === '' ? null : refreshToken };
    return { grant, server: server === null ? null : await this.openServer(orgId, { server, registrationId }) };
  }

  /** Adds the secret of the client that the gateway has registered. */
  async openServer(orgId: string, { server, registrationId }: grants.GrantServer): Promise<DiscoveredClient> {
    const { sql, vault } = this.dependencies;
    const row = registrationId === null ? null : await clients.loadClientSecret(sql, orgId, registrationId);
    const secret = row === null ? '' : vault.decrypt({ purpose: 'oauth_client', orgId, id: registrationId! }, row);
    return { ...server, clientSecret: secret === '' ? null : secret };
  }

  /** Stores a client that the gateway has registered, and returns its id. */
  saveClient(registration: Omit<RegisteredClient, 'id'> & NewClient): Promise<string> {
    const { sql, vault } = this.dependencies;
    const { orgId, clientSecret } = registration;
    return clients.insertClient(sql, registration, (id) =>
      vault.encrypt({ purpose: 'oauth_client', orgId, id }, clientSecret ?? ''),
    );
  }

  findRecentClient(scope: RegistrationScope): Promise<RegisteredClient | null> {
    return clients.findRecentClient(this.dependencies.sql, scope);
  }

  /** Runs requests to servers of an organization within the limit of exchanges at once. */
  runForOrg<T>(orgId: string, work: () => Promise<T>): Promise<T> {
    return this.#semaphore.run(orgId, work);
  }

  #findProvider({ customProviderId, custom, providerSlug }: store.MintSource): Provider | null {
    const { catalogue } = this.dependencies;
    if (customProviderId === null) return catalogue.get(providerSlug);
    return custom === null ? null : toProvider(custom, catalogue.presetCalls);
  }

  /**
   * Stores what was minted, with a new refresh token in the same transaction. Returns false when the claim is not the
   * newest any more.
   */
  async saveToken(
    tx: Tx,
    id: string,
    claim: store.Claim,
    { method, provider, grant }: ExchangeContext,
    owner: store.MintOwner,
    minted: MintedToken,
  ): Promise<boolean> {
    const { vault, log } = this.dependencies;
    const { orgId, accountId, credentialId } = owner;
    const sealed = vault.encrypt({ purpose: 'minted', orgId, id }, JSON.stringify(minted.fields));
    const usableMs = minted.lifetimeS === null ? null : usableSeconds(minted.lifetimeS) * 1_000;
    const isRefreshable =
      method.kind !== 'oauth2_authorization_code' || (minted.refreshToken ?? grant?.refreshToken) != null;
    const refreshMs = usableMs === null || !isRefreshable ? null : usableMs * (0.5 + 0.3 * Math.random());
    // OAuth 2.1 §4.3.1: refresh tokens of public clients rotate.
    const { rotation, discover } = method.token;
    const strict = (rotation ?? (discover === undefined ? 'none' : 'strict')) === 'strict';
    const stored = await store.storeToken(tx, id, claim, { sealed, usableMs, refreshMs, scope: minted.scope, strict });
    if (stored === null) return false;
    if (grant !== null && minted.refreshToken !== undefined) {
      const row = await grants.loadGrant(tx, owner);
      if (row !== null)
        await grants.updateGrant(
          tx,
          row.id,
          vault.encrypt({ purpose: 'grant', orgId, id: row.id }, minted.refreshToken),
        );
    }
    const providerSlug = provider.slug;
    log.info({ accountId, credentialId, orgId, providerSlug, lifetimeS: minted.lifetimeS }, 'credential minted');
    if (stored.wasReported) {
      const agents = accountId === null ? null : await store.listAgents(tx, owner);
      const data = { providerSlug, accountId, credentialId, agentId: agents?.[0] ?? null, orgId };
      await appendEvent(tx, orgId, 'credential.refreshed', data);
    }
    return true;
  }

  /** Stores the refresh token of a new grant; null: the provider gave none. */
  async saveGrant(
    tx: Tx,
    owner: store.MintOwner,
    refreshToken: string | null,
    userId: string,
    found: grants.GrantServer | null,
  ): Promise<void> {
    const { vault } = this.dependencies;
    await grants.deleteGrant(tx, owner);
    const encrypt = (id: string) => vault.encrypt({ purpose: 'grant', orgId: owner.orgId, id }, refreshToken ?? '');
    await grants.insertGrant(tx, owner, userId, found, encrypt);
  }

  /** Locks the account or shared credential. Returns false when its credentials were replaced since they were read. */
  lockSource(tx: Tx, owner: store.MintOwner, nonce: string): Promise<boolean> {
    return store.lockSource(tx, owner, nonce);
  }

  databaseTime(): Promise<string> {
    return store.databaseTime(this.dependencies.sql);
  }

  /** Drops the contexts that hold the credential. Call it last in a transaction. */
  async publishChange(tx: Tx, owner: store.MintOwner): Promise<void> {
    await publishInvalidations(tx, toInvalidations(owner.orgId, await store.listAgents(tx, owner)));
  }

  /** Revokes a refresh token at the provider, if it can (RFC 7009 §2.1). Never rejects. */
  async revoke(context: ExchangeContext, refreshToken: string): Promise<void> {
    const { server, provider, method, credentials } = context;
    const endpoint =
      server === null
        ? provider.revocationEndpoint(method, credentials)
        : server.revocationEndpoint === null
          ? null
          : { url: server.revocationEndpoint, tenantGiven: true };
    if (endpoint === null) return;
    const body = new URLSearchParams({ token: refreshToken, token_type_hint: 'refresh_token' });
    const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' });
    try {
      await setClientAuthentication(context, endpoint, body, headers);
      const request = { headers: Object.fromEntries(headers), body: body.toString() };
      await this.#semaphore.run(context.orgId, () => this.client.post(context.orgId, endpoint, request));
    } catch (error) {
      this.dependencies.log.warn(
        { orgId: context.orgId, err: (error as Error).message },
        'grant not revoked at the provider',
      );
    }
  }

  async #storeFailure(id: string, claim: store.Claim, source: store.MintSource, failure: MintFailure): Promise<void> {
    const { sql, log } = this.dependencies;
    const { orgId, accountId, credentialId, providerSlug } = source;
    const { code, detail, retryAfterMs } = failure;
    await sql.begin(async (tx) => {
      const stored = await store.storeFailure(tx, id, claim, {
        code,
        detail,
        retryAfterMs,
        retries: !needsPerson(code),
      });
      if (stored === null) return;
      log.warn({ accountId, credentialId, orgId, providerSlug, failure: code, detail }, 'credential not minted');
      if (!stored.isEventDue || code === 'not_connected') return;
      const agents = accountId === null ? null : await store.listAgents(tx, source);
      const data = { providerSlug, accountId, credentialId, agentId: agents?.[0] ?? null, orgId, reason: code, detail };
      await appendEvent(tx, orgId, 'credential.refresh_failed', data);
    });
  }
}

/** A quarter of a short life, a minute of a longer one, is kept as margin. */
const usableSeconds = (lifetimeS: number): number => lifetimeS - Math.min(MARGIN_S, lifetimeS / 4);

const toInvalidations = (orgId: string, agents: readonly string[] | null): readonly Invalidation[] =>
  agents === null ? [{ kind: 'org', id: orgId }] : agents.map((agent) => ({ kind: 'agent', id: agent }));

const delay = (waitMs: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.max(0, waitMs)).unref());
