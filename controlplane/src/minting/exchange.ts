/** Exchanges the credentials of an account for a credential that the provider takes, by the method of its file. */
import type { Credentials } from '../providers/catalogue/credential-template.js';
import { isSignedByGateway } from '../providers/catalogue/mint-method.js';
import { assumeAwsRole, assumeAwsRoleWithWebIdentity } from './aws-assume-role.js';
import { buildBearerAssertion, setClientAuthentication } from './client-authentication.js';
import type { ExchangeContext } from './exchange-context.js';
import { impersonateServiceAccount } from './impersonate-service-account.js';
import { MintFailure } from './mint-failure.js';
import { type MintedToken, readTokenAnswer } from './read-token-answer.js';
import { renderAll, renderOptional, renderRequired } from './render.js';
import type { TokenEndpoint, TokenEndpointClient } from './token-endpoint-client.js';

export interface TokenSigner {
  /** A token that names the agent, for one attempt; null: the organization has no such agent. */
  sign(orgId: string, agentId: string, audience: string): Promise<string | null>;
}

/** `signer` signs tokens for methods that need no secret of the provider. */
export async function exchangeCredentials(
  client: TokenEndpointClient,
  context: ExchangeContext,
  signer: TokenSigner,
): Promise<MintedToken> {
  const { method, credentials, provider } = context;
  const endpoint = tokenEndpointOf(context);
  const gatewayToken = isSignedByGateway(method) ? await signToken(signer, context, endpoint) : null;
  if (method.kind === 'aws_assume_role' && gatewayToken !== null)
    return assumeAwsRoleWithWebIdentity(client, context, endpoint, gatewayToken);
  if (method.kind === 'aws_assume_role') return assumeAwsRole(client, context, endpoint);
  const { token } = method;
  const scope = renderOptional(token.scope, credentials);
  const body = new URLSearchParams(await grantParameters(context, endpoint, gatewayToken));
  if (scope !== null && method.kind !== 'oauth2_authorization_code' && !token.scopeInAssertion)
    body.set('scope', scope);
  for (const [name, value] of renderAll(token.parameters, credentials)) body.set(name, value);
  if (context.server !== null) body.set('resource', context.server.resource);
  const isJson = token.body === 'json';
  const headers = new Headers({
    accept: 'application/json',
    'content-type': isJson ? 'application/json' : 'application/x-www-form-urlencoded;charset=UTF-8',
    'user-agent': 'agent-credential-gateway',
    ...token.headers,
  });
  // The assertion authenticates by itself (RFC 7523 §2.1).
  if (method.kind !== 'jwt_bearer' && gatewayToken === null)
    await setClientAuthentication(context, endpoint, body, headers);
  const request = {
    headers: Object.fromEntries(headers),
    body: isJson ? JSON.stringify(Object.fromEntries(body)) : body.toString(),
  };
  const answer = await client.postForJson(context.orgId, endpoint, request).catch((error: unknown) => {
    // Without a person there is no grant: the key or the client was deleted, or a clock is wrong.
    if (error instanceof MintFailure && error.code === 'invalid_grant' && method.kind !== 'oauth2_authorization_code')
      throw new MintFailure('invalid_client', error.detail);
    throw error;
  });
  const refreshToken = readRefreshToken(answer.refresh_token);
  const isRepeatable = method.kind !== 'oauth2_authorization_code' || refreshToken !== null || hasRefreshToken(context);
  const minted = readTokenAnswer(answer, withDefaults(token), scope, isRepeatable);
  const impersonation = provider.impersonationEndpoint(method, credentials);
  if (impersonation !== null) return impersonateServiceAccount(client, context, impersonation, minted, scope);
  return refreshToken === null ? minted : { ...minted, refreshToken };
}

/**
 * Metadata may come from a tenant's server, and a server of the operator may name any host. So the egress guard checks
 * each endpoint that discovery found.
 */
function tokenEndpointOf({ method, credentials, provider, server }: ExchangeContext): TokenEndpoint {
  if (server !== null) return { url: server.tokenEndpoint, tenantGiven: true };
  if (method.token.discover !== undefined) throw new MintFailure('not_connected');
  const endpoint = provider.tokenEndpoint(method, credentials);
  if (endpoint === null) throw new MintFailure('unusable_credentials');
  return endpoint;
}

/** `expires_in` is optional (RFC 6749 §5.1): a token of an unknown server serves until the server rejects it. */
const withDefaults = (token: ExchangeContext['method']['token']) =>
  token.discover === undefined ? token : { expires: 'never' as const, ...token };

const hasRefreshToken = ({ grant }: ExchangeContext): boolean => grant !== null && grant.refreshToken !== null;

/**
 * The audience of a built-in provider is signed only for the fixed endpoint of that provider. A tenant's endpoint gets a
 * token for its own URL, which no other endpoint takes.
 */
async function signToken(signer: TokenSigner, context: ExchangeContext, endpoint: TokenEndpoint): Promise<string> {
  const { orgId, agentId, method, credentials, provider } = context;
  const fixed = provider.isBuiltIn && !endpoint.tenantGiven && method.token.audience !== undefined;
  const audience = fixed ? renderRequired(method.token.audience, credentials) : endpoint.url;
  const token = agentId === null ? null : await signer.sign(orgId, agentId, audience);
  if (token === null) throw new MintFailure('unusable_credentials');
  return token;
}

const JWT_BEARER_ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

async function grantParameters(
  context: ExchangeContext,
  endpoint: TokenEndpoint,
  gatewayToken: string | null,
): Promise<Record<string, string>> {
  const { method, credentials, grant, code } = context;
  switch (method.kind) {
    case 'oauth2_client_credentials':
    case 'entra':
      if (gatewayToken === null) return { grant_type: 'client_credentials' };
      return {
        grant_type: 'client_credentials',
        client_id: renderRequired(method.token.clientId, credentials),
        client_assertion_type: JWT_BEARER_ASSERTION,
        client_assertion: gatewayToken,
      };
    case 'token_exchange':
      return {
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: gatewayToken!,
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      };
    case 'jwt_bearer':
      return {
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: gatewayToken ?? (await buildBearerAssertion(context, endpoint)),
      };
    default:
      if (code !== undefined) {
        const { code: value, codeVerifier, redirectUri } = code;
        const request = { grant_type: 'authorization_code', code: value };
        return { ...request, redirect_uri: redirectUri, code_verifier: codeVerifier };
      }
      if (grant === null) throw new MintFailure('not_connected');
      // The grant has lasted as long as its only access token.
      if (grant.refreshToken === null) throw new MintFailure('invalid_grant', 'no refresh token');
      return { grant_type: 'refresh_token', refresh_token: grant.refreshToken };
  }
}

const REFRESH_TOKEN = /^[\x21-\x7e]{8,8192}$/;

function readRefreshToken(value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value !== 'string' || !REFRESH_TOKEN.test(value)) throw new MintFailure('bad_token');
  return value;
}

/** The credentials of the account with the minted fields, as `Provider.injection` expects them. */
export const mergeMinted = (credentials: Credentials, minted: Readonly<Record<string, string>>): Credentials => ({
  ...credentials,
  ...minted,
});
