/**
 * Every limit that can apply to a call of an agent, one row each, in the order in which they are checked. Everything
 * else is derived from these rows: the admission script and in-process counters, rejections, `/v1/self`, the context on
 * the wire, API fields and columns, CLI options and dashboard forms. docs/architecture.md#adding-a-limit lists what a
 * row does not cover. Runs in browsers, too, so it imports only durations.
 *
 *   algorithm   how                                                                        unit, window
 *   log         sliding log: exact in any window position; the first row and no other      requests, minute
 *   fixed       fixed window that starts at its first request                              requests, any of WINDOW_MS
 *   token       60 buckets, incremented when a call has ended                              tokens, minute
 *   spend       sum of a calendar month; the agent's own first                             cents, month
 */
import { DAY_MS, MINUTE_MS } from './time-and-money-units.js';

/** Window lengths in ms. The month is a calendar month and has no entry. */
export const WINDOW_MS = { minute: MINUTE_MS, day: DAY_MS } as const;

/** In the order in which the admission script takes them; the rows of LIMITS must follow this order. */
export const LIMIT_ALGORITHMS = ['log', 'fixed', 'token', 'spend'] as const;
export type LimitAlgorithm = (typeof LIMIT_ALGORITHMS)[number];

/** Money is in cents here, on the wire and in responses; in nano-dollars inside the data plane. */
type LimitWindow =
  | { readonly algorithm: 'log'; readonly unit: 'requests'; readonly window: 'minute'; readonly scope: PerProvider }
  | { readonly algorithm: 'fixed'; readonly unit: 'requests'; readonly window: WindowName; readonly scope: PerProvider }
  | { readonly algorithm: 'token'; readonly unit: 'tokens'; readonly window: 'minute'; readonly scope: PerProvider }
  | { readonly algorithm: 'spend'; readonly unit: 'cents'; readonly window: 'month'; readonly scope: BudgetScope };
type WindowName = keyof typeof WINDOW_MS;
/** Counted for each pair of agent and provider. */
type PerProvider = 'agent_provider';
/** Counted over all providers. */
type BudgetScope = 'agent' | 'project' | 'org';

type LimitDefinition = LimitWindow & {
  readonly type: string;
  /** API field of the object that `scope` names; its column has the same name in snake case. */
  readonly field: string;
  readonly minimum: number;
  readonly maximum: number;
  /** Applies where no limit is set; null = no limit. */
  readonly default: number | null;
  /** Agent limits only: also shown in lists and in the response that creates the agent. */
  readonly inLists: boolean;
  /** Label in forms and tables, unique within its scope. */
  readonly label: string;
  /** The window in words. */
  readonly windowText: string;
  /** Description of the API field in the OpenAPI document. */
  readonly description: string;
  /** Text of the rejection that the agent receives. */
  readonly message: string;
  /** Shown to the person who runs the agent after a rejection: what happened, and what to do. */
  readonly cause: string;
  readonly remedy: string;
};

