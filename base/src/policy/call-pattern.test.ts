import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchesCall, parseCallPattern } from './call-pattern.js';
import {
  normalizeLeniently,
  splitPathInEachReading,
  splitPathLeniently,
  splitPathStrictly,
} from './split-path-strictly-or-leniently.js';

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
  ['/v1%2fchat', ['v1%2Fchat']],
  ['/v1%252fchat', ['v1%252Fchat']],
  ['/v1%25%32%66chat', ['v1%252Fchat']],
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

test.each([
  ['/a/b', [['a', 'b']]],
  ['/a%20b/c', [['a b', 'c']]],
  [
    '/p/a%2Fb/c',
    [
      ['p', 'a', 'b', 'c'],
      ['p', 'a/b', 'c'],
    ],
  ],
  [
    '/p/A%252fB/c',
    [
      ['p', 'a', 'b', 'c'],
      ['p', 'a/b', 'c'],
      ['p', 'a/b', 'c'],
    ],
  ],
  ['/p%2Fa%252Fb', [['p', 'a', 'b'], ['p/a/b'], ['p', 'a/b']]],
  ['/%EF%BD%81%2F%5C', [['a'], ['a/\\']]],
])('reads %s as %j', (path, readings) => {
  expect(splitPathInEachReading(path)).toEqual(readings);
});

const name = fc.constantFrom('a', 'b', 'hooks', 'projects', 'x');
const encodedSlash = fc.constantFrom('%2F', '%2f', '%252F', '%25252f', '%25%32%46', '%25252525252F');
const anySlash = fc.oneof(fc.constant('/'), encodedSlash);

test('a deny rule matches where encoded slashes are part of a segment and where they are separators', () => {
  const rule = parseCallPattern('* /projects/*/hooks/**', splitPathLeniently)!;
  const isDenied = (path: string): boolean =>
    splitPathInEachReading(path).some((segments) => matchesCall(rule, 'GET', segments));
  fc.assert(
    fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), encodedSlash, anySlash, anySlash, (id, inner, s, t) => {
      expect(isDenied(`/projects/${id.join(inner)}/hooks`)).toBe(true);
      expect(isDenied(`/projects${s}7${t}hooks${s}1`)).toBe(true);
      expect(isDenied(`/projects/${id.join(inner)}/issues`)).toBe(id.length > 1 && id[1] === 'hooks');
    }),
  );
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
