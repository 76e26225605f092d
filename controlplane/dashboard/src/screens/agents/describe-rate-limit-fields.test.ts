import { expect, test } from 'vitest';
import { describeRateLimitFields } from './describe-rate-limit-fields.js';

const minute = { unit: 'requests', windowText: 'any 60 seconds', label: 'Requests per minute', default: 60 };
const hour = { unit: 'requests', windowText: 'any hour', label: 'Requests per hour', default: null };
const day = {
  unit: 'requests',
  windowText: '24 hours from the first call',
  label: 'Requests per day',
  default: 10_000,
};
const tokens = { unit: 'tokens', windowText: 'any 60 seconds', label: 'Tokens per minute', default: null };

test('describes rate limits by unit where all rates of a unit are alike', () => {
  expect(describeRateLimitFields([minute, day, tokens])).toBe(
    'Counted over any 60 seconds, and over 24 hours from the first call. ' +
      'If empty: the gateway’s default for requests, no limit for tokens.',
  );
});

test('names each rate where only some rates of a unit have a default', () => {
  expect(describeRateLimitFields([minute, day, hour, tokens])).toBe(
    'Counted over any 60 seconds, over 24 hours from the first call, and over any hour. ' +
      'If empty: the gateway’s default for requests per minute and requests per day, ' +
      'no limit for requests per hour and tokens.',
  );
});
