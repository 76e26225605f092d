/** The agent's network address: the peer's, or what a trusted front proxy says (TRUSTED_PROXY_CIDRS). */
import { isIP } from 'node:net';
import { CidrList } from '@acg/base/egress/cidr-list';
import type { Exchange } from '../exchange.js';

export class ClientAddress {
  /** Null: nobody is trusted. */
  readonly #trusted: CidrList | null;

  /** `cidrs` were checked when the configuration was read. */
  constructor(cidrs: readonly string[]) {
    this.#trusted = cidrs.length === 0 ? null : new CidrList(cidrs);
  }

  of(x: Exchange): string {
    const peer = Buffer.from(x.res.getRemoteAddressAsText()).toString('latin1');
    return this.#trusted === null ? peer : this.#behindProxies(peer, x.request.headers);
  }

  /** From the right: each trusted proxy vouches for the address that it wrote before its own. */
  #behindProxies(peer: string, headers: readonly string[]): string {
    const trusted = this.#trusted!;
    let client = peer;
    const forwarded = forwardedFor(headers);
    for (let i = forwarded.length - 1; i >= 0 && trusted.includes(client); i--) client = forwarded[i]!;
    return client;
  }
}

/** Addresses of `X-Forwarded-For`, in order; what is no address is left out. */
function forwardedFor(headers: readonly string[]): string[] {
  const addresses: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] !== 'x-forwarded-for') continue;
    for (const part of headers[i + 1]!.split(',')) {
      const address = part.trim();
      if (isIP(address) !== 0) addresses.push(address);
    }
  }
  return addresses;
}
