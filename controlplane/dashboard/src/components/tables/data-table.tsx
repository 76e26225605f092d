/**
 * A list of the API: a table, or cards on small screens. It shows its own loading, error, no-match and empty states.
 */
import { Button, Card, Group, ScrollArea, Skeleton, Stack, Table } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { memo, type ReactNode, useDeferredValue, useRef } from 'react';
import { useLocation } from 'wouter';
import { EmptyState } from '../feedback/empty-state.js';
import { ErrorAlert } from '../feedback/error-alert.js';
import { staleProps } from '../feedback/stale-props.js';
import { useListFocusOnRowRemoval } from '../focus/use-list-focus-on-row-removal.js';
import { lazyComponent } from '../layout/lazy-component-no-suspense-delay.js';
import { CardsView } from './cards-view.js';
import {
  ACTIONS_HEADER,
  type Column,
  type DataTableProps,
  type ListProps,
  type Selection,
} from './data-table-types.js';
import { HeaderCell } from './header-cell.js';
import { CursorBar, PagingBar } from './paging-bars.js';
import { isPlainClick, RowCheckbox, RowLink } from './row-parts.js';
import { useLocalSorting } from './use-local-sorting.js';
import { useTableView } from './use-table-view.js';

export type { Column } from './data-table-types.js';

const TableViewMenu = lazyComponent(async () => (await import('./table-view-menu.js')).TableViewMenu, null);
// With the screen, not after its rows.
void TableViewMenu.preload();

const SKELETON_ROWS = ['92%', '78%', '85%', '70%', '88%'];
/** Below this width, cards replace the table. */
const NARROW_SCREEN = '(max-width: 48em)';
const WIDE_SCREEN = '(min-width: 75em)';
/** Rows of one line need more room for the columns that only wide screens have. */
const WIDE_SCREEN_OF_DENSE_ROWS = '(min-width: 88em)';
/** As many as most windows show; the rows below them are drawn right after. */
const FIRST_ROWS = 25;
const NUMERIC_CELL = 'acg-right acg-tabular-numbers';

