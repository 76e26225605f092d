import { expect, test } from 'vitest';
import { maskSecrets } from './log.js';

test.each([
  [`token acg_${'0123456789abcdef'.repeat(4)} used`, 'token [redacted] used'],
  ['Authorization: Bearer sk-live-123', 'Authorization: Bearer [redacted]'],
  ['connect postgres://me:pw@db/x failed', 'connect postgres://[redacted]@db/x failed'],
  ['whsec_abc-DEF_1 leaked', '[redacted] leaked'],
  ['acg_12345678 is a prefix', '[redacted] is a prefix'],
  ['nothing here', 'nothing here'],
])('log: masks secrets in %j', (text, expected) => {
  expect(maskSecrets(text)).toBe(expected);
});
