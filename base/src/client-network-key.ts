/**
 * The key by which limits per client address are counted: the network that one client controls. IPv4: the address
 * itself, also when a listener on `::` reports it as IPv6 (`::ffff:192.0.2.1`). IPv6: the /64, which is what one
 * customer gets (RFC 6177).
 */
import { isIPv6 } from 'node:net';
import { unmapIpv4 } from './egress/cidr-list.js';

/**
 * Returns `192.0.2.1` or `2001:db8:1:2::/64`. `address` is text in any spelling. Text that is not an IP address is
 * returned unchanged.
 */
export function toClientNetworkKey(address: string): string {
  const plain = unmapIpv4(address);
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = plain.split('%', 1)[0]!.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length;
  const groups = [...left, ...Array<string>(Math.max(0, zeros)).fill('0'), ...right];
  return formatIpv6Prefix(groups.slice(0, 4).map((group) => Number.parseInt(group, 16)));
}

/** Like {@link toClientNetworkKey} for the binary form of an address: 4 or 16 bytes in network order. */
export function bytesToClientNetworkKey(address: Buffer): string {
  if (address.length === 4) return formatIpv4(address);
  if (address.length !== 16) return address.toString('hex');
  if (address.compare(IPV4_MAPPED_PREFIX, 0, IPV4_MAPPED_PREFIX.length, 0, IPV4_MAPPED_PREFIX.length) === 0)
    return formatIpv4(address.subarray(12));
  return formatIpv6Prefix([0, 2, 4, 6].map((at) => address.readUInt16BE(at)));
}

const IPV4_MAPPED_PREFIX = Buffer.from('00000000000000000000ffff', 'hex');

const formatIpv4 = (bytes: Buffer): string => `${bytes[0]}.${bytes[1]}.${bytes[2]}.${bytes[3]}`;

const formatIpv6Prefix = (groups: readonly number[]): string =>
  `${groups.map((group) => group.toString(16)).join(':')}::/64`;
