/**
 * Every limit that a call of an agent can meet, one row each, in the order in which they are checked. All else follows
 * from these rows: the admission script and the in-process counters, the refusals, `/v1/self`, the context on the wire,
 * the fields of the API and their columns, the options of the command line, the forms of the dashboard. What a row
 * cannot say for them stands in docs/architecture.md#to-add-a-limit.
 *
 * Runs in browsers, too: it needs nothing but spans of time.
 *
 *   counted   how                                                                        unit, window
 *   log       sliding log: exact in any span of the window; the first row and no other   requests, minute
 *   fixed     fixed window from its first request                                        requests, any of WINDOW_MS
 *   token     60 buckets, added when a call has ended                                    tokens, minute
 *   purse     sum of a calendar month; the agent's own first                             cents, month
 */
import { DAY_MS, MINUTE_MS } from './units.js';

/** Lengths of windows, ms; the month is the calendar's. */
export const WINDOW_MS = { minute: MINUTE_MS, day: DAY_MS } as const;

/** In the order in which the admission script takes them, so the rows must have it. */
export const LIMIT_ALGORITHMS = ['log', 'fixed', 'token', 'purse'] as const;
export type LimitAlgorithm = (typeof LIMIT_ALGORITHMS)[number];

/** Money is cents here, on the wire and in answers; nano-dollars inside the data plane. */
type Counted =
  | { readonly counted: 'log'; readonly unit: 'requests'; readonly window: 'minute'; readonly scope: PerProvider }
  | { readonly counted: 'fixed'; readonly unit: 'requests'; readonly window: WindowName; readonly scope: PerProvider }
  | { readonly counted: 'token'; readonly unit: 'tokens'; readonly window: 'minute'; readonly scope: PerProvider }
  | { readonly counted: 'purse'; readonly unit: 'cents'; readonly window: 'month'; readonly scope: BudgetScope };
type WindowName = keyof typeof WINDOW_MS;
/** An agent's with one provider. */
type PerProvider = 'agent_provider';
/** Over all providers. */
type BudgetScope = 'agent' | 'project' | 'org';

type LimitDefinition = Counted & {
  readonly type: string;
  /** Of the API, in what the scope names; its column has the same name in snake case. */
  readonly field: string;
  readonly minimum: number;
  readonly maximum: number;
  /** Holds where none is set; null = no limit. */
  readonly default: number | null;
  /** Of an agent's: lists and the answer of its creation show it, too. */
  readonly inLists: boolean;
  /** As people see it, among the others of its scope. */
  readonly label: string;
  /** What it is counted over, as people say it. */
  readonly span: string;
  /** Of the field, in the API's document. */
  readonly description: string;
  /** To the agent, with the refusal. */
  readonly message: string;
  /** To whoever runs the agent, when it was refused: what it means, and what can be done. */
  readonly what: string;
  readonly todo: string;
};

export const LIMITS = [
  {
    type: 'rpm',
    window: 'minute',
    unit: 'requests',
    scope: 'agent_provider',
    counted: 'log',
    field: 'rpmLimit',
    minimum: 1,
    maximum: 1_000_000,
    default: 60,
    inLists: true,
    label: 'Requests per minute',
    span: 'any 60 seconds',
    description: 'Requests in any 60 seconds, per provider; null: the default, 60.',
    message: 'Rate limit exceeded: too many requests in a minute.',
    what: 'More requests per minute than the limit.',
    todo: 'Raise it under Limits, or let the agent wait as Retry-After says.',
  },
  {
    type: 'rpd',
    window: 'day',
    unit: 'requests',
    scope: 'agent_provider',
    counted: 'fixed',
    field: 'rpdLimit',
    minimum: 1,
    maximum: 1_000_000_000,
    default: 10_000,
    inLists: true,
    label: 'Requests per day',
    span: '24 hours from the first call',
    description: 'Requests per 24 hours, per provider; null: the default, 10000.',
    message: 'Rate limit exceeded: too many requests in a day.',
    what: 'More requests per day than the limit.',
    todo: 'Raise it under Limits, or wait: the day is 24 hours from its first call.',
  },
  {
    type: 'tpm',
    window: 'minute',
    unit: 'tokens',
    scope: 'agent_provider',
    counted: 'token',
    field: 'tpmLimit',
    minimum: 1,
    maximum: 1_000_000_000,
    default: null,
    inLists: false,
    label: 'Tokens per minute',
    span: 'any 60 seconds',
    description: 'Tokens in and out of calls that ended in the last 60 seconds, per provider; null: no limit.',
    message: 'Rate limit exceeded: too many tokens in a minute.',
    what: 'More tokens per minute than the limit.',
    todo: 'Raise it under Limits, or let the agent wait as Retry-After says.',
  },
  {
    type: 'budget',
    window: 'month',
    unit: 'cents',
    scope: 'agent',
    counted: 'purse',
    field: 'budgetCentsMonthly',
    minimum: 0,
    maximum: 1e12,
    default: null,
    inLists: true,
    label: 'Budget',
    span: 'a calendar month, UTC',
    description: 'US cents per calendar month over all providers; null: no budget.',
    message: 'The monthly budget of this agent is spent.',
    what: 'The monthly budget is used up.',
    todo: 'Raise it under Limits, or wait for the next month (UTC).',
  },
  {
    type: 'budget',
    window: 'month',
    unit: 'cents',
    scope: 'project',
    counted: 'purse',
    field: 'budgetCentsMonthly',
    minimum: 0,
    maximum: 1e12,
    default: null,
    inLists: false,
    label: 'Budget',
    span: 'a calendar month, UTC',
    description: 'US cents per calendar month over all agents of the project; null: no budget.',
    message: 'The monthly budget of the project is spent.',
    what: 'The project’s monthly budget is used up.',
    todo: 'Raise it under Projects, or wait for the next month (UTC).',
  },
  {
    type: 'budget',
    window: 'month',
    unit: 'cents',
    scope: 'org',
    counted: 'purse',
    field: 'budgetCentsMonthly',
    minimum: 0,
    maximum: 1e12,
    default: null,
    inLists: false,
    label: 'Budget',
    span: 'a calendar month, UTC',
    description: 'US cents per calendar month over all agents of the organization; null: no budget.',
    message: 'The monthly budget of the organization is spent.',
    what: 'The organization’s monthly budget is used up.',
    todo: 'Raise it under Settings, or wait for the next month (UTC).',
  },
] as const satisfies readonly LimitDefinition[];

export type Limit = (typeof LIMITS)[number];
/** One that an agent has a field for. */
export type AgentLimit = Extract<Limit, { scope: 'agent' | 'agent_provider' }>;
/** One of those that are counted per provider. */
export type RateLimit = Extract<Limit, { scope: 'agent_provider' }>;

export const RATE_LIMITS = LIMITS.filter((row): row is RateLimit => row.scope === 'agent_provider');
/** As people read them: money first. */
export const AGENT_LIMITS: readonly AgentLimit[] = [...LIMITS.filter((row) => row.scope === 'agent'), ...RATE_LIMITS];

/** What a refusal is counted as, in metrics and in usage: `budget` is the agent's own. */
export const rejectionReason = ({ type, scope }: Pick<Limit, 'type' | 'scope'>): string =>
  scope === 'project' || scope === 'org' ? `${type}_${scope}` : type;
