/**
 * Requests to an issuer that an organization has named. Everything that it sends is hostile input: connections pass the
 * egress guard, redirects are not followed, and time and size of each response are bounded.
 */
import type { Dialer } from '@acg/base/dialer/dialer';
import { createUndiciAgent } from '@acg/base/dialer/undici-connector';
import * as oauth from 'oauth4webapi';
import { fetch as undiciFetch } from 'undici';

const RESPONSE_BYTES_MAX = 262_144;
const TIMEOUT_MS = 10_000;

/** The provider is away, or its answer is not what OpenID Connect demands. */
export class ProviderFailure extends Error {}
/** The discovery document is of another issuer than the one that was asked for. */
export class IssuerMismatch extends ProviderFailure {}

interface Issuer {
  readonly orgId: string;
  readonly issuer: string;
}

type GuardedFetch = (url: string, init: oauth.CustomFetchOptions<string, unknown>) => Promise<Response>;
export type RequestOptions = ReturnType<typeof createRequestOptions>;

/** Reads the discovery document, then runs `work` with it. Throws {@link ProviderFailure}. */
export async function withIssuer<T>(
  dialer: Dialer,
  { orgId, issuer }: Issuer,
  work: (server: oauth.AuthorizationServer, options: RequestOptions) => Promise<T>,
): Promise<T> {
  const agent = createUndiciAgent(dialer, orgId, {
    maxResponseSize: RESPONSE_BYTES_MAX,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  });
  try {
    const options = createRequestOptions(agent, issuer);
    const url = new URL(issuer);
    const response = await oauth.discoveryRequest(url, { ...options, algorithm: 'oidc' });
    return await work(await oauth.processDiscoveryResponse(url, response), options);
  } catch (error) {
    throw toProviderFailure(error);
  } finally {
    void agent.destroy();
  }
}

/** The JWK set that the issuer's discovery document names, unchecked. Throws {@link ProviderFailure}. */
export const fetchIssuerKeys = (dialer: Dialer, issuer: Issuer): Promise<unknown> =>
  withIssuer(dialer, issuer, async (server, options) => {
    // The library also accepts a trailing slash, but iss of tokens is compared exactly.
    if (server.issuer !== issuer.issuer) throw new IssuerMismatch('the discovery document names another issuer');
    return fetchKeys(server, options);
  });

/** The JWK set that a discovery document names, unchecked. */
export async function fetchKeys(server: oauth.AuthorizationServer, options: RequestOptions): Promise<unknown> {
  const url = requireEndpoint(server.jwks_uri, 'jwks_uri');
  if (url.protocol !== 'https:' && !options[oauth.allowInsecureRequests])
    throw new ProviderFailure('jwks_uri must use https');
  const response = await options[oauth.customFetch](url.href, {
    method: 'GET',
    headers: { accept: 'application/json' },
    body: undefined,
    redirect: 'manual',
    signal: options.signal(),
  });
  if (response.status !== 200) throw new ProviderFailure(`jwks_uri answers ${response.status} instead of 200`);
  const text = await response.text();
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ProviderFailure('jwks_uri does not answer JSON');
  }
}

/** Plain http passes only where the issuer has it, which the egress rules allow for the operator's own ranges only. */
function createRequestOptions(dispatcher: ReturnType<typeof createUndiciAgent>, issuer: string) {
  const fetchThroughGuard: GuardedFetch = (url, init) =>
    undiciFetch(url, { ...(init as object), redirect: 'manual', dispatcher }) as unknown as Promise<Response>;
  return {
    [oauth.customFetch]: fetchThroughGuard,
    [oauth.allowInsecureRequests]: issuer.startsWith('http:'),
    signal: () => AbortSignal.timeout(TIMEOUT_MS),
  };
}

/** An endpoint may be opened in the browser, so its scheme must not be another one. */
export function requireEndpoint(text: string | undefined, name: string): URL {
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new ProviderFailure(`${name} of the provider is not a URL`);
  return url;
}

/** Keeps a {@link ProviderFailure}; describes any other error without the content of the response. */
export function toProviderFailure(error: unknown): ProviderFailure {
  if (error instanceof ProviderFailure) return error;
  const { code, cause } = error as { code?: unknown; cause?: { attribute?: unknown } };
  if (code === oauth.JSON_ATTRIBUTE_COMPARISON && cause?.attribute === 'issuer')
    return new IssuerMismatch('the discovery document names another issuer');
  return new ProviderFailure(describeFailure(error));
}

/** The code of the library and the provider's own error code, but nothing else of the response. */
function describeFailure(error: unknown): string {
  const { code, error: providerCode, cause } = error as { code?: unknown; error?: unknown; cause?: { code?: unknown } };
  const parts = [code, providerCode, cause?.code].filter(
    (part) => typeof part === 'string' && /^[\w.-]{1,60}$/.test(part),
  );
  return parts.length === 0 ? 'the identity provider does not respond' : parts.join(', ');
}
