/** The agent's network address: the peer's, or what a trusted front proxy says (TRUSTED_PROXY_CIDRS). */
import { BlockList, isIP } from 'node:net';
import type { Exchange } from '../exchange.js';

export class ClientAddress {
  readonly #trusted: BlockList | null;

  /** `cidrs` were checked when the configuration was read. */
  constructor(cidrs: readonly string[]) {
    this.#trusted = cidrs.length === 0 ? null : new BlockList();
    for (const cidr of cidrs) {
      const slash = cidr.indexOf('/');
      const address = slash === -1 ? cidr : cidr.slice(0, slash);
      const type = address.includes(':') ? 'ipv6' : 'ipv4';
      const prefix = slash === -1 ? (type === 'ipv6' ? 128 : 32) : Number(cidr.slice(slash + 1));
      this.#trusted!.addSubnet(address, prefix, type);
    }
  }

  of(x: Exchange): string {
    const peer = Buffer.from(x.res.getRemoteAddressAsText()).toString('latin1');
    if (this.#trusted === null || !this.#isTrusted(peer)) return peer;
    const forwarded = forwardedFor(x.request.headers);
    // From the right: each trusted proxy vouches for the address before its own.
    for (let i = forwarded.length - 1; i >= 0; i--) if (!this.#isTrusted(forwarded[i]!)) return forwarded[i]!;
    return peer;
  }

  #isTrusted(address: string): boolean {
    const family = isIP(address);
    return family !== 0 && this.#trusted!.check(address, family === 6 ? 'ipv6' : 'ipv4');
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
