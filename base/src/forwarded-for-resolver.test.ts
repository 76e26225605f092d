import { expect, test } from 'vitest';
import { ForwardedForResolver } from './forwarded-for-resolver.js';

const trusting = new ForwardedForResolver(['10.0.0.0/8', 'fd00::/8']);

test.each([
  ['1.2.3.4', '9.9.9.9', '1.2.3.4'], // X-Forwarded-For of an untrusted peer is ignored
  ['10.0.0.1', null, '10.0.0.1'],
  ['10.0.0.1', '9.9.9.9', '9.9.9.9'],
  ['::ffff:10.0.0.1', '9.9.9.9', '9.9.9.9'],
  ['0000:0000:0000:0000:0000:ffff:0a00:0001', '9.9.9.9', '9.9.9.9'],
  ['::ffff:a00:1', '9.9.9.9', '9.9.9.9'],
  ['10.0.0.1', '6.6.6.6, 9.9.9.9:1234', '9.9.9.9'], // some proxies add the port
  ['10.0.0.1', '6.6.6.6, 9.9.9.9, 10.0.0.2', '9.9.9.9'], // the left part is forged
  ['10.0.0.1', '10.0.0.3,10.0.0.2', '10.0.0.3'], // all hops are trusted: the leftmost address
  ['10.0.0.1', '2001:db8::5', '2001:db8::5'],
  ['10.0.0.1', '[2001:db8::5]:443', '2001:db8::5'],
  ['10.0.0.1', '9.9.9.9:1234', '9.9.9.9'],
  ['10.0.0.1', '9.9.9.9, garbage, 10.0.0.2', '10.0.0.2'],
  ['10.0.0.1', '', '10.0.0.1'],
  ['10.0.0.1', ', ,', '10.0.0.1'],
  ['fd00::1', '9.9.9.9', '9.9.9.9'],
  ['', '9.9.9.9', ''],
])('client address: peer %s with X-Forwarded-For %j resolves to %s', (peer, forwarded, expected) => {
  expect(trusting.resolve(peer, forwarded)).toBe(expected);
});

test('client address: without trusted proxies, X-Forwarded-For is ignored', () => {
  expect(new ForwardedForResolver([]).resolve('::ffff:1.2.3.4', '9.9.9.9')).toBe('1.2.3.4');
});

test('client address: reads at most 32 hops of a long header', () => {
  const header = `${'10.0.0.9,'.repeat(1000)}10.0.0.2`;
  expect(trusting.resolve('10.0.0.1', header)).toBe('10.0.0.9');
});
