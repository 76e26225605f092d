/**
 * The two ways by which an SDK reaches a provider in these tests: straight to the stand-in with the real credential,
 * and through the gateway with a gateway token. Nothing but base URL and key differs.
 */
import type { StandIn } from '../providers/stand-in.js';

export interface Route {
  /** Base URL up to where the provider's own path begins. */
  readonly baseUrl: string;
  readonly key: string;
}

export interface Routes {
  readonly direct: Route;
}

export function directRoute(provider: StandIn, key: string): Route {
  return { baseUrl: provider.origin, key };
}
