/** How strictly an agent's limits are enforced: beside the limits themselves, which limits/limit-fields.ts lists. */
import { Type } from 'typebox';

const BUDGET_MODES = ['soft', 'hard'] as const;
const ON_STORE_LOSS = ['allow', 'refuse'] as const;

export interface Enforcement {
  readonly budgetMode: (typeof BUDGET_MODES)[number];
  readonly holdMaxOutputTokens: number;
  readonly onStoreLoss: (typeof ON_STORE_LOSS)[number];
}

const DEFAULT_ENFORCEMENT: Enforcement = {
  budgetMode: 'soft',
  holdMaxOutputTokens: 4_096,
  onStoreLoss: 'allow',
};

/** Fields that only an admin may set, limits of money among them. */
export const ADMIN_FIELDS = ['budgetCentsMonthly', 'budgetMode', 'onStoreLoss'] as const;

export const EnforcementFields = {
  budgetMode: Type.Unsafe<Enforcement['budgetMode']>({
    type: 'string',
    enum: BUDGET_MODES,
    description: 'soft: a call passes while the budget is not spent; hard: while what it may cost at most still fits.',
  }),
  holdMaxOutputTokens: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    description: 'Output tokens that a hard budget reserves for a call that states no maximum; 4096 by default.',
  }),
  onStoreLoss: Type.Unsafe<Enforcement['onStoreLoss']>({
    type: 'string',
    enum: ON_STORE_LOSS,
    description: 'What becomes of calls while limits cannot be checked: allow (the default) or refuse (503).',
  }),
};

export const enforcementOf = (given: Partial<Enforcement>, before: Enforcement = DEFAULT_ENFORCEMENT): Enforcement => ({
  budgetMode: given.budgetMode ?? before.budgetMode,
  holdMaxOutputTokens: given.holdMaxOutputTokens ?? before.holdMaxOutputTokens,
  onStoreLoss: given.onStoreLoss ?? before.onStoreLoss,
});
