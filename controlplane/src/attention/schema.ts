/** Shapes of what needs somebody (docs/contract.md#attention). */
import { type Static, type TSchema, Type } from 'typebox';
import { Timestamp, Uuid } from '../http/schema.js';

/** The most urgent first. */
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
    description: 'Of the agent, account, shared credential, endpoint or key; the slug of a provider.',
  }),
  name: Type.String({ description: 'Of an endpoint, its URL.' }),
  agentId: orNull(Uuid, 'Whose it is; null: not of one agent.'),
  agentName: orNull(Type.String(), 'Of that agent.'),
  providerSlug: orNull(Type.String(), 'Where it concerns one.'),
  at: orNull(Timestamp, 'Since when; of an expiring key, when it ends. Null: not known.'),
  monthCents: orNull(Type.Number(), 'Spend of the calendar month, US cents; of agents only.'),
  budgetCents: orNull(Type.Integer(), 'Of the month; of agents only.'),
  paused: Type.Boolean({ description: 'An endpoint that gets nothing any more.' }),
});
export type AttentionThing = Static<typeof AttentionThing>;

const AttentionItem = Type.Object({
  kind: Type.Enum([...ATTENTION_KINDS]),
  total: Type.Integer(),
  things: Type.Array(AttentionThing, { description: 'The five most urgent ones.' }),
});
export const AttentionReply = Type.Object({ attention: Type.Array(AttentionItem) });
export type AttentionReply = Static<typeof AttentionReply>;
