/** Schemas of `GET /v1/attention`: items that need a user's action (docs/contract.md#attention). */
import { type Static, type TSchema, Type } from 'typebox';
import { METRICS, type Metric } from '../alert-rules/alert-state.js';
import { Timestamp, Uuid } from '../http/schema.js';

/** Most urgent first. */
export const ATTENTION_KINDS = [
  'sensitive_call',
  'circuit_open',
  'alert_open',
  'budget',
  'reconnect_needed',
  'needs_credentials',
  'webhook_failing',
  'key_expiring',
  'key_unused',
  'no_budget',
] as const;
export type AttentionKind = (typeof ATTENTION_KINDS)[number];

const orNull = <T extends TSchema>(type: T, description: string) => Type.Union([type, Type.Null()], { description });

const AttentionThing = Type.Object({
  id: Type.String({
    description: 'Id of the agent, alert, account, shared credential, endpoint or key; for a provider its slug.',
  }),
  name: Type.String({ description: 'The name; for an endpoint its URL, for an alert its rule.' }),
  agentId: orNull(Uuid, 'The agent to which the item belongs; null if it does not belong to one agent.'),
  agentName: orNull(Type.String(), 'The name of that agent.'),
  providerSlug: orNull(Type.String(), 'The provider, if the item concerns one.'),
  at: orNull(Timestamp, 'Since when; for an expiring key, when it expires. Null if not known.'),
  monthCents: orNull(Type.Number(), 'Spend of the calendar month in US cents; only for agents.'),
  budgetCents: orNull(Type.Integer(), 'Monthly budget in US cents; only for agents.'),
  paused: Type.Boolean({ description: 'True for an endpoint to which deliveries are paused.' }),
  origin: orNull(Type.String(), 'Origin of a breaker, for `PUT /v1/circuits`.'),
  circuitState: Type.Unsafe<'OPEN' | 'HALF_OPEN' | null>({
    anyOf: [{ type: 'string', enum: ['OPEN', 'HALF_OPEN'] }, { type: 'null' }],
    description: 'State of a breaker; it is listed until it is CLOSED.',
  }),
  agents: orNull(Type.Integer(), 'Number of agents that a breaker concerns.'),
  call: orNull(Type.String(), 'The last rejected sensitive call: provider, method and path.'),
  calls: orNull(Type.Integer(), 'Number of recorded sensitive calls with this key within seven days.'),
  metric: Type.Unsafe<Metric | null>({
    anyOf: [{ type: 'string', enum: [...METRICS] }, { type: 'null' }],
    description: 'What an alert measures.',
  }),
  clientNetwork: orNull(Type.String(), 'Network from which the last of them came.'),
});
export type AttentionThing = Static<typeof AttentionThing>;

const AttentionItem = Type.Object({
  kind: Type.Enum([...ATTENTION_KINDS]),
  total: Type.Integer(),
  things: Type.Array(AttentionThing, { description: 'The five most urgent items.' }),
});
export const AttentionReply = Type.Object({ attention: Type.Array(AttentionItem) });
export type AttentionReply = Static<typeof AttentionReply>;

/** For the API document. */
export const EXAMPLES = {
  paused: false,
  'things.origin': null,
  circuitState: null,
  'things.agents': null,
  'things.call': null,
  'things.calls': null,
  'things.clientNetwork': null,
  'things.metric': null,
};