export const LIMITS = [
  {
    type: 'rpm',
    window: 'minute',
    unit: 'requests',
    scope: 'agent_provider',
    algorithm: 'log',
    field: 'rpmLimit',
    minimum: 1,
    maximum: 1_000_000,
    default: 60,
    inLists: true,
    label: 'Requests per minute',
    windowText: 'any 60 seconds',
    description: 'Requests in any 60 seconds, per provider; null: the default, 60.',
    message: 'Rate limit exceeded: too many requests in a minute.',
    cause: 'More requests per minute than the limit.',
    remedy: 'Raise it under Limits, or let the agent wait as Retry-After says.',
  },
  {
    type: 'rpd',
    window: 'day',
    unit: 'requests',
    scope: 'agent_provider',
    algorithm: 'fixed',
    field: 'rpdLimit',
    minimum: 1,
    maximum: 1_000_000_000,
    default: 10_000,
    inLists: true,
    label: 'Requests per day',
    windowText: '24 hours from the first call',
    description: 'Requests per 24 hours, per provider; null: the default, 10000.',
    message: 'Rate limit exceeded: too many requests in a day.',
    cause: 'More requests per day than the limit.',
    remedy: 'Raise it under Limits, or wait: the day is 24 hours from its first call.',
  },
  {
    type: 'tpm',
    window: 'minute',
    unit: 'tokens',
    scope: 'agent_provider',
    algorithm: 'token',
    field: 'tpmLimit',
    minimum: 1,
    maximum: 1_000_000_000,
    default: null,
    inLists: false,
    label: 'Tokens per minute',
    windowText: 'any 60 seconds',
    description: 'Tokens in and out of calls that ended in the last 60 seconds, per provider; null: no limit.',
    message: 'Rate limit exceeded: too many tokens in a minute.',
    cause: 'More tokens per minute than the limit.',
    remedy: 'Raise it under Limits, or let the agent wait as Retry-After says.',
  },
  {
    type: 'budget',
    window: 'month',
    unit: 'cents',
    scope: 'agent',
    algorithm: 'spend',
    field: 'budgetCentsMonthly',
    minimum: 0,
    maximum: 1e12,
    default: null,
    inLists: true,
    label: 'Budget',
    windowText: 'a calendar month, UTC',
    description: 'US cents per calendar month over all providers; null: no budget.',
    message: 'The monthly budget of this agent is spent.',
    cause: 'The monthly budget is used up.',
    remedy: 'Raise it under Limits, or wait for the next month (UTC).',
  },
  {
    type: 'budget',
    window: 'month',
    unit: 'cents',
    scope: 'project',
    algorithm: 'spend',
    field: 'budgetCentsMonthly',
    minimum: 0,
    maximum: 1e12,
    default: null,
    inLists: false,
    label: 'Budget',
    windowText: 'a calendar month, UTC',
    description: 'US cents per calendar month over all agents of the project; null: no budget.',
    message: 'The monthly budget of the project is spent.',
    cause: 'The project’s monthly budget is used up.',
    remedy: 'Raise it under Projects, or wait for the next month (UTC).',
  },
  {
    type: 'budget',
    window: 'month',
    unit: 'cents',
    scope: 'org',
    algorithm: 'spend',
    field: 'budgetCentsMonthly',
    minimum: 0,
    maximum: 1e12,
    default: null,
    inLists: false,
    label: 'Budget',
    windowText: 'a calendar month, UTC',
    description: 'US cents per calendar month over all agents of the organization; null: no budget.',
    message: 'The monthly budget of the organization is spent.',
    cause: 'The organization’s monthly budget is used up.',
    remedy: 'Raise it under Settings, or wait for the next month (UTC).',
  },
] as const satisfies readonly LimitDefinition[];

export type Limit = (typeof LIMITS)[number];
/** A limit that has a field on the agent. */
export type AgentLimit = Extract<Limit, { scope: 'agent' | 'agent_provider' }>;
/** A limit that is counted per provider. */
export type RateLimit = Extract<Limit, { scope: 'agent_provider' }>;

export const RATE_LIMITS = LIMITS.filter((row): row is RateLimit => row.scope === 'agent_provider');
/** In display order: budget first. */
export const AGENT_LIMITS: readonly AgentLimit[] = [...LIMITS.filter((row) => row.scope === 'agent'), ...RATE_LIMITS];

/** The reason under which metrics and usage count the rejection; `budget` is the agent's own budget. */
export const rejectionReason = ({ type, scope }: Pick<Limit, 'type' | 'scope'>): LimitRejectionReason =>
  (scope === 'project' || scope === 'org' ? `${type}_${scope}` : type) as LimitRejectionReason;
type ReasonOfLimit<L extends Limit> = L extends { scope: 'project' | 'org' } ? `${L['type']}_${L['scope']}` : L['type'];
export type LimitRejectionReason = ReasonOfLimit<Limit>;
