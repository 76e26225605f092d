import { expect, test } from 'vitest';
import { invariant, invariantFailures, logInvariantFailures } from './invariant-failures.js';

test('invariant: counts each failure, logs the first of each name and returns the condition', () => {
  const logged: object[] = [];
  logInvariantFailures({ error: (fields: object) => logged.push(fields) } as never);
  expect(invariant(true, 'test_holds')).toBe(true);
  expect(invariant(false, 'test_fails')).toBe(false);
  expect(invariant(false, 'test_fails')).toBe(false);
  expect(invariantFailures().get('test_holds')).toBeUndefined();
  expect(invariantFailures().get('test_fails')).toBe(2);
  expect(logged).toEqual([expect.objectContaining({ invariant: 'test_fails' })]);
});
