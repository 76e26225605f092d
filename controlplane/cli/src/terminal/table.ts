/**
 * Formats rows: aligned under headings on a terminal, tab-separated in a pipe. A table that is too wide for its
 * terminal is narrowed in steps: long texts are cut, columns to copy from move to lines of their own, and columns are
 * left out from the right.
 */
import stringWidth from 'fast-string-width';
import { escapeControlCharacters } from './escape-control-characters.js';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string;
  /** Numbers are right-aligned. They are never cut. */
  readonly alignRight?: boolean;
  /** Ids and commands: never cut or left out. In a narrow terminal they follow the row on a line of their own. */
  readonly toCopy?: boolean;
}

interface TableStyle {
  /** Width of the terminal in columns, which aligns rows and bounds lines; null prints cells whole, for programs. */
  readonly width: number | null;
  /** Makes headings faint; the identity without colour. */
  readonly faint: (text: string) => string;
}

interface Table {
  /** Without line ends; empty without rows. */
  readonly lines: readonly string[];
  /** Titles of the columns for which the terminal is too narrow. */
  readonly leftOut: readonly string[];
}

/** Text columns are cut to this width (columns of the terminal) before a column is left out, then to the second. */
const TEXT_WIDTHS = [24, 8] as const;
const GAP = '  ';

interface MeasuredColumn {
  readonly title: string;
  readonly cells: readonly string[];
  readonly alignRight: boolean;
  readonly toCopy: boolean;
  readonly width: number;
}

export function formatTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { width, faint }: TableStyle,
): Table {
  if (rows.length === 0) return { lines: [], leftOut: [] };
  const measured = columns.map((column) => measureColumn(column, rows));
  if (width === null) {
    const line = (at: number): string => measured.map(({ cells }) => cells[at]).join('\t');
    return { lines: [measured.map(({ title }) => title).join('\t'), ...rows.map((_, at) => line(at))], leftOut: [] };
  }
  const { inLine, below, leftOut } = fitColumns(measured, width);
  const heading = inLine.map(({ title, alignRight, width: columnWidth }) => pad(title, columnWidth, alignRight));
  const lines = rows.flatMap((_, at) => [
    inLine
      .map(({ cells, alignRight, width: columnWidth }) => pad(cells[at]!, columnWidth, alignRight))
      .join(GAP)
      .trimEnd(),
    ...below.map(({ cells }) => `  → ${cells[at]}`),
  ]);
  return { lines: [faint(heading.join(GAP).trimEnd()), ...lines], leftOut };
}

function measureColumn<Row>(column: Column<Row>, rows: readonly Row[]): MeasuredColumn {
  const { title, cell, alignRight = false, toCopy = false } = column;
  const cells = rows.map((row) => escapeControlCharacters(cell(row)));
  return { title, cells, alignRight, toCopy, width: Math.max(...[title, ...cells].map((text) => stringWidth(text))) };
}

function fitColumns(all: readonly MeasuredColumn[], width: number) {
  const leftOut: string[] = [];
  const isTooWide = (columns: readonly MeasuredColumn[]): boolean =>
    columns.reduce((sum, column) => sum + column.width + GAP.length, -GAP.length) > width;
  if (!isTooWide(all)) return { inLine: all, below: [], leftOut };
  const below = all.filter(({ toCopy }, at) => toCopy && at > 0); // the first one begins the row
  let inLine = all.filter((column) => !below.includes(column));
  const [wide, narrow] = TEXT_WIDTHS;
  if (isTooWide(inLine)) inLine = inLine.map((column) => cutColumn(column, wide));
  while (isTooWide(inLine) && inLine.length > 2) leftOut.unshift(inLine.pop()!.title);
  if (isTooWide(inLine)) inLine = inLine.map((column) => cutColumn(column, narrow));
  return { inLine, below, leftOut };
}

/** The title is not cut. */
function cutColumn(column: MeasuredColumn, textWidth: number): MeasuredColumn {
  const width = Math.max(textWidth, stringWidth(column.title));
  if (column.alignRight || column.toCopy || column.width <= width) return column;
  return { ...column, width, cells: column.cells.map((text) => cutText(text, width)) };
}

function cutText(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let cut = '';
  let used = 1; // the ellipsis
  for (const character of text) {
    used += stringWidth(character);
    if (used > width) break;
    cut += character;
  }
  return `${cut}…`;
}

function pad(text: string, width: number, alignRight: boolean): string {
  const padding = ' '.repeat(width - stringWidth(text));
  return alignRight ? padding + text : text + padding;
}
