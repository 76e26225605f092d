import { expect, test } from 'vitest';
import { createLoopEntry, isRequestLoop } from './loop-detection.js';

const [a, b] = [createLoopEntry('account-a'), createLoopEntry('account-b')];

test.each([
  ['no header', [], false],
  ['another CDN', ['cdn-loop', 'cloudflare; subreqs=1'], false],
  ['another account', ['cdn-loop', b], false],
  ['this account', ['cdn-loop', a], true],
  ['this account among others', ['cdn-loop', `cloudflare, ${b} ,${a}`], true],
  ['this account in another line', ['cdn-loop', b, 'x', 'y', 'cdn-loop', a], true],
  ['many accounts', ['cdn-loop', ['1', '2', '3', '4'].map(createLoopEntry).join(', ')], true],
  ['another header', ['x-loop', a], false],
])('detects a request loop by its CDN-Loop header: %s', (_name, headers, loops) => {
  expect(isRequestLoop(headers, 'account-a')).toBe(loops);
});

test('the loop entry is an HTTP token and does not reveal the account id', () => {
  expect(a).toMatch(/^acg-[0-9a-f]{24}$/);
  expect(a).not.toBe(b);
});
