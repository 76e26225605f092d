/** Batches of reported usage: joined for one transaction, halved to find an item that the database rejects. */
import type { UsageBatch, UsageBatchItems } from './decode-usage-batch.js';

/**
 * Splits in half by the number of all items. Null: there is only one item. Deferred usage comes first: a record takes
 * its deferred sums when it is booked, so they must be booked with it or before.
 */
export function splitBatch({
  entries,
  rejections,
  ipObservations,
  deferredUsage,
}: UsageBatchItems): readonly [UsageBatchItems, UsageBatchItems] | null {
  const size = entries.length + rejections.length + ipObservations.length + deferredUsage.length;
  if (size <= 1) return null;
  let left = size >> 1;
  const cut = <T>(items: readonly T[]): readonly [readonly T[], readonly T[]] => {
    const at = Math.min(left, items.length);
    left -= at;
    return [items.slice(0, at), items.slice(at)];
  };
  const [l, e, r, s] = [cut(deferredUsage), cut(entries), cut(rejections), cut(ipObservations)];
  return [
    { entries: e[0], rejections: r[0], ipObservations: s[0], deferredUsage: l[0] },
    { entries: e[1], rejections: r[1], ipObservations: s[1], deferredUsage: l[1] },
  ];
}

/** Removes repeated counts and observations. Repeated records and deferred usage are found by the database. */
export function mergeBatches(reports: readonly UsageBatch[]): UsageBatchItems {
  const all = <T>(of: (report: UsageBatch) => readonly T[]): readonly T[] =>
    reports.length === 1 ? of(reports[0]!) : reports.flatMap(of);
  return {
    entries: all(({ entries }) => entries),
    deferredUsage: all(({ deferredUsage }) => deferredUsage),
    rejections: uniqueById(all(({ rejections }) => rejections)),
    ipObservations: uniqueById(all(({ ipObservations }) => ipObservations)),
  };
}

const uniqueById = <T extends { readonly id: string }>(items: readonly T[]): readonly T[] =>
  items.length < 2 ? items : [...new Map(items.map((item) => [item.id, item])).values()];
