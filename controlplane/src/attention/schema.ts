/** Schemas of `GET /v1/attention`: items that need a user's action (docs/contract.md#attention). */
import { type Static, type TSchema, Type } from 'typebox';
import { Timestamp, Uuid } from '../http/schema.js';

/** Most urgent first. */
export const ATTENTION_KINDS = [
  'circuit_open',
  'budget',
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
    description: 'Id of the agent, account, shared credential, endpoint or key; for a provider its slug.',
  }),
  name: Type.String({ description: 'The name; for an endpoint its URL.' }),
  agentId: orNull(Uuid, 'The agent to which the item belongs; null if it does not belong to one agent.'),
  agentName: orNull(Type.String(), 'The name of that agent.'),
  providerSlug: orNull(Type.String(), 'The provider, if the item concerns one.'),
  at: orNull(Timestamp, 'Since when; for an expiring key, when it expires. Null if not known.'),
  monthCents: orNull(Type.Number(), 'Spend of the calendar month in US cents; only for agents.'),
  budgetCents: orNull(Type.Integer(), 'Monthly budget in US cents; only for agents.'),
  paused: Type.Boolean({ description: 'True for an endpoint to which deliveries are paused.' }),
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
};
