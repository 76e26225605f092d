/** Terms of an agent for tests: limits by their names, everything else as it is without them. */
import { NANOS_PER_CENT } from '@acg/base/units';
import type { AgentTerms } from '../agent-terms.js';
import { parseMonth } from '../calendar-month.js';
import { BUDGET_ROW, LIMIT_TABLE, RPD_ROW, RPM_ROW, UNLIMITED } from '../limit-table.js';

export interface TestTerms {
  readonly agentId?: string;
  readonly rpmLimit?: number;
  readonly rpdLimit?: number;
  readonly budgetNanos?: number | null;
  readonly budgetCents?: number | null;
  readonly spendFloorNanos?: number;
  /** `YYYY-MM` */
  readonly spendFloorMonth?: string;
}

export function termsOf(given: TestTerms = {}): AgentTerms {
  const limits = LIMIT_TABLE.map((row) => row.default ?? UNLIMITED);
  limits[RPM_ROW] = given.rpmLimit ?? limits[RPM_ROW]!;
  limits[RPD_ROW] = given.rpdLimit ?? limits[RPD_ROW]!;
  const cents = given.budgetCents ?? null;
  limits[BUDGET_ROW] = given.budgetNanos ?? (cents === null ? UNLIMITED : cents * NANOS_PER_CENT);
  return {
    agentId: given.agentId ?? '00000000-0000-7000-8000-000000000001',
    limits,
    month: parseMonth(given.spendFloorMonth ?? '1970-01'),
    spentNanos: given.spendFloorNanos ?? 0,
  };
}
