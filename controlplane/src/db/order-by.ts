/** `order by` of lists that can be sorted. */
import type { Sql, Tx } from './sql.js';

export interface Sorting<T extends string> {
  readonly sort?: T;
  readonly order?: 'asc' | 'desc';
}

/** How a list is sorted by one of its fields. */
interface SortColumn {
  readonly by: string;
  /** What has no value comes last. */
  readonly nullable?: true;
  /** Without an order: from the beginning of the alphabet. Others: the newest or largest first. */
  readonly text?: true;
}

/** The first of the columns holds where none is asked for; `id` decides between equals. */
export function orderBy<T extends string>(
  sql: Sql | Tx,
  columns: Readonly<Record<T, SortColumn>>,
  { sort, order }: Sorting<T>,
) {
  const { by, nullable, text } = sort === undefined ? (Object.values(columns)[0] as SortColumn) : columns[sort];
  const direction = order ?? (text === true ? 'asc' : 'desc');
  const nulls = nullable === true ? 'nulls last' : '';
  return sql.unsafe(`order by ${by} ${direction} ${nulls}, id ${direction}`);
}
