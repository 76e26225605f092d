/** In which order the addresses of a name are tried: families in turn, so that one that leads nowhere costs one step. */
import { networkInterfaces } from 'node:os';
import type { ResolvedAddress } from '../egress/check-url.js';
import { isPublicAddress } from '../egress/public-address.js';

/** `v6First`: this machine has a way out by IPv6. Within a family the resolver's order stands. */
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

/** Whether this machine has a public IPv6 address; networks come and go, so it is looked at each minute. */
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
