import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchesCall, parseCallPattern } from './call-pattern.js';
import { normalizeLeniently, splitPathLeniently, splitPathStrictly } from './split-path-strictly-or-leniently.js';

const matches = (pattern: string, method: string, path: string): boolean =>
  matchesCall(parseCallPattern(pattern, splitPathStrictly)!, method, path.slice(1).split('/'));

test.each([
  ['POST /v1/chat/completions', 'POST', '/v1/chat/completions', true],
  ['POST /v1/chat/completions', 'GET', '/v1/chat/completions', false],
  ['* /v1/chat/completions', 'DELETE', '/v1/chat/completions', true],
  ['POST /v1/chat/completions', 'POST', '/v1/chat/completions/', false],
  ['GET /v1/models/**', 'GET', '/v1/models', true],
  ['GET /v1/models/**', 'GET', '/v1/models/a/b', true],
  ['GET /v1/models/**', 'GET', '/v1/modelsx', false],
  ['GET /v1/models/*', 'GET', '/v1/models/a/b', false],
  ['GET /v1/models/*', 'GET', '/v1/models/a', true],
  ['* /v*/user/tokens', 'POST', '/v3/user/tokens', true],
  ['* /v*/user/tokens', 'POST', '/v3/a/user/tokens', false],
  ['POST /models/*:generate*', 'POST', '/models/gemini:generateContent', true],
  ['POST /models/*:generate*', 'POST', '/models/gemini:count', false],
  ['GET /a*a', 'GET', '/a', false],
  ['GET /a*a', 'GET', '/aa', true],
  ['* /v*/integrations/**/access_token', 'GET', '/v1/integrations/x/y/access_token', true],
  ['* /v*/integrations/**/access_token', 'GET', '/v1/integrations/access_token', true],
  ['* /**/a/**/b', 'GET', '/x/a/y/a/b', true],
  ['* /**/a/**/b', 'GET', '/x/y/b', false],
  ['* /**', 'GET', '/', true],
  ['GET /v1/files/*', 'GET', '/v1/files/', false],
])('the pattern %s on %s %s gives %s', (pattern, method, path, expected) => {
  expect(matches(pattern, method, path)).toBe(expected);
});

test.each(['', 'GET', '/x', 'GET x', ' /x'])('rejects the call pattern %j', (text) => {
  expect(parseCallPattern(text, splitPathStrictly)).toBeNull();
});

/** The same rules as a regular expression. */
const asRegExp = (path: string): RegExp => {
  const segments = path.slice(1).split('/');
  const parts = segments.map((segment) =>
    segment === '**'
      ? '(?:/[^/]*)*'
      : `/${segment.includes('*') ? `(?=[^/])${segment.replaceAll('*', '[^/]*')}` : segment}`,
  );
  return new RegExp(`^${parts.join('')}$`);
};

test('matches the same paths as the equivalent regular expression', () => {
  const segment = fc.constantFrom('a', 'b', 'ab', '*', 'a*', '*b', '**');
  const pathOf = (arbitrary: fc.Arbitrary<string>) =>
    fc.array(arbitrary, { minLength: 1, maxLength: 5 }).map((parts) => `/${parts.join('/')}`);
  fc.assert(
    fc.property(pathOf(segment), pathOf(fc.constantFrom('a', 'b', 'ab', 'abb', '')), (pattern, path) => {
      expect(matches(`* ${pattern}`, 'GET', path)).toBe(asRegExp(pattern).test(path));
    }),
  );
});

test.each([
  ['/v1/%63hat', ['v1', 'chat']],
  ['/v1%2Fchat', ['v1%2Fchat']],
  ['/v1/%2563hat', ['v1', '%2563hat']],
  ['/a%7Eb%5F%2d', ['a~b_-']],
  ['/a%5Bb%5D', ['a%5Bb%5D']],
  ['//a/', ['', 'a', '']],
  ['/', ['']],
])('splits %s strictly into %j', (path, segments) => {
  expect(splitPathStrictly(path)).toEqual(segments);
});

test.each([
  ['/api-keys', ['api-keys']],
  ['//API-Keys/', ['api-keys']],
  ['/%61pi%2dkeys', ['api-keys']],
  ['/%2561pi-keys', ['api-keys']],
  ['/%25%36%31pi-keys', ['api-keys']],
  ['/x%2F%2e%2e%2Fapi-keys', ['api-keys']],
  ['/x/%25252e%25252e/api-keys', ['api-keys']],
  ['/api-keys;v=1/x;y', ['api-keys', 'x']],
  ['/api-keys%3bx', ['api-keys']],
  ['/%EF%BD%81pi-keys', ['api-keys']], // a full-width letter
  ['/api-%E2%84%AAeys', ['api-keys']], // the Kelvin sign
  ['/%zz%', ['%zz%']],
])('splits %s leniently into %j', (path, segments) => {
  expect(splitPathLeniently(path)).toEqual(segments);
});

test('decodes in one pass as repeated decoding does', () => {
  const unit = fc.constantFrom('%', '2', '5', '6', '1', 'a', 'F');
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 40 }), (text) => {
      let slow = text;
      for (let before = ''; before !== slow; ) {
        before = slow;
        slow = slow.replace(/%([0-9a-fA-F]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
      }
      if (/^[\0-\x7f]*$/.test(slow)) expect(normalizeLeniently(text)).toBe(slow.toLowerCase());
    }),
  );
});
