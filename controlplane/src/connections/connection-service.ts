/**
 * Connects accounts at providers by OAuth 2.0 authorization code with PKCE (RFC 6749 §4.1, RFC 7636). A connection is
 * bound to organization, user and browser, and works once. Each provider has a redirect URI of its own, so an answer of
 * one can never be taken for that of another; `iss` is compared where the provider announces it (RFC 9207).
 */
import { createHash, randomBytes } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import { recordAudit } from '../audit/audit-trail.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import { InvalidInput, NotFound } from '../domain/errors.js';
import { runWithoutRequestSlot } from '../http/org-request-slots.js';
import type { Actor } from '../http/route-access.js';
import type { ExchangeContext } from '../minting/exchange-context.js';
import { MINT_FAILURES, MintFailure } from '../minting/mint-failure.js';
import type { MintService } from '../minting/mint-service.js';
import { forgetMinted, type MintOwner } from '../minting/minted-credential-store.js';
import { renderAll, renderOptional, renderRequired } from '../minting/render.js';
import { renderEndpoint } from '../providers/catalogue/mint-method.js';
import { chooseClient } from './choose-client.js';
import { type ClientSettings, createClientSettings } from './client-document.js';
import { CONNECT_LIFETIME_S } from './connect-cookie.js';
import * as store from './connection-store.js';
import { discoverServer } from './discover-server.js';
import { DiscoveryFailure } from './discovery-failure.js';
import type { ConnectionInput } from './schema.js';

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
/** `/connect/{organization or gateway}/{slug}/callback` */
export const CALLBACK_PATH = '/connect/:owner/:slug/callback';

type ConnectTarget = { readonly kind: 'account' | 'credential'; readonly id: string };

export class ConnectionService {
  constructor(
    readonly sql: Sql,
    readonly minting: MintService,
    readonly publicUrl: string,
    /** Authorization servers can fetch the client id metadata documents of this gateway. */
    readonly servesClientDocuments: boolean,
  ) {}

  /** Returns the address at the provider, and a secret for a cookie of the browser. */
  async start(actor: Actor, target: ConnectTarget): Promise<{ url: string; secret: string }> {
    const owner = ownerOf(actor.orgId, target);
    const context = await this.#load(owner, target);
    const { token } = context.method;
    const discovered = token.discover === undefined ? null : await this.#discover(context, token.discover);
    const { address, clientId, scope, parameters } = discovered ?? this.#readFile(context);
    const state = oauth.generateRandomState();
    const codeVerifier = oauth.generateRandomCodeVerifier();
    const secret = randomBytes(32).toString('base64url');
    const { redirectUri } = this.#settings(context);
    const url = new URL(address);
    const request: Record<string, string> = {
      ...Object.fromEntries(renderAll(token.authorizationParameters, context.credentials)),
      ...parameters,
      client_id: clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      ...(scope === null ? {} : { scope }),
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(request)) url.searchParams.set(name, value);
    const bound = { ...owner, userId: actor.userId, codeVerifier, redirectUri, found: discovered?.found ?? null };
    const hashes = { stateHash: sha256(state), browserHash: sha256(secret), lifetimeS: CONNECT_LIFETIME_S };
    await store.insertConnect(this.sql, { ...bound, ...hashes });
    return { url: url.href, secret };
  }

