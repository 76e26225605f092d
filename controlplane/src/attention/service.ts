/** Lists what needs a user's action in one organization, from the database alone. */
import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import type { Sql } from '../db/postgres-client.js';
import { utcMonthOf } from '../ledger/usage-aggregation.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import { type CircuitView, listCircuits } from '../providers/org-circuit-list.js';
import { ATTENTION_KINDS, type AttentionReply, type AttentionThing } from './schema.js';
import { type AttentionRow, loadAttentionRows, SHOWN_PER_KIND_MAX } from './store.js';

type AttentionItems = AttentionReply['attention'];

export async function listAttentionItems(
  sql: Sql,
  catalogue: Catalogue,
  orgId: string,
  nowMs: number,
): Promise<AttentionItems> {
  const rows = await loadAttentionRows(sql, orgId, utcMonthOf(nowMs));
  const circuits = await listCircuits(
    sql,
    catalogue,
    orgId,
    { state: 'OPEN', providerSlug: null },
    { limit: SHOWN_PER_KIND_MAX, offset: 0 },
  );
  return ATTENTION_KINDS.flatMap((kind): AttentionItems => {
    if (kind === 'circuit_open')
      return circuits.total === 0 ? [] : [{ kind, total: circuits.total, things: circuits.rows.map(presentCircuit) }];
    const ofKind = rows.filter((row) => row.kind === kind);
    return ofKind.length === 0 ? [] : [{ kind, total: ofKind[0]!.total, things: ofKind.map(presentRow) }];
  });
}

const presentCircuit = ({ providerSlug, displayName, since }: CircuitView): AttentionThing => ({
  id: providerSlug,
  name: displayName,
  agentId: null,
  agentName: null,
  providerSlug,
  at: since,
  monthCents: null,
  budgetCents: null,
  paused: false,
});

const presentRow = ({ kind: _, total: _all, at, monthNanos, ...row }: AttentionRow): AttentionThing => ({
  ...row,
  at: at?.toISOString() ?? null,
  monthCents: monthNanos === null ? null : Number(monthNanos) / NANOS_PER_CENT,
});
