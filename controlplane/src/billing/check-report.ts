/**
 * Checks a provider's report before it is compared: buckets in UTC, texts that Postgres can store, sums that stay exact.
 * Leaves out buckets outside of the range, whose lines the next check would not replace. Throws {@link ReportProblem}.
 * Pure.
 */
import { DAY_MS, HOUR_MS } from '@acg/base/time-and-money-units';
import { ReportProblem } from './apis/report-client.js';
import type { ReconciledLine } from './reconcile.js';
import { type DayRange, type ProviderReport, type ReportedUsage, sumTokens } from './report/provider-report.js';

/** As the ledger stores models. The key of a line must fit into an index of Postgres. */
const TEXT_CHARS_MAX = 200;

export function checkReport(report: ProviderReport, range: DayRange, bucketMs: number): ProviderReport {
  const isInRange = (startMs: number): boolean => startMs >= range.fromMs && startMs < range.toMs;
  for (const { startMs } of report.usage) assertBucketStart(startMs, bucketMs);
  for (const { dayMs } of report.costs) assertBucketStart(dayMs, DAY_MS);
  const usage = report.usage.filter(({ startMs }) => isInRange(startMs));
  if (usage.some(({ costNanos }) => costNanos !== null && costNanos < 0))
    throw new ReportProblem('The report has a negative cost of calls. Nothing was compared: check again later.');
  assertExactSum(usage, ({ tokens }) => sumTokens(tokens));
  assertExactSum(usage, ({ requests }) => requests ?? 0);
  return {
    // Without a label, the id tells keys apart: the empty label means a key that the provider does not list.
    keys: report.keys.map((key) => {
      const id = storableText(key.id);
      return { ...key, id, label: storableText(key.label) || id };
    }),
    usage: usage.map(
      (row): ReportedUsage => ({ ...row, keyId: storableText(row.keyId), model: storableText(row.model) }),
    ),
    costs: report.costs
      .filter(({ dayMs }) => isInRange(dayMs))
      .map((cost) => ({ ...cost, model: storableText(cost.model) })),
  };
}

const SUMMED_FIELDS = [
  'ourTokens',
  'ourNanos',
  'theirNanos',
  'failureNanos',
  'unattributedNanos',
  'ambiguousNanos',
  'unbilledNanos',
  'priceNanos',
] as const;

/** Throws {@link ReportProblem} where the API could not show the sums of the lines exactly. */
export function assertExactLines(lines: readonly ReconciledLine[]): void {
  for (const field of SUMMED_FIELDS) assertExactSum(lines, (line) => line[field]);
}

function assertBucketStart(startMs: number, widthMs: number): void {
  if (Number.isSafeInteger(startMs) && startMs % widthMs === 0) return;
  const width = widthMs === HOUR_MS ? 'hour' : 'day';
  throw new ReportProblem(
    `The report has a bucket that does not begin with a UTC ${width}. Nothing was compared: check again later.`,
  );
}

function assertExactSum<Row>(rows: readonly Row[], figureOf: (row: Row) => number): void {
  let sum = 0;
  for (const row of rows) sum += Math.abs(figureOf(row));
  if (!Number.isSafeInteger(Math.ceil(sum)))
    throw new ReportProblem(
      'The report or the ledger has figures that are too large to compare. Nothing was compared.',
    );
}

/** NUL and halves of surrogate pairs have no place in a text of Postgres. */
const storableText = (text: string): string =>
  Buffer.from(text.slice(0, TEXT_CHARS_MAX)).toString().replaceAll('\0', '\ufffd');
