/**
 * Finds the client's IP address behind trusted proxies (TRUSTED_PROXY_CIDRS). `X-Forwarded-For` is read only when the
 * peer is in those ranges. The client is the rightmost address in the header that is not a trusted proxy, because only
 * trusted proxies wrote the entries to its right.
 */
import { isIP } from 'node:net';
import { CidrList, unmapIpv4 } from './egress/cidr-list.js';

/** More hops than any real proxy chain has. The rest of a longer header was written by the client. */
const PROXY_HOPS_MAX = 32;

export class ForwardedForResolver {
  readonly #trusted: CidrList;

  /** Throws a `RangeError` that names a malformed range. */
  constructor(trustedProxyCidrs: readonly string[]) {
    this.#trusted = new CidrList(trustedProxyCidrs);
  }

  /** `peer` is the socket's remote address; `forwardedFor` the header's value(s) joined by commas, or null. */
  resolve(peer: string, forwardedFor: string | null): string {
    let address = unmapIpv4(peer);
    if (forwardedFor === null || !this.#trusted.includes(address)) return address;
    let end = forwardedFor.length;
    for (let hop = 0; hop < PROXY_HOPS_MAX && end >= 0; hop++) {
      const comma = forwardedFor.lastIndexOf(',', end - 1);
      const entry = parseForwardedAddress(forwardedFor.slice(comma + 1, end).trim());
      if (entry === null) return address; // the entries further left were not written by a trusted proxy
      address = entry;
      if (comma <= 0 || !this.#trusted.includes(address)) return address;
      end = comma;
    }
    return address;
  }
}

/** Parses `1.2.3.4`, `1.2.3.4:567`, `[::1]` and `[::1]:567` to a plain address; null for anything else. */
function parseForwardedAddress(entry: string): string | null {
  if (entry.length > 64) return null;
  let address = entry;
  if (entry.startsWith('[')) {
    const close = entry.indexOf(']');
    if (close === -1) return null;
    address = entry.slice(1, close);
  } else if (entry.includes('.') && entry.lastIndexOf(':') !== -1 && entry.indexOf(':') === entry.lastIndexOf(':')) {
    address = entry.slice(0, entry.indexOf(':'));
  }
  return isIP(address) === 0 ? null : unmapIpv4(address);
}
