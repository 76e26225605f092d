/** How the gateway authenticates at token endpoints: client secrets, and assertions (RFC 7523). */
import { webcrypto } from 'node:crypto';
import { SignJWT } from 'jose';
import * as oauth from 'oauth4webapi';
import type { ExchangeContext } from './exchange-context.js';
import { MintFailure } from './mint-failure.js';
import { renderOptional, renderRequired } from './render.js';
import type { TokenEndpoint } from './token-endpoint-client.js';

/** Clocks may differ by a minute: an assertion is valid before and after the present time. */
const CLOCK_TOLERANCE_S = 90;
const ASSERTION_LIFETIME_S = 300;

const createTimes = () => {
  const nowS = Math.floor(Date.now() / 1_000);
  return { iat: nowS - CLOCK_TOLERANCE_S, exp: nowS + ASSERTION_LIFETIME_S };
};

export async function setClientAuthentication(
  context: ExchangeContext,
  endpoint: TokenEndpoint,
  body: URLSearchParams,
  headers: Headers,
): Promise<void> {
  const server: oauth.AuthorizationServer = { issuer: new URL(endpoint.url).origin, token_endpoint: endpoint.url };
  const clientId = context.server?.clientId ?? renderRequired(context.method.token.clientId, context.credentials);
  const client: oauth.Client = { client_id: clientId };
  const authenticate = await chooseAuthentication(context, endpoint);
  await authenticate(server, client, body, headers);
}

async function chooseAuthentication(
  { method: { token }, credentials, server }: ExchangeContext,
  endpoint: TokenEndpoint,
): Promise<oauth.ClientAuth> {
  const secret = () => server?.clientSecret ?? renderRequired(token.clientSecret, credentials);
  switch (server?.authentication ?? token.clientAuthentication ?? 'basic') {
    case 'basic':
      return oauth.ClientSecretBasic(secret());
    case 'post':
      return oauth.ClientSecretPost(secret());
    case 'none':
      return oauth.None();
    case 'private_key_jwt': {
      const { key } = await importPrivateKey(renderRequired(token.privateKey, credentials));
      const kid = renderOptional(token.keyId, credentials);
      const aud = renderOptional(token.audience, credentials) ?? endpoint.url;
      return oauth.PrivateKeyJwt(kid === null ? key : { key, kid }, {
        [oauth.modifyAssertion]: (_header, payload) => {
          const { iat, exp } = createTimes();
          Object.assign(payload, { aud, iat, nbf: iat, exp });
        },
      });
    }
  }
}

/** RFC 7523 §2.1. Google reads the scope from the assertion. */
export async function buildBearerAssertion(
  { method: { token }, credentials }: ExchangeContext,
  endpoint: TokenEndpoint,
): Promise<string> {
  const { key, alg } = await importPrivateKey(renderRequired(token.privateKey, credentials));
  const kid = renderOptional(token.keyId, credentials);
  const scope = token.scopeInAssertion ? renderOptional(token.scope, credentials) : null;
  const { iat, exp } = createTimes();
  const subject = renderOptional(token.subject, credentials);
  const jwt = new SignJWT(scope === null ? {} : { scope })
    .setProtectedHeader({ alg, typ: 'JWT', ...(kid === null ? {} : { kid }) })
    .setIssuer(renderRequired(token.clientId, credentials))
    .setAudience(renderOptional(token.audience, credentials) ?? endpoint.url)
    .setIssuedAt(iat)
    .setExpirationTime(exp);
  return (subject === null ? jwt : jwt.setSubject(subject)).sign(key);
}

const ALGORITHMS = [
  { alg: 'RS256', parameters: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' } },
  { alg: 'ES256', parameters: { name: 'ECDSA', namedCurve: 'P-256' } },
];

/** `encoded`: base64 of PKCS #8, as parse-credentials stores it. */
async function importPrivateKey(encoded: string): Promise<{ readonly key: oauth.CryptoKey; readonly alg: string }> {
  const der = Buffer.from(encoded, 'base64');
  for (const { alg, parameters } of ALGORITHMS) {
    try {
      const key = await webcrypto.subtle.importKey('pkcs8', der, parameters, false, ['sign']);
      return { key: key as oauth.CryptoKey, alg };
    } catch {
      // The key is of the other kind.
    }
  }
  throw new MintFailure('unusable_credentials');
}
