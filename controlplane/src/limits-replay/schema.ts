import {
  BUDGET_ROW_MODELS_MAX,
  BUDGET_ROWS_MAX,
  BUDGET_WINDOWS,
  type BudgetWindow,
  TAG_PATTERN,
} from '@acg/base/budget-rows';
import { type Static, Type } from 'typebox';
import { EXAMPLE_IDS } from '../http/examples.js';
import { Body, Timestamp, Uuid } from '../http/schema.js';
import { TimestampParam } from '../http/timestamp-params.js';

const REPLAY_AGENTS_MAX = 20;

const Rate = (what: string) => Type.Optional(Type.Integer({ minimum: 1, maximum: 1e9, description: what }));

export const LimitReplayInput = Body({
  agentIds: Type.Array(Uuid, { minItems: 1, maxItems: REPLAY_AGENTS_MAX, uniqueItems: true }),
  from: TimestampParam('Calls that began from then on.'),
  to: TimestampParam('Calls that began before.'),
  limits: Body({
    rpmLimit: Rate('Requests in any 60 seconds, per agent and provider.'),
    rpdLimit: Rate('Requests per 24 hours, per agent and provider.'),
    tpmLimit: Rate('Tokens in any 60 seconds, per agent and provider.'),
    budgets: Type.Optional(
      Type.Array(
        Body({
          window: Type.Unsafe<BudgetWindow>({ type: 'string', enum: BUDGET_WINDOWS }),
          cents: Type.Integer({ minimum: 0, maximum: 1e12 }),
          models: Type.Optional(
            Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: BUDGET_ROW_MODELS_MAX }),
          ),
          tag: Type.Optional(Type.String({ pattern: TAG_PATTERN, maxLength: 97 })),
        }),
        { maxItems: BUDGET_ROWS_MAX, description: 'As budget rows; replayed as soft budgets.' },
      ),
    ),
  }),
  sharedBudgets: Type.Optional(
    Type.Boolean({ description: 'true: each budget counts all agents together, as that of a project does.' }),
  ),
});
export type LimitReplayInput = Static<typeof LimitReplayInput>;

const Count = Type.Integer();
const Cents = Type.Number({ description: 'US cents.' });
const figures = {
  rejected: Count,
  rejectedCents: { ...Cents, description: 'What the rejected calls had cost, US cents.' },
  firstRejectedAt: Type.Union([Timestamp, Type.Null()]),
};

export const LimitReplayReply = Type.Object({
  from: Timestamp,
  to: Timestamp,
  calls: Count,
  costCents: Cents,
  ...figures,
  complete: Type.Boolean({ description: 'False: the replay stopped at its bound; `replayedUntil` says where.' }),
  replayedUntil: Timestamp,
  limits: Type.Array(
    Type.Object({
      limit: Type.String({ description: 'rpm, rpd, tpm or budget.' }),
      budgetIndex: Type.Union([Count, Type.Null()], { description: 'Index in limits.budgets; null: a rate limit.' }),
      ...figures,
    }),
  ),
  agents: Type.Array(Type.Object({ agentId: Uuid, calls: Count, ...figures })),
  interval: Type.Union([Type.Literal('hour'), Type.Literal('day')]),
  timeseries: Type.Array(
    Type.Object({
      bucket: Type.String({ description: 'Start of the hour or day, UTC.' }),
      calls: Count,
      costCents: Cents,
      rejected: Count,
      rejectedCents: Cents,
    }),
  ),
  notes: Type.Array(Type.String(), { description: 'What a replay cannot know.' }),
});
export type LimitReplayReply = Static<typeof LimitReplayReply>;

/** For the API document. */
export const EXAMPLES = {
  'LimitReplayInput.agentIds': [EXAMPLE_IDS.agent],
  'LimitReplayInput.from': '2026-01-05T00:00:00Z',
  'LimitReplayInput.to': '2026-01-12T00:00:00Z',
  'limits.rpmLimit': 30,
  'limits.rpdLimit': 5_000,
  'limits.tpmLimit': 100_000,
  sharedBudgets: false,
  'LimitReplayReply.from': '2026-01-05T00:00:00.000Z',
  'LimitReplayReply.to': '2026-01-12T00:00:00.000Z',
  calls: 4_210,
  rejected: 37,
  rejectedCents: 81.5,
  firstRejectedAt: '2026-01-06T14:02:11.000Z',
  complete: true,
  replayedUntil: '2026-01-12T00:00:00.000Z',
  'limits.limit': 'budget',
  budgetIndex: 0,
  'LimitReplayReply.interval': 'hour',
  notes: ['Callers would have waited and tried again: the replay does not repeat rejected calls.'],
};
