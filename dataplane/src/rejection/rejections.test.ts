import { expect, test } from 'vitest';
import { createCircuitOpenRejection, REJECTIONS } from './rejections.js';

test.each(Object.entries(REJECTIONS))('rejections: %s has its text as error and as message', (_name, rejection) => {
  const body = JSON.parse(rejection.body) as Record<string, unknown>;
  expect(body).toMatchObject({ error: rejection.message, message: rejection.message });
  expect(rejection.statusLine).toMatch(new RegExp(`^${rejection.status} [A-Z]`));
});

test('rejections: an open breaker sends a Retry-After of at least a second', () => {
  expect(createCircuitOpenRejection(1_900_000_007_400, 1_900_000_000_000).headers).toEqual(['retry-after', '8']);
  expect(createCircuitOpenRejection(0, 1_900_000_000_000).headers).toEqual(['retry-after', '1']);
});
