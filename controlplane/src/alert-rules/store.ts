/** SQL of alert rules and their alerts. */
import { deleteInBatches, ROWS_PER_BATCH } from '../db/delete-in-batches.js';
import { orderBy, type Sorting } from '../db/order-by.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import { Conflict } from '../domain/errors.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import type { Metric } from './alert-state.js';

interface Scope {
  readonly scope: 'org' | 'project' | 'agent';
  readonly projectId: string | null;
  readonly agentId: string | null;
  readonly scopeName: string;
}

export interface RuleRow extends Scope {
  readonly id: string;
  readonly orgId: string;
  readonly name: string;
  readonly metric: Metric;
  readonly windowHours: number;
  readonly increasePercent: number;
  readonly atLeast: number;
  readonly enabled: boolean;
  readonly silencedUntil: Date | null;
  readonly revision: number;
  readonly evaluatedAt: Date | null;
  /** Of the last evaluation, if it failed: it has no value and no baseline. */
  readonly failedAt: Date | null;
  readonly value: number | null;
  readonly baseline: number | null;
  readonly openAlertId: string | null;
  readonly createdAt: Date;
}

export interface AlertRow extends Scope {
  readonly id: string;
  readonly ruleId: string;
  readonly ruleName: string;
  readonly metric: Metric;
  readonly openedAt: Date;
  readonly metAt: Date;
  readonly notifiedAt: Date | null;
  readonly resolvedAt: Date | null;
  readonly value: number;
  readonly baseline: number | null;
  readonly acknowledgedAt: Date | null;
  readonly acknowledgedBy: string | null;
  readonly silencedUntil: Date | null;
}

const scopeColumns = (sql: Sql | Tx) => sql`
  case when r.agent_id is not null then 'agent' when r.project_id is not null then 'project' else 'org' end as scope,
  r.project_id as "projectId", r.agent_id as "agentId",
  coalesce((select a.name from agents a where a.id = r.agent_id), (select p.name from projects p where p.id = r.project_id),
           (select o.name from organizations o where o.id = r.org_id)) as "scopeName"`;
const ruleColumns = (sql: Sql | Tx) => sql`
  r.id, r.org_id as "orgId", r.name, r.metric, ${scopeColumns(sql)}, r.window_hours as "windowHours",
  r.increase_percent as "increasePercent", r.at_least as "atLeast", r.enabled, r.silenced_until as "silencedUntil",
  r.revision, r.evaluated_at as "evaluatedAt", r.failed_at as "failedAt", r.value, r.baseline, r.created_at as "createdAt",
  (select a.id from alerts a where a.rule_id = r.id and a.resolved_at is null) as "openAlertId"`;
const alertColumns = (sql: Sql | Tx) => sql`
  a.id, a.rule_id as "ruleId", r.name as "ruleName", r.metric, ${scopeColumns(sql)}, a.opened_at as "openedAt",
  a.met_at as "metAt", a.notified_at as "notifiedAt", a.resolved_at as "resolvedAt", a.value, a.baseline,
  a.acknowledged_at as "acknowledgedAt", (select u.name from users u where u.id = a.acknowledged_by) as "acknowledgedBy",
  r.silenced_until as "silencedUntil"`;

const RULE_ORDER = { createdAt: { by: 'r.created_at' }, name: { by: 'lower(r.name)', text: true } } as const;
export type RuleSorting = Sorting<keyof typeof RULE_ORDER>;

export async function listRules(
  sql: Sql,
  orgId: string,
  sorting: RuleSorting,
  page: Page,
): Promise<ListResult<RuleRow>> {
  const rows = await sql<RuleRow[]>`
    select ${ruleColumns(sql)} from alert_rules r where r.org_id = ${orgId}
    ${orderBy(sql, RULE_ORDER, sorting)} limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from alert_rules where org_id = ${orgId}`;
  return { rows, total: count!.total };
}

export async function loadRule(sql: Sql | Tx, orgId: string, id: string): Promise<RuleRow | null> {
  const [row] = await sql<RuleRow[]>`
    select ${ruleColumns(sql)} from alert_rules r where r.org_id = ${orgId} and r.id = ${id}`;
  return row ?? null;
}

/** Locks the row against evaluations and changes until the transaction ends. */
export async function lockRule(tx: Tx, orgId: string, id: string): Promise<RuleRow | null> {
  const locked = await tx`select 1 from alert_rules where org_id = ${orgId} and id = ${id} for update`;
  return locked.length === 0 ? null : loadRule(tx, orgId, id);
}

export interface NewRule extends Pick<RuleRow, 'id' | 'orgId' | 'name' | 'metric' | 'windowHours' | 'increasePercent'> {
  readonly atLeast: number;
  readonly projectId: string | null;
  readonly agentId: string | null;
  readonly createdBy: string;
}

/** Whether the project or agent belongs to the organization; locks it against deletion. */
export async function lockSubject(
  tx: Tx,
  orgId: string,
  { projectId, agentId }: Pick<NewRule, 'projectId' | 'agentId'>,
): Promise<boolean> {
  if (agentId !== null)
    return (await tx`select 1 from agents where org_id = ${orgId} and id = ${agentId} for key share`).length > 0;
  if (projectId === null) return true;
  return (await tx`select 1 from projects where org_id = ${orgId} and id = ${projectId} for key share`).length > 0;
}

