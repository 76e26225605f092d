/** Exchanges the credentials of an account for a credential that the provider takes, by the method of its file. */
import { webcrypto } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import { type Credentials, renderTemplate } from '../providers/catalogue/credential-template.js';
import type { MintMethod } from '../providers/catalogue/mint-method-schema.js';
import type { Provider } from '../providers/catalogue/provider.js';
import { MintFailure } from './mint-failure.js';
import { type MintedToken, readTokenAnswer } from './read-token-answer.js';
import type { TokenEndpoint, TokenEndpointClient } from './token-endpoint-client.js';

export interface ExchangeContext {
  readonly orgId: string;
  readonly provider: Provider;
  readonly method: MintMethod;
  readonly credentials: Credentials;
}

/** Clocks may differ by a minute: an assertion is valid before and after the present time. */
const CLOCK_TOLERANCE_S = 90;
const ASSERTION_LIFETIME_S = 300;

export async function exchangeCredentials(client: TokenEndpointClient, context: ExchangeContext): Promise<MintedToken> {
  const endpoint = context.provider.tokenEndpoint(context.method, context.credentials);
  if (endpoint === null) throw new MintFailure('unusable_credentials');
  return exchangeClientCredentials(client, context, endpoint);
}

/** RFC 6749 §4.4. */
async function exchangeClientCredentials(
  client: TokenEndpointClient,
  { orgId, method: { token }, credentials }: ExchangeContext,
  endpoint: TokenEndpoint,
): Promise<MintedToken> {
  const body = new URLSearchParams({ grant_type: 'client_credentials' });
  const scope = renderOptional(token.scope, credentials);
  if (scope !== null) body.set('scope', scope);
  for (const [name, template] of Object.entries(token.parameters ?? {})) {
    const value = renderOptional(template, credentials);
    if (value !== null) body.set(name, value);
  }
  const headers = new Headers({
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded;charset=UTF-8',
    'user-agent': 'agent-credential-gateway',
  });
  await authenticateClient(token, credentials, endpoint, body, headers);
  const request = { headers: Object.fromEntries(headers), body: body.toString() };
  const answer = await client.postForJson(orgId, endpoint, request);
  return readTokenAnswer(answer, token, scope, true);
}

async function authenticateClient(
  token: MintMethod['token'],
  credentials: Credentials,
  endpoint: TokenEndpoint,
  body: URLSearchParams,
  headers: Headers,
): Promise<void> {
  const server: oauth.AuthorizationServer = { issuer: new URL(endpoint.url).origin, token_endpoint: endpoint.url };
  const client: oauth.Client = { client_id: renderRequired(token.clientId, credentials) };
  const authenticate = await chooseAuthentication(token, credentials, endpoint);
  await authenticate(server, client, body, headers);
}

async function chooseAuthentication(
  token: MintMethod['token'],
  credentials: Credentials,
  endpoint: TokenEndpoint,
): Promise<oauth.ClientAuth> {
  switch (token.clientAuthentication ?? 'basic') {
    case 'basic':
      return oauth.ClientSecretBasic(renderRequired(token.clientSecret, credentials));
    case 'post':
      return oauth.ClientSecretPost(renderRequired(token.clientSecret, credentials));
    case 'private_key_jwt': {
      const key = await importPrivateKey(renderRequired(token.privateKey, credentials));
      const kid = renderOptional(token.keyId, credentials);
      const audience = renderOptional(token.audience, credentials) ?? endpoint.url;
      return oauth.PrivateKeyJwt(kid === null ? key : { key, kid }, {
        [oauth.modifyAssertion]: (_header, payload) => {
          const nowS = Math.floor(Date.now() / 1_000);
          Object.assign(payload, {
            aud: audience,
            iat: nowS - CLOCK_TOLERANCE_S,
            nbf: nowS - CLOCK_TOLERANCE_S,
            exp: nowS + ASSERTION_LIFETIME_S,
          });
        },
      });
    }
  }
}

/** `encoded`: base64 of PKCS #8, as parse-credentials stores it. */
async function importPrivateKey(encoded: string): Promise<oauth.CryptoKey> {
  const der = Buffer.from(encoded, 'base64');
  const algorithms = [
    { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
    { name: 'ECDSA', namedCurve: 'P-256' },
  ];
  for (const algorithm of algorithms) {
    try {
      return (await webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign'])) as oauth.CryptoKey;
    } catch {
      // The key is of the other kind.
    }
  }
  throw new MintFailure('unusable_credentials');
}

const renderOptional = (template: string | undefined, credentials: Credentials): string | null =>
  template === undefined ? null : renderTemplate(template, credentials);

function renderRequired(template: string | undefined, credentials: Credentials): string {
  const value = renderOptional(template, credentials);
  if (value === null) throw new MintFailure('unusable_credentials');
  return value;
}

/** The credentials of the account with the minted fields, as `Provider.injection` expects them. */
export const mergeMinted = (credentials: Credentials, minted: Readonly<Record<string, string>>): Credentials => ({
  ...credentials,
  ...minted,
});
