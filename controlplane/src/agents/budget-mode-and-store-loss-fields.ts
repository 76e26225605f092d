/** How strictly an agent's limits are enforced. The limits themselves are in limits/agent-limit-fields.ts. */
import { Type } from 'typebox';

const BUDGET_MODES = ['soft', 'hard'] as const;
const ON_STORE_LOSS = ['allow', 'refuse'] as const;

const ON_STORE_LOSS_DESCRIPTION =
  'What happens to calls while limits cannot be checked: allow or refuse (503). The default is refuse for a hard budget and allow for a soft one.';
type OnStoreLoss = (typeof ON_STORE_LOSS)[number];

/** The stored settings. */
export interface Enforcement {
  readonly budgetMode: (typeof BUDGET_MODES)[number];
  readonly holdMaxOutputTokens: number;
  /** Null: not set, see {@link effectiveOnStoreLoss}. */
  readonly onStoreLoss: OnStoreLoss | null;
}

const DEFAULT_ENFORCEMENT: Enforcement = {
  budgetMode: 'soft',
  holdMaxOutputTokens: 4_096,
  onStoreLoss: null,
};

/** Fields that only an admin may set: money limits and how strictly they are enforced. */
export const ADMIN_FIELDS = [
  'budgetCentsMonthly',
  'budgetMode',
  'budgets',
  'auditLimits',
  'holdMaxOutputTokens',
  'onStoreLoss',
] as const;

export const EnforcementFields = {
  budgetMode: Type.Unsafe<Enforcement['budgetMode']>({
    type: 'string',
    enum: BUDGET_MODES,
    description:
      'soft: calls pass until the budget is spent. hard: a call passes only if its maximum cost fits into the rest of the budget.',
  }),
  holdMaxOutputTokens: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    description: 'Output tokens that a hard budget reserves for a call without a maximum of its own; 4096 by default.',
  }),
  onStoreLoss: Type.Unsafe<OnStoreLoss>({
    type: 'string',
    enum: ON_STORE_LOSS,
    description: ON_STORE_LOSS_DESCRIPTION,
  }),
};

/** Null resets the field to the default. */
export const OnStoreLossInput = Type.Unsafe<OnStoreLoss | null>({
  type: ['string', 'null'],
  enum: [...ON_STORE_LOSS, null],
  description: `${ON_STORE_LOSS_DESCRIPTION} Null resets it to the default.`,
});

/** By default a hard budget rejects calls that cannot be checked, because it must never be exceeded. */
export const effectiveOnStoreLoss = (
  { budgetMode, onStoreLoss }: Pick<Enforcement, 'budgetMode' | 'onStoreLoss'>,
  /** Whether the agent, its project or its organization has a hard budget row. */
  hasHardRow: boolean,
): OnStoreLoss => onStoreLoss ?? (budgetMode === 'hard' || hasHardRow ? 'refuse' : 'allow');

export const withDefaultEnforcement = (given: Partial<Enforcement>): Enforcement => ({
  budgetMode: given.budgetMode ?? DEFAULT_ENFORCEMENT.budgetMode,
  holdMaxOutputTokens: given.holdMaxOutputTokens ?? DEFAULT_ENFORCEMENT.holdMaxOutputTokens,
  onStoreLoss: given.onStoreLoss ?? DEFAULT_ENFORCEMENT.onStoreLoss,
});