  #readFile({ method: { token }, credentials }: ExchangeContext): AuthorizationTarget {
    const address = token.authorizationUrl === undefined ? null : renderEndpoint(token.authorizationUrl, credentials);
    if (address === null || !URL.canParse(address))
      throw new InvalidInput('the account states no address to connect at');
    const clientId = renderRequired(token.clientId, credentials);
    return { address, clientId, scope: renderOptional(token.scope, credentials), parameters: {} };
  }

  /** `path`: of the MCP endpoint. */
  async #discover(
    context: ExchangeContext,
    path: string,
  ): Promise<AuthorizationTarget & { readonly found: store.PendingServer }> {
    const { minting } = this;
    const { orgId, provider, method, credentials } = context;
    const origin = provider.address(credentials);
    if (origin === null) throw new InvalidInput('the account states no address of the server');
    const address = { orgId, url: joinPath(origin.baseUrl, path), tenantGiven: origin.tenantGiven };
    try {
      return await runWithoutRequestSlot(() =>
        minting.runForOrg(orgId, async () => {
          const server = await discoverServer(minting.client, address);
          const chosen = await chooseClient(minting, context, server, this.#settings(context));
          return {
            address: server.metadata.authorizationEndpoint,
            clientId: chosen.server.clientId,
            scope: renderOptional(method.token.scope, credentials) ?? server.scope,
            parameters: { resource: server.resource },
            found: { ...chosen, statesIssuer: server.metadata.statesIssuer },
          };
        }),
      );
    } catch (error) {
      if (!(error instanceof DiscoveryFailure)) throw error;
      throw new InvalidInput(`${provider.displayName} cannot be connected: ${error.message}`);
    }
  }

  /** Exchanges the code of a callback, stores the grant and returns what was connected. `secret`: the browser's cookie; null: it has none. */
  async finish(actor: Actor, input: ConnectionInput, secret: string | null): Promise<ConnectTarget> {
    const { orgId, userId } = actor;
    const redirectUri = new URL(this.publicUrl).origin + input.redirectPath;
    const bound = { stateHash: sha256(input.state), orgId, userId, redirectUri };
    const connect =
      secret === null ? null : await store.consumeConnect(this.sql, { ...bound, browserHash: sha256(secret) });
    if (connect === null)
      throw new InvalidInput('this connection is unknown, used or older than 10 minutes: start again in the dashboard');
    const target: ConnectTarget =
      connect.accountId === null
        ? { kind: 'credential', id: connect.credentialId! }
        : { kind: 'account', id: connect.accountId };
    const owner = ownerOf(orgId, target);
    const context = await this.#load(owner, target);
    if (!isFromIssuer(input.iss, context, connect))
      throw new InvalidInput('the answer comes from another issuer than that of the account: start again');
    if (input.error === 'access_denied')
      throw new InvalidInput('consent was declined at the provider (access_denied): connect again to give it');
    if (input.error !== undefined || input.code === undefined)
      throw new InvalidInput(`the provider did not connect the account: ${input.error ?? 'no code'}`);
    await this.#exchangeAndStore(actor, target, owner, context, input.code, connect);
    return target;
  }

  /** Forgets the grant and revokes it at the provider, where that can be done (RFC 7009). */
  async disconnect(actor: Actor, target: ConnectTarget): Promise<void> {
    const owner = ownerOf(actor.orgId, target);
    const context = await this.#load(owner, target);
    const token = context.grant?.refreshToken ?? null;
    await this.sql.begin(async (tx) => {
      await forgetMinted(tx, target.kind === 'account' ? 'account_id' : 'credential_id', target.id);
      await recordAudit(tx, actor, `${target.kind}.disconnect`, { type: target.kind, id: target.id }, {});
      await this.minting.publishChange(tx, owner);
    });
    if (token !== null) await runWithoutRequestSlot(() => this.minting.revoke(context, token));
  }

  async #exchangeAndStore(
    actor: Actor,
    target: ConnectTarget,
    owner: MintOwner,
    context: ExchangeContext & { readonly nonce: string },
    code: string,
    { codeVerifier, redirectUri, found }: store.PendingConnect,
  ): Promise<void> {
    try {
      const server = found === null ? null : await this.minting.openServer(owner.orgId, found);
      const connected = { ...context, grant: null, server, code: { code, codeVerifier, redirectUri } };
      const claimedAt = await this.minting.databaseTime();
      const minted = await runWithoutRequestSlot(() => this.minting.exchange(connected));
      await this.sql.begin(async (tx: Tx) => {
        if (!(await this.minting.lockSource(tx, owner, context.nonce)))
          throw new InvalidInput('the credentials of the account were replaced meanwhile: connect it again');
        const id = await store.replaceMintedRow(tx, owner);
        await this.minting.saveGrant(tx, owner, minted.refreshToken ?? null, actor.userId, found);
        await this.minting.saveToken(tx, id, { fence: 0, claimedAt }, context, owner, minted);
        const issuer = found === null ? {} : { issuer: [null, found.server.issuer] as const };
        const changes = { scope: [null, minted.scope] as const, ...issuer };
        await recordAudit(tx, actor, `${target.kind}.connect`, { type: target.kind, id: target.id }, changes);
        await this.minting.publishChange(tx, owner);
      });
    } catch (error) {
      if (!(error instanceof MintFailure)) throw error;
      const { cause, remedy } = MINT_FAILURES[error.code];
      throw new InvalidInput(`${cause} ${remedy}${error.detail === null ? '' : ` (${error.detail})`}`);
    }
  }

  async #load(owner: MintOwner, { kind }: ConnectTarget): Promise<ExchangeContext & { readonly nonce: string }> {
    const context = await this.minting.loadContext(owner);
    if (context === null) throw new NotFound(kind === 'account' ? 'provider account' : 'credential');
    if (context.method.kind !== 'oauth2_authorization_code')
      throw new InvalidInput(`accounts of the method ${context.method.name} need no connection`);
    return context;
  }

  #settings({ provider, orgId }: ExchangeContext): ClientSettings {
    const { publicUrl, servesClientDocuments } = this;
    return createClientSettings(
      publicUrl,
      provider.isBuiltIn ? 'gateway' : orgId,
      provider.slug,
      servesClientDocuments,
    );
  }
}

/** Where an authorization request goes, and what it holds beside the parameters of each. */
interface AuthorizationTarget {
  readonly address: string;
  readonly clientId: string;
  /** Null: the server decides. */
  readonly scope: string | null;
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * RFC 9207 §2.4: an answer with another issuer is rejected, also where the server has not announced `iss`; one without
 * is rejected where the server has.
 */
function isFromIssuer(
  iss: string | undefined,
  { method, credentials }: ExchangeContext,
  { found }: store.PendingConnect,
): boolean {
  if (found !== null) return iss === undefined ? !found.statesIssuer : iss === found.server.issuer;
  const issuer = renderOptional(method.token.issuer, credentials);
  return issuer === null || iss === issuer;
}

const joinPath = (baseUrl: string, path: string): string => baseUrl.replace(/\/$/, '') + path;

const ownerOf = (orgId: string, { kind, id }: ConnectTarget): MintOwner => ({
  orgId,
  accountId: kind === 'account' ? id : null,
  credentialId: kind === 'credential' ? id : null,
  agentId: null,
});
