/** Rows as they come: the newest page, again and again, each row once. */
import { Unreachable } from '@acg/client/api-error';
import type { Invocation } from '../invocation/invocation.js';
import { printable, printableJson } from '../terminal/printable.js';

const POLL_MS = 2_000;
/** The most rows that the API gives at once. */
export const PAGE = 100;
/** More than any page has: it must not grow for ever. */
const REMEMBERED = 10 * PAGE;

interface Source<Row> {
  /** The newest rows first, at most {@link PAGE}. */
  readonly load: () => Promise<readonly Row[]>;
  readonly line: (row: Row) => string;
  /** Rows that were there before are not shown. */
  readonly onlyNew: boolean;
}

/** Until the process is ended; a network that goes and comes back does not end it. */
export async function follow<Row extends { readonly id: string }>(
  run: Invocation,
  { load, line, onlyNew }: Source<Row>,
): Promise<never> {
  let seen = new Set<string>();
  for (let look = 1; ; look++) {
    const rows = await load().catch((error: unknown) => {
      if (look === 1 || !(error instanceof Unreachable)) throw error;
      run.note(`acg: ${error.message}: trying again`);
      return [];
    });
    const fresh = rows.filter(({ id }) => !seen.has(id));
    if (look > 1 && fresh.length === PAGE) run.note(`more than ${PAGE} at once: not all are shown`);
    if (look > 1 || !onlyNew) {
      for (const row of fresh.toReversed()) run.out(run.json ? printableJson(row) : printable(line(row)));
    }
    seen = new Set([...seen, ...fresh.map(({ id }) => id)].slice(-REMEMBERED));
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
