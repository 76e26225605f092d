/** Alert rules and what people do about their alerts (docs/contract.md#alert-rules). */
import { DAY_MS } from '@acg/base/time-and-money-units';
import { uuidv7 } from '@acg/base/uuidv7';
import { type AuditChanges, recordAudit } from '../audit/audit-trail.js';
import type { JSONValue, Sql, Tx } from '../db/postgres-client.js';
import { Conflict, InvalidInput, NotFound } from '../domain/errors.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import type { Actor } from '../http/route-access.js';
import { parseTimestamp } from '../http/timestamp-params.js';
import type { Alert, AlertRule, AlertRuleInput, AlertRulePatch } from './schema.js';
import * as store from './store.js';

/** Bounds what evaluations of one organization cost. */
const RULES_MAX = 50;
const SILENCE_MAX_MS = 30 * DAY_MS;
const ERROR_RATE_MAX = 100;

export class AlertRuleService {
  constructor(readonly sql: Sql) {}

  async list(actor: Actor, sorting: store.RuleSorting, page: Page): Promise<ListResult<AlertRule>> {
    const { rows, total } = await store.listRules(this.sql, actor.orgId, sorting, page);
    return { rows: rows.map(presentRule), total };
  }

  async get(actor: Actor, id: string): Promise<AlertRule> {
    const row = await store.loadRule(this.sql, actor.orgId, id);
    if (row === null) throw new NotFound('alert rule');
    return presentRule(row);
  }

  async create(actor: Actor, input: AlertRuleInput): Promise<AlertRule> {
    const { orgId, userId } = actor;
    const { name, metric, atLeast, projectId = null, agentId = null, windowHours = 1, increasePercent = 50 } = input;
    if (projectId !== null && agentId !== null)
      throw new InvalidInput('projectId and agentId exclude each other: a rule has one of them, or none');
    assertAtLeast(metric, atLeast);
    return this.sql.begin(async (tx) => {
      if (!(await store.lockSubject(tx, orgId, { projectId, agentId })))
        throw new NotFound(agentId === null ? 'project' : 'agent');
      const rule = { name, metric, projectId, agentId, windowHours, increasePercent, atLeast };
      const id = uuidv7(Date.now());
      await store.insertRule(tx, { ...rule, id, orgId, createdBy: userId }, RULES_MAX);
      const changes = Object.fromEntries(Object.entries(rule).map(([field, value]) => [field, [null, value] as const]));
      await recordAudit(tx, actor, 'alert_rule.create', { type: 'alert_rule', id }, changes);
      return presentRule((await store.loadRule(tx, orgId, id))!);
    });
  }

  async update(actor: Actor, id: string, { silencedUntil, ...patch }: AlertRulePatch): Promise<AlertRule> {
    return this.sql.begin(async (tx) => {
      const before = await lockRule(tx, actor, id);
      const silence = silencedUntil === undefined ? before.silencedUntil : parseSilence('silencedUntil', silencedUntil);
      const after = { ...before, ...patch, silencedUntil: silence };
      assertAtLeast(before.metric, after.atLeast);
      await recordAudit(tx, actor, 'alert_rule.update', { type: 'alert_rule', id }, auditChanges(before, after));
      await store.updateRule(tx, before, after);
      if (!after.enabled) await store.resolveAlert(tx, id);
      return presentRule((await store.loadRule(tx, actor.orgId, id))!);
    });
  }

  async delete(actor: Actor, id: string): Promise<void> {
    await this.sql.begin(async (tx) => {
      const { name } = await lockRule(tx, actor, id);
      await recordAudit(tx, actor, 'alert_rule.delete', { type: 'alert_rule', id }, { name: [name, null] });
      await store.deleteRule(tx, id);
    });
  }

  async listAlerts(actor: Actor, filter: store.AlertFilter, page: Page): Promise<ListResult<Alert>> {
    if (filter.ruleId !== undefined) await this.get(actor, filter.ruleId);
    const { rows, total } = await store.listAlerts(this.sql, actor.orgId, filter, page);
    return { rows: rows.map(presentAlert), total };
  }

