/**
 * Evaluates alert rules on rollups, each at most once a minute, on one control plane at a time. A rule that fails or
 * takes longer than {@link STATEMENT_TIMEOUT_MS} does not hinder the others, shows `failedAt`, and is due again a minute
 * later.
 */
import type { Logger } from '@acg/base/log';
import { DAY_MS, HOUR_MS } from '@acg/base/time-and-money-units';
import { uuidv7 } from '@acg/base/uuidv7';
import type { Sql, Tx } from '../db/postgres-client.js';
import { appendEvent } from '../events/append-events.js';
import { LatencySketch } from '../ledger/latency-sketch.js';
import { rollupsByBucket } from '../reports/query/rollup-selection.js';
import { SKETCHES_EXPRESSION, SUM_EXPRESSIONS } from '../reports/query/rollup-store.js';
import type { TimeRange } from '../reports/query/time-range.js';
import { isMet, measure, nextStep, type Sums } from './alert-state.js';
import { type AlertRow, loadAlert, loadRule, lockRule, type RuleRow, resolveAlert } from './store.js';

const INTERVAL_S = 60;
const RULES_PER_CYCLE = 2_000;
const CYCLE_MS = 30_000;
/** Time limit of one organization per cycle. */
const ORG_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 2_000;
const P95 = 0.95;

interface DueRule {
  readonly id: string;
  readonly orgId: string;
  readonly revision: number;
}

/** Bounds of one cycle, for tests. */
interface CycleBounds {
  readonly rules: number;
  readonly statementTimeoutMs: number;
}
const BOUNDS: CycleBounds = { rules: RULES_PER_CYCLE, statementTimeoutMs: STATEMENT_TIMEOUT_MS };

/**
 * Evaluates due rules round-robin by organization: the first rule of each, then the second of each. Returns the number
 * of rules evaluated.
 */
export async function evaluateDueAlertRules(
  sql: Sql,
  log: Logger,
  { rules, statementTimeoutMs } = BOUNDS,
): Promise<number> {
  const due = await sql<DueRule[]>`
    select id, org_id as "orgId", revision from (
      select r.id, r.org_id, r.revision, r.evaluated_at,
             row_number() over (partition by r.org_id order by r.evaluated_at nulls first, r.id) as turn
        from alert_rules r join organizations o on o.id = r.org_id and o.purge_at is null
       where r.enabled and (r.evaluated_at is null or r.evaluated_at <= now() - ${INTERVAL_S} * interval '1 second')) d
     order by turn, evaluated_at nulls first limit ${rules}`;
  const startMs = performance.now();
  const spentMs = new Map<string, number>();
  let evaluated = 0;
  for (const rule of due) {
    const beginMs = performance.now();
    if (beginMs - startMs > CYCLE_MS) break;
    const orgSpentMs = spentMs.get(rule.orgId) ?? 0;
    if (orgSpentMs > ORG_MS) continue;
    const outcome = await evaluate(sql, rule, statementTimeoutMs).catch(async (error: unknown) => {
      log.warn({ err: error, ruleId: rule.id, orgId: rule.orgId }, 'alert rule not evaluated');
      await recordFailure(sql, rule);
      return 'failed' as const;
    });
    if (outcome === 'locked') break;
    spentMs.set(rule.orgId, orgSpentMs + performance.now() - beginMs);
    if (outcome === 'done') evaluated++;
  }
  return evaluated;
}

/** Not if the rule was changed or evaluated meanwhile. Its open alert stays as it is. */
async function recordFailure(sql: Sql, { id, revision }: DueRule): Promise<void> {
  await sql`
    update alert_rules set evaluated_at = now(), failed_at = now(), value = null, baseline = null,
           revision = revision + 1
     where id = ${id} and revision = ${revision}`;
}

/**
 * `locked`: another control plane evaluates. `stale`: since the list of due rules was read, the rule was changed or
 * deleted, or another control plane evaluated it between two rules of this one.
 */
async function evaluate(
  sql: Sql,
  { id, orgId, revision }: DueRule,
  statementTimeoutMs: number,
): Promise<'done' | 'locked' | 'stale'> {
  const nowMs = Date.now();
  return sql.begin(async (tx) => {
    const [lock] = await tx<{ ours: boolean }[]>`
      select pg_try_advisory_xact_lock(hashtext('alert rules')) as ours`;
    if (!lock!.ours) return 'locked';
    await tx`select set_config('statement_timeout', ${String(statementTimeoutMs)}, true)`;
    const rule = await loadRule(tx, orgId, id);
    if (rule === null || rule.revision !== revision) return 'stale';
    const range = measuredHours(rule.windowHours, nowMs);
    const value = measure(rule.metric, await sumCalls(tx, rule, range));
    const week = 7 * DAY_MS;
    const weekBefore = { fromMs: range.fromMs - week, toMs: range.toMs - week };
    const baseline = measure(rule.metric, await sumCalls(tx, rule, weekBefore));
    const current = await lockRule(tx, orgId, id);
    if (current === null || !current.enabled || current.revision !== revision) return 'stale';
    await tx`
      update alert_rules set evaluated_at = now(), failed_at = null, value = ${value}, baseline = ${baseline},
             revision = revision + 1
       where id = ${id}`;
    await applyStep(tx, current, value, baseline, nowMs);
    return 'done';
  });
}

