/**
 * The order in which the addresses of a name are dialled: IPv4 and IPv6 alternate, so that an unreachable family costs
 * one attempt only.
 */
import { networkInterfaces } from 'node:os';
import type { ResolvedAddress } from '../egress/check-tenant-url.js';
import { isPublicAddress } from '../egress/public-address.js';

/** `v6First`: this machine has a public IPv6 address. Within a family the resolver's order is kept. */
export function interleaveFamilies(
  addresses: readonly ResolvedAddress[],
  v6First: boolean,
): readonly ResolvedAddress[] {
  if (addresses.length < 2) return addresses;
  const first = addresses.filter(({ family }) => (family === 6) === v6First);
  const second = addresses.filter(({ family }) => (family === 6) !== v6First);
  const ordered: ResolvedAddress[] = [];
  for (let i = 0; i < Math.max(first.length, second.length); i++) {
    if (i < first.length) ordered.push(first[i]!);
    if (i < second.length) ordered.push(second[i]!);
  }
  return ordered;
}

const RECHECK_INTERVAL_MS = 60_000;

/** Whether this machine has a public IPv6 address; checked at most once a minute, because network interfaces change. */
export class Ipv6Availability {
  #isAvailable = false;
  #checkedAtPerfMs = Number.NEGATIVE_INFINITY;

  get isAvailable(): boolean {
    const now = performance.now();
    if (now - this.#checkedAtPerfMs > RECHECK_INTERVAL_MS) {
      this.#checkedAtPerfMs = now;
      const all = Object.values(networkInterfaces()).flat();
      this.#isAvailable = all.some((found) => found?.family === 'IPv6' && isPublicAddress(found.address));
    }
    return this.#isAvailable;
  }
}
