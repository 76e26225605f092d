/**
 * Looks at the address of an authenticated request, but of one gateway token not more than 256 times at once and 50 times
 * a second from then on: asking for the peer's address is a system call, and whoever goes on using a busy token from many
 * addresses is seen soon enough.
 */
import type { AgentContext } from '../context/agent-context.js';
import type { ClientIpResolver } from './client-ip.js';
import type { Exchange } from './exchange.js';

interface IpObservations {
  observe(orgId: string, agentId: string, keyId: string, address: string, nowMs: number): void;
}

/** What a look costs of a token's allowance, and that allowance, which comes back as time passes. */
const OBSERVATION_COST_MS = 20;
const OBSERVATION_BURST_MS = 256 * OBSERVATION_COST_MS;

export class TokenIpTracker {
  readonly #observations: IpObservations;
  readonly #clientAddress: Pick<ClientIpResolver, 'resolve'>;
  /** Unix ms at which all of the allowance is back, by context: one context belongs to one token. */
  readonly #allowanceFullAtMs = new WeakMap<AgentContext, { ms: number }>();

  constructor(sightings: IpObservations, clientAddress: Pick<ClientIpResolver, 'resolve'>) {
    this.#observations = sightings;
    this.#clientAddress = clientAddress;
  }

  observe(exchange: Exchange, context: AgentContext): void {
    const nowMs = exchange.request.startedAtMs;
    const rested = this.#allowanceFullAtMs.get(context);
    if (rested === undefined) this.#allowanceFullAtMs.set(context, { ms: nowMs + OBSERVATION_COST_MS });
    else {
      const usedMs = rested.ms - nowMs;
      const clockWentBack = usedMs >= OBSERVATION_BURST_MS + OBSERVATION_COST_MS;
      if (usedMs >= OBSERVATION_BURST_MS && !clockWentBack) return;
      rested.ms = (usedMs > 0 && !clockWentBack ? rested.ms : nowMs) + OBSERVATION_COST_MS;
    }
    this.#observations.observe(
      context.orgId,
      context.agentId,
      context.keyId,
      this.#clientAddress.resolve(exchange),
      nowMs,
    );
  }
}
