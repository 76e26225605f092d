/**
 * A stand-in for an authorization server whose refresh tokens rotate, written from RFC 6749 §4.1.3 and §6, RFC 7636 §4.6
 * and RFC 9700 §4.14.2, without a library of the product. A refresh token that is used again ends its grant with all
 * access tokens, unless the client's id contains `grace`: then the last one before the newest still works.
 */
import { createHash } from 'node:crypto';
import type { TokenEndpoint, TokenRequest } from './token-endpoint.js';

interface Grant {
  newest: string;
  former: string | null;
  isRevoked: boolean;
  readonly accessTokens: string[];
}

const INVALID_GRANT = { status: 400, body: { error: 'invalid_grant' } };

export class RotatingGrants {
  /** Clients that used a refresh token again after it had ended, one entry each time. */
  readonly reuses: string[] = [];
  /** Access tokens of grants that were revoked. */
  readonly revoked = new Set<string>();
  readonly #grants = new Map<string, Grant>();
  /** Code → PKCE challenge of its request. */
  readonly #challenges = new Map<string, string>();
  #count = 0;

  constructor(readonly endpoint: TokenEndpoint) {}

  /** A person agrees at the provider. Returns the parameters of the callback. */
  agree(authorizationUrl: string): { path: string; parameters: Record<string, string> } {
    const { searchParams } = new URL(authorizationUrl);
    const code = `code-${this.#count++}-${'z'.repeat(20)}`;
    this.#challenges.set(code, searchParams.get('code_challenge')!);
    const path = new URL(searchParams.get('redirect_uri')!).pathname;
    return { path, parameters: { code, state: searchParams.get('state')! } };
  }

  /** Every refresh token that was issued. */
  get refreshTokens(): readonly string[] {
    return [...this.#grants.keys()];
  }

  answer(request: TokenRequest) {
    const { parameters } = request;
    const type = parameters.get('grant_type');
    if (type === 'authorization_code') return this.#exchangeCode(parameters);
    return type === 'refresh_token'
      ? this.#refresh(clientOf(request), parameters.get('refresh_token')!)
      : INVALID_GRANT;
  }

  #exchangeCode(parameters: URLSearchParams) {
    const code = parameters.get('code')!;
    const challenge = this.#challenges.get(code);
    this.#challenges.delete(code);
    const proof = createHash('sha256').update(parameters.get('code_verifier')!).digest('base64url');
    if (challenge !== proof) return INVALID_GRANT;
    return this.#issue({ newest: '', former: null, isRevoked: false, accessTokens: [] });
  }

  #refresh(client: string, refreshToken: string) {
    const grant = this.#grants.get(refreshToken);
    if (grant === undefined || grant.isRevoked) return INVALID_GRANT;
    if (refreshToken === grant.newest) {
      grant.former = refreshToken;
      return this.#issue(grant);
    }
    if (client.includes('grace') && refreshToken === grant.former) return this.#issue(grant);
    this.reuses.push(client);
    grant.isRevoked = true;
    for (const token of grant.accessTokens) this.revoked.add(token);
    return INVALID_GRANT;
  }

  #issue(grant: Grant) {
    grant.newest = `rt-${this.#count++}-${'y'.repeat(20)}`;
    this.#grants.set(grant.newest, grant);
    const accessToken = this.endpoint.issue();
    grant.accessTokens.push(accessToken);
    const { lifetimeS } = this.endpoint;
    return {
      body: { access_token: accessToken, token_type: 'Bearer', expires_in: lifetimeS, refresh_token: grant.newest },
    };
  }
}

/** The client that authenticates a request, by header, body or assertion. */
export function clientOf({ parameters, authorization }: TokenRequest): string {
  const assertion = parameters.get('client_assertion');
  if (assertion !== null) return JSON.parse(Buffer.from(assertion.split('.')[1]!, 'base64url').toString()).iss;
  const basic = Buffer.from((authorization ?? '').slice('Basic '.length), 'base64').toString();
  return authorization === null ? parameters.get('client_id')! : decodeURIComponent(basic.split(':')[0]!);
}
