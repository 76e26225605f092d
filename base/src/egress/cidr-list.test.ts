import { expect, test } from 'vitest';
import { CidrList, findInvalidCidr } from './cidr-list.js';

test.each(['10.0.0.0/33', '10.0.0.0/128', 'fd00::/129', '10.0.0.0/-1', '10.0.0.0/', '10.0.0/8', 'name/8', 'name'])(
  'CIDR list: rejects %s',
  (cidr) => {
    expect(findInvalidCidr(['192.0.2.0/24', cidr])).toBe(cidr);
    expect(() => new CidrList([cidr])).toThrow(`${cidr} is not an address range`);
  },
);

test('CIDR list: accepts 0.0.0.0/0', () => {
  expect(findInvalidCidr(['10.0.0.0/8', '0.0.0.0/0'])).toBeNull();
});

test.each([
  ['10.1.2.3', true],
  ['192.168.1.1', true],
  ['192.168.1.2', false],
  ['::ffff:10.1.2.3', true],
  ['::FFFF:0a01:0203', true],
  ['::ffff:11.1.2.3', false],
  ['11.1.2.3', false],
  ['fd00::1', true],
  ['fe00::1', false],
  ['::1', false],
  ['name', false],
  ['', false],
])('CIDR list: includes(%s) is %s, IPv4-mapped IPv6 counts as IPv4', (address, isIn) => {
  expect(new CidrList(['10.0.0.0/8', '192.168.1.1', 'fd00::/8']).includes(address)).toBe(isIn);
});
