/** Rows as they come: the newest page, again and again, each row once. */
import { UnreachableError } from '@acg/client/api-errors';
import type { Invocation } from '../invocation/invocation.js';
import { toPrintable, toPrintableJson } from '../terminal/printable.js';

const POLL_MS = 2_000;
/** The most rows that the API gives at once. */
export const PAGE_ROWS_MAX = 100;
/** More than any page has: it must not grow for ever. */
const SEEN_IDS_MAX = 10 * PAGE_ROWS_MAX;

interface FollowSource<Row> {
  /** The newest rows first, at most {@link PAGE_ROWS_MAX}. */
  readonly fetchNewest: () => Promise<readonly Row[]>;
  readonly line: (row: Row) => string;
  /** Rows that were there before are not shown. */
  readonly skipExisting: boolean;
}

/** Until the process is ended; a network that goes and comes back does not end it. */
export async function followRows<Row extends { readonly id: string }>(
  run: Invocation,
  { fetchNewest: load, line, skipExisting: onlyNew }: FollowSource<Row>,
): Promise<never> {
  let seen = new Set<string>();
  for (let poll = 1; ; poll++) {
    const rows = await load().catch((error: unknown) => {
      if (poll === 1 || !(error instanceof UnreachableError)) throw error;
      run.printNote(`acg: ${error.message}: trying again`);
      return [];
    });
    const fresh = rows.filter(({ id }) => !seen.has(id));
    if (poll > 1 && fresh.length === PAGE_ROWS_MAX)
      run.printNote(`more than ${PAGE_ROWS_MAX} at once: not all are shown`);
    if (poll > 1 || !onlyNew) {
      for (const row of fresh.toReversed()) run.printLine(run.isJson ? toPrintableJson(row) : toPrintable(line(row)));
    }
    seen = new Set([...seen, ...fresh.map(({ id }) => id)].slice(-SEEN_IDS_MAX));
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
