/** What needs somebody, of all that the organization has; nothing is asked of anybody else. */
import { NANOS_PER_CENT } from '@acg/base/units';
import type { Sql } from '../db/sql.js';
import { monthOf } from '../ledger/rollup.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import { type CircuitView, listCircuits } from '../providers/circuit-view.js';
import { ATTENTION_KINDS, type AttentionReply, type AttentionThing } from './schema.js';
import { type AttentionRow, loadAttention, SHOWN } from './store.js';

type Items = AttentionReply['attention'];

export async function listAttention(sql: Sql, catalogue: Catalogue, orgId: string, nowMs: number): Promise<Items> {
  const rows = await loadAttention(sql, orgId, monthOf(nowMs));
  const circuits = await listCircuits(
    sql,
    catalogue,
    orgId,
    { state: 'OPEN', providerSlug: null },
    { limit: SHOWN, offset: 0 },
  );
  return ATTENTION_KINDS.flatMap((kind): Items => {
    if (kind === 'circuit_open')
      return circuits.total === 0 ? [] : [{ kind, total: circuits.total, things: circuits.rows.map(ofCircuit) }];
    const own = rows.filter((row) => row.kind === kind);
    return own.length === 0 ? [] : [{ kind, total: own[0]!.total, things: own.map(thingOf) }];
  });
}

const ofCircuit = ({ providerSlug, displayName, since }: CircuitView): AttentionThing => ({
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

const thingOf = ({ kind: _, total: _all, at, monthNanos, ...row }: AttentionRow): AttentionThing => ({
  ...row,
  at: at?.toISOString() ?? null,
  monthCents: monthNanos === null ? null : Number(monthNanos) / NANOS_PER_CENT,
});