  /** A second acknowledgement changes nothing. */
  async acknowledge(actor: Actor, id: string): Promise<Alert> {
    return this.sql.begin(async (tx) => {
      const { alert } = await lockAlert(tx, actor, id);
      if (alert.resolvedAt !== null) throw new Conflict('the alert is resolved: there is nothing to acknowledge');
      if (alert.acknowledgedAt !== null) return presentAlert(alert);
      await recordAudit(tx, actor, 'alert.acknowledge', { type: 'alert', id }, { rule: [null, alert.ruleName] });
      await store.acknowledgeAlert(tx, id, actor.userId);
      return presentAlert((await store.loadAlert(tx, actor.orgId, id))!);
    });
  }

  /** Silences the rule of the alert. */
  async silence(actor: Actor, id: string, until: string): Promise<Alert> {
    return this.sql.begin(async (tx) => {
      const { alert, rule } = await lockAlert(tx, actor, id);
      const end = parseSilence('until', until)!;
      const silencedUntil = [rule.silencedUntil?.toISOString() ?? null, end.toISOString()] as const;
      const changes = { rule: [null, alert.ruleName] as const, silencedUntil };
      await recordAudit(tx, actor, 'alert.silence', { type: 'alert', id }, changes);
      await store.silenceRule(tx, rule.id, end);
      return presentAlert((await store.loadAlert(tx, actor.orgId, id))!);
    });
  }
}

async function lockRule(tx: Tx, actor: Actor, id: string): Promise<store.RuleRow> {
  const row = await store.lockRule(tx, actor.orgId, id);
  if (row === null) throw new NotFound('alert rule');
  return row;
}

/** Locks the alert's rule, which evaluations lock too. */
async function lockAlert(tx: Tx, actor: Actor, id: string) {
  const found = await store.loadAlert(tx, actor.orgId, id);
  if (found === null) throw new NotFound('alert');
  const rule = await lockRule(tx, actor, found.ruleId);
  const alert = await store.loadAlert(tx, actor.orgId, id);
  if (alert === null) throw new NotFound('alert');
  return { alert, rule };
}

function assertAtLeast(metric: store.RuleRow['metric'], atLeast: number): void {
  if (metric === 'error_rate' && atLeast > ERROR_RATE_MAX)
    throw new InvalidInput('atLeast must be a percentage up to 100 for error_rate');
}

function parseSilence(field: string, text: string | null): Date | null {
  if (text === null) return null;
  const ms = parseTimestamp(field, text);
  const now = Date.now();
  if (ms <= now || ms > now + SILENCE_MAX_MS)
    throw new InvalidInput(`${field} must be in the future, at most 30 days from now`);
  return new Date(ms);
}

const AUDITED_FIELDS = ['name', 'windowHours', 'increasePercent', 'atLeast', 'enabled', 'silencedUntil'] as const;
type Audited = Pick<store.RuleRow, (typeof AUDITED_FIELDS)[number]>;

function auditChanges(before: Audited, after: Audited): AuditChanges {
  const text = (value: unknown) => (value instanceof Date ? value.toISOString() : value) as JSONValue;
  return Object.fromEntries(
    AUDITED_FIELDS.filter((field) => text(before[field]) !== text(after[field])).map((field) => [
      field,
      [text(before[field]), text(after[field])] as const,
    ]),
  );
}

const presentTime = (at: Date | null): string | null => at?.toISOString() ?? null;

const presentRule = ({ orgId: _, revision: _revision, ...row }: store.RuleRow): AlertRule => ({
  ...row,
  silencedUntil: presentTime(row.silencedUntil),
  evaluatedAt: presentTime(row.evaluatedAt),
  failedAt: presentTime(row.failedAt),
  createdAt: row.createdAt.toISOString(),
});

const presentAlert = ({ notifiedAt: _, ...row }: store.AlertRow): Alert => ({
  ...row,
  state: row.resolvedAt !== null ? 'resolved' : row.acknowledgedAt !== null ? 'acknowledged' : 'open',
  openedAt: row.openedAt.toISOString(),
  metAt: row.metAt.toISOString(),
  resolvedAt: presentTime(row.resolvedAt),
  acknowledgedAt: presentTime(row.acknowledgedAt),
  silencedUntil: presentTime(row.silencedUntil),
});
