import { expect, test } from 'vitest';
import { hasMethodOverride } from './method-override.js';

test.each([
  [null, ['x-http-method-override', 'DELETE']],
  [null, ['accept', '*/*', 'x_http_method_override', 'DELETE']],
  [null, ['x-rewrite-url', '/admin']],
  ['_method=delete', []],
  ['a=1&%5FMETHOD=delete', []],
  ['$httpMethod=DELETE', []],
  ['X-HTTP-Method-Override=DELETE', []],
])('overrides: the query %j with the headers %j may be another call', (query, headers) => {
  expect(hasMethodOverride(query, headers)).toBe(true);
});

test.each([
  [null, ['x-http-version', '1', 'x-stainless-retry-count', '0']],
  ['', []],
  ['method=delete&a_method=1', ['_method', 'x']],
])('overrides: the query %j with the headers %j is the call that it says', (query, headers) => {
  expect(hasMethodOverride(query, headers)).toBe(false);
});
