import { expect, test } from 'vitest';
import { sortRows } from './use-local-sorting.js';

const rows = [{ at: '2026-02-01' }, { at: null }, { at: '2026-01-01' }];

test('keeps rows without a value last in both orders', () => {
  expect(sortRows(rows, ({ at }) => at, 'asc').map(({ at }) => at)).toEqual(['2026-01-01', '2026-02-01', null]);
  expect(sortRows(rows, ({ at }) => at, 'desc').map(({ at }) => at)).toEqual(['2026-02-01', '2026-01-01', null]);
});

test('sorts numbers by size and texts without regard to case', () => {
  expect(sortRows([10, 9, -1], (value) => value, 'asc')).toEqual([-1, 9, 10]);
  expect(sortRows(['beta', 'Alpha 10', 'alpha 9'], (value) => value, 'asc')).toEqual(['alpha 9', 'Alpha 10', 'beta']);
});

test('keeps the order of equal rows', () => {
  const named = [
    { name: 'a', n: 1 },
    { name: 'A', n: 2 },
  ];
  expect(sortRows(named, ({ name }) => name, 'desc').map(({ n }) => n)).toEqual([1, 2]);
});
