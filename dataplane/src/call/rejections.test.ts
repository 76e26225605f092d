import { expect, test } from 'vitest';
import { budgetExceeded, circuitOpen, REJECTIONS, rateLimited } from './rejections.js';

test.each(Object.entries(REJECTIONS))('rejections: %s says its text as error and as message', (_name, rejection) => {
  const body = JSON.parse(rejection.body) as Record<string, unknown>;
  expect(body).toEqual({ error: rejection.message, message: rejection.message });
  expect(rejection.statusLine).toMatch(new RegExp(`^${rejection.status} [A-Z]`));
});

test('rejections: rpm waits at most a minute and says until when', () => {
  const rejection = rateLimited('rpm', 60, 1_900_000_030, 1_900_000_000_500);
  expect(JSON.parse(rejection.body)).toEqual({
    error: rejection.message,
    message: rejection.message,
    limitType: 'rpm',
    limit: 60,
    remaining: 0,
    resetAt: 1_900_000_030,
  });
  expect(rejection.headers).toEqual([
    'x-ratelimit-limit',
    '60',
    'x-ratelimit-remaining',
    '0',
    'x-ratelimit-reset',
    '1900000030',
    'retry-after',
    '30',
  ]);
  expect(rateLimited('rpm', 60, 1_900_009_999, 1_900_000_000_000).headers.at(-1)).toBe('60');
});

test('rejections: rpd and budget tell SDKs not to retry and give no Retry-After', () => {
  const rpd = rateLimited('rpd', 10_000, 1_900_050_000, 1_900_000_000_000);
  expect(rpd.headers).toEqual([
    'x-ratelimit-limit',
    '10000',
    'x-ratelimit-remaining',
    '0',
    'x-ratelimit-reset',
    '1900050000',
    'x-should-retry',
    'false',
  ]);
  const budget = budgetExceeded(501, 500);
  expect(budget.headers).toEqual(['x-should-retry', 'false']);
  expect(JSON.parse(budget.body)).toMatchObject({ limitType: 'budget', spentCents: 501, budgetCents: 500 });
});

test('rejections: an open circuit says when to come back, at least a second', () => {
  expect(circuitOpen(1_900_000_007_400, 1_900_000_000_000).headers).toEqual(['retry-after', '8']);
  expect(circuitOpen(0, 1_900_000_000_000).headers).toEqual(['retry-after', '1']);
});
