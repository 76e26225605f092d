/**
 * Lists every event and the exact fields of its `data` (docs/contract.md#events). Each payload is checked against its
 * schema when it is appended. A field that is not listed here, above all a secret, never reaches a receiver.
 */
import { NIL_UUID } from '@acg/base/uuid';
import { type Static, type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';

const Id = Type.String({ minLength: 36, maxLength: 36 });
const Cents = Type.Integer({ minimum: 0 });
const ClosedObject = <T extends Parameters<typeof Type.Object>[0]>(fields: T) =>
  Type.Object(fields, { additionalProperties: false });

const AgentLifecycle = ClosedObject({ agentId: Id, agentName: Type.String(), projectId: Id, orgId: Id });

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

const CredentialChange = ClosedObject({
  providerSlug: Type.String(),
  accountId: Type.Union([Id, Type.Null()], { description: 'Null for a shared credential.' }),
  credentialId: Type.Union([Id, Type.Null()], {
    description: 'Id of the shared credential; null for the credential of an account.',
  }),
  agentId: Type.Union([Id, Type.Null()]),
  orgId: Id,
});

export const EVENT_DATA_SCHEMAS = {
  'agent.created': AgentLifecycle,
  'agent.deleted': AgentLifecycle,
  'agent.budget_exceeded': ClosedObject({
    agentId: Id,
    agentName: Type.String(),
    budgetCentsMonthly: Cents,
    spentCents: Cents,
    orgId: Id,
  }),
  'provider.circuit_opened': CircuitChange,
  'provider.circuit_closed': CircuitChange,
  'abuse.detected': ClosedObject({
    agentId: Id,
    agentName: Type.String(),
    reason: Type.Union([Type.Literal('rejections'), Type.Literal('auth_failures'), Type.Literal('addresses')]),
    count: Type.Integer({ minimum: 1 }),
    windowSeconds: Type.Integer({ minimum: 1 }),
    orgId: Id,
  }),
  'credential.refused': CredentialChange,
  'credential.accepted': CredentialChange,
  'webhook.paused': ClosedObject({
    endpointId: Id,
    failedAttempts: Type.Integer({ minimum: 1 }),
    failingSince: Type.String(),
    orgId: Id,
  }),
  'usage.threshold': ClosedObject({
    agentId: Id,
    agentName: Type.String(),
    thresholdPercent: Type.Integer({ minimum: 1 }),
    budgetCentsMonthly: Cents,
    spentCents: Cents,
    orgId: Id,
  }),
} as const;

export type EventName = keyof typeof EVENT_DATA_SCHEMAS;
export type EventData<E extends EventName> = Static<(typeof EVENT_DATA_SCHEMAS)[E]>;
export type AbuseReason = EventData<'abuse.detected'>['reason'];

export const EVENT_NAMES = Object.keys(EVENT_DATA_SCHEMAS) as readonly EventName[];

const validators = new Map(
  Object.entries(EVENT_DATA_SCHEMAS).map(([name, schema]) => [name, Compile(schema as TSchema)] as const),
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

const SAMPLE_AGENT = { agentId: NIL_UUID, agentName: 'Sample agent' };
const SAMPLE_CIRCUIT = {
  providerSlug: 'openai',
  errorRate: 62.5,
  requests: 40,
  windowSeconds: 30,
  scope: 'organization',
} as const;

const SAMPLE_CREDENTIAL = {
  providerSlug: 'openai',
  accountId: NIL_UUID,
  credentialId: null,
  agentId: NIL_UUID,
  orgId: NIL_UUID,
};

/**
 * Sample `data` that `POST /v1/webhooks/:id/test` sends. Every id is the nil UUID, so a receiver can tell samples from
 * real events.
 */
export const SAMPLE_EVENT_DATA: { readonly [E in EventName]: EventData<E> } = {
  'agent.created': { ...SAMPLE_AGENT, projectId: NIL_UUID, orgId: NIL_UUID },
  'agent.deleted': { ...SAMPLE_AGENT, projectId: NIL_UUID, orgId: NIL_UUID },
  'agent.budget_exceeded': { ...SAMPLE_AGENT, budgetCentsMonthly: 5000, spentCents: 5003, orgId: NIL_UUID },
  'provider.circuit_opened': { ...SAMPLE_CIRCUIT, state: 'OPEN' },
  'provider.circuit_closed': { ...SAMPLE_CIRCUIT, state: 'CLOSED', errorRate: 0, requests: 5 },
  'credential.refused': { ...SAMPLE_CREDENTIAL },
  'credential.accepted': { ...SAMPLE_CREDENTIAL },
  'webhook.paused': {
    endpointId: NIL_UUID,
    failedAttempts: 50,
    failingSince: '2000-01-01T00:00:00.000Z',
    orgId: NIL_UUID,
  },
  'abuse.detected': { ...SAMPLE_AGENT, reason: 'rejections', count: 300, windowSeconds: 300, orgId: NIL_UUID },
  'usage.threshold': {
    ...SAMPLE_AGENT,
    thresholdPercent: 80,
    budgetCentsMonthly: 5000,
    spentCents: 4012,
    orgId: NIL_UUID,
  },
};
