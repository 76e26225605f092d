import {
  BUDGET_ROW_MODELS_MAX,
  BUDGET_ROW_MODES,
  BUDGET_ROWS_MAX,
  BUDGET_WINDOWS,
  type BudgetRowMode,
  type BudgetWindow,
  TAG_PATTERN,
} from '@acg/base/budget-rows';
import { type Static, Type } from 'typebox';
import { EXAMPLE_IDS } from '../http/examples.js';
import { Body, Timestamp, Uuid } from '../http/schema.js';

const MODEL_CHARS_MAX = 200;

const Window = Type.Unsafe<BudgetWindow>({
  type: 'string',
  enum: BUDGET_WINDOWS,
  description: 'In UTC; a week begins on Monday. total: all time.',
});
const Mode = Type.Unsafe<BudgetRowMode>({
  type: 'string',
  enum: BUDGET_ROW_MODES,
  description:
    'soft: calls pass until the budget is spent. hard: a call passes only if its maximum cost fits into the rest. audit: counted, and never rejects.',
});
const Cents = Type.Integer({ minimum: 0, maximum: 1e12, description: 'US cents per window.' });
const Models = Type.Array(
  Type.String({ minLength: 1, maxLength: MODEL_CHARS_MAX, pattern: '^[^\\u0000-\\u001f\\u007f]+$' }),
  {
    maxItems: BUDGET_ROW_MODELS_MAX,
    uniqueItems: true,
    description:
      'Counts calls of these models only; * matches any number of characters. Empty: all models. A call that names no model counts.',
  },
);
const Tag = Type.String({
  pattern: TAG_PATTERN,
  maxLength: 97,
  description: 'Counts calls with this tag only, as key=value of the header x-gateway-tag.',
});

export const BudgetRowInput = Body({
  id: Type.Optional(Uuid),
  window: Window,
  cents: Cents,
  models: Type.Optional(Models),
  tag: Type.Optional(Tag),
  mode: Type.Optional(Mode),
});
export type BudgetRowInput = Static<typeof BudgetRowInput>;

export const BudgetRowsInput = Type.Array(BudgetRowInput, {
  maxItems: BUDGET_ROWS_MAX,
  description:
    'All budgets of the object: replaces the list. One row per window, models and tag. The row of the window month without models and tag is budgetCentsMonthly and its mode.',
});

export const BudgetRow = Type.Object({
  id: Type.Optional({ ...Uuid, description: 'Missing in the plain monthly row.' }),
  window: Window,
  cents: Cents,
  models: Models,
  tag: Type.Optional(Tag),
  mode: Mode,
  spentCents: Type.Integer({ description: 'Spend of the current window in the ledger, US cents.' }),
  resetAt: Type.Union([Timestamp, Type.Null()], { description: 'When the next window begins; null: never.' }),
});
export type BudgetRow = Static<typeof BudgetRow>;
export const BudgetRows = Type.Array(BudgetRow, {
  description: 'Budgets of every window, the plain monthly one first.',
});

/** For the API document. */
export const EXAMPLES = {
  'BudgetRow.id': EXAMPLE_IDS.event,
  window: 'day',
  'agentDefaults.tpmLimit': 100_000,
  cents: 500,
  models: ['gpt-5*'],
  tag: 'customer=acme',
  mode: 'hard',
  'BudgetRow.spentCents': 120,
  resetAt: '2026-01-31T00:00:00.000Z',
};
