/**
 * Classifies literal addresses as public or not (docs/configuration.md#tenant-supplied-addresses). IPv4: everything
 * but the special ranges. IPv6: only 2000::/3 without its transition and documentation ranges, which rejects mapped,
 * compatible, NAT64, unique-local, link-local and site-local forms without a list of them.
 */
import { BlockList, isIP } from 'node:net';

const V4_SPECIAL = blockList('ipv4', [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32], // Azure's wire server
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]);
const V6_GLOBAL = blockList('ipv6', [['2000::', 3]]);
const V6_SPECIAL = blockList('ipv6', [
  ['2001::', 23], // IETF protocol assignments, including Teredo
  ['2001:db8::', 32],
  ['2002::', 16], // 6to4 carries any IPv4 address
  ['3fff::', 20],
  ['2620:4f:8000::', 48],
]);

/** Whether `address` is a literal public address. Names, zone ids and malformed text are not. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !V4_SPECIAL.check(address, 'ipv4');
  if (family !== 6 || address.includes('%')) return false;
  return V6_GLOBAL.check(address, 'ipv6') && !V6_SPECIAL.check(address, 'ipv6');
}

function blockList(family: 'ipv4' | 'ipv6', ranges: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [address, bits] of ranges) list.addSubnet(address, bits, family);
  return list;
}
