/** Formats rows: aligned under headings on a terminal, tab-separated in a pipe. */
import stringWidth from 'fast-string-width';
import { escapeControlCharacters } from './escape-control-characters.js';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string;
  /** Numbers are right-aligned. */
  readonly alignRight?: boolean;
}

interface TableStyle {
  /** Width of the terminal in columns, which aligns rows and bounds cells; null prints cells whole, for programs. */
  readonly width: number | null;
  /** Makes headings faint; the identity without colour. */
  readonly faint: (text: string) => string;
}

/** Returns lines without line ends; empty without rows. */
export function formatTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { width, faint }: TableStyle,
): readonly string[] {
  if (rows.length === 0) return [];
  const titles = columns.map(({ title }) => title);
  const cells = rows.map((row) => columns.map(({ cell }) => truncateCell(escapeControlCharacters(cell(row)), width)));
  if (width === null) return [titles, ...cells].map((line) => line.join('\t'));
  const widths = columns.map((_, at) => Math.max(...[titles, ...cells].map((line) => stringWidth(line[at]!))));
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, at) => {
        const padding = ' '.repeat(widths[at]! - stringWidth(text));
        return columns[at]!.alignRight === true ? padding + text : text + padding;
      })
      .join('  ')
      .trimEnd();
  return [faint(line(titles)), ...cells.map(line)];
}

/** A long cell must not widen its column for all other rows. */
function truncateCell(text: string, width: number | null): string {
  if (width === null || stringWidth(text) <= width) return text;
  return `${[...text].slice(0, width - 1).join('')}…`;
}
