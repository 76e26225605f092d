import { expect, test } from 'vitest';
import { AddressWatch } from './address-watch.js';
import { ClientAddress } from './client-address.js';
import type { Exchange } from './exchange.js';
import { contextOf } from './testing/proxy-fixture.js';

const request = (startedAtMs: number, peer = '192.0.2.1', forwarded = ''): Exchange =>
  ({
    request: { startedAtMs, headers: forwarded === '' ? [] : ['x-forwarded-for', forwarded] },
    res: { getRemoteAddressAsText: () => new TextEncoder().encode(peer).buffer },
  }) as unknown as Exchange;

test('address watch: a busy token is looked at 50 times a second, each token by itself', () => {
  const seen: string[] = [];
  const observe = (_org: string, _agent: string, keyId: string, _address: string, nowMs: number): void => {
    seen.push(`${keyId}@${nowMs}`);
  };
  const watch = new AddressWatch({ observe }, new ClientAddress([]));
  const [one, two] = [contextOf([], { keyId: 'one' }), contextOf([], { keyId: 'two' })];
  for (const ms of [0, 1, 19, 20, 30, 45]) watch.observe(request(ms), one);
  watch.observe(request(1), two);
  expect(seen).toEqual(['one@0', 'one@20', 'one@45', 'two@1']);
});

test.each([
  ['nobody trusted', [], '192.0.2.1', '198.51.100.7', '192.0.2.1'],
  ['the peer is a trusted proxy', ['192.0.2.0/24'], '192.0.2.1', '198.51.100.7', '198.51.100.7'],
  ['a forged first entry', ['192.0.2.0/24'], '192.0.2.1', '10.9.9.9, 198.51.100.7', '198.51.100.7'],
  ['two trusted proxies', ['192.0.2.0/24'], '192.0.2.1', '198.51.100.7, 192.0.2.9', '198.51.100.7'],
  ['no address in the header', ['192.0.2.0/24'], '192.0.2.1', 'unknown', '192.0.2.1'],
])('client address: %s', (_name, trusted, peer, forwarded, expected) => {
  expect(new ClientAddress(trusted).of(request(0, peer, forwarded))).toBe(expected);
});
