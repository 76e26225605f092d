import type { Credentials } from '../providers/catalogue/credential-template.js';
import type { MintMethod } from '../providers/catalogue/mint-method-schema.js';
import type { Provider } from '../providers/catalogue/provider.js';
import type { DiscoveredServer } from './discovered-server.js';

/** The server that discovery found, with the secret of the client there. */
export interface DiscoveredClient extends DiscoveredServer {
  /** Null: the client has none. */
  readonly clientSecret: string | null;
}

/** What a person has granted. */
interface Grant {
  /** Null: the provider gave none. */
  readonly refreshToken: string | null;
}

/** What an exchange needs to know of an account. */
export interface ExchangeContext {
  readonly orgId: string;
  readonly provider: Provider;
  readonly method: MintMethod;
  readonly credentials: Credentials;
  /** The agent whose account it is; null: not known, or several. Tokens of the gateway name it. */
  readonly agentId: string | null;
  /** Null: no person has connected the account. */
  readonly grant: Grant | null;
  /** Null: the provider's file states the endpoints, or no person has connected the account. */
  readonly server: DiscoveredClient | null;
  /** The answer to an authorization request; absent: the grant is used. */
  readonly code?: { readonly code: string; readonly codeVerifier: string; readonly redirectUri: string };
}
