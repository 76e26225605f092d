import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchesCall, parseCallPattern } from './call-pattern.js';
import { CallRules } from './call-rules.js';
import { splitPathInEachReading, splitPathLeniently } from './split-path-strictly-or-leniently.js';

const allows = (pattern: string, path: string): boolean =>
  new CallRules({
    isCustom: false,
    basePath: '',
    sensitiveCalls: [],
    opaqueCalls: [],
    policy: { closed: false, calls: [pattern], models: null },
    modelCalls: [],
  }).allows('GET', path, true, null, []);

test.each([
  ['/projects/*/issues', '/projects/7/issues', true],
  ['/projects/*/issues', '/projects/a%2Fb/issues', false],
  ['/projects/*/issues', '/projects/a%252Fb/issues', false],
  ['/projects/*/issues', '/projects/a%25%32%66b/issues', false],
  ['/projects/*%2F*/issues', '/projects/a%2Fb/issues', true],
  ['/projects/*%2f*/issues', '/projects/a%2fb%2Fc/issues', true],
  ['/projects/*%2F*/issues', '/projects/a%252Fb/issues', false],
  ['/projects/*%2F*/issues', '/projects/7/issues', false],
  ['/projects/**', '/projects/a%2Fb/issues', true],
  ['/projects/a%2Fb', '/projects/a%2Fb', true],
  ['/projects/a/b', '/projects/a%2Fb', false],
])('the allowed call %s allows %s: %s', (pattern, path, expected) => {
  expect(allows(`GET ${pattern}`, path)).toBe(expected);
});

test('what an allow-list without encoded slashes allows is allowed in every reading of the path', () => {
  const segment = fc.constantFrom('a', 'b', '*', 'a*', '**');
  const patterns = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => `GET /${parts.join('/')}`);
  const slash = fc.constantFrom('/', '/', '%2F', '%2f', '%252F', '%25%32%46');
  const paths = fc
    .array(fc.tuple(slash, fc.constantFrom('a', 'b', 'ab')), { minLength: 1, maxLength: 5 })
    .map((parts) => `/${parts.map(([before, name], i) => (i === 0 ? name : before + name)).join('')}`);
  let allowed = 0;
  fc.assert(
    fc.property(patterns, paths, (pattern, path) => {
      if (!allows(pattern, path)) return;
      if (path.includes('%')) allowed++;
      const lenient = parseCallPattern(pattern, splitPathLeniently)!;
      for (const reading of splitPathInEachReading(path)) expect(matchesCall(lenient, 'GET', reading)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
  expect(allowed).toBeGreaterThan(0);
});
