import { expect, test } from 'vitest';
import { redactAndTruncatePath } from './redact-gateway-tokens.js';

const TOKEN = `acg_${'0123456789abcdef'.repeat(4)}`;

test.each([
  ['/v1/models', '/v1/models'],
  ['/a%20b/%C3%A9', '/a%20b/%C3%A9'],
  [`/v1/${TOKEN}/x`, '/v1/acg_[masked]/x'],
  [`/${TOKEN}${TOKEN}`, '/acg_[masked]acg_[masked]'],
  [`/${TOKEN.replace('acg_', '%61cg_')}`, '/acg_[masked]'],
  [`/${TOKEN.replace('_', '%255f')}`, '/acg_[masked]'],
  [`/${TOKEN.toUpperCase().replace('ACG_', 'acg_')}`, '/acg_[masked]'],
])('redacted path: %s becomes %s', (path, logged) => {
  expect(redactAndTruncatePath(path)).toBe(logged);
});

test('redacted path: keeps no part of a token that crosses the length limit', () => {
  const logged = redactAndTruncatePath(`/${'x'.repeat(1_000)}${TOKEN}`);
  expect(logged.length).toBeLessThanOrEqual(1_024);
  expect(logged).not.toContain('0123');
});
