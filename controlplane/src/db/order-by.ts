/** `order by` clause of sortable lists. */
import type { Sql, Tx } from './postgres-client.js';

export interface Sorting<T extends string> {
  readonly sort?: T | undefined;
  readonly order?: 'asc' | 'desc' | undefined;
}

/** A column by which a list can be sorted. */
interface SortColumn {
  readonly by: string;
  /** Rows without a value come last. */
  readonly nullable?: true;
  /** Text is sorted ascending by default, all other columns descending. */
  readonly text?: true;
}

/** SQL of the rank of the column `role`, the least first. */
export const ROLE_RANK = "array_position(array['viewer', 'member', 'admin', 'owner'], role)";

/** Sorts by the first column if the request names none; `id` breaks ties. */
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
