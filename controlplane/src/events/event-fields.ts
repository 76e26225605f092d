/** Fields and samples that several events share. */
import { NIL_UUID } from '@acg/base/uuid-patterns';
import { Type } from 'typebox';

export const Id = Type.String({ minLength: 36, maxLength: 36 });
export const Cents = Type.Integer({ minimum: 0 });
export const ClosedObject = <T extends Parameters<typeof Type.Object>[0]>(fields: T) =>
  Type.Object(fields, { additionalProperties: false });

export const SAMPLE_AGENT = { agentId: NIL_UUID, agentName: 'Sample agent' };

export const BUDGET_ROW_FIELDS = {
  budgetId: Id,
  scope: Type.Union([Type.Literal('agent'), Type.Literal('project'), Type.Literal('org')]),
  scopeId: Id,
  scopeName: Type.String(),
  window: Type.Union([Type.Literal('day'), Type.Literal('week'), Type.Literal('month'), Type.Literal('total')]),
  period: Type.String({ description: 'Instance of the window: 2026-11-28, 2026-W48, 2026-11 or total.' }),
  budgetCents: Cents,
  spentCents: Cents,
  mode: Type.Union([Type.Literal('soft'), Type.Literal('hard'), Type.Literal('audit')]),
  models: Type.Optional(Type.Array(Type.String())),
  tag: Type.Optional(Type.String()),
  agentId: Type.Optional({ ...Id, description: 'Of the scope agent.' }),
  agentName: Type.Optional(Type.String()),
  orgId: Id,
};
export const SAMPLE_BUDGET_ROW = {
  budgetId: NIL_UUID,
  scope: 'agent' as const,
  scopeId: NIL_UUID,
  scopeName: SAMPLE_AGENT.agentName,
  window: 'day' as const,
  period: '2026-11-28',
  budgetCents: 500,
  spentCents: 503,
  mode: 'soft' as const,
  models: ['gpt-5*'],
  tag: 'customer=acme',
  ...SAMPLE_AGENT,
  orgId: NIL_UUID,
};
export const BUDGET_ROW_MAILED = ['scopeName', 'window', 'budgetCents', 'spentCents'] as const;

export const AlertOfRule = ClosedObject({
  alertId: Id,
  ruleId: Id,
  ruleName: Type.String(),
  metric: Type.Union([Type.Literal('error_rate'), Type.Literal('latency'), Type.Literal('spend')]),
  value: Type.Number({ description: 'Percent for error_rate, milliseconds for latency, US cents for spend.' }),
  baseline: Type.Union([Type.Number(), Type.Null()], { description: 'Last week; null: not enough calls.' }),
  windowHours: Type.Integer({ minimum: 1 }),
  increasePercent: Type.Integer({ minimum: 1 }),
  atLeast: Type.Number({ minimum: 0 }),
  scope: Type.Union([Type.Literal('org'), Type.Literal('project'), Type.Literal('agent')]),
  scopeId: Id,
  scopeName: Type.String(),
  agentId: Type.Optional({ ...Id, description: 'Of the scope agent.' }),
  agentName: Type.Optional(Type.String()),
  orgId: Id,
});
export const SAMPLE_ALERT = {
  ...{ alertId: NIL_UUID, ruleId: NIL_UUID, ruleName: 'spend of the day', metric: 'spend' as const },
  ...{ value: 9120.5, baseline: 4020.25, windowHours: 12, increasePercent: 50, atLeast: 5000 },
  ...{ scope: 'agent' as const, scopeId: NIL_UUID, scopeName: SAMPLE_AGENT.agentName, ...SAMPLE_AGENT },
  orgId: NIL_UUID,
};
export const ALERT_MAILED = ['ruleName', 'metric', 'scopeName', 'value', 'baseline'] as const;
