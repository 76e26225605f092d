import { expect, test } from 'vitest';
import { describeRateLimits } from './describe-rate-limits.js';

const minute = { unit: 'requests', windowText: 'any 60 seconds', label: 'Requests per minute', default: 60 };
const hour = { unit: 'requests', windowText: 'any hour', label: 'Requests per hour', default: null };
const day = {
  unit: 'requests',
  windowText: '24 hours from the first call',
  label: 'Requests per day',
  default: 10_000,
};
const tokens = { unit: 'tokens', windowText: 'any 60 seconds', label: 'Tokens per minute', default: null };

test('rates: what people are told of them; a unit stands for all of its rates', () => {
  expect(describeRateLimits([minute, day, tokens])).toBe(
    'Over any 60 seconds, and over 24 hours from the first call. ' +
      'Empty: the gateway’s default for requests, no limit for tokens.',
  );
});

test('rates: where only some of a unit have a default they are named', () => {
  expect(describeRateLimits([minute, day, hour, tokens])).toBe(
    'Over any 60 seconds, over 24 hours from the first call, and over any hour. ' +
      'Empty: the gateway’s default for requests per minute and requests per day, ' +
      'no limit for requests per hour and tokens.',
  );
});
