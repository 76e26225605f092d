const MAPPED = Buffer.from('00000000000000000000ffff', 'hex');
const NETWORK_BYTES = 8;

/** The client that an address stands for, as a key: an IPv4 address, or the /64 that every IPv6 host has to itself. */
export function networkOf(address: Buffer): string {
  if (address.length !== 16) return address.toString('hex');
  if (address.subarray(0, 12).equals(MAPPED)) return address.toString('hex', 12);
  return address.toString('hex', 0, NETWORK_BYTES);
}