export function DataTable<Data, Row>(props: DataTableProps<Data, Row>) {
  const { query, rows, empty, filtered = false, onClearFilters } = props;
  const narrow = useMediaQuery(NARROW_SCREEN, false, { getInitialValueInEffect: false });
  const wide = useMediaQuery(props.isDense === true ? WIDE_SCREEN_OF_DENSE_ROWS : WIDE_SCREEN, false, {
    getInitialValueInEffect: false,
  });
  const focusStays = useListFocusOnRowRemoval();
  const view = useTableView(props.label);
  const card = useRef<HTMLDivElement>(null);
  const sortLocally = useLocalSorting<Row>();
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
  const loaded = rows(data);
  const paging = props.paging?.(data);
  const cursorPaging = props.cursorPaging?.(data);
  const {
    list,
    columns: allColumns,
    sorting = props.sorting,
  } = sortLocally(
    loaded,
    props.columns,
    props.sorting === undefined && cursorPaging === undefined && (paging?.total ?? 0) <= loaded.length,
  );
  const columns = allColumns.filter((column) => view.isShown(column, wide));
  const isBeyondLastPage = list.length === 0 && paging !== undefined && paging.total > 0;
  const isCompact = view.isCompact && !narrow;
  return (
    <Stack gap="sm" {...focusStays}>
      {query.error !== null && <ErrorAlert error={query.error} onRetry={query.refetch} />}
      <Card
        p={0}
        ref={card}
        className={`${props.isDense === true ? 'acg-dense-card' : ''} ${isCompact ? 'acg-compact' : ''}`}
        aria-busy={query.isFetching}
        {...staleProps(query.isPlaceholderData)}
      >
        {isBeyondLastPage && (
          <EmptyState
            title="This page has no rows"
            action={
              <Button size="xs" variant="default" onClick={() => paging.onPage(1)}>
                First page
              </Button>
            }
          />
        )}
        {list.length === 0 && !isBeyondLastPage && filtered && (
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
        {list.length === 0 && !isBeyondLastPage && !filtered && empty}
        {list.length > 0 &&
          (narrow ? (
            <CardsView
              {...props}
              sorting={sorting}
              columns={allColumns.filter((column) => view.isShown(column, true))}
              list={list}
              footerCells={props.footer?.(data) ?? null}
            />
          ) : (
            <TableView
              {...props}
              sorting={sorting}
              list={list}
              columns={columns}
              isCompact={isCompact}
              footerCells={props.footer?.(data) ?? null}
            />
          ))}
      </Card>
      {list.length > 0 && (
        <Group justify="space-between" gap="sm">
          <Group gap="sm" flex={1}>
            {paging !== undefined && <PagingBar {...paging} shown={list.length} label={props.label} />}
            {cursorPaging !== undefined && <CursorBar {...cursorPaging} label={props.label} />}
          </Group>
          <TableViewMenu
            label={props.label}
            columns={props.columns}
            view={view}
            wide={wide}
            narrow={narrow}
            list={card}
          />
        </Group>
      )}
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

/** Has plain rows and cells: those of the UI library resolve theme and styles each, and a list of calls has 800. */
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
  isCompact,
}: ListProps<Data, Row> & { readonly isCompact: boolean }) {
  const [, navigate] = useLocation();
  const drawnRows = Math.max(FIRST_ROWS, useDeferredValue(list.length, FIRST_ROWS));
  return (
    <TableRegion label={label} isDense={isDense} isCompact={isCompact}>
      <Table
        className="acg-table"
        verticalSpacing={isDense || isCompact ? 6 : 'sm'}
        horizontalSpacing={isDense ? 10 : 'md'}
        aria-label={label}
      >
        <thead>
          <tr>
            {selection !== undefined && (
              <th className="acg-checkbox-cell">
                <SelectAllCheckbox label={label} list={list} selection={selection} />
              </th>
            )}
            {columns.map((column) => (
              <HeaderCell
                key={column.header}
                {...column}
                isRight={column.numeric === true || column.header === ACTIONS_HEADER}
                sorting={sorting}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {list.slice(0, drawnRows).map((row) => (
            <TableRow
              key={rowKey(row)}
              row={row}
              columns={columns}
              to={href?.(row)}
              selection={selection}
              navigate={navigate}
            />
          ))}
        </tbody>
        {footerCells !== null && (
          <tfoot>
            <tr>
              {selection !== undefined && <td />}
              {columns.map(({ header, numeric }) => (
                <th
                  key={header}
                  className={`acg-table-total ${numeric === true ? NUMERIC_CELL : 'acg-tabular-numbers'}`}
                >
                  {footerCells[header]}
                </th>
              ))}
            </tr>
          </tfoot>
        )}
      </Table>
    </TableRegion>
  );
}

interface TableRowProps<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
  /** Address of the row's page. */
  readonly to: string | undefined;
  readonly selection: Selection<Row> | undefined;
  readonly navigate: (to: string) => void;
}

function TableRowCells<Row>({ row, columns, to, selection, navigate }: TableRowProps<Row>) {
  return (
    <tr
      {...(to === undefined
        ? {}
        : {
            'data-link': true,
            onClick: (event) => {
              if (isPlainClick(event.target as Element)) navigate(to);
            },
          })}
    >
      {selection !== undefined && (
        <td className="acg-checkbox-cell">
          <RowCheckbox row={row} selection={selection} />
        </td>
      )}
      {columns.map(({ header, cell, numeric, takesRest }, i) => (
        <td
          key={header}
          className={numeric === true ? NUMERIC_CELL : takesRest === true ? 'acg-takes-rest' : undefined}
        >
          {i === 0 && to !== undefined ? <RowLink to={to}>{cell(row)}</RowLink> : cell(row)}
        </td>
      ))}
    </tr>
  );
}

/** The page creates its array of columns at each render; the functions of its cells may be constant. */
function isSameRow<Row>(before: TableRowProps<Row>, after: TableRowProps<Row>): boolean {
  return (
    before.row === after.row &&
    before.to === after.to &&
    before.selection === after.selection &&
    before.navigate === after.navigate &&
    before.columns.length === after.columns.length &&
    before.columns.every(
      ({ header, cell }, i) => header === after.columns[i]!.header && cell === after.columns[i]!.cell,
    )
  );
}

/** Rendered again only when its row or a cell's function has changed: lists have up to 500 rows and refetch. */
const TableRow = memo(TableRowCells, isSameRow) as typeof TableRowCells;

interface TableRegionProps {
  readonly label: string;
  readonly isDense: boolean;
  readonly isCompact: boolean;
  readonly children: ReactNode;
}

/** A head sticks to the window where no scroll area is between, else to the scroll area, which fits into the window. */
function TableRegion({ label, isDense, isCompact, children }: TableRegionProps) {
  if (isDense) return <section aria-label={label}>{children}</section>;
  const viewportProps = { tabIndex: 0, role: 'region', 'aria-label': label } as const;
  return isCompact ? (
    <ScrollArea.Autosize type="auto" mah="calc(100dvh - 9rem)" tabIndex={-1} viewportProps={viewportProps}>
      {children}
    </ScrollArea.Autosize>
  ) : (
    <ScrollArea type="auto" tabIndex={-1} viewportProps={viewportProps}>
      {children}
    </ScrollArea>
  );
}

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
