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
export type ConfiguredLimits = { readonly [name in LimitName]: number | null };
/** As they are in force and as answers show them. */
export type EffectiveLimits = { [name in LimitName]: name extends DefaultedLimitName ? number : number | null };

/** `{field: make(row)}` over the list. */
export function mapLimits<T>(make: (row: AgentLimit) => T): { [name in LimitName]: T } {
  return Object.fromEntries(AGENT_LIMITS.map((row) => [row.field, make(row)])) as { [name in LimitName]: T };
}

/** `column as "field", …` */
export const limitColumns = (sql: Sql | Tx) =>
  sql.unsafe(LIMIT_FIELDS.map(({ column, field }) => `${column} as "${field}"`).join(', '));

/** `{column: value}` for inserts and updates. */
export const limitValues = (own: ConfiguredLimits): Readonly<Record<string, number | null>> =>
  Object.fromEntries(LIMIT_FIELDS.map(({ column, field }) => [column, own[field]]));

export const effectiveLimits = (own: ConfiguredLimits): EffectiveLimits =>
  mapLimits((row) => own[row.field] ?? row.default) as EffectiveLimits;

type LimitNameInLists = Extract<AgentLimit, { inLists: true }>['field'];

/** The limits that lists show. */
export const pickLimitsShownInLists = <T extends { readonly [name in LimitNameInLists]: unknown }>(
  of: T,
): Pick<T, LimitNameInLists> =>
  Object.fromEntries(AGENT_LIMITS.flatMap((row) => (row.inLists ? [[row.field, of[row.field]]] : []))) as Pick<
    T,
    LimitNameInLists
  >;

/** As a context carries them; what has no limit is left out. */
export const encodeAgentLimits = (own: ConfiguredLimits): ILimit[] =>
  AGENT_LIMITS.flatMap((row) => encodeLimit(row, own[row.field] ?? row.default));

/** Budgets of an agent's project and organization; null = none. */
export interface ScopeBudgets {
  readonly projectBudgetCents: number | null;
  readonly orgBudgetCents: number | null;
}

/** As a context carries them. */
export const encodeScopeBudgets = ({ projectBudgetCents, orgBudgetCents }: ScopeBudgets): ILimit[] => [
  ...encodeLimit(scopeBudgetLimit('project'), projectBudgetCents),
  ...encodeLimit(scopeBudgetLimit('org'), orgBudgetCents),
];

const scopeBudgetLimit = (scope: 'project' | 'org') => LIMITS.find((row) => row.scope === scope)!;

const encodeLimit = ({ type, window, unit, scope }: Limit, value: number | null): ILimit[] =>
  value === null ? [] : [{ type, window, unit, scope, value }];

/** What the API's document says of the budget of a project or an organization. */
export function scopeBudgetFieldSchema(of: 'project' | 'org') {
  const { minimum, maximum, description } = scopeBudgetLimit(of);
  return { minimum, maximum, description };
}
