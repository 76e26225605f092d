/** Writes tables as CSV (RFC 4180) and saves them as files. */

/** Prefixes text that a spreadsheet would run as a formula. Numbers stay numbers. */
function escapeCell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const inert = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

export type CsvRow = readonly (string | number | null)[];

export const toCsv = (header: readonly string[], rows: readonly CsvRow[]): string =>
  [header, ...rows].map((row) => `${row.map(escapeCell).join(',')}\r\n`).join('');

/** Saves a text as a file of the browser. A data URL, because the CSP allows no blob. */
export function saveCsv(name: string, text: string): void {
  const link = document.createElement('a');
  link.href = `data:text/csv;charset=utf-8,${encodeURIComponent(text)}`;
  link.download = name;
  link.click();
}
