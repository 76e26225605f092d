/**
 * Looks at the address of an authenticated request, but of one gateway token not more than 256 times at once and 50 times
 * a second from then on: asking for the peer's address is a system call, and whoever goes on using a busy token from many
 * addresses is seen soon enough.
 */
import type { AgentContext } from '../context/agent-context.js';
import type { ClientAddress } from './client-address.js';
import type { Exchange } from './exchange.js';

interface Sightings {
  observe(orgId: string, agentId: string, keyId: string, address: string, nowMs: number): void;
}

/** What a look costs of a token's allowance, and that allowance, which comes back as time passes. */
const LOOK_MS = 20;
const ALLOWANCE_MS = 256 * LOOK_MS;

export class AddressWatch {
  readonly #sightings: Sightings;
  readonly #clientAddress: Pick<ClientAddress, 'of'>;
  /** Unix ms at which all of the allowance is back, by context: one context belongs to one token. */
  readonly #restedAtMs = new WeakMap<AgentContext, { ms: number }>();

  constructor(sightings: Sightings, clientAddress: Pick<ClientAddress, 'of'>) {
    this.#sightings = sightings;
    this.#clientAddress = clientAddress;
  }

  observe(x: Exchange, context: AgentContext): void {
    const nowMs = x.request.startedAtMs;
    const rested = this.#restedAtMs.get(context);
    if (rested === undefined) this.#restedAtMs.set(context, { ms: nowMs + LOOK_MS });
    else {
      const usedMs = rested.ms - nowMs;
      const clockWentBack = usedMs >= ALLOWANCE_MS + LOOK_MS;
      if (usedMs >= ALLOWANCE_MS && !clockWentBack) return;
      rested.ms = (usedMs > 0 && !clockWentBack ? rested.ms : nowMs) + LOOK_MS;
    }
    this.#sightings.observe(context.orgId, context.agentId, context.keyId, this.#clientAddress.of(x), nowMs);
  }
}
