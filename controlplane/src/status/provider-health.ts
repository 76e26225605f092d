/** The public health of built-in providers out of their circuits (docs/contract.md#circuits). Pure. */
import type { CircuitStateName } from '../circuit/state-machine.js';

const HEALTH_OF = { CLOSED: 'operational', HALF_OPEN: 'degraded', OPEN: 'outage' } as const;
export type Health = (typeof HEALTH_OF)[CircuitStateName];

/** From best to worst. */
const STATES: readonly CircuitStateName[] = ['CLOSED', 'HALF_OPEN', 'OPEN'];

/** How many of a provider's origins are in which state. */
export interface StateCount {
  readonly providerSlug: string;
  readonly state: CircuitStateName;
  readonly origins: number;
}

export interface ProviderHealth {
  readonly slug: string;
  readonly displayName: string;
  readonly state: CircuitStateName;
  readonly status: Health;
}

/**
 * The state that most of the origins are in; of states with equally many the better one, because a single tenant's
 * broken project is no outage of its provider. Without any origin in use: CLOSED.
 */
export function healthOf(slug: string, displayName: string, counts: readonly StateCount[]): ProviderHealth {
  let state: CircuitStateName = 'CLOSED';
  let most = 0;
  for (const candidate of STATES) {
    const origins = counts
      .filter((count) => count.providerSlug === slug && count.state === candidate)
      .reduce((sum, count) => sum + count.origins, 0);
    if (origins > most) {
      most = origins;
      state = candidate;
    }
  }
  return { slug, displayName, state, status: HEALTH_OF[state] };
}

/** The worst of them. */
export function overallHealth(providers: readonly ProviderHealth[]): Health {
  const worst = Math.max(0, ...providers.map((provider) => STATES.indexOf(provider.state)));
  return HEALTH_OF[STATES[worst]!];
}
