/** The agent's network address: the peer's, or what a trusted front proxy says (TRUSTED_PROXY_CIDRS). */
import { ClientAddress as AddressBehindProxies } from '@acg/base/client-address';
import type { Exchange } from './exchange.js';

export class ClientAddress {
  /** Null: nobody is trusted. */
  readonly #behindProxies: AddressBehindProxies | null;

  /** `cidrs` were checked when the configuration was read. */
  constructor(cidrs: readonly string[]) {
    this.#behindProxies = cidrs.length === 0 ? null : new AddressBehindProxies(cidrs);
  }

  of(x: Exchange): string {
    const peer = Buffer.from(x.res.getRemoteAddressAsText()).toString('latin1');
    return this.#behindProxies === null ? peer : this.#behindProxies.of(peer, forwardedFor(x.request.headers));
  }
}

/** Every `X-Forwarded-For` line, joined in order; null without one. */
function forwardedFor(headers: readonly string[]): string | null {
  let joined: string | null = null;
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] === 'x-forwarded-for') joined = joined === null ? headers[i + 1]! : `${joined},${headers[i + 1]!}`;
  }
  return joined;
}
