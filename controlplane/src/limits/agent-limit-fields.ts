/**
 * The limits of an agent, as fields of the API, columns of the database and limits of a context. The list itself is in
 * base.
 */
import { AGENT_LIMITS, type AgentLimit, LIMITS, type Limit } from '@acg/base/limit-definitions';
import type { ILimit } from '@acg/proto/messages';
import type { Sql, Tx } from '../db/postgres-client.js';

export type LimitName = AgentLimit['field'];
/** Fields that always have an effective value. */
export type DefaultedLimitName = Extract<AgentLimit, { default: number }>['field'];

/** `budgetCentsMonthly` → `budget_cents_monthly` */
const columnOf = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export const LIMIT_FIELDS = AGENT_LIMITS.map((row) => ({ ...row, column: columnOf(row.field) }));

/** Limits as configured for an agent; null: the default applies. */
export type ConfiguredLimits = { readonly [name in LimitName]: number | null };
/** Limits in force, as responses show them. */
export type EffectiveLimits = { [name in LimitName]: name extends DefaultedLimitName ? number : number | null };

/** Maps each limit to a value, keyed by field name. */
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

/** The limits that lists of agents contain. */
export const pickLimitsShownInLists = <T extends { readonly [name in LimitNameInLists]: unknown }>(
  limits: T,
): Pick<T, LimitNameInLists> =>
  Object.fromEntries(AGENT_LIMITS.flatMap((row) => (row.inLists ? [[row.field, limits[row.field]]] : []))) as Pick<
    T,
    LimitNameInLists
  >;

/** Encodes an agent's limits for a context. Leaves out those without a value. */
export const encodeAgentLimits = (own: ConfiguredLimits): ILimit[] =>
  AGENT_LIMITS.flatMap((row) => encodeLimit(row, own[row.field] ?? row.default));

/** Monthly budgets of an agent's project and organization, US cents; null: none. */
export interface ScopeBudgets {
  readonly projectBudgetCents: number | null;
  readonly orgBudgetCents: number | null;
}

/** Encodes the budgets for a context. */
export const encodeScopeBudgets = ({ projectBudgetCents, orgBudgetCents }: ScopeBudgets): ILimit[] => [
  ...encodeLimit(scopeBudgetLimit('project'), projectBudgetCents),
  ...encodeLimit(scopeBudgetLimit('org'), orgBudgetCents),
];

const scopeBudgetLimit = (scope: 'project' | 'org') => LIMITS.find((row) => row.scope === scope)!;

const encodeLimit = ({ type, window, unit, scope }: Limit, value: number | null): ILimit[] =>
  value === null ? [] : [{ type, window, unit, scope, value }];

/** Bounds and description of a scope's budget field in the API document. */
export function scopeBudgetFieldSchema(scope: 'project' | 'org') {
  const { minimum, maximum, description } = scopeBudgetLimit(scope);
  return { minimum, maximum, description };
}
