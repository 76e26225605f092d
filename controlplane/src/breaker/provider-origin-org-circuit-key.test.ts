import { expect, test } from 'vitest';
import { formatCircuitKey, parseCircuitKey } from './provider-origin-org-circuit-key.js';

const ORG = '01890a5d-ac96-774b-bcce-b302099a8057';

test.each([
  [{ providerSlug: 'openai', origin: 'https://api.openai.com', orgId: null }, 'openai|https://api.openai.com'],
  [{ providerSlug: 'mine', origin: 'http://10.0.0.1:81', orgId: ORG }, `mine|http://10.0.0.1:81|${ORG}`],
])('circuit key: formats and parses %o as %s', (name, key) => {
  expect(formatCircuitKey(name)).toBe(key);
  expect(parseCircuitKey(key)).toEqual(name);
});

test.each(['', 'openai', 'openai|', '|https://x', 'a|b|', 'a|b|c', 'a|b|c|d', `a|b|${ORG}|d`, `a|${'b'.repeat(600)}`])(
  'circuit key: rejects %s',
  (key) => {
    expect(parseCircuitKey(key)).toBeNull();
  },
);
