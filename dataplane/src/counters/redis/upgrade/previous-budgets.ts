/** The budgets that the previous layout knows: the plain monthly ones of agent, project and organization. */
import type { AgentLimits } from '../../../limits/agent-limits.js';
import type { BudgetRow } from '../../../limits/budget-row.js';
import type { BudgetWindow } from '../../../limits/calendar-window.js';

/** Key of a scope's month in the previous layout. */
export function previousSpendKey(
  { scope, scopeId: id }: Pick<BudgetRow, 'scope' | 'scopeId'>,
  { name }: BudgetWindow,
): string {
  const hashTag = scope === 'project' ? `p:${id}` : scope === 'org' ? `o:${id}` : id;
  return `acg:{${hashTag}}:m:${name}`;
}

export const plainOf = (rows: readonly BudgetRow[]): readonly BudgetRow[] => rows.filter(({ isPlain }) => isPlain);
/** The plain monthly budgets that reject calls. */
export const enforcedOf = ({ checkedBudgets }: AgentLimits): readonly BudgetRow[] =>
  plainOf(checkedBudgets).filter(({ mode }) => mode !== 'audit');
export const monthAt = (row: BudgetRow, unixSec: number): BudgetWindow => row.windowsAt(unixSec)[0]!;
