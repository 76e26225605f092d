/** The authorization server that the metadata of a provider named when a person connected the account. */

export type ClientAuthentication = 'none' | 'basic' | 'post';

/** Stored with the grant, which is refreshed and revoked at these endpoints only. Holds no secret. */
export interface DiscoveredServer {
  readonly issuer: string;
  readonly tokenEndpoint: string;
  /** Null: the server has none. */
  readonly revocationEndpoint: string | null;
  /** The resource of each request (RFC 8707). */
  readonly resource: string;
  readonly clientId: string;
  readonly authentication: ClientAuthentication;
}
