/**
 * Every limit that an agent can be given, one row each: its field of the API, its column, its bounds, and how data
 * planes are told of it. Schemas, statements and contexts go by this list; the data plane's own table
 * (counters/limit-table.ts) has the same types, windows, units and scopes.
 */
import type { ILimit } from '@acg/proto/messages';
import type { Sql, Tx } from '../db/sql.js';

interface LimitField {
  readonly field: string;
  /** Of table `agents`. */
  readonly column: string;
  readonly type: string;
  readonly window: string;
  readonly unit: string;
  readonly scope: string;
  readonly minimum: number;
  readonly maximum: number;
  /** Holds where the agent has none of its own; null = no limit. */
  readonly default: number | null;
  readonly description: string;
  /** Lists and the answer of an agent's creation show it, too. */
  readonly inLists: boolean;
}

export const LIMIT_FIELDS = [
  {
    field: 'budgetCentsMonthly',
    column: 'budget_cents_monthly',
    type: 'budget',
    window: 'month',
    unit: 'cents',
    scope: 'agent',
    minimum: 0,
    maximum: 1e12,
    default: null,
    description: 'US cents per calendar month over all providers; null: no budget.',
    inLists: true,
  },
  {
    field: 'rpmLimit',
    column: 'rpm_limit',
    type: 'rpm',
    window: 'minute',
    unit: 'requests',
    scope: 'agent_provider',
    minimum: 1,
    maximum: 1_000_000,
    default: 60,
    description: 'Requests in any 60 seconds, per provider; null: the default, 60.',
    inLists: true,
  },
  {
    field: 'rpdLimit',
    column: 'rpd_limit',
    type: 'rpd',
    window: 'day',
    unit: 'requests',
    scope: 'agent_provider',
    minimum: 1,
    maximum: 1_000_000_000,
    default: 10_000,
    description: 'Requests per 24 hours, per provider; null: the default, 10000.',
    inLists: true,
  },
  {
    field: 'tpmLimit',
    column: 'tpm_limit',
    type: 'tpm',
    window: 'minute',
    unit: 'tokens',
    scope: 'agent_provider',
    minimum: 1,
    maximum: 1_000_000_000,
    default: null,
    description: 'Tokens in and out of calls that ended in the last 60 seconds, per provider; null: no limit.',
    inLists: false,
  },
] as const satisfies readonly LimitField[];

type Row = (typeof LIMIT_FIELDS)[number];
export type LimitName = Row['field'];
/** Fields that always have an effective value. */
export type DefaultedLimitName = Extract<Row, { default: number }>['field'];

/** As an agent has them; null: the default holds. */
export type OwnLimits = { readonly [name in LimitName]: number | null };
/** As they are in force and as answers show them. */
export type EffectiveLimits = { [name in LimitName]: name extends DefaultedLimitName ? number : number | null };

/** `{field: make(row)}` over the list. */
export function byLimit<T>(make: (row: Row) => T): { [name in LimitName]: T } {
  return Object.fromEntries(LIMIT_FIELDS.map((row) => [row.field, make(row)])) as { [name in LimitName]: T };
}

/** `column as "field", …` */
export const limitColumns = (sql: Sql | Tx) =>
  sql.unsafe(LIMIT_FIELDS.map(({ column, field }) => `${column} as "${field}"`).join(', '));

/** `{column: value}` for inserts and updates. */
export const limitValues = (own: OwnLimits): Readonly<Record<string, number | null>> =>
  Object.fromEntries(LIMIT_FIELDS.map(({ column, field }) => [column, own[field]]));

export const effectiveLimits = (own: OwnLimits): EffectiveLimits =>
  byLimit((row) => own[row.field] ?? row.default) as EffectiveLimits;

type Listed = Extract<Row, { inLists: true }>['field'];

/** The limits that lists show. */
export const pickListed = <T extends { readonly [name in Listed]: unknown }>(of: T): Pick<T, Listed> =>
  Object.fromEntries(LIMIT_FIELDS.flatMap((row) => (row.inLists ? [[row.field, of[row.field]]] : []))) as Pick<
    T,
    Listed
  >;

/** As a context carries them; what has no limit is left out. */
export const limitsOnTheWire = (own: OwnLimits): ILimit[] =>
  LIMIT_FIELDS.flatMap(({ field, type, window, unit, scope, default: fallback }) => {
    const value = own[field] ?? fallback;
    return value === null ? [] : [{ type, window, unit, scope, value }];
  });

/** Budgets of an agent's project and organization; null = none. */
export interface ScopeBudgets {
  readonly projectBudgetCents: number | null;
  readonly orgBudgetCents: number | null;
}

export const SCOPE_BUDGET = { minimum: 0, maximum: 1e12 };

/** As a context carries them. */
export const scopeLimitsOnTheWire = ({ projectBudgetCents, orgBudgetCents }: ScopeBudgets): ILimit[] =>
  Object.entries({ project: projectBudgetCents, org: orgBudgetCents }).flatMap(([scope, value]) =>
    value === null ? [] : [{ type: 'budget', window: 'month', unit: 'cents', scope, value }],
  );
