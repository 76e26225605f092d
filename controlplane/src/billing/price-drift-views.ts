/** Prices that differ from the bill, with the entry of PRICES_FILE that would remove the difference. Pure. */
import { RATE_FIELDS } from '../prices/price-fields.js';
import type { DriftRow } from './line-store.js';
import type { PriceDrift } from './reconcile.js';
import type { PriceDriftView } from './schema.js';

/** Nano-dollars per token in USD per million tokens. */
const USD_PER_MTOK = 1e-3;
/** A report's prices are quotients of rounded amounts. */
const DIGITS = 6;
const round = (usd: number): number => Number(usd.toPrecision(DIGITS));

export const toDriftRows = (drifts: readonly PriceDrift[]): Omit<DriftRow, 'accountId'>[] =>
  drifts.map(({ dayMs, model, tokenClass, ours, theirs }) => ({
    day: new Date(dayMs).toISOString().slice(0, 10),
    model,
    field: RATE_FIELDS.find(({ name }) => name === tokenClass)!.field,
    ours: round(ours * USD_PER_MTOK),
    theirs: round(theirs * USD_PER_MTOK),
  }));

/** One view per billing account and model, with the prices of the last day. `rows` are in the order of days. */
export function presentDrifts(rows: readonly DriftRow[], providerOf: ReadonlyMap<string, string>): PriceDriftView[] {
  const views = new Map<string, Map<string, DriftRow[]>>();
  for (const row of rows) {
    if (!providerOf.has(row.accountId)) continue;
    const key = `${row.accountId}\n${row.model}`;
    const days = views.get(key) ?? new Map<string, DriftRow[]>();
    days.set(row.day, [...(days.get(row.day) ?? []), row]);
    views.set(key, days);
  }
  return [...views.values()].map((days) => {
    const last = [...days.values()].at(-1)!;
    const { accountId, model } = last[0]!;
    const since = [...days.keys()][0]!;
    const providerSlug = providerOf.get(accountId)!;
    const entry = { from: since, ...Object.fromEntries(last.map(({ field, theirs }) => [field, theirs])) };
    return {
      accountId,
      providerSlug,
      model,
      since,
      prices: last.map(({ field, ours, theirs }) => ({ field, ourUsdPerMTok: ours, theirUsdPerMTok: theirs })),
      pricesFile: JSON.stringify({ [providerSlug]: { models: { [model]: [entry] } } }),
    };
  });
}
