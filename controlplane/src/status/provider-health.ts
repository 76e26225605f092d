/** Derives the public health of built-in providers from the breakers of organizations and of the fleet. Pure. */
import type { CircuitStateName } from '../breaker/breaker-state-machine.js';

const HEALTH_OF = { CLOSED: 'operational', HALF_OPEN: 'degraded', OPEN: 'outage' } as const;
export type Health = (typeof HEALTH_OF)[CircuitStateName];

/** Ordered from best to worst. */
const STATES: readonly CircuitStateName[] = ['CLOSED', 'HALF_OPEN', 'OPEN'];

/** Number of organizations that use a provider successfully, by the state of their breaker. */
export interface OrgCountByState {
  readonly CLOSED: number;
  readonly HALF_OPEN: number;
  readonly OPEN: number;
}

export interface ProviderHealth {
  readonly slug: string;
  readonly displayName: string;
  readonly state: CircuitStateName;
  readonly status: Health;
}

/**
 * Returns the health that half of the organizations see, and at least two if there are several. The fleet's breaker
 * wins when it is worse.
 */
export function providerHealth(
  slug: string,
  displayName: string,
  count: OrgCountByState,
  fleet: CircuitStateName,
): ProviderHealth {
  const all = count.CLOSED + count.HALF_OPEN + count.OPEN;
  const notClosed = count.OPEN + count.HALF_OPEN;
  const isOut = count.OPEN * 2 >= all && (count.OPEN >= 2 || all === 1);
  const seen = all === 0 || notClosed * 2 < all ? 'CLOSED' : isOut ? 'OPEN' : 'HALF_OPEN';
  const state = STATES.indexOf(fleet) > STATES.indexOf(seen) ? fleet : seen;
  return { slug, displayName, state, status: HEALTH_OF[state] };
}

/** Returns the worst health of all providers. */
export function overallHealth(providers: readonly ProviderHealth[]): Health {
  const worst = Math.max(0, ...providers.map((provider) => STATES.indexOf(provider.state)));
  return HEALTH_OF[STATES[worst]!];
}
