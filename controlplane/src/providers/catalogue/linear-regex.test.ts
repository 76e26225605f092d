import { expect, test } from 'vitest';
import { compileLinearRegex, MATCHED_CHARS_MAX, matchesLinearRegex } from './linear-regex.js';

test.each([
  '^[a-z0-9-]{1,63}$',
  '^(?:(?:gh[opsu]_|github_pat_)[A-Za-z0-9_.-]{16,}|[0-9a-f]{40})$',
  '^\\x{263a}[\\](){100}]\\{100}$',
  '^(?i)(?:ab){50}$',
])('linear regex: compiles %s', (pattern) => {
  expect(compileLinearRegex(pattern).programSize()).toBeLessThanOrEqual(300);
});

/** Each of them took seconds of CPU, to compile or to match 8 192 characters. */
test.each([
  `^${'[a-z]{0,1000}'.repeat(30)}$`,
  `^${'(a?){1000}'.repeat(40)}a$`,
  `^${'\\pL{1000}'.repeat(45)}$`,
  `^(?:${'abcdefgh'.repeat(50)}){1000}$`,
  `^(${'abcdefgh'.repeat(50)}[(]x[)]){1000}$`,
  `^(?:(?:(?:${'a'.repeat(400)}){10}){10}){10}$`,
  `^\\Q[\\E(${'abcdefgh'.repeat(50)}]){1000}$`,
  `^${'a'.repeat(400)}$`,
])('linear regex: does not compile the large %s', (pattern) => {
  expect(() => compileLinearRegex(pattern)).toThrow('too large');
});

test('linear regex: a text that is too long matches nothing', () => {
  expect(matchesLinearRegex('^a+$', 'a'.repeat(MATCHED_CHARS_MAX))).toBe(true);
  expect(matchesLinearRegex('^a+$', 'a'.repeat(MATCHED_CHARS_MAX + 1))).toBe(false);
});
