/**
 * Records the client IPs of authenticated requests. Per gateway token it samples bursts of up to 256 requests and 50
 * requests a second after that, because reading the peer's address is a system call. A busy token that is used from
 * many addresses is still detected soon.
 */
import type { AgentContext } from '../context/agent-context.js';
import type { ClientIpResolver } from './client-ip-resolver.js';
import type { Exchange } from './exchange.js';

interface IpObservations {
  observe(orgId: string, agentId: string, keyId: string, address: string, nowMs: number): void;
}

/** Allowance that one observation uses, and the full allowance, in ms of refill time. */
const OBSERVATION_COST_MS = 20;
const OBSERVATION_BURST_MS = 256 * OBSERVATION_COST_MS;

export class TokenIpTracker {
  readonly #observations: IpObservations;
  readonly #clientAddress: Pick<ClientIpResolver, 'resolve'>;
  /** Unix ms at which the allowance is full again, by context; one context belongs to one token. */
  readonly #allowanceFullAtMs = new WeakMap<AgentContext, { ms: number }>();

  constructor(observations: IpObservations, clientAddress: Pick<ClientIpResolver, 'resolve'>) {
    this.#observations = observations;
    this.#clientAddress = clientAddress;
  }

  sampleClientIp(exchange: Exchange, context: AgentContext): void {
    const nowMs = exchange.request.startedAtMs;
    const allowance = this.#allowanceFullAtMs.get(context);
    if (allowance === undefined) this.#allowanceFullAtMs.set(context, { ms: nowMs + OBSERVATION_COST_MS });
    else {
      const usedMs = allowance.ms - nowMs;
      const clockWentBack = usedMs >= OBSERVATION_BURST_MS + OBSERVATION_COST_MS;
      if (usedMs >= OBSERVATION_BURST_MS && !clockWentBack) return;
      allowance.ms = (usedMs > 0 && !clockWentBack ? allowance.ms : nowMs) + OBSERVATION_COST_MS;
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