/**
 * The hours of the rule, which end with the current one. Last week's hours count whole, so that a rule of spend is met
 * only when the hours so far exceed them.
 */
function measuredHours(windowHours: number, nowMs: number): TimeRange {
  const toMs = nowMs - (nowMs % HOUR_MS) + HOUR_MS;
  return { fromMs: toMs - windowHours * HOUR_MS, toMs };
}

interface SumsRow extends Omit<Sums, 'costNanos' | 'latencyMs'> {
  readonly costNanos: string | null;
  readonly sketches: string | null;
}

async function sumCalls(tx: Tx, { orgId, projectId, agentId, metric }: RuleRow, range: TimeRange): Promise<Sums> {
  const scope = { orgId, projectId, agentIds: agentId === null ? null : [agentId] };
  const withLatency = metric === 'latency';
  const [row] = await tx<SumsRow[]>`
    select ${tx.unsafe(SUM_EXPRESSIONS)}, ${tx.unsafe(withLatency ? SKETCHES_EXPRESSION : `''`)} as sketches
      from ${rollupsByBucket(tx, scope, range, 'hour', 'provider')} r`;
  const { requests, errors, costNanos, sketches } = row!;
  return {
    requests: requests ?? 0,
    errors: errors ?? 0,
    costNanos: BigInt(costNanos ?? 0),
    latencyMs: withLatency && sketches !== null ? LatencySketch.fromBase64(sketches).quantile(P95) : null,
  };
}

async function applyStep(
  tx: Tx,
  rule: RuleRow,
  value: number | null,
  baseline: number | null,
  nowMs: number,
): Promise<void> {
  const silenced = rule.silencedUntil !== null && rule.silencedUntil.getTime() > nowMs;
  const alert = rule.openAlertId === null ? null : await loadAlert(tx, rule.orgId, rule.openAlertId);
  const open =
    alert === null
      ? null
      : {
          metAtMs: alert.metAt.getTime(),
          notified: alert.notifiedAt !== null,
          acknowledged: alert.acknowledgedAt !== null,
        };
  const met = isMet(rule, value, baseline);
  const { action, notify } = nextStep(met, open, { silenced, nowMs });
  if (action === 'open') {
    const id = uuidv7(nowMs);
    await tx`
      insert into alerts (id, org_id, rule_id, opened_at, met_at, value, baseline)
      values (${id}, ${rule.orgId}, ${rule.id}, ${new Date(nowMs)}, ${new Date(nowMs)}, ${value}, ${baseline})`;
    if (notify) await sendOpened(tx, rule, id, value!, baseline);
  } else if (action === 'keep') {
    await tx`update alerts set met_at = ${new Date(nowMs)}, value = ${value}, baseline = ${baseline} where id = ${alert!.id}`;
    if (notify) await sendOpened(tx, rule, alert!.id, value!, baseline);
  } else if (action === 'resolve') {
    await resolveAlert(tx, rule.id);
    if (notify) await appendEvent(tx, rule.orgId, 'alert.resolved', eventData(rule, alert!));
  }
}

async function sendOpened(tx: Tx, rule: RuleRow, id: string, value: number, baseline: number | null): Promise<void> {
  await tx`update alerts set notified_at = now() where id = ${id}`;
  await appendEvent(tx, rule.orgId, 'alert.opened', eventData(rule, { id, value, baseline }));
}

const eventData = (
  { id, orgId, name, metric, scope, agentId, projectId, scopeName, windowHours, increasePercent, atLeast }: RuleRow,
  alert: Pick<AlertRow, 'id' | 'value' | 'baseline'>,
) => ({
  alertId: alert.id,
  ruleId: id,
  ruleName: name,
  metric,
  value: alert.value,
  baseline: alert.baseline,
  windowHours,
  increasePercent,
  atLeast,
  scope,
  scopeId: agentId ?? projectId ?? orgId,
  scopeName,
  ...(agentId === null ? {} : { agentId, agentName: scopeName }),
  orgId,
});
