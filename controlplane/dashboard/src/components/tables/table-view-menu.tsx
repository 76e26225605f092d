/** Chooses the columns of a table and compact rows, and saves the shown rows as CSV. */
import { Button, Checkbox, Popover, Stack } from '@mantine/core';
import { Columns3, Download } from 'lucide-react';
import type { RefObject } from 'react';
import { type CsvRow, saveCsv, toCsv } from '../../format/csv.js';
import { ACTIONS_HEADER, type Column } from './data-table-types.js';
import type { TableView } from './use-table-view.js';

interface TableViewMenuProps {
  readonly label: string;
  readonly columns: readonly Pick<Column<never>, 'header' | 'isOptional' | 'wideOnly'>[];
  readonly view: TableView;
  readonly wide: boolean;
  /** Cards instead of a table. */
  readonly narrow: boolean;
  readonly list: RefObject<HTMLElement | null>;
}

export function TableViewMenu({ label, columns, view, wide, narrow, list }: TableViewMenuProps) {
  // The first column identifies the row; actions are no content.
  const choices = columns.slice(1).filter(({ header }) => header !== ACTIONS_HEADER);
  return (
    <Popover position="top-end" trapFocus returnFocus withinPortal>
      <Popover.Target>
        <Button
          size="compact-sm"
          variant="subtle"
          color="gray"
          c="dimmed"
          leftSection={<Columns3 size={14} aria-hidden />}
        >
          View options
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs">
          {choices.map((column) => (
            <Checkbox
              key={column.header}
              size="sm"
              label={column.header}
              checked={view.isShown(column, wide || narrow)}
              onChange={(event) => view.setShown(column.header, event.currentTarget.checked)}
            />
          ))}
          {!narrow && (
            <Checkbox
              size="sm"
              label="Compact rows"
              checked={view.isCompact}
              onChange={(event) => view.setCompact(event.currentTarget.checked)}
            />
          )}
          <Button size="compact-sm" variant="default" onClick={view.reset}>
            Default view
          </Button>
          {!narrow && (
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<Download size={14} aria-hidden />}
              onClick={() =>
                list.current !== null &&
                saveCsv(`${label.toLowerCase().replaceAll(' ', '-')}.csv`, tableToCsv(list.current))
              }
            >
              Save rows as CSV
            </Button>
          )}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

/** Times of the rows are instants in UTC, whatever zone the screen shows. */
const ZONE_UNIT = / \((?:UTC|GMT[^)]*)\)$/;

/** The shown rows and columns. Times are exact, numbers and dollars without separators. */
export function tableToCsv(list: HTMLElement): string {
  const heads = [...list.querySelectorAll('thead th')].map((head) =>
    (head.textContent ?? '').replace(/ [↑↓]$/, '').replace(ZONE_UNIT, ''),
  );
  const shown = heads.flatMap((head, i) => (head === '' || head === ACTIONS_HEADER ? [] : [i]));
  const rows = [...list.querySelectorAll('tbody tr')].map((row): CsvRow => {
    const cells = [...row.querySelectorAll<HTMLElement>('td')];
    return shown.map((i) => cellValue(cells[i]));
  });
  return toCsv(
    shown.map((i) => heads[i] ?? ''),
    rows,
  );
}

const NUMBER = /^\$?(\d{1,3}(?:,\d{3})*(?:\.\d+)?)$/;

function cellValue(cell: HTMLElement | undefined): string | number | null {
  if (cell === undefined) return null;
  const time = cell.querySelector('time');
  if (time !== null) return time.dateTime;
  const text = textOf(cell).replace(/\s+/g, ' ').trim();
  const digits = NUMBER.exec(text)?.[1];
  return digits === undefined ? text : Number(digits.replaceAll(',', ''));
}

/** The text with a space between elements: two lines of a cell are not one word. */
function textOf(cell: HTMLElement): string {
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  let text = '';
  let parent: Node | null = null;
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    text += `${parent === null || parent === node.parentNode ? '' : ' '}${node.textContent ?? ''}`;
    parent = node.parentNode;
  }
  return text;
}
