/** Saves the table of usage as it is shown, with all its pages and the total, as CSV. */
import { saveCsv, toCsv } from '../../format/csv.js';
import { groupLabel } from '../../messages/group-label.js';
import { type BreakdownQuery, type BreakdownRow, fetchBreakdown } from './fetch-breakdown.js';

const PAGE_SIZE = 100;
/** A bound for the browser; the page says when a table is longer. */
export const EXPORT_ROWS_MAX = 10_000;

const HEADER = [
  'spendUsd',
  'share',
  'previousSpendUsd',
  'changeUsd',
  'calls',
  'errors',
  'tokensIn',
  'tokensOut',
] as const;

/** Returns whether all rows are in the file. */
export async function exportBreakdown(query: BreakdownQuery): Promise<boolean> {
  const { by, thenBy } = query;
  const rows: BreakdownRow[] = [];
  let reply = await fetchBreakdown({ ...query, limit: PAGE_SIZE, offset: 0 });
  const { totals } = reply;
  rows.push(...reply.rows);
  while (reply.rows.length > 0 && rows.length < Math.min(reply.total, EXPORT_ROWS_MAX)) {
    reply = await fetchBreakdown({ ...query, limit: PAGE_SIZE, offset: rows.length });
    rows.push(...reply.rows);
  }
  const all = totals?.costUsd ?? 0;
  const lines = rows.map((row) => [
    groupLabel(by, row.value, row.name),
    row.value,
    ...(thenBy === undefined
      ? []
      : [groupLabel(thenBy, row.thenValue ?? '', row.thenName ?? null), row.thenValue ?? '']),
    row.costUsd,
    all === 0 || row.costUsd === null ? null : Number((row.costUsd / all).toFixed(4)),
    row.previous?.costUsd ?? null,
    row.previous === undefined || row.costUsd === null ? null : Number((row.costUsd - row.previous.costUsd).toFixed(6)),
    row.requests,
    row.errors,
    row.tokensIn,
    row.tokensOut,
  ]);
  const names = [by, `${by}Id`, ...(thenBy === undefined ? [] : [thenBy, `${thenBy}Id`])];
  const total =
    totals === undefined
      ? []
      : [
          [
            'Total',
            ...names.slice(1).map(() => null),
            totals.costUsd,
            all === 0 ? null : 1,
            totals.previous?.costUsd ?? null,
            totals.previous === undefined ? null : Number((totals.costUsd - totals.previous.costUsd).toFixed(6)),
            totals.requests,
            totals.errors,
            totals.tokensIn,
            totals.tokensOut,
          ],
        ];
  const range = 'period' in query ? query.period : `${query.start}-${query.end ?? 'today'}`;
  saveCsv(
    `usage-by-${[by, thenBy].filter(Boolean).join('-and-')}-${range}.csv`,
    toCsv([...names, ...HEADER], [...lines, ...total]),
  );
  return rows.length >= reply.total;
}
