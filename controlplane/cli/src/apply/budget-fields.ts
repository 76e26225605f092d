/**
 * Budget rows and defaults for new agents, in the one form in which a document and the API's answer can be compared. The
 * older fields `budgetCentsMonthly` and `budgetMode` are the plain monthly row (docs/contract.md#budget-rows). Values of a wrong
 * type pass unchanged: the API's schema names them.
 */
import { usage } from '../terminal/cli-error.js';

type Fields = Readonly<Record<string, unknown>>;

/** What the API adds to a row, or numbers by itself. */
const SHOWN_ONLY: readonly string[] = ['id', 'spentCents', 'resetAt'];

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isPlainMonthly = ({ window, models, tag }: Fields): boolean =>
  window === 'month' && tag === undefined && (models === undefined || (Array.isArray(models) && models.length === 0));

/** With the fields in one order, so that texts of rows compare, too. */
function comparableRow(row: unknown, plainMode: unknown): unknown {
  if (!isObject(row)) return row;
  const { window, cents, models, tag, mode = isPlainMonthly(row) ? plainMode : 'soft', ...rest } = row;
  const stated = {
    window,
    cents,
    models: Array.isArray(models) ? (models.length === 0 ? undefined : [...models].sort()) : models,
    tag,
    mode,
    ...Object.fromEntries(Object.entries(rest).filter(([field]) => !SHOWN_ONLY.includes(field))),
  };
  return Object.fromEntries(Object.entries(stated).filter(([, value]) => value !== undefined));
}

/** Keeps the order, in which the gateway checks rows. It checks the plain monthly row first. */
function comparableRows(rows: unknown, plainMode: unknown): unknown {
  if (!Array.isArray(rows)) return rows;
  const comparable = rows.map((row: unknown) => comparableRow(row, plainMode));
  const isPlain = (row: unknown): boolean => isObject(row) && isPlainMonthly(row);
  return [...comparable.filter(isPlain), ...comparable.filter((row) => !isPlain(row))];
}

/** Moves the plain monthly budget into `budgets`, where a document states `budgets`. `own`: what the object has now. */
export function mergeBudgetFields(wanted: Fields, own: Fields): Fields {
  if (!Array.isArray(wanted.budgets)) return wanted;
  const { budgetCentsMonthly: cents, budgetMode, budgets, ...rest } = wanted;
  const ownPlain = Array.isArray(own.budgets) ? own.budgets.find((row) => isObject(row) && isPlainMonthly(row)) : null;
  const mode = budgetMode ?? ownPlain?.mode ?? own.budgetMode ?? 'soft';
  const hasPlain = budgets.some((row: unknown) => isObject(row) && isPlainMonthly(row));
  const rows = hasPlain || cents == null ? budgets : [{ window: 'month', cents }, ...budgets];
  return {
    ...rest,
    // Without a plain monthly row the mode stays a setting of its own.
    ...(budgetMode === undefined || rows.some((row: unknown) => isObject(row) && isPlainMonthly(row))
      ? {}
      : { budgetMode }),
    budgets: comparableRows(rows, mode),
  };
}

/** Lists of rows, and the defaults for new agents, without what the API adds. */
export function comparableFields(fields: Fields): Fields {
  const { budgets, agentDefaults } = fields;
  return {
    ...fields,
    ...(budgets === undefined ? {} : { budgets: comparableRows(budgets, fields.budgetMode ?? 'soft') }),
    ...(isObject(agentDefaults) ? { agentDefaults: comparableDefaults(agentDefaults) } : {}),
  };
}

function comparableDefaults(defaults: Fields): Fields {
  const { budgets, auditLimits } = defaults;
  return {
    ...defaults,
    ...(budgets === undefined ? {} : { budgets: comparableRows(budgets, defaults.budgetMode ?? 'soft') }),
    ...(Array.isArray(auditLimits) ? { auditLimits: [...auditLimits].sort() } : {}),
  };
}

/** Throws for rows and older fields that contradict each other, and for two rows of one window, models and tag. */
export function assertBudgetsConsistent(fields: Fields, path: string): void {
  if (isObject(fields.agentDefaults)) assertBudgetsConsistent(fields.agentDefaults, `${path}: agentDefaults`);
  if (!Array.isArray(fields.budgets)) return;
  const firstByKey = new Map<string, number>();
  for (const [at, row] of fields.budgets.entries()) {
    if (!isObject(row)) continue;
    const models = Array.isArray(row.models) ? [...row.models].sort() : [];
    const key = JSON.stringify([row.window, models, row.tag ?? '']);
    const first = firstByKey.get(key);
    if (first !== undefined)
      throw usage(
        `${path}: budgets[${first}] and budgets[${at}] have the same window, models and tag: leave one of them out`,
      );
    firstByKey.set(key, at);
    if (!isPlainMonthly(row)) continue;
    for (const [old, field] of [
      ['budgetCentsMonthly', 'cents'],
      ['budgetMode', 'mode'],
    ] as const)
      if (fields[old] !== undefined && row[field] !== undefined && fields[old] !== row[field])
        throw usage(
          `${path}: ${old} (${String(fields[old])}) and budgets[${at}].${field} (${String(row[field])}) contradict each other: state only one`,
        );
  }
}

/** The budgets of an object as a document states them: `budgets` holds all of them, so the older fields are left out. */
export function exportedBudgetFields(fields: Fields): Fields {
  const { budgets, budgetCentsMonthly, budgetMode, agentDefaults } = comparableFields(fields);
  const defaults = agentDefaults === undefined ? {} : { agentDefaults };
  // A gateway of a release without budget rows.
  if (!Array.isArray(budgets))
    return { budgetCentsMonthly, ...(budgetMode === undefined ? {} : { budgetMode }), ...defaults };
  const hasPlain = budgets.some((row) => isPlainMonthly(row));
  return { ...(hasPlain || budgetMode === undefined ? {} : { budgetMode }), budgets, ...defaults };
}

const hasHardRow = ({ budgets }: Fields): boolean =>
  Array.isArray(budgets) && budgets.some((row) => isObject(row) && row.mode === 'hard');

/** `onStoreLoss` of an agent that states none. `parents`: its project and organization. */
export const defaultOnStoreLoss = (agent: Fields, parents: readonly Fields[]): 'allow' | 'refuse' =>
  agent.budgetMode === 'hard' || [agent, ...parents].some(hasHardRow) ? 'refuse' : 'allow';
