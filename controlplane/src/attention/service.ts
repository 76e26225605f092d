/** Lists what needs a user's action in one organization, from the database alone. */
import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import type { Sql } from '../db/postgres-client.js';
import { type Actor, isRoleAtLeast } from '../http/route-access.js';
import { utcMonthOf } from '../ledger/usage-aggregation.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import { type CircuitView, listCircuits } from '../providers/org-circuit-list.js';
import { ATTENTION_KINDS, type AttentionReply, type AttentionThing } from './schema.js';
import {
  type AttentionRow,
  loadAttentionRows,
  loadOpenAlerts,
  loadSensitiveAttempts,
  type OpenAlertRow,
  type SensitiveAttemptRow,
  SHOWN_PER_KIND_MAX,
} from './store.js';

type AttentionItems = AttentionReply['attention'];

export async function listAttentionItems(
  sql: Sql,
  catalogue: Catalogue,
  actor: Actor,
  nowMs: number,
): Promise<AttentionItems> {
  const { orgId } = actor;
  const rows = await loadAttentionRows(sql, orgId, utcMonthOf(nowMs));
  const circuits = await listCircuits(
    sql,
    catalogue,
    orgId,
    { states: ['OPEN', 'HALF_OPEN'], providerSlug: null },
    { limit: SHOWN_PER_KIND_MAX, offset: 0 },
  );
  // Rejected calls, with keys and networks, are for admins of the whole organization.
  const maySeeCalls = isRoleAtLeast(actor.role, 'admin') && (actor.token?.projectId ?? null) === null;
  const attempts = maySeeCalls ? await loadSensitiveAttempts(sql, orgId) : [];
  const alerts = await loadOpenAlerts(sql, orgId);
  return ATTENTION_KINDS.flatMap((kind): AttentionItems => {
    if (kind === 'circuit_open')
      return circuits.total === 0 ? [] : [{ kind, total: circuits.total, things: circuits.rows.map(presentCircuit) }];
    if (kind === 'sensitive_call')
      return attempts.length === 0 ? [] : [{ kind, total: attempts[0]!.total, things: attempts.map(presentDated) }];
    if (kind === 'alert_open')
      return alerts.length === 0 ? [] : [{ kind, total: alerts[0]!.total, things: alerts.map(presentDated) }];
    const ofKind = rows.filter((row) => row.kind === kind);
    return ofKind.length === 0 ? [] : [{ kind, total: ofKind[0]!.total, things: ofKind.map(presentRow) }];
  });
}

const NOTHING = {
  agentId: null,
  agentName: null,
  providerSlug: null,
  at: null,
  monthCents: null,
  budgetCents: null,
  paused: false,
  origin: null,
  circuitState: null,
  agents: null,
  call: null,
  calls: null,
  clientNetwork: null,
  metric: null,
} as const;

const presentCircuit = ({
  providerSlug,
  displayName,
  since,
  origin,
  state,
  accounts,
}: CircuitView): AttentionThing => ({
  ...NOTHING,
  origin,
  circuitState: state === 'CLOSED' ? null : state,
  agents: accounts,
  id: providerSlug,
  name: displayName,
  providerSlug,
  at: since,
});

const presentDated = ({ total: _, at, ...row }: SensitiveAttemptRow | OpenAlertRow): AttentionThing => ({
  ...NOTHING,
  ...row,
  at: at.toISOString(),
});

const presentRow = ({ kind: _, total: _all, at, monthNanos, ...row }: AttentionRow): AttentionThing => ({
  ...NOTHING,
  ...row,
  at: at?.toISOString() ?? null,
  monthCents: monthNanos === null ? null : Number(monthNanos) / NANOS_PER_CENT,
});
