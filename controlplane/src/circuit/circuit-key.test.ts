import { expect, test } from 'vitest';
import { circuitKey, parseCircuitKey } from './circuit-key.js';

test.each([
  [{ providerSlug: 'openai', origin: 'https://api.openai.com', orgId: null }, 'openai|https://api.openai.com'],
  [{ providerSlug: 'mine', origin: 'http://10.0.0.1:81', orgId: 'o-1' }, 'mine|http://10.0.0.1:81|o-1'],
])('circuit key: %o is %s, both ways', (name, key) => {
  expect(circuitKey(name)).toBe(key);
  expect(parseCircuitKey(key)).toEqual(name);
});

test.each(['', 'openai', 'openai|', '|https://x', 'a|b|', 'a|b|c|d', `a|${'b'.repeat(600)}`])(
  'circuit key: %s is none',
  (key) => {
    expect(parseCircuitKey(key)).toBeNull();
  },
);
