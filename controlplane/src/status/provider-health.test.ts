import { expect, test } from 'vitest';
import { healthOf, overallHealth, type StateCount } from './provider-health.js';

const count = (state: StateCount['state'], origins: number): StateCount => ({ providerSlug: 's3', state, origins });

test.each([
  ['nothing in use', [], 'CLOSED'],
  ['the one origin', [count('OPEN', 1)], 'OPEN'],
  ['most are fine', [count('CLOSED', 3), count('OPEN', 2)], 'CLOSED'],
  ['most are out', [count('CLOSED', 2), count('OPEN', 3)], 'OPEN'],
  ['a tie is not an outage', [count('OPEN', 1), count('CLOSED', 1)], 'CLOSED'],
  ['most are recovering', [count('OPEN', 1), count('HALF_OPEN', 2), count('CLOSED', 1)], 'HALF_OPEN'],
])('status: %s', (_name, counts, state) => {
  expect(healthOf('s3', 'S3', counts).state).toBe(state);
  expect(healthOf('openai', 'OpenAI', counts).state).toBe('CLOSED');
});

test('status: the whole is as bad as its worst part', () => {
  const fine = healthOf('a', 'A', []);
  const open = healthOf('s3', 'S3', [count('OPEN', 1)]);
  const half = healthOf('s3', 'S3', [count('HALF_OPEN', 1)]);
  expect(overallHealth([])).toBe('operational');
  expect(overallHealth([fine, half])).toBe('degraded');
  expect(overallHealth([half, open, fine])).toBe('outage');
});
