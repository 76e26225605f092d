/** Continues a search in calls where a response stopped: one response searches a bounded number of calls. */

interface CallsQuery {
  readonly limit: number;
  readonly offset: number;
  readonly endTime?: string;
}

interface CallsPage<Row> {
  readonly logs: Row[];
  /** Counted up to {@link COUNTED_TOTAL_MAX}. */
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
  /** ISO 8601; calls before it were not searched. Null when all were searched or the page is full. */
  readonly searchedFrom: string | null;
}

const COUNTED_TOTAL_MAX = 10_000;

/**
 * A page of calls from at most so many answers:
 *
 *   const load = (query) => client.get('/v1/usage/logs', { params: { query: { ...filters, ...query } } });
 *   const { logs, searchedFrom } = await searchBack(load, { limit: 50, offset: 0 }, 10);
 */
export async function searchOlderCalls<Row, Page extends CallsPage<Row>>(
  load: (query: CallsQuery) => Promise<Page & CallsPage<Row>>,
  query: CallsQuery,
  requestsMax: number,
): Promise<Page> {
  const { limit, offset } = query;
  let page = await load(query);
  for (
    let answers = 1;
    answers < requestsMax && page.searchedFrom !== null && page.total < COUNTED_TOTAL_MAX;
    answers++
  ) {
    const { logs, total, searchedFrom } = page;
    const rest = { limit: limit - logs.length, offset: Math.max(0, offset - total) };
    const older = await load({ ...query, ...rest, endTime: searchedFrom! });
    page = {
      ...older,
      limit,
      offset,
      logs: [...logs, ...older.logs],
      total: Math.min(COUNTED_TOTAL_MAX, total + older.total),
    };
  }
  return page;
}
