/** Writes tables as CSV (RFC 4180) and saves them as files. */
import { saveText } from './save-text.js';

/** Prefixes text that a spreadsheet would run as a formula. Numbers stay numbers. */
function escapeCell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const inert = /^[=+@＝＋＠－\t\r\n-]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

export type CsvRow = readonly (string | number | null)[];

export const toCsv = (header: readonly string[], rows: readonly CsvRow[]): string =>
  [header, ...rows].map((row) => `${row.map(escapeCell).join(',')}\r\n`).join('');

export const saveCsv = (name: string, text: string): void => saveText(name, 'text/csv', text);
