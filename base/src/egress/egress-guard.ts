/**
 * Decides which addresses from tenants may be dialled. Runs at every connect, because the addresses of a name may
 * change.
 */
import { findHostProblem, type ResolvedAddress } from './check-tenant-url.js';
import type { CidrList } from './cidr-list.js';
import { isPublicAddress } from './public-address.js';

/**
 * The egress rules blocked the connect; the network did not fail. The message may be shown to operators, not to agents.
 */
export class EgressBlocked extends Error {
  readonly code = 'EGRESS_REFUSED';

  constructor(reason: string) {
    super(reason);
    this.name = 'EgressBlocked';
  }
}

/** Null when every address may be dialled, else the reason. Pure. */
export function checkEgress(
  host: string,
  port: number,
  addresses: readonly ResolvedAddress[],
  allowed: CidrList,
): string | null {
  if (addresses.length === 0) return `${host} has no address`;
  if (addresses.every(({ address }) => allowed.includes(address))) return null;
  for (const { address } of addresses) {
    if (!isPublicAddress(address) && !allowed.includes(address))
      return `${host} resolves to ${address}, not a public address`;
  }
  return findHostProblem(host, port);
}
