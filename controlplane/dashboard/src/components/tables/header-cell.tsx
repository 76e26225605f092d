/** The head of a table's column, which sorts where the server can. */
import { UnstyledButton } from '@mantine/core';

/** The server sorts. */
export interface Sorting {
  readonly sort: string;
  readonly order: 'asc' | 'desc';
  readonly onSort: (sort: string, order: 'asc' | 'desc') => void;
}

interface HeaderCellProps {
  readonly header: string;
  readonly numeric?: boolean;
  readonly isRight: boolean;
  /** Undefined: the column cannot be sorted. */
  readonly sortKey?: string;
  readonly sorting: Sorting | undefined;
}

/** A sorted column shows its direction; the first click on another one sorts numbers descending and texts ascending. */
export function HeaderCell({ header, numeric = false, isRight, sortKey, sorting }: HeaderCellProps) {
  const align = isRight ? 'acg-right' : undefined;
  if (sorting === undefined || sortKey === undefined) return <th className={align}>{header}</th>;
  const current = sorting.sort === sortKey ? sorting.order : null;
  const first = numeric ? 'desc' : 'asc';
  const next = current === null ? first : current === 'asc' ? 'desc' : 'asc';
  return (
    <th className={align} aria-sort={current === null ? 'none' : current === 'asc' ? 'ascending' : 'descending'}>
      <UnstyledButton className="acg-sort-button" onClick={() => sorting.onSort(sortKey, next)}>
        {header}
        <span aria-hidden>{current === null ? '' : current === 'asc' ? ' ↑' : ' ↓'}</span>
      </UnstyledButton>
    </th>
  );
}
