/** The limits that an agent can be given, as the API, the database and contexts have them; their one list is base's. */
import { AGENT_LIMITS, type AgentLimit, LIMITS, type Limit } from '@acg/base/limits';
import type { ILimit } from '@acg/proto/messages';
import type { Sql, Tx } from '../db/sql.js';

export type LimitName = AgentLimit['field'];
/** Fields that always have an effective value. */
export type DefaultedLimitName = Extract<AgentLimit, { default: number }>['field'];

/** `budgetCentsMonthly` → `budget_cents_monthly` */
const columnOf = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export const LIMIT_FIELDS = AGENT_LIMITS.map((row) => ({ ...row, column: columnOf(row.field) }));

/** As an agent has them; null: the default holds. */
export type OwnLimits = { readonly [name in LimitName]: number | null };
/** As they are in force and as answers show them. */
export type EffectiveLimits = { [name in LimitName]: name extends DefaultedLimitName ? number : number | null };

/** `{field: make(row)}` over the list. */
export function byLimit<T>(make: (row: AgentLimit) => T): { [name in LimitName]: T } {
  return Object.fromEntries(AGENT_LIMITS.map((row) => [row.field, make(row)])) as { [name in LimitName]: T };
}

/** `column as "field", …` */
export const limitColumns = (sql: Sql | Tx) =>
  sql.unsafe(LIMIT_FIELDS.map(({ column, field }) => `${column} as "${field}"`).join(', '));

/** `{column: value}` for inserts and updates. */
export const limitValues = (own: OwnLimits): Readonly<Record<string, number | null>> =>
  Object.fromEntries(LIMIT_FIELDS.map(({ column, field }) => [column, own[field]]));

export const effectiveLimits = (own: OwnLimits): EffectiveLimits =>
  byLimit((row) => own[row.field] ?? row.default) as EffectiveLimits;

type Listed = Extract<AgentLimit, { inLists: true }>['field'];

/** The limits that lists show. */
export const pickListed = <T extends { readonly [name in Listed]: unknown }>(of: T): Pick<T, Listed> =>
  Object.fromEntries(AGENT_LIMITS.flatMap((row) => (row.inLists ? [[row.field, of[row.field]]] : []))) as Pick<
    T,
    Listed
  >;

/** As a context carries them; what has no limit is left out. */
export const limitsOnTheWire = (own: OwnLimits): ILimit[] =>
  AGENT_LIMITS.flatMap((row) => onTheWire(row, own[row.field] ?? row.default));

/** Budgets of an agent's project and organization; null = none. */
export interface ScopeBudgets {
  readonly projectBudgetCents: number | null;
  readonly orgBudgetCents: number | null;
}

/** As a context carries them. */
export const scopeLimitsOnTheWire = ({ projectBudgetCents, orgBudgetCents }: ScopeBudgets): ILimit[] => [
  ...onTheWire(budgetOf('project'), projectBudgetCents),
  ...onTheWire(budgetOf('org'), orgBudgetCents),
];

const budgetOf = (scope: 'project' | 'org') => LIMITS.find((row) => row.scope === scope)!;

const onTheWire = ({ type, window, unit, scope }: Limit, value: number | null): ILimit[] =>
  value === null ? [] : [{ type, window, unit, scope, value }];

/** What the API's document says of the budget of a project or an organization. */
export function scopeBudgetField(of: 'project' | 'org') {
  const { minimum, maximum, description } = budgetOf(of);
  return { minimum, maximum, description };
}
