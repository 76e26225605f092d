/** Types of a list: its columns, pages, selection and texts. */
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Sorting } from './header-cell.js';

/** Times as ISO text. Null: the row has none. */
export type SortValue = string | number | null;

export interface Column<Row> {
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** Right-aligned. */
  readonly numeric?: boolean;
  /** Shown only on wide screens. */
  readonly wideOnly?: boolean;
  /** On small screens its whole text is shown, however many lines it takes. */
  readonly wraps?: boolean;
  /** In dense rows the column takes the width that the others leave, and cuts what does not fit. */
  readonly takesRest?: boolean;
  /** On small screens the value stands beside the title. */
  readonly isBesideTitle?: boolean;
  /** Shown only where the user chooses it. */
  readonly isOptional?: boolean;
  /** Value of `Sorting.sort` for this column; without it the column cannot be sorted. */
  readonly sortKey?: string;
  /** Makes the column sortable in a list without `sorting`, while all its rows are loaded. */
  readonly sortValue?: (row: Row) => SortValue;
}

export interface Paging {
  /** Starts at 1. */
  readonly page: number;
  readonly pageSize: number;
  readonly total: number;
  /** `total` is a lower bound. */
  readonly capped?: boolean;
  readonly onPage: (page: number) => void;
}

/** Pages that a cursor separates, so their number is not known. Null: there is no such page. */
export interface CursorPaging {
  readonly onNewest: (() => void) | null;
  readonly onNewer: (() => void) | null;
  readonly onOlder: (() => void) | null;
}

/** Rows can be selected; the selection survives paging. */
export interface Selection<Row> {
  readonly isSelected: (row: Row) => boolean;
  readonly set: (rows: readonly Row[], selected: boolean) => void;
  readonly nameOf: (row: Row) => string;
}

export interface DataTableProps<Data, Row> {
  /** Accessible name of the table. */
  readonly label: string;
  readonly query: UseQueryResult<Data>;
  readonly rows: (data: Data) => readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** The first column identifies the row and holds its link. */
  readonly columns: readonly Column<Row>[];
  /** Address of a row's page. */
  readonly href?: (row: Row) => string;
  readonly paging?: (data: Data) => Paging;
  readonly cursorPaging?: (data: Data) => CursorPaging;
  /** Rows of one line, and a head that stays at the top of the window. */
  readonly isDense?: boolean;
  readonly selection?: Selection<Row>;
  readonly sorting?: Sorting | undefined;
  /** Cells of the last line, by the header of their column, e.g. totals. */
  readonly footer?: (data: Data) => Readonly<Record<string, ReactNode>>;
  readonly filtered?: boolean;
  readonly onClearFilters?: () => void;
  /** Text for filtered lists without a match, where the search does not cover all rows. */
  readonly nothingMatches?: string;
  /** Shown when the unfiltered list is empty. */
  readonly empty: ReactNode;
}

export type ListProps<Data, Row> = DataTableProps<Data, Row> & {
  readonly list: readonly Row[];
  readonly footerCells: Readonly<Record<string, ReactNode>> | null;
};

/** Header of the actions column, which is the last and right-aligned. */
export const ACTIONS_HEADER = 'Actions';
