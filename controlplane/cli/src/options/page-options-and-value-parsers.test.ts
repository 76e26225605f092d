import { expect, test } from 'vitest';
import { printRemainingRows } from './page-options-and-value-parsers.js';

test.each([
  ['a whole list', 2, { total: 2, offset: 0 }, []],
  ['its last page', 1, { total: 2, offset: 1 }, []],
  ['its first page', 1, { total: 2, offset: 0 }, ['1 of 2; the next: --offset 1']],
  ['behind its end', 0, { total: 2, offset: 9 }, []],
  ['one that is counted to its end', 5, { total: 10, offset: 5, totalCapped: false }, []],
  ['one that is not', 5, { total: 10, offset: 5, totalCapped: true }, ['5 of 10 and more; the next: --offset 10']],
])('what is said to be left: %s', (_what, rows, page, said) => {
  const notes: string[] = [];
  printRemainingRows({ printNote: (text) => notes.push(text) }, rows, page);
  expect(notes).toEqual(said);
});
