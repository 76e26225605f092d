/**
 * OpenID Connect with an organization's provider: discovery, authorization URL, code exchange. Everything that the
 * provider sends is hostile input. `oauth4webapi` checks state, `iss`, PKCE, and issuer, audience, expiry, nonce and
 * signature of the ID token, with asymmetric algorithms only. Connections pass the egress guard; redirects are not
 * followed.
 */
import type { Dialer } from '@acg/base/dialer/dialer';
import * as oauth from 'oauth4webapi';
import { hasUnstorableText } from '../http/json-body.js';
import { normaliseEmail } from '../http/schema.js';
import type { ProviderClaims } from './decide-login.js';
import { ProviderFailure, requireEndpoint, withIssuer } from './issuer-requests.js';

/** Clocks of providers may differ by this much. */
const CLOCK_TOLERANCE_S = 60;
const TEXT_CHARS_MAX = 255;
const SCOPE = 'openid email profile';

export interface OidcConnection {
  readonly orgId: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
  /** The claim that lists the person's groups; null: groups are not read. */
  readonly groupsClaim: string | null;
}

interface LoginSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

export const createLoginSecrets = (): LoginSecrets => ({
  state: oauth.generateRandomState(),
  nonce: oauth.generateRandomNonce(),
  codeVerifier: oauth.generateRandomCodeVerifier(),
});

export class OidcClient {
  constructor(readonly dialer: Dialer) {}

  /** Throws {@link ProviderFailure} when the issuer has no usable discovery document. */
  async checkIssuer(connection: Pick<OidcConnection, 'orgId' | 'issuer'>): Promise<void> {
    await withIssuer(this.dialer, connection, async (server) => {
      requireEndpoint(server.authorization_endpoint, 'authorization_endpoint');
    });
  }

  async buildAuthorizationUrl(connection: OidcConnection, secrets: LoginSecrets, email: string): Promise<string> {
    const challenge = await oauth.calculatePKCECodeChallenge(secrets.codeVerifier);
    return withIssuer(this.dialer, connection, async (server) => {
      const url = requireEndpoint(server.authorization_endpoint, 'authorization_endpoint');
      const parameters = {
        client_id: connection.clientId,
        redirect_uri: connection.redirectUri,
        response_type: 'code',
        scope: SCOPE,
        state: secrets.state,
        nonce: secrets.nonce,
        code_challenge: challenge,
        code_challenge_method: 'S256',
        login_hint: email,
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return url.href;
    });
  }

  /** Exchanges the code of a callback. Throws {@link ProviderFailure}. */
  async exchangeCode(
    connection: OidcConnection,
    callback: URLSearchParams,
    secrets: LoginSecrets,
  ): Promise<ProviderClaims> {
    return withIssuer(this.dialer, connection, async (server, options) => {
      const client: oauth.Client = {
        client_id: connection.clientId,
        [oauth.clockTolerance]: CLOCK_TOLERANCE_S,
      };
      const parameters = oauth.validateAuthResponse(server, client, callback, secrets.state);
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        chooseClientAuthentication(server, connection.clientSecret),
        parameters,
        connection.redirectUri,
        secrets.codeVerifier,
        options,
      );
      const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
        expectedNonce: secrets.nonce,
        requireIdToken: true,
      });
      await oauth.validateApplicationLevelSignature(server, response, options);
      return readClaims(connection, oauth.getValidatedIdTokenClaims(tokens)!);
    });
  }
}

/** OpenID Connect Discovery 1.0 §3: without a list the provider takes the secret in the Authorization header. */
export const chooseClientAuthentication = (server: oauth.AuthorizationServer, secret: string): oauth.ClientAuth =>
  (server.token_endpoint_auth_methods_supported ?? []).includes('client_secret_post')
    ? oauth.ClientSecretPost(secret)
    : oauth.ClientSecretBasic(secret);

export function readClaims(
  { issuer, groupsClaim }: Pick<OidcConnection, 'issuer' | 'groupsClaim'>,
  token: oauth.IDToken,
): ProviderClaims {
  const { sub, email, email_verified, name } = token;
  if (sub.length > TEXT_CHARS_MAX) throw new ProviderFailure('sub of the ID token is too long');
  if (hasUnstorableText(sub)) throw new ProviderFailure('sub of the ID token has NUL or half of a character');
  const text = (claim: unknown): string | null =>
    typeof claim === 'string' && claim.trim() !== '' && claim.length <= TEXT_CHARS_MAX && !hasUnstorableText(claim)
      ? claim.trim()
      : null;
  const address = text(email);
  return {
    issuer,
    subject: sub,
    email: address === null ? null : normaliseEmail(address),
    // Some providers send it as a string.
    emailVerified: email_verified === undefined ? null : email_verified === true || email_verified === 'true',
    name: text(name),
    groups: groupsClaim === null ? null : readGroups(token[groupsClaim]),
  };
}

/** Null: the claim is missing or no list. A single group may come as a string. */
function readGroups(claim: unknown): readonly string[] | null {
  if (typeof claim === 'string') return [claim];
  return Array.isArray(claim) ? claim.filter((group): group is string => typeof group === 'string') : null;
}
