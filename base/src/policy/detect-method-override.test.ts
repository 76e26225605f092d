import { expect, test } from 'vitest';
import { hasMethodOverride } from './detect-method-override.js';

test.each([
  [null, ['x-http-method-override', 'DELETE']],
  [null, ['accept', '*/*', 'x_http_method_override', 'DELETE']],
  [null, ['x-rewrite-url', '/admin']],
  ['_method=delete', []],
  ['a=1&%5FMETHOD=delete', []],
  ['$httpMethod=DELETE', []],
  ['X-HTTP-Method-Override=DELETE', []],
  ['.method=DELETE', []],
  ['%5Bmethod=DELETE', []],
  ['_method%00x=DELETE', []],
  ['X.HTTP+Method%20Override=DELETE', []],
])('detects an override in the query %j with the headers %j', (query, headers) => {
  expect(hasMethodOverride(query, headers)).toBe(true);
});

test.each([
  [null, ['x-http-version', '1', 'x-stainless-retry-count', '0']],
  ['', []],
  ['method=delete&a_method=1&a.method=1&filter[method]=1', ['_method', 'x']],
])('finds no override in the query %j with the headers %j', (query, headers) => {
  expect(hasMethodOverride(query, headers)).toBe(false);
});
