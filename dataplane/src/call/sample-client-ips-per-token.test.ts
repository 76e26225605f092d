import { expect, test } from 'vitest';
import { ClientIpResolver } from './client-ip-resolver.js';
import type { Exchange } from './exchange.js';
import { TokenIpTracker } from './sample-client-ips-per-token.js';
import { createContext } from './testing/proxy-fixture.js';

const request = (startedAtMs: number, peer = '192.0.2.1', forwarded = ''): Exchange =>
  ({
    request: { startedAtMs, headers: forwarded === '' ? [] : ['x-forwarded-for', forwarded] },
    res: { getRemoteAddressAsText: () => new TextEncoder().encode(peer).buffer },
  }) as unknown as Exchange;

/** Unix ms of the observations of requests at those times, of one token and then of another. */
function looksAt(times: readonly number[]): { seen: string[]; look(keyId: string): void } {
  const seen: string[] = [];
  const observe = (_org: string, _agent: string, keyId: string, _address: string, nowMs: number): void => {
    seen.push(`${keyId}@${nowMs}`);
  };
  const watch = new TokenIpTracker({ observe }, new ClientIpResolver([]));
  const look = (keyId: string): void => {
    const context = createContext([], { keyId });
    for (const ms of times) watch.sampleClientIp(request(ms), context);
  };
  return { seen, look };
}

test('token IPs: observes all requests of a burst', () => {
  const { seen, look } = looksAt(Array.from({ length: 256 }, () => 7));
  look('one');
  look('two');
  expect(seen).toHaveLength(512);
});

test('token IPs: observes a busy token 50 times a second until its allowance is full again', () => {
  const burst = Array.from({ length: 256 }, () => 0);
  const { seen, look } = looksAt([...burst, 0, 1, 2, 20, 21, 39, 40, 41, 42, 1_000_000, 1_000_000]);
  look('one');
  expect(seen.slice(256)).toEqual(['one@1', 'one@21', 'one@41', 'one@1000000', 'one@1000000']);
});

test('token IPs: continues to observe after the clock was set back', () => {
  const { seen, look } = looksAt([10_000_000, 10_000_000, 5, 6]);
  look('one');
  expect(seen).toEqual(['one@10000000', 'one@10000000', 'one@5', 'one@6']);
});

test.each([
  ['nobody trusted', [], '192.0.2.1', '198.51.100.7', '192.0.2.1'],
  ['the peer is a trusted proxy', ['192.0.2.0/24'], '192.0.2.1', '198.51.100.7', '198.51.100.7'],
  ['a forged first entry', ['192.0.2.0/24'], '192.0.2.1', '10.9.9.9, 198.51.100.7', '198.51.100.7'],
  ['two trusted proxies', ['192.0.2.0/24'], '192.0.2.1', '198.51.100.7, 192.0.2.9', '198.51.100.7'],
  ['no address in the header', ['192.0.2.0/24'], '192.0.2.1', 'unknown', '192.0.2.1'],
])('client IP: %s', (_name, trusted, peer, forwarded, expected) => {
  expect(new ClientIpResolver(trusted).resolve(request(0, peer, forwarded))).toBe(expected);
});
