/** admit.lua as it is sent: what it says of each window of a kind is written out for the rows of the limit table. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { FIXED_ROWS, TOKEN_ROWS } from './limit-table.js';

const ROWS: Readonly<Record<string, readonly number[]>> = { fixed: FIXED_ROWS, token: TOKEN_ROWS };

/** No loops over windows in the script itself: they would cost a table and its walk per request (measured: half as much again). */
function writeOut(template: string): string {
  return template.replace(/--\[\[each (\w+)\]\](.*?)--\[\[end\]\]/gs, (_, kind: string, text: string) =>
    (ROWS[kind] ?? [])
      .map((_row, at) => text.replace(/\bINDEX\b|_I\b/g, (found) => (found === 'INDEX' ? `${at + 1}` : `_${at + 1}`)))
      .join(''),
  );
}

export const SCRIPT = writeOut(readFileSync(new URL('./admit.lua', import.meta.url), 'utf8'));
export const SCRIPT_SHA = createHash('sha1').update(SCRIPT).digest('hex');
