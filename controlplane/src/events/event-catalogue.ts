/**
 * Lists every event once: its texts, its severity, the exact fields of its `data` and a sample (docs/contract.md#events).
 * The API (`GET /v1/events/types`), mails, the documents, the dashboard and the command line take them from here. Each
 * payload is checked against its schema when it is appended, so a field that is not listed, above all a secret, never
 * reaches a receiver.
 */
import { NIL_UUID } from '@acg/base/uuid-patterns';
import { type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { AUDIT_EVENT_TYPE } from './audit-event-type.js';
import { CREDENTIAL_EVENT_TYPES } from './credential-event-types.js';
import { defineEvent } from './define-event.js';
import {
  ALERT_MAILED,
  AlertOfRule,
  BUDGET_ROW_FIELDS,
  BUDGET_ROW_MAILED,
  Cents,
  ClosedObject,
  Id,
  SAMPLE_AGENT,
  SAMPLE_ALERT,
  SAMPLE_BUDGET_ROW,
} from './event-fields.js';
import { REJECTED_CALLS_EVENT_TYPE } from './rejected-calls-event-type.js';

const AgentLifecycle = ClosedObject({ agentId: Id, agentName: Type.String(), projectId: Id, orgId: Id });

const RunFields = {
  runId: Id,
  label: Type.String(),
  agentId: Id,
  agentName: Type.String(),
  budgetCents: Cents,
  orgId: Id,
};

const CircuitChange = ClosedObject({
  providerSlug: Type.String({ description: 'Slug of the provider, as in its proxy path.' }),
  state: Type.Union([Type.Literal('OPEN'), Type.Literal('CLOSED')]),
  errorRate: Type.Number({ minimum: 0, maximum: 100, description: 'Percent of `requests` that failed.' }),
  requests: Type.Integer({
    minimum: 0,
    description: 'Number of requests in the window; of probes for a recovery; of data planes for the scope fleet.',
  }),
  windowSeconds: Type.Number({ minimum: 0 }),
  scope: Type.Optional(
    Type.Union([Type.Literal('organization'), Type.Literal('fleet')], {
      description:
        'organization: calls of this organization fail or succeed again. fleet: the gateway cannot connect, or can again.',
    }),
  ),
});

const SAMPLE_RUN = { ...SAMPLE_AGENT, runId: NIL_UUID, label: 'nightly report', budgetCents: 250, orgId: NIL_UUID };
const SAMPLE_CIRCUIT = {
  providerSlug: 'openai',
  errorRate: 62.5,
  requests: 40,
  windowSeconds: 30,
  scope: 'organization',
} as const;
/** The organizations that receive events about breakers. */
const CIRCUIT_AUDIENCE =
  'Sent to the organization whose breaker changed; with `scope: "fleet"` to all organizations with an account of the provider.';

export const EVENT_TYPES = {
  'agent.created': defineEvent({
    title: 'Agent created',
    description: 'An agent was created.',
    severity: 'info',
    schema: AgentLifecycle,
    sample: { ...SAMPLE_AGENT, projectId: NIL_UUID, orgId: NIL_UUID },
    mailedFields: [],
  }),
  'agent.deleted': defineEvent({
    title: 'Agent deleted',
    description: 'An agent was deleted.',
    severity: 'info',
    schema: AgentLifecycle,
    sample: { ...SAMPLE_AGENT, projectId: NIL_UUID, orgId: NIL_UUID },
    mailedFields: [],
  }),
  'agent.budget_exceeded': defineEvent({
    title: 'Budget exceeded',
    description: 'The monthly budget of an agent is used up. Sent once per agent and month.',
    severity: 'critical',
    schema: ClosedObject({
      agentId: Id,
      agentName: Type.String(),
      budgetCentsMonthly: Cents,
      spentCents: Cents,
      orgId: Id,
    }),
    sample: { ...SAMPLE_AGENT, budgetCentsMonthly: 5000, spentCents: 5003, orgId: NIL_UUID },
    mailedFields: [],
  }),
  'run.ended': defineEvent({
    title: 'Run ended',
    description: 'A top run was ended, or its time passed. Its sub-runs end with it and send nothing of their own.',
    severity: 'info',
    schema: ClosedObject({
      ...RunFields,
      reason: Type.Union([Type.Literal('ended'), Type.Literal('expired')]),
      spentCents: Cents,
    }),
    sample: { ...SAMPLE_RUN, reason: 'ended', spentCents: 61 },
    mailedFields: ['label', 'reason', 'spentCents'],
  }),
  'run.budget_exceeded': defineEvent({
    title: 'Budget of a run exceeded',
    description: 'The budget of a run or sub-run rejected a call. Sent once per run.',
    severity: 'warning',
    schema: ClosedObject({ ...RunFields, spentCents: Cents }),
    sample: { ...SAMPLE_RUN, spentCents: 250 },
    mailedFields: ['label', 'budgetCents', 'spentCents'],
  }),
  'budget.exceeded': defineEvent({
    title: 'Budget of a window exceeded',
    description:
      'A budget row of an agent, a project or an organization is used up. Sent once per row and window. The plain monthly budget of an agent sends agent.budget_exceeded.',
    severity: 'critical',
    schema: ClosedObject(BUDGET_ROW_FIELDS),
    sample: SAMPLE_BUDGET_ROW,
    mailedFields: BUDGET_ROW_MAILED,
  }),
  'budget.threshold': defineEvent({
    title: 'Budget of a window nearly used',
    description:
      'A budget row of an agent has reached a percentage of the agent’s usageThresholds. Sent once per row, window and percentage.',
    severity: 'warning',
    schema: ClosedObject({ ...BUDGET_ROW_FIELDS, thresholdPercent: Type.Integer({ minimum: 1, maximum: 1000 }) }),
    sample: { ...SAMPLE_BUDGET_ROW, spentCents: 405, thresholdPercent: 80 },
    mailedFields: [...BUDGET_ROW_MAILED, 'thresholdPercent'],
  }),
  'limit.would_reject': defineEvent({
    title: 'Limit in audit mode reached',
    description:
      'A limit in audit mode would have rejected a call, which passed. Sent once per budget row and window; for a rate limit once per agent and day.',
    severity: 'notice',
    schema: ClosedObject({
      agentId: Id,
      agentName: Type.String(),
      limit: Type.String({ description: 'rpm, rpd, tpm, budget, project_budget or org_budget.' }),
      budgetId: Type.Union([Id, Type.Null()], { description: 'Id of the budget row; null: another limit.' }),
      window: Type.String({ description: 'Instance of the window, such as 2026-11-28, 2026-W48 or 2026-11.' }),
      callId: { ...Id, description: 'The first call that it would have rejected.' },
      orgId: Id,
    }),
    sample: {
      ...SAMPLE_AGENT,
      limit: 'rpm',
      budgetId: null,
      window: '2026-11-28',
      callId: NIL_UUID,
      orgId: NIL_UUID,
    },
    mailedFields: ['limit', 'window'],
  }),
  'provider.circuit_opened': defineEvent({
    title: 'Provider failing, calls blocked',
    description: `A breaker opened: calls to the provider are rejected. ${CIRCUIT_AUDIENCE} A breaker that opens again and again sends the first and the last.`,
    severity: 'critical',
    schema: CircuitChange,
    sample: { ...SAMPLE_CIRCUIT, state: 'OPEN' },
    mailedFields: ['providerSlug'],
  }),
  'provider.circuit_closed': defineEvent({
    title: 'Provider recovered',
    description: `A breaker closed: the provider has recovered. ${CIRCUIT_AUDIENCE}`,
    severity: 'notice',
    schema: CircuitChange,
    sample: { ...SAMPLE_CIRCUIT, state: 'CLOSED', errorRate: 0, requests: 5 },
    mailedFields: ['providerSlug'],
  }),
  'alert.opened': defineEvent({
    title: 'Alert rule met',
    description:
      'A value met the condition of an alert rule. Sent once per alert. During a silence, the gateway sends it when the silence ends, if the rule is still met.',
    severity: 'warning',
    schema: AlertOfRule,
    sample: SAMPLE_ALERT,
    mailedFields: ALERT_MAILED,
  }),
  'alert.resolved': defineEvent({
    title: 'Alert resolved',
    description:
      'The rule of an alert was not met for an hour. Sent for alerts that sent alert.opened, also during a silence.',
    severity: 'notice',
    schema: AlertOfRule,
    sample: { ...SAMPLE_ALERT, value: 5100, baseline: 4020.25 },
    mailedFields: ALERT_MAILED,
  }),
  'abuse.detected': defineEvent({
    title: 'Suspicious traffic',
    description:
      'The use of an agent’s gateway token looks like abuse: many rejections, many upstream 401 and 403, or one token from many addresses, above thresholds that operators set. Sent at most once per agent and hour.',
    severity: 'warning',
    schema: ClosedObject({
      agentId: Id,
      agentName: Type.String(),
      reason: Type.Union([Type.Literal('rejections'), Type.Literal('auth_failures'), Type.Literal('addresses')]),
      count: Type.Integer({ minimum: 1 }),
      windowSeconds: Type.Integer({ minimum: 1 }),
      orgId: Id,
    }),
    sample: { ...SAMPLE_AGENT, reason: 'rejections', count: 300, windowSeconds: 300, orgId: NIL_UUID },
    mailedFields: ['reason'],
  }),
  ...CREDENTIAL_EVENT_TYPES,
  'price.drift': defineEvent({
    title: 'Price differs from the bill',
    description:
      'The provider bills a model at another price than the gateway. Sent once per billing account, model and month.',
    severity: 'warning',
    schema: ClosedObject({
      providerSlug: Type.String(),
      model: Type.String(),
      day: Type.String({ description: 'First day with that price.' }),
      pricesFile: Type.String({ description: 'The entry of PRICES_FILE that removes the difference.' }),
      orgId: Id,
    }),
    sample: {
      providerSlug: 'openai',
      model: 'gpt-5-mini',
      day: '2000-01-01',
      pricesFile: '{"openai":{"models":{"gpt-5-mini":[{"from":"2000-01-01","inputPerMTok":0.3}]}}}',
      orgId: NIL_UUID,
    },
    mailedFields: ['providerSlug', 'model'],
  }),
  'webhook.paused': defineEvent({
    title: 'Webhook paused',
    description: 'An endpoint was paused because every attempt failed.',
    severity: 'critical',
    schema: ClosedObject({
      endpointId: Id,
      failedAttempts: Type.Integer({ minimum: 1 }),
      failingSince: Type.String(),
      orgId: Id,
    }),
    sample: {
      endpointId: NIL_UUID,
      failedAttempts: 50,
      failingSince: '2000-01-01T00:00:00.000Z',
      orgId: NIL_UUID,
    },
    mailedFields: ['endpointId'],
  }),
  'usage.threshold': defineEvent({
    title: 'Budget threshold reached',
    description:
      'The spend of an agent has reached a threshold of its budget, 80 percent by default. Sent once per agent, month and threshold.',
    severity: 'warning',
    schema: ClosedObject({
      agentId: Id,
      agentName: Type.String(),
      thresholdPercent: Type.Integer({ minimum: 1 }),
      budgetCentsMonthly: Cents,
      spentCents: Cents,
      orgId: Id,
    }),
    sample: { ...SAMPLE_AGENT, thresholdPercent: 80, budgetCentsMonthly: 5000, spentCents: 4012, orgId: NIL_UUID },
    mailedFields: ['thresholdPercent'],
  }),
  'audit.entry': AUDIT_EVENT_TYPE,
  'calls.rejected': REJECTED_CALLS_EVENT_TYPE,
} as const;

export type EventName = keyof typeof EVENT_TYPES;

/** Null for the name of an event that only another release knows. */
export const findEventType = (event: string) =>
  Object.hasOwn(EVENT_TYPES, event) ? EVENT_TYPES[event as EventName] : null;

export type EventData<E extends EventName> = (typeof EVENT_TYPES)[E]['sample'];
export type AbuseReason = EventData<'abuse.detected'>['reason'];

export const EVENT_NAMES = Object.keys(EVENT_TYPES) as readonly EventName[];

const validators = new Map(
  Object.entries(EVENT_TYPES).map(([name, { schema }]) => [name, Compile(schema as TSchema)] as const),
);

/**
 * Throws a `TypeError` when `data` does not match the event's schema. That is a fault of this program, never of a user.
 */
export function assertEventData(event: EventName, data: unknown): void {
  const validator = validators.get(event)!;
  if (validator.Check(data)) return;
  const [first] = validator.Errors(data);
  throw new TypeError(`data of ${event}${first?.instancePath ?? ''} ${first?.message ?? 'is invalid'}`);
}
