/**
 * A list of the API: a table, or cards on small screens. It shows its own loading, error, no-match and empty states.
 */
import { Button, Card, Group, NativeSelect, Pagination, ScrollArea, Skeleton, Stack, Table, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { formatCount } from '../../format/format.js';
import { EmptyState } from '../feedback/empty-state.js';
import { ErrorAlert } from '../feedback/error-alert.js';
import { staleProps } from '../feedback/stale-props.js';
import { useListFocusOnRowRemoval } from '../focus/use-list-focus-on-row-removal.js';
import { HeaderCell, type Sorting } from './header-cell.js';

export interface Column<Row> {
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** Right-aligned. */
  readonly numeric?: boolean;
  /** Shown only on wide screens. */
  readonly wideOnly?: boolean;
  /** Value of `Sorting.sort` for this column; without it the column cannot be sorted. */
  readonly sortKey?: string;
}

interface Paging {
  /** Starts at 1. */
  readonly page: number;
  readonly pageSize: number;
  readonly total: number;
  /** `total` is a lower bound. */
  readonly capped?: boolean;
  readonly onPage: (page: number) => void;
}

/** Rows can be selected; the selection survives paging. */
interface Selection<Row> {
  readonly isSelected: (row: Row) => boolean;
  readonly set: (rows: readonly Row[], selected: boolean) => void;
  readonly nameOf: (row: Row) => string;
}

interface DataTableProps<Data, Row> {
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
  /** Rows of one line, and a head that stays at the top of the window. */
  readonly isDense?: boolean;
  readonly selection?: Selection<Row>;
  readonly sorting?: Sorting;
  /** Cells of the last line, by the header of their column, e.g. totals. */
  readonly footer?: (data: Data) => Readonly<Record<string, ReactNode>>;
  readonly filtered?: boolean;
  readonly onClearFilters?: () => void;
  /** Text for filtered lists without a match, where the search does not cover all rows. */
  readonly nothingMatches?: string;
  /** Shown when the unfiltered list is empty. */
  readonly empty: ReactNode;
}

/** Header of the actions column, which is the last and right-aligned. */
const ACTIONS_HEADER = 'Actions';
const SKELETON_ROWS = ['92%', '78%', '85%', '70%', '88%'];
/** Below this width, cards replace the table. */
const NARROW_SCREEN = '(max-width: 48em)';
const WIDE_SCREEN = '(min-width: 75em)';

export function DataTable<Data, Row>(props: DataTableProps<Data, Row>) {
  const { query, rows, empty, filtered = false, onClearFilters } = props;
  const narrow = useMediaQuery(NARROW_SCREEN, false, { getInitialValueInEffect: false });
  const wide = useMediaQuery(WIDE_SCREEN, false, { getInitialValueInEffect: false });
  const focusStays = useListFocusOnRowRemoval();
  const data = query.data;
  if (data === undefined) {
    return (
      <Card p={query.error === null ? 'md' : 'lg'}>
        {query.error === null ? (
          <LoadingRows label={props.label} />
        ) : (
          <ErrorAlert error={query.error} onRetry={query.refetch} />
        )}
      </Card>
    );
  }
  const list = rows(data);
  const paging = props.paging?.(data);
  const columns = props.columns.filter((column) => wide || column.wideOnly !== true);
  return (
    <Stack gap="sm" {...focusStays}>
      {query.error !== null && <ErrorAlert error={query.error} onRetry={query.refetch} />}
      <Card
        p={0}
        {...(props.isDense === true ? { className: 'acg-dense-card' } : {})}
        aria-busy={query.isFetching}
        {...staleProps(query.isPlaceholderData)}
      >
        {list.length === 0 && filtered && (
          <EmptyState
            title={props.nothingMatches ?? 'Nothing matches these filters'}
            action={
              onClearFilters !== undefined && (
                <Button size="xs" variant="default" onClick={onClearFilters}>
                  Clear filters
                </Button>
              )
            }
          />
        )}
        {list.length === 0 && !filtered && empty}
        {list.length > 0 &&
          (narrow ? (
            <CardsView {...props} list={list} footerCells={props.footer?.(data) ?? null} />
          ) : (
            <TableView {...props} list={list} columns={columns} footerCells={props.footer?.(data) ?? null} />
          ))}
      </Card>
      {paging !== undefined && list.length > 0 && <PagingBar {...paging} shown={list.length} label={props.label} />}
    </Stack>
  );
}

const LoadingRows = ({ label }: { readonly label: string }) => (
  <Stack gap="sm" role="status" aria-label={`Loading ${label.toLowerCase()}`}>
    {SKELETON_ROWS.map((width) => (
      <Skeleton key={width} h={24} w={width} radius="sm" />
    ))}
  </Stack>
);

type ListProps<Data, Row> = DataTableProps<Data, Row> & {
  readonly list: readonly Row[];
  readonly footerCells: Readonly<Record<string, ReactNode>> | null;
};

function TableView<Data, Row>({
  label,
  list,
  columns,
  rowKey,
  href,
  selection,
  sorting,
  footerCells,
  isDense = false,
}: ListProps<Data, Row>) {
  const [, navigate] = useLocation();
  return (
    <TableRegion label={label} isDense={isDense}>
      <Table className="acg-table" verticalSpacing={isDense ? 6 : 'sm'} horizontalSpacing="md" aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            {selection !== undefined && (
              <Table.Th w={36} pr={0}>
                <SelectAllCheckbox label={label} list={list} selection={selection} />
              </Table.Th>
            )}
            {columns.map((column) => (
              <HeaderCell
                key={column.header}
                {...column}
                isRight={column.numeric === true || column.header === ACTIONS_HEADER}
                sorting={sorting}
              />
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {list.map((row) => (
            <Table.Tr
              key={rowKey(row)}
              {...(href === undefined
                ? {}
                : {
                    'data-link': true,
                    style: { cursor: 'pointer' },
                    onClick: (event) => {
                      // Clicks on controls inside the row, and text selections, do not open the row.
                      if ((event.target as Element).closest('a,button,input,label') !== null) return;
                      if (getSelection()?.toString() === '') navigate(href(row));
                    },
                  })}
            >
              {selection !== undefined && (
                <Table.Td pr={0}>
                  <RowCheckbox row={row} selection={selection} />
                </Table.Td>
              )}
              {columns.map(({ header, cell, numeric }, i) => (
                <Table.Td
                  key={header}
                  ta={numeric === true ? 'right' : 'left'}
                  className={numeric === true ? 'acg-tabular-numbers' : ''}
                >
                  {i === 0 && href !== undefined ? <RowLink to={href(row)}>{cell(row)}</RowLink> : cell(row)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
        {footerCells !== null && (
          <Table.Tfoot>
            <Table.Tr>
              {selection !== undefined && <Table.Td />}
              {columns.map(({ header, numeric }) => (
                <Table.Th
                  key={header}
                  ta={numeric === true ? 'right' : 'left'}
                  className="acg-table-total acg-tabular-numbers"
                >
                  {footerCells[header]}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Tfoot>
        )}
      </Table>
    </TableRegion>
  );
}

interface TableRegionProps {
  readonly label: string;
  readonly isDense: boolean;
  readonly children: ReactNode;
}

/** A head can only stick to the window where no scroll area is between. */
const TableRegion = ({ label, isDense, children }: TableRegionProps) =>
  isDense ? (
    <section aria-label={label}>{children}</section>
  ) : (
    <ScrollArea type="auto" tabIndex={-1} viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': label }}>
      {children}
    </ScrollArea>
  );

interface RowCheckboxProps<Row> {
  readonly row: Row;
  readonly selection: Selection<Row>;
}

const RowCheckbox = <Row,>({ row, selection }: RowCheckboxProps<Row>) => (
  <input
    type="checkbox"
    className="acg-checkbox"
    aria-label={`Select ${selection.nameOf(row)}`}
    checked={selection.isSelected(row)}
    onChange={(event) => selection.set([row], event.currentTarget.checked)}
  />
);

interface SelectAllCheckboxProps<Row> {
  readonly label: string;
  readonly list: readonly Row[];
  readonly selection: Selection<Row>;
}

function SelectAllCheckbox<Row>({ label, list, selection }: SelectAllCheckboxProps<Row>) {
  const ticked = list.filter(selection.isSelected).length;
  return (
    <input
      type="checkbox"
      className="acg-checkbox"
      aria-label={`Select all ${label.toLowerCase()} on this page`}
      checked={ticked === list.length}
      ref={(box) => {
        if (box !== null) box.indeterminate = ticked > 0 && ticked < list.length;
      }}
      onChange={(event) => selection.set(list, event.currentTarget.checked)}
    />
  );
}

function CardsView<Data, Row>({
  label,
  list,
  columns,
  rowKey,
  href,
  selection,
  sorting,
  footerCells,
}: ListProps<Data, Row>) {
  const sortable = columns.filter(({ sortKey }) => sortKey !== undefined);
  const [title, ...others] = columns;
  return (
    <>
      {sorting !== undefined && sortable.length > 0 && (
        <NativeSelect
          label="Sort by"
          p="md"
          pb={0}
          data={sortable.map(({ sortKey, header }) => ({ value: sortKey!, label: header }))}
          value={sorting.sort}
          onChange={({ currentTarget: { value } }) =>
            sorting.onSort(value, sortable.find(({ sortKey }) => sortKey === value)?.numeric === true ? 'desc' : 'asc')
          }
        />
      )}
      <ul className="acg-plain-list" aria-label={label}>
        {list.map((row) => (
          <li className="acg-card-list-item" key={rowKey(row)}>
            <Group gap="sm" mb="xs" wrap="nowrap" align="flex-start">
              {selection !== undefined && <RowCheckbox row={row} selection={selection} />}
              <Text component="div" size="sm" fw={600} className="acg-break-anywhere">
                {href === undefined ? title?.cell(row) : <RowLink to={href(row)}>{title?.cell(row)}</RowLink>}
              </Text>
            </Group>
            <Stack gap={6}>
              {others
                .filter(({ header, cell }) => header !== ACTIONS_HEADER || cell(row) !== false)
                .map(({ header, cell, numeric }) => (
                  <Group key={header} justify="space-between" align="flex-start" wrap="nowrap" gap="md">
                    <span className="acg-label">{header}</span>
                    <Text
                      component="div"
                      size="sm"
                      ta="right"
                      className={`acg-break-anywhere${numeric === true ? ' acg-tabular-numbers' : ''}`}
                    >
                      {cell(row)}
                    </Text>
                  </Group>
                ))}
            </Stack>
          </li>
        ))}
        {footerCells !== null && (
          <li className="acg-card-list-item">
            <Stack gap={6}>
              {columns
                .filter(({ header }) => footerCells[header] !== undefined)
                .map(({ header }) => (
                  <Group key={header} justify="space-between" wrap="nowrap" gap="md">
                    <span className="acg-label">{header}</span>
                    <Text component="div" size="sm" fw={600} ta="right" className="acg-tabular-numbers">
                      {footerCells[header]}
                    </Text>
                  </Group>
                ))}
            </Stack>
          </li>
        )}
      </ul>
    </>
  );
}

function PagingBar({
  page,
  pageSize,
  total,
  capped = false,
  onPage,
  shown,
  label,
}: Paging & { readonly shown: number; readonly label: string }) {
  const first = (page - 1) * pageSize + 1;
  return (
    <Group justify="space-between" gap="sm">
      <Text size="sm" c="dimmed" className="acg-tabular-numbers">
        {formatCount(first)}–{formatCount(first + shown - 1)} of {capped ? 'more than ' : ''}
        {formatCount(total)}
      </Text>
      {total > pageSize && (
        <Pagination
          size="sm"
          value={page}
          onChange={onPage}
          total={Math.ceil(total / pageSize)}
          siblings={1}
          boundaries={1}
          getControlProps={(control) => ({ 'aria-label': `${label}: ${control} page` })}
          getItemProps={(number) => ({ 'aria-label': `${label}: page ${number}` })}
        />
      )}
    </Group>
  );
}

/** The link to a row's page. */
const RowLink = ({ to, children }: { readonly to: string; readonly children: ReactNode }) => (
  <Link href={to} className="acg-row-link">
    {children}
  </Link>
);
