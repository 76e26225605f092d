/**
 * Looks at the address of an authenticated request, but of one gateway token not more than 50 times a second: asking
 * for the peer's address is a system call, and whoever uses a token from many addresses is seen soon enough.
 */
import type { AgentContext } from '../context/agent-context.js';
import type { ClientAddress } from './client-address.js';
import type { Exchange } from './exchange.js';

interface Sightings {
  observe(orgId: string, agentId: string, keyId: string, address: string, nowMs: number): void;
}

const PAUSE_MS = 20;

export class AddressWatch {
  readonly #sightings: Sightings;
  readonly #clientAddress: Pick<ClientAddress, 'of'>;
  /** Unix ms of the last look, by context: one context belongs to one token. */
  readonly #lookedAtMs = new WeakMap<AgentContext, { ms: number }>();

  constructor(sightings: Sightings, clientAddress: Pick<ClientAddress, 'of'>) {
    this.#sightings = sightings;
    this.#clientAddress = clientAddress;
  }

  observe(x: Exchange, context: AgentContext): void {
    const nowMs = x.request.startedAtMs;
    const looked = this.#lookedAtMs.get(context);
    if (looked === undefined) this.#lookedAtMs.set(context, { ms: nowMs });
    else if (Math.abs(nowMs - looked.ms) < PAUSE_MS) return;
    else looked.ms = nowMs;
    this.#sightings.observe(context.orgId, context.agentId, context.keyId, this.#clientAddress.of(x), nowMs);
  }
}
