/** Walks a list of the API over all its pages. */

/** The query of one page. */
interface PageQuery {
  readonly limit: number;
  readonly offset: number;
}

interface ListPage {
  readonly total: number;
  /** The total is a lower bound: counting was stopped. */
  readonly totalCapped?: boolean;
}

/** The most rows that the API gives at once. */
const PAGE_LIMIT_MAX = 100;

/**
 * Every row of a list, in its order; a page is asked for when its first row is taken:
 *
 *   const load = (query) => client.get('/v1/projects', { params: { query } });
 *   for await (const project of everyRow(load, (page) => page.projects)) …
 *
 * Rows that are added or deleted meanwhile may be seen twice or not at all, as with any paging by offset.
 */
export async function* iterateAllRows<Page extends ListPage, Row>(
  load: (query: PageQuery) => Promise<Page>,
  rowsOf: (page: Page) => readonly Row[],
): AsyncGenerator<Row, void, undefined> {
  for (let offset = 0; ; ) {
    const page = await load({ limit: PAGE_LIMIT_MAX, offset });
    const rows = rowsOf(page);
    yield* rows;
    offset += rows.length;
    if (rows.length === 0 || (offset >= page.total && page.totalCapped !== true)) return;
  }
}
