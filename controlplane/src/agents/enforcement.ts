/** How strictly an agent's limits are enforced: beside the limits themselves, which limits/limit-fields.ts lists. */
import { Type } from 'typebox';

const BUDGET_MODES = ['soft', 'hard'] as const;
const ON_STORE_LOSS = ['allow', 'refuse'] as const;

const ON_STORE_LOSS_DESCRIPTION =
  'Calls while limits cannot be checked: allow or refuse (503). By default hard budgets refuse, soft ones allow.';
type OnStoreLoss = (typeof ON_STORE_LOSS)[number];

/** As it is stored. */
export interface Enforcement {
  readonly budgetMode: (typeof BUDGET_MODES)[number];
  readonly holdMaxOutputTokens: number;
  /** Null: no choice of its own, see {@link effectiveOnStoreLoss}. */
  readonly onStoreLoss: OnStoreLoss | null;
}

const DEFAULT_ENFORCEMENT: Enforcement = {
  budgetMode: 'soft',
  holdMaxOutputTokens: 4_096,
  onStoreLoss: null,
};

/** Fields that only an admin may set: limits of money, and how strictly they hold. */
export const ADMIN_FIELDS = ['budgetCentsMonthly', 'budgetMode', 'holdMaxOutputTokens', 'onStoreLoss'] as const;

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
  onStoreLoss: Type.Unsafe<OnStoreLoss>({
    type: 'string',
    enum: ON_STORE_LOSS,
    description: ON_STORE_LOSS_DESCRIPTION,
  }),
};

/** Null takes the choice back. */
export const OnStoreLossInput = Type.Unsafe<OnStoreLoss | null>({
  type: ['string', 'null'],
  enum: [...ON_STORE_LOSS, null],
  description: `${ON_STORE_LOSS_DESCRIPTION} Null: the default.`,
});

/** A hard budget is meant to hold, so it refuses what cannot be checked, unless the agent says otherwise. */
export const effectiveOnStoreLoss = ({
  budgetMode,
  onStoreLoss,
}: Pick<Enforcement, 'budgetMode' | 'onStoreLoss'>): OnStoreLoss =>
  onStoreLoss ?? (budgetMode === 'hard' ? 'refuse' : 'allow');

export const withDefaultEnforcement = (given: Partial<Enforcement>): Enforcement => ({
  budgetMode: given.budgetMode ?? DEFAULT_ENFORCEMENT.budgetMode,
  holdMaxOutputTokens: given.holdMaxOutputTokens ?? DEFAULT_ENFORCEMENT.holdMaxOutputTokens,
  onStoreLoss: given.onStoreLoss ?? DEFAULT_ENFORCEMENT.onStoreLoss,
});
