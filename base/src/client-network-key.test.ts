import { expect, test } from 'vitest';
import { bytesToClientNetworkKey, toClientNetworkKey } from './client-network-key.js';

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['0000:0000:0000:0000:0000:ffff:c000:0201', '192.0.2.1'],
  ['2001:db8:1:2::3', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002:0003:0004:0005:0006', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2:ffff::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['unknown', 'unknown'],
  ['', ''],
])('client network: the key of %s is %s', (address, network) => {
  expect(toClientNetworkKey(address)).toBe(network);
});

test.each([
  ['c0000201', '192.0.2.1'],
  ['00000000000000000000ffffc0000201', '192.0.2.1'],
  ['20010db8000100020003000400050006', '2001:db8:1:2::/64'],
  ['00000000000000000000000000000001', '0:0:0:0::/64'],
])('client network: the key of the bytes %s is %s', (hex, network) => {
  expect(bytesToClientNetworkKey(Buffer.from(hex, 'hex'))).toBe(network);
});
