import { type Static, Type } from 'typebox';
import { type AgentPolicy, AgentPolicyField } from '../agents/call-and-model-policy-schema.js';
import { EXAMPLE_IDS, EXAMPLE_TIMES } from '../http/examples.js';
import { PageQuery, PageReply } from '../http/limit-offset-pagination.js';
import { Body, Name, Timestamp, Uuid } from '../http/schema.js';
import { SortQuery } from '../http/search-and-sort-query-schema.js';

/** A run and its sub-runs have at most this many levels. */
export const RUN_DEPTH_MAX = 4;
/** To count all of 100 000 takes 0.1 s of Postgres, and an agent may read its runs 500 times a second. */
export const SUB_RUNS_COUNTED_MAX = 1_000;
const BUDGET_CENTS_MAX = 1_000_000_000_000;
const LIFETIME_S_MIN = 60;
/** 30 days. */
const LIFETIME_S_MAX = 2_592_000;

const RUN_STATES = ['running', 'ended', 'expired'] as const;
export type RunState = (typeof RUN_STATES)[number];
const RunStateField = Type.Unsafe<RunState>({ type: 'string', enum: RUN_STATES });

const nullable = (format: 'uuid' | 'date-time', description: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], format, description });
const Cents = Type.Integer({ minimum: 0 });

export const Run = Type.Object({
  id: Uuid,
  agentId: Uuid,
  agentName: Type.String(),
  projectId: Uuid,
  parentId: nullable('uuid', 'The run that this run is part of; null for a top run.'),
  rootId: Type.String({ format: 'uuid', description: 'The top run of the tree; its own id for a top run.' }),
  depth: Type.Integer({ minimum: 1, maximum: RUN_DEPTH_MAX }),
  label: Type.String(),
  state: RunStateField,
  budgetCents: Cents,
  spentCents: Type.Integer({ minimum: 0, description: 'Booked spend of the run and its sub-runs.' }),
  spentUsd: Type.Number({ minimum: 0, description: 'The same in US dollars, rounded to six decimals.' }),
  calls: Type.Integer({ minimum: 0, description: 'Booked calls of the run and its sub-runs.' }),
  subRuns: Type.Integer({
    minimum: 0,
    maximum: SUB_RUNS_COUNTED_MAX,
    description: `Number of runs whose parent is this run, counted up to ${SUB_RUNS_COUNTED_MAX}. The list with \`parentId\` has the whole \`total\`.`,
  }),
  policy: Type.Unsafe<AgentPolicy | null>({
    ...AgentPolicyField,
    description: 'What the run may call, within the policies of its ancestors and its agent. Null: what they allow.',
  }),
  keyPrefix: Type.String({ description: 'The first characters of the run’s gateway token.' }),
  createdAt: Timestamp,
  expiresAt: Type.String({ format: 'date-time', description: 'When the run ends by itself.' }),
  endedAt: nullable('date-time', 'When the run ended; null while it is running.'),
});
export type Run = Static<typeof Run>;

const ExpiresIn = Type.Integer({
  minimum: LIFETIME_S_MIN,
  maximum: LIFETIME_S_MAX,
  description: 'Seconds until the run ends by itself.',
});

/** What a run may be started with, by the management API and by an agent. */
const runFields = {
  budgetCents: Type.Integer({
    minimum: 1,
    maximum: BUDGET_CENTS_MAX,
    description: 'What the run and its sub-runs may spend together. It is a hard budget.',
  }),
  label: Type.Optional(Name),
  policy: Type.Optional(AgentPolicyField),
};

export const RunInput = Body({ agentId: Uuid, expiresIn: ExpiresIn, ...runFields });
export type RunInput = Static<typeof RunInput>;

/** The body of `POST /v1/runs` of a data plane. */
export const AgentRunInput = Body({
  expiresIn: Type.Optional(Type.Unsafe<number>({ ...ExpiresIn, description: 'Default: the end of the parent run.' })),
  ...runFields,
});
export type AgentRunInput = Static<typeof AgentRunInput>;

export const RunQuery = Type.Object({
  ...PageQuery,
  agentId: Type.Optional(Uuid),
  projectId: Type.Optional(Uuid),
  parentId: Type.Optional(Type.String({ format: 'uuid', description: 'Only the sub-runs of this run.' })),
  rootId: Type.Optional(Type.String({ format: 'uuid', description: 'The whole tree of this top run.' })),
  state: Type.Optional(RunStateField),
  search: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Part of the label, or an id.' })),
  ...SortQuery(['createdAt', 'label', 'agentName', 'spentCents', 'calls', 'end']),
});
export type RunQuery = Static<typeof RunQuery>;

const BINDING_SCOPES = ['run', 'agent', 'project', 'org'] as const;
export type BindingScope = (typeof BINDING_SCOPES)[number];
const Binding = Type.Object(
  {
    scope: Type.Unsafe<BindingScope>({ type: 'string', enum: BINDING_SCOPES }),
    id: Uuid,
    remainingCents: Cents,
  },
  { description: 'The budget that ends first: less of it is left than the run may spend.' },
);
type Binding = Static<typeof Binding>;

export const RunStarted = Type.Object({
  run: Run,
  secretKey: Type.String({ description: 'The gateway token of the run. It is returned only once.' }),
  boundBy: Type.Unsafe<Binding | null>({
    anyOf: [Binding, { type: 'null' }],
    description: 'The budget above the run that ends first. Null: the run’s own budget does.',
  }),
});
export type RunStarted = Static<typeof RunStarted>;
export const RunReply = Type.Object({ run: Run });
export const RunList = Type.Object({ runs: Type.Array(Run), ...PageReply });

/** For the API document. */
export const EXAMPLES = {
  'Run.id': EXAMPLE_IDS.run,
  'run.id': EXAMPLE_IDS.run,
  'Run.parentId': null,
  'Run.rootId': EXAMPLE_IDS.run,
  'Run.depth': 1,
  'Run.label': 'nightly report',
  'RunInput.label': 'nightly report',
  'Run.state': 'running',
  'Run.budgetCents': 250,
  'RunInput.budgetCents': 250,
  'Run.spentCents': 61,
  'Run.spentUsd': 0.612_4,
  'Run.calls': 42,
  'Run.subRuns': 3,
  'RunInput.expiresIn': 1_800,
  'Run.policy': null,
  'RunInput.policy': null,
  'Run.expiresAt': EXAMPLE_TIMES.used,
  'Run.endedAt': null,
  'RunStarted.boundBy': null,
  'RunQuery.parentId': undefined,
  'RunQuery.rootId': undefined,
};
