/** Schemas of alert rules and their alerts (docs/contract.md#alert-rules). */
import { type Static, type TSchema, Type } from 'typebox';
import { EXAMPLE_IDS, EXAMPLE_TIMES } from '../http/examples.js';
import { PageQuery, PageReply } from '../http/limit-offset-pagination.js';
import { Body, Name, Timestamp, Uuid } from '../http/schema.js';
import { SortQuery } from '../http/search-and-sort-query-schema.js';
import { TimestampParam } from '../http/timestamp-params.js';
import { METRICS, type Metric } from './alert-state.js';

const orNull = <T extends TSchema>(type: T, description: string) => Type.Union([type, Type.Null()], { description });
const UNIT = 'Percent for error_rate, milliseconds for latency, US cents for spend.';

const MetricField = Type.Unsafe<Metric>({
  type: 'string',
  enum: METRICS,
  description: 'error_rate: failed calls. latency: the 95th percentile. spend: the cost.',
});
const WindowHours = Type.Integer({
  minimum: 1,
  maximum: 24,
  description: 'How many hours are measured, the current one included. Default 1.',
});
const IncreasePercent = Type.Integer({
  minimum: 1,
  maximum: 10_000,
  description: 'How much more than in the same hours of last week. Default 50.',
});
const AtLeast = Type.Number({
  exclusiveMinimum: 0,
  maximum: 1e12,
  description: `Smaller values do not meet the rule. ${UNIT}`,
});

const About = {
  metric: MetricField,
  scope: Type.Enum(['org', 'project', 'agent']),
  projectId: orNull(Uuid, 'Of the scope project.'),
  agentId: orNull(Uuid, 'Of the scope agent.'),
  scopeName: Type.String({ description: 'Name of the organization, project or agent.' }),
  value: orNull(Type.Number(), `${UNIT} null: not enough calls, or the evaluation failed.`),
  baseline: orNull(Type.Number(), 'The same hours of last week; null: as `value`.'),
};

export const AlertRule = Type.Object({
  id: Uuid,
  name: Type.String(),
  ...About,
  windowHours: WindowHours,
  increasePercent: IncreasePercent,
  atLeast: AtLeast,
  enabled: Type.Boolean(),
  silencedUntil: orNull(Timestamp, 'No `alert.opened` until then; null or in the past: not silenced.'),
  openAlertId: orNull(Uuid, 'The alert that is open.'),
  evaluatedAt: orNull(Timestamp, 'The last evaluation, of which `value` and `baseline` are.'),
  failedAt: orNull(Timestamp, 'The last evaluation, if it failed. It is tried again each minute.'),
  createdAt: Timestamp,
});
export type AlertRule = Static<typeof AlertRule>;

export const AlertRuleInput = Body({
  name: Name,
  metric: MetricField,
  atLeast: AtLeast,
  projectId: Type.Optional(Uuid),
  agentId: Type.Optional(Uuid),
  // Defaults only here: in a patch they would change fields that it leaves out.
  windowHours: Type.Optional(Type.Integer({ ...WindowHours, default: 1 })),
  increasePercent: Type.Optional(Type.Integer({ ...IncreasePercent, default: 50 })),
});
export type AlertRuleInput = Static<typeof AlertRuleInput>;

const SilencedUntil = orNull(TimestampParam(), 'At most 30 days from now; null ends the silence.');

export const AlertRulePatch = Type.Object(
  {
    name: Type.Optional(Name),
    atLeast: Type.Optional(AtLeast),
    windowHours: Type.Optional(WindowHours),
    increasePercent: Type.Optional(IncreasePercent),
    enabled: Type.Optional(
      Type.Boolean({ description: 'false: not evaluated. Its open alert is resolved without an event.' }),
    ),
    silencedUntil: Type.Optional(SilencedUntil),
  },
  { additionalProperties: false, minProperties: 1 },
);
export type AlertRulePatch = Static<typeof AlertRulePatch>;

export const AlertRuleReply = Type.Object({ rule: AlertRule });
export const AlertRuleList = Type.Object({ rules: Type.Array(AlertRule), ...PageReply });
export const AlertRuleQuery = Type.Object({ ...PageQuery, ...SortQuery(['createdAt', 'name']) });

export const Alert = Type.Object({
  id: Uuid,
  ruleId: Uuid,
  ruleName: Type.String(),
  ...About,
  value: Type.Number({ description: `At the last evaluation that met the rule. ${UNIT}` }),
  state: Type.Enum(['open', 'acknowledged', 'resolved']),
  openedAt: Timestamp,
  metAt: Type.String({ format: 'date-time', description: 'The last evaluation that met the rule.' }),
  resolvedAt: orNull(Timestamp, 'One hour after `metAt`; null: open.'),
  acknowledgedAt: orNull(Timestamp, 'null: not acknowledged.'),
  acknowledgedBy: orNull(Type.String(), 'Name of the person; null also for a deleted account.'),
  silencedUntil: orNull(Timestamp, 'Of the rule.'),
});
export type Alert = Static<typeof Alert>;

export const AlertReply = Type.Object({ alert: Alert });
export const AlertList = Type.Object({ alerts: Type.Array(Alert), ...PageReply });
export const AlertQuery = Type.Object({
  ...PageQuery,
  state: Type.Optional(
    Type.Unsafe<'open' | 'resolved'>({
      type: 'string',
      enum: ['open', 'resolved'],
      description: 'open: acknowledged ones, too.',
    }),
  ),
  ruleId: Type.Optional(Uuid),
  ...SortQuery(['openedAt', 'ruleName', 'resolvedAt']),
});
export const SilenceInput = Body({
  until: TimestampParam('The end, at most 30 days from now.'),
});

/** For the API document. */
export const EXAMPLES = {
  'AlertRule.id': EXAMPLE_IDS.rule,
  'AlertRule.name': 'spend of the day',
  'AlertRuleInput.name': 'spend of the day',
  'AlertRulePatch.name': 'spend of half a day',
  'AlertRule.scope': 'org',
  'Alert.scope': 'org',
  scopeName: 'Acme Robotics',
  metric: 'spend',
  atLeast: 5_000,
  windowHours: 12,
  increasePercent: 50,
  'AlertRule.value': 9_120.5,
  'Alert.value': 9_120.5,
  baseline: 4_020.25,
  'AlertRule.projectId': null,
  'AlertRule.agentId': null,
  'Alert.projectId': null,
  'Alert.agentId': null,
  'AlertRuleInput.projectId': undefined,
  'AlertRule.enabled': true,
  'AlertRulePatch.enabled': true,
  silencedUntil: null,
  openAlertId: EXAMPLE_IDS.event,
  evaluatedAt: EXAMPLE_TIMES.used,
  'AlertRule.failedAt': null,
  'Alert.id': EXAMPLE_IDS.event,
  ruleId: EXAMPLE_IDS.rule,
  ruleName: 'spend of the day',
  openedAt: EXAMPLE_TIMES.created,
  metAt: EXAMPLE_TIMES.used,
  resolvedAt: null,
  acknowledgedAt: EXAMPLE_TIMES.used,
  acknowledgedBy: 'Ada Lovelace',
  'Alert.state': 'acknowledged',
  'AlertQuery.state': 'open',
  'SilenceInput.until': '2026-02-02T08:00:00.000Z',
};