/** Throws {@link Conflict} at the limit of the organization, and when the organization is being deleted. */
export async function insertRule(tx: Tx, rule: NewRule, rulesMax: number): Promise<void> {
  const { orgId } = rule;
  // Serializes writers of one organization; `no key update` also waits for its deletion.
  const [org] = await tx`select 1 from organizations where id = ${orgId} and purge_at is null for no key update`;
  if (org === undefined)
    throw new Conflict('the organization is being deleted: restore it before you create an alert rule');
  const [count] = await tx<{ rules: number }[]>`select count(*) as rules from alert_rules where org_id = ${orgId}`;
  if (count!.rules >= rulesMax)
    throw new Conflict(`an organization has at most ${rulesMax} alert rules: delete one first`);
  await tx`
    insert into alert_rules (id, org_id, name, metric, project_id, agent_id, window_hours, increase_percent, at_least,
                             created_by)
    values (${rule.id}, ${orgId}, ${rule.name}, ${rule.metric}, ${rule.projectId}, ${rule.agentId}, ${rule.windowHours},
            ${rule.increasePercent}, ${rule.atLeast}, ${rule.createdBy})`;
}

type ChangedRule = Pick<RuleRow, 'name' | 'windowHours' | 'increasePercent' | 'atLeast' | 'enabled' | 'silencedUntil'>;

/**
 * With another condition, or switched on or off, the rule is due at once, and an evaluation in progress has no effect.
 * A name or a silence does not let a rule pass others that are due.
 */
export async function updateRule(tx: Tx, before: RuleRow, rule: ChangedRule): Promise<void> {
  const isReset =
    before.windowHours !== rule.windowHours ||
    before.increasePercent !== rule.increasePercent ||
    before.atLeast !== rule.atLeast ||
    before.enabled !== rule.enabled;
  const reset = tx`, revision = revision + 1, evaluated_at = null, failed_at = null, value = null, baseline = null`;
  await tx`
    update alert_rules set name = ${rule.name}, window_hours = ${rule.windowHours},
           increase_percent = ${rule.increasePercent}, at_least = ${rule.atLeast}, enabled = ${rule.enabled},
           silenced_until = ${rule.silencedUntil} ${isReset ? reset : tx``}
     where id = ${before.id}`;
}

export async function silenceRule(tx: Tx, id: string, until: Date): Promise<void> {
  await tx`update alert_rules set silenced_until = ${until} where id = ${id}`;
}

export const deleteRule = (tx: Tx, id: string) => tx`delete from alert_rules where id = ${id}`;

const ALERT_ORDER = {
  openedAt: { by: 'a.opened_at' },
  ruleName: { by: 'lower(r.name)', text: true },
  resolvedAt: { by: 'a.resolved_at', nullable: true },
} as const;

export interface AlertFilter extends Sorting<keyof typeof ALERT_ORDER> {
  readonly state?: 'open' | 'resolved';
  readonly ruleId?: string;
}

export async function listAlerts(
  sql: Sql,
  orgId: string,
  { state, ruleId, ...sorting }: AlertFilter,
  page: Page,
): Promise<ListResult<AlertRow>> {
  const where = sql`a.org_id = ${orgId}
    ${ruleId === undefined ? sql`` : sql`and a.rule_id = ${ruleId}`}
    ${state === undefined ? sql`` : state === 'open' ? sql`and a.resolved_at is null` : sql`and a.resolved_at is not null`}`;
  const rows = await sql<AlertRow[]>`
    select ${alertColumns(sql)} from alerts a join alert_rules r on r.id = a.rule_id where ${where}
    ${orderBy(sql, ALERT_ORDER, sorting)} limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from alerts a where ${where}`;
  return { rows, total: count!.total };
}

export async function loadAlert(sql: Sql | Tx, orgId: string, id: string): Promise<AlertRow | null> {
  const [row] = await sql<AlertRow[]>`
    select ${alertColumns(sql)} from alerts a join alert_rules r on r.id = a.rule_id
     where a.org_id = ${orgId} and a.id = ${id}`;
  return row ?? null;
}

export const acknowledgeAlert = (tx: Tx, id: string, by: string) =>
  tx`update alerts set acknowledged_at = now(), acknowledged_by = ${by} where id = ${id}`;

/** Resolves the open alert of the rule, if there is one. */
export const resolveAlert = (tx: Tx, ruleId: string) =>
  tx`update alerts set resolved_at = now() where rule_id = ${ruleId} and resolved_at is null`;

const RETENTION_DAYS = 90;

export function pruneAlerts(sql: Sql): Promise<void> {
  return deleteInBatches(async () => {
    const deleted = await sql`
      delete from alerts where id in (
        select id from alerts where resolved_at < now() - ${RETENTION_DAYS} * interval '1 day'
         order by resolved_at limit ${ROWS_PER_BATCH} for update skip locked)`;
    return deleted.count;
  });
}
