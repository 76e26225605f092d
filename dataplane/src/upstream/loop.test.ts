import { expect, test } from 'vitest';
import { isLoop, loopEntry } from './loop.js';

const [a, b] = [loopEntry('account-a'), loopEntry('account-b')];

test.each([
  ['no header', [], false],
  ['another CDN', ['cdn-loop', 'cloudflare; subreqs=1'], false],
  ['another account', ['cdn-loop', b], false],
  ['this account', ['cdn-loop', a], true],
  ['this account among others', ['cdn-loop', `cloudflare, ${b} ,${a}`], true],
  ['this account in another line', ['cdn-loop', b, 'x', 'y', 'cdn-loop', a], true],
  ['many accounts', ['cdn-loop', ['1', '2', '3', '4'].map(loopEntry).join(', ')], true],
  ['another header', ['x-loop', a], false],
])('loop: %s', (_name, headers, loops) => {
  expect(isLoop(headers, 'account-a')).toBe(loops);
});

test('loop: the entry is a token and does not show the account', () => {
  expect(a).toMatch(/^acg-[0-9a-f]{24}$/);
  expect(a).not.toBe(b);
});
