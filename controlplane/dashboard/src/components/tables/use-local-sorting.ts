/** Sorts in the browser the lists that are loaded as a whole. Lists with several pages are sorted by the server. */
import { useState } from 'react';
import type { Column, SortValue } from './data-table-types.js';
import type { Sorting } from './header-cell.js';

interface SortedList<Row> {
  readonly list: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly sorting: Sorting | undefined;
}

/** `isWhole`: the list has all rows, so that sorting it cannot hide any. */
export function useLocalSorting<Row>(): (
  list: readonly Row[],
  columns: readonly Column<Row>[],
  isWhole: boolean,
) => SortedList<Row> {
  /** `sort` empty: the order of the server. */
  const [{ sort, order }, setSorting] = useState<Omit<Sorting, 'onSort'>>({ sort: '', order: 'asc' });
  return (list, columns, isWhole) => {
    if (!isWhole || columns.every(({ sortValue }) => sortValue === undefined))
      return { list, columns, sorting: undefined };
    const sortValueOf = columns.find(({ header }) => header === sort)?.sortValue;
    return {
      list: sortValueOf === undefined ? list : sortRows(list, sortValueOf, order),
      columns: columns.map((column) =>
        column.sortValue === undefined ? column : { ...column, sortKey: column.header },
      ),
      sorting: { sort, order, onSort: (next, direction) => setSorting({ sort: next, order: direction }) },
    };
  };
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/** Rows without a value are last in both orders. */
export function sortRows<Row>(
  rows: readonly Row[],
  sortValueOf: (row: Row) => SortValue,
  order: Sorting['order'],
): readonly Row[] {
  const sign = order === 'asc' ? 1 : -1;
  return rows.toSorted((one, other) => {
    const [a, b] = [sortValueOf(one), sortValueOf(other)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    if (typeof a === 'number' && typeof b === 'number') return sign * (a - b);
    return sign * collator.compare(String(a), String(b));
  });
}
