import { expect, test } from 'vitest';
import type { Exchange } from '../call/exchange.js';
import { GatewayUrlResolver } from './gateway-url.js';

const from = (peer: string, ...headers: string[]): Exchange =>
  ({
    request: { host: 'gw:8081', headers },
    res: { getRemoteAddressAsText: () => new TextEncoder().encode(peer).buffer },
  }) as unknown as Exchange;

const FORWARDED = ['x-forwarded-proto', 'https', 'x-forwarded-host', 'gateway.example.com:8443'];

test.each([
  [null, [], from('10.0.0.1'), 'http://gw:8081'],
  [null, [], from('10.0.0.1', ...FORWARDED), 'http://gw:8081'],
  [null, ['10.0.0.0/8'], from('192.0.2.1', ...FORWARDED), 'http://gw:8081'],
  [null, ['10.0.0.0/8'], from('10.0.0.1', ...FORWARDED), 'https://gateway.example.com:8443'],
  [null, ['10.0.0.0/8'], from('10.0.0.1', 'x-forwarded-host', 'a/b"'), 'http://gw:8081'],
  ['https://agents.example.com/x', ['10.0.0.0/8'], from('10.0.0.1', ...FORWARDED), 'https://agents.example.com/x'],
] as const)('gateway url: %j, trusting %j, is %#', (publicUrl, cidrs, x, expected) => {
  expect(new GatewayUrlResolver(publicUrl, cidrs).resolve(x)).toBe(expected);
});
