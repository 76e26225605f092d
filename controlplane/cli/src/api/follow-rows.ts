/** Polls the newest page of a list and shows each row once. */
import { UnreachableError } from '@acg/client/api-errors';
import type { Invocation } from '../invocation/invocation.js';
import { escapeControlCharacters } from '../terminal/escape-control-characters.js';

const POLL_MS = 2_000;
/** Maximum page size of the API. */
export const PAGE_ROWS_MAX = 100;
/** Ids remembered to skip repeated rows: more than one page, but bounded. */
const SEEN_IDS_MAX = 10 * PAGE_ROWS_MAX;

interface FollowSource<Row> {
  /** Returns the newest rows first, at most {@link PAGE_ROWS_MAX}. */
  readonly fetchNewest: () => Promise<readonly Row[]>;
  /** Called once for each row, oldest first; the next row waits for its promise. */
  readonly line: (row: Row) => string | Promise<string>;
  /** Skips rows that existed before the start. */
  readonly skipExisting: boolean;
}

/** Runs until the process ends. Network failures are reported and retried. */
export async function followRows<Row extends { readonly id: string }>(
  run: Invocation,
  { fetchNewest: load, line, skipExisting: onlyNew }: FollowSource<Row>,
): Promise<never> {
  let seen = new Set<string>();
  for (let poll = 1; ; poll++) {
    const rows = await load().catch((error: unknown) => {
      if (poll === 1 || !(error instanceof UnreachableError)) throw error;
      run.printNote(`acg: ${error.message}; retrying`);
      return [];
    });
    const fresh = rows.filter(({ id }) => !seen.has(id));
    if (poll > 1 && fresh.length === PAGE_ROWS_MAX)
      run.printNote(`more than ${PAGE_ROWS_MAX} at once: not all are shown`);
    if (poll > 1 || !onlyNew) {
      for (const row of fresh.toReversed()) {
        const text = await line(row);
        if (run.isJson) run.printJson(row);
        else run.printLine(escapeControlCharacters(text));
      }
    }
    seen = new Set([...seen, ...fresh.map(({ id }) => id)].slice(-SEEN_IDS_MAX));
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
