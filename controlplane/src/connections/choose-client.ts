/**
 * Decides as which client the gateway connects an account at an authorization server that discovery found, in the order
 * of the MCP specification: the account's own client, the gateway's client id metadata document, a registration of the
 * gateway (RFC 7591). A client of one issuer is never used at another one. Throws {@link DiscoveryFailure}.
 */
import type { ClientAuthentication, DiscoveredServer } from '../minting/discovered-server.js';
import type { ExchangeContext } from '../minting/exchange-context.js';
import { MintFailure } from '../minting/mint-failure.js';
import type { MintService } from '../minting/mint-service.js';
import type { GrantServer } from '../minting/oauth-grant-store.js';
import { renderOptional } from '../minting/render.js';
import { parseObject } from '../minting/token-endpoint-client.js';
import { type ClientSettings, describeClient } from './client-document.js';
import type { FoundServer } from './discover-server.js';
import { DiscoveryFailure, describeCause } from './discovery-failure.js';
import type { ServerMetadata } from './server-metadata.js';

type Chosen = Pick<DiscoveredServer, 'clientId' | 'authentication'> & Pick<GrantServer, 'registrationId'>;

export async function chooseClient(
  minting: MintService,
  context: ExchangeContext,
  { metadata, resource }: FoundServer,
  settings: ClientSettings,
): Promise<GrantServer> {
  const { issuer, tokenEndpoint, revocationEndpoint } = metadata;
  const { registrationId, ...client } = await choose(minting, context, metadata, settings);
  return { server: { issuer, tokenEndpoint, revocationEndpoint, resource, ...client }, registrationId };
}

async function choose(
  minting: MintService,
  context: ExchangeContext,
  metadata: ServerMetadata,
  settings: ClientSettings,
): Promise<Chosen> {
  const { method, credentials, server: former, orgId } = context;
  const { issuer } = metadata;
  const ownId = renderOptional(method.token.clientId, credentials);
  if (ownId !== null) {
    if (former !== null && former.clientId === ownId && former.issuer !== issuer)
      throw new DiscoveryFailure(
        `the server now names the authorization server ${issuer}, and the client of the account belongs to ` +
          `${former.issuer}: enter the credentials of the account again`,
      );
    const hasSecret = renderOptional(method.token.clientSecret, credentials) !== null;
    const authentication = hasSecret ? withSecret(metadata) : 'none';
    return { clientId: ownId, authentication, registrationId: null };
  }
  if (metadata.readsClientDocuments && settings.documentUrl !== null)
    return { clientId: settings.documentUrl, authentication: 'none', registrationId: null };
  if (metadata.registrationEndpoint === null)
    throw new DiscoveryFailure(
      `the authorization server ${issuer} registers no clients by itself: register an OAuth app there with the ` +
        `redirect URI ${settings.redirectUri}, and enter its client ID in the account`,
    );
  const scope = { orgId, issuer, redirectUri: settings.redirectUri };
  const known = await minting.findRecentClient(scope);
  if (known !== null) {
    const { id: registrationId, clientId, authentication } = known;
    return { clientId, authentication, registrationId };
  }
  const registered = await register(minting, orgId, metadata.registrationEndpoint, metadata, settings);
  const registrationId = await minting.saveClient({ ...scope, ...registered });
  return { clientId: registered.clientId, authentication: registered.authentication, registrationId };
}

const NAMES = { none: 'none', basic: 'client_secret_basic', post: 'client_secret_post' } as const;

/** RFC 8414 §2: client_secret_basic where nothing is stated. */
function withSecret({ tokenAuthentication }: ServerMetadata): ClientAuthentication {
  return tokenAuthentication?.includes(NAMES.post) === true ? 'post' : 'basic';
}

/** A public client with PKCE needs no secret, so it is preferred. */
function preferredAuthentication(metadata: ServerMetadata): ClientAuthentication {
  const { tokenAuthentication } = metadata;
  return tokenAuthentication === null || tokenAuthentication.includes(NAMES.none) ? 'none' : withSecret(metadata);
}

interface Registered extends Pick<Chosen, 'clientId' | 'authentication'> {
  readonly clientSecret: string | null;
  readonly secretExpiresAtS: number | null;
}

async function register(
  minting: MintService,
  orgId: string,
  url: string,
  metadata: ServerMetadata,
  settings: ClientSettings,
): Promise<Registered> {
  const wanted = preferredAuthentication(metadata);
  const request = {
    method: 'POST' as const,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      'user-agent': 'agent-credential-gateway',
    },
    body: JSON.stringify({ ...describeClient(settings), token_endpoint_auth_method: NAMES[wanted] }),
  };
  try {
    // The metadata named the address, so the egress guard checks it.
    const { status, text } = await minting.client.send(orgId, { url, tenantGiven: true }, request);
    if (status >= 300 && status < 400) throw new MintFailure('redirect');
    const answer = parseObject(text);
    if (status !== 200 && status !== 201) {
      const code = typeof answer?.error === 'string' && /^[a-z_]{1,60}$/.test(answer.error) ? ` (${answer.error})` : '';
      throw new DiscoveryFailure(`${url} rejects the registration of the gateway with HTTP ${status}${code}`);
    }
    if (answer === null) throw new MintFailure('not_json');
    return readRegistration(answer, wanted, url);
  } catch (error) {
    throw error instanceof MintFailure ? new DiscoveryFailure(`${url} ${describeCause(error.code)}`) : error;
  }
}

const CLIENT_ID = /^[\x21-\x7e]{1,2048}$/;
const CLIENT_SECRET = /^[\x21-\x7e]{8,4096}$/;

/** RFC 7591 §3.2.1: the server may have registered another way to authenticate than the requested one. */
function readRegistration(
  { client_id: clientId, client_secret: secret, client_secret_expires_at: expires, ...rest }: Record<string, unknown>,
  wanted: ClientAuthentication,
  url: string,
): Registered {
  const stated = rest.token_endpoint_auth_method ?? NAMES[wanted];
  const authentication = (Object.keys(NAMES) as ClientAuthentication[]).find((name) => NAMES[name] === stated);
  const needsSecret = authentication !== 'none';
  const isUsable =
    authentication !== undefined &&
    typeof clientId === 'string' &&
    CLIENT_ID.test(clientId) &&
    (!needsSecret || (typeof secret === 'string' && CLIENT_SECRET.test(secret)));
  if (!isUsable) throw new DiscoveryFailure(`${url} answers the registration of the gateway with an unusable client`);
  const expiresAtS =
    typeof expires === 'number' && expires > 0 && expires < 253_402_300_800 ? Math.floor(expires) : null;
  return {
    clientId,
    authentication,
    clientSecret: needsSecret ? (secret as string) : null,
    secretExpiresAtS: needsSecret ? expiresAtS : null,
  };
}
