/** Names limits and budget rows in audit mode that would have rejected a call: `rpm,budget:<id>`. */
import type { AgentLimits } from './agent-limits.js';
import type { BudgetRow } from './budget-row.js';
import { LIMIT_TABLE } from './limit-table.js';

/** `budget`, `project_budget`, `org_budget` for the plain monthly rows. */
export function nameBudgetInAudit({ id, scope }: BudgetRow): string {
  if (id !== '') return `budget:${id}`;
  return scope === 'agent' ? 'budget' : `${scope}_budget`;
}

/** Position of a budget among `checkedBudgets` by its number in a verdict, which begins at -2; negative: no budget. */
export const toBudgetPosition = (number: number): number => -2 - number;

/**
 * `pairs`: numbers of limits, see `AdmitVerdict`, each with how many requests fit in it. `at`: position of the request,
 * from 0.
 */
export function listWouldReject(limits: AgentLimits, pairs: readonly number[], at: number): string {
  const names: string[] = [];
  for (let i = 0; i < pairs.length; i += 2) {
    const number = pairs[i]!;
    if (at < pairs[i + 1]!) continue;
    names.push(
      number > 0 ? LIMIT_TABLE[number - 1]!.type : nameBudgetInAudit(limits.checkedBudgets[toBudgetPosition(number)]!),
    );
  }
  return names.join();
}
