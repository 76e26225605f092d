/**
 * Asks a provider what a login needs: discovery document, endpoints, keys, and whether it accepts the client. Sends no
 * person there: the code of the token request is random, so no provider accepts it. Everything that the provider answers
 * is hostile input, of which only short codes remain.
 */
import type { Dialer } from '@acg/base/dialer/dialer';
import type { JWK } from 'jose';
import * as oauth from 'oauth4webapi';
import {
  fetchKeys,
  IssuerMismatch,
  type ProviderFailure,
  type RequestOptions,
  requireEndpoint,
  toProviderFailure,
  withIssuer,
} from './issuer-requests.js';
import { ALGORITHMS, parseServedKeys } from './jwk-set.js';
import { chooseClientAuthentication, type OidcConnection } from './oidc-client.js';

/** OpenID Connect Discovery 1.0 §3: every provider must support it. */
const ALGORITHM_DEFAULT = 'RS256';
const CURVE_OF: Readonly<Record<string, string>> = {
  ES256: 'P-256',
  ES384: 'P-384',
  ES512: 'P-521',
  EdDSA: 'Ed25519',
  Ed25519: 'Ed25519',
};
/** Keycloak and Glewlwyd answer a wrong secret with `unauthorized_client`, others with `invalid_client` (RFC 6749 §5.2). */
const CLIENT_ERRORS: ReadonlySet<unknown> = new Set(['invalid_client', 'unauthorized_client']);

interface KeysProbe {
  /** Of ID tokens: the provider offers them and has a key for them. */
  readonly algorithms: readonly string[];
  /** Null: the key set was read. */
  readonly failure: string | null;
}

export type ProviderProbe =
  | { readonly kind: 'unreachable'; readonly reason: string }
  | { readonly kind: 'another_issuer' }
  | {
      readonly kind: 'document';
      /** What is wrong with the endpoints of a login. */
      readonly endpointProblems: readonly string[];
      readonly keys: KeysProbe;
      /** Null: the answer does not say. */
      readonly isClientKnown: boolean | null;
      /** `claims_supported`; null: the document has none. */
      readonly claims: readonly unknown[] | null;
    };

/** Null when the gateway may call that URL; otherwise what is wrong with it. */
type CheckUrl = (url: string) => Promise<string | null>;

export async function probeProvider(
  dialer: Dialer,
  connection: OidcConnection,
  checkUrl: CheckUrl,
): Promise<ProviderProbe> {
  try {
    return await withIssuer(dialer, connection, async (server, options) => {
      const endpointProblems = await findEndpointProblems(server, connection.issuer, checkUrl);
      const keys = await probeKeys(server, options);
      const isClientKnown = endpointProblems.length > 0 ? null : await probeClient(server, connection, options);
      const { claims_supported: claims } = server;
      return { kind: 'document', endpointProblems, keys, isClientKnown, claims: Array.isArray(claims) ? claims : null };
    });
  } catch (error) {
    if (error instanceof IssuerMismatch) return { kind: 'another_issuer' };
    return { kind: 'unreachable', reason: (error as ProviderFailure).message };
  }
}

/** The browser opens the authorization endpoint, so the egress rules do not apply to it. */
async function findEndpointProblems(
  server: oauth.AuthorizationServer,
  issuer: string,
  checkUrl: CheckUrl,
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const) {
    try {
      const url = requireEndpoint(server[name], name);
      if (name === 'authorization_endpoint') continue;
      // As in a login: plain http passes only where the issuer has it.
      const problem =
        issuer.startsWith('https:') && url.protocol !== 'https:' ? 'must use https' : await checkUrl(url.href);
      if (problem !== null) problems.push(`${name} ${problem}`);
    } catch (error) {
      problems.push(toProviderFailure(error).message);
    }
  }
  return problems;
}

async function probeKeys(server: oauth.AuthorizationServer, options: RequestOptions): Promise<KeysProbe> {
  let served: unknown;
  try {
    served = await fetchKeys(server, options);
  } catch (error) {
    return { algorithms: [], failure: toProviderFailure(error).message };
  }
  const { id_token_signing_alg_values_supported: offered } = server;
  const algorithms = findUsableAlgorithms(served, Array.isArray(offered) ? offered : [ALGORITHM_DEFAULT]);
  return { algorithms, failure: null };
}

/** The asymmetric algorithms that the provider offers and for which the set has a key. */
export function findUsableAlgorithms(served: unknown, offered: readonly unknown[]): readonly string[] {
  let keys: readonly JWK[];
  try {
    ({ keys } = parseServedKeys(served));
  } catch {
    return [];
  }
  return ALGORITHMS.filter((algorithm) => offered.includes(algorithm) && keys.some((key) => canVerify(key, algorithm)));
}

function canVerify({ kty, crv, alg }: JWK, algorithm: string): boolean {
  if (alg !== undefined && alg !== algorithm) return false;
  return algorithm in CURVE_OF ? crv === CURVE_OF[algorithm] : kty === 'RSA';
}

/** A provider compares the client's secret before the code. */
async function probeClient(
  server: oauth.AuthorizationServer,
  { clientId, clientSecret, redirectUri }: OidcConnection,
  options: RequestOptions,
): Promise<boolean | null> {
  const parameters = {
    code: oauth.generateRandomState(),
    redirect_uri: redirectUri,
    code_verifier: oauth.generateRandomCodeVerifier(),
  };
  try {
    const response = await oauth.genericTokenEndpointRequest(
      server,
      { client_id: clientId },
      chooseClientAuthentication(server, clientSecret),
      'authorization_code',
      parameters,
      options,
    );
    const { error } = (await response.json()) as { error?: unknown };
    return CLIENT_ERRORS.has(error) ? false : error === 'invalid_grant' ? true : null;
  } catch {
    return null;
  }
}
