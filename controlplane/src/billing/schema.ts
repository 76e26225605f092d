/** Schemas of reconciliation (docs/contract.md#reconciliation). Amounts are US cents with their fraction. */
import { type Static, type TSchema, Type } from 'typebox';
import { EXAMPLE_IDS, EXAMPLE_TIMES } from '../http/examples.js';
import { PageQuery, PageReply } from '../http/limit-offset-pagination.js';
import { Body, Day, Name, Timestamp, Uuid } from '../http/schema.js';

const BILLING_APIS = ['openai', 'anthropic', 'openrouter'] as const;
export type BillingApi = (typeof BILLING_APIS)[number];

const Month = Type.String({ pattern: '^[1-9]\\d{3}-(?:0[1-9]|1[0-2])$', description: 'UTC month, `YYYY-MM`.' });
const Cents = (description: string) => Type.Number({ description });
const orNull = <T extends TSchema>(type: T, description: string) => Type.Union([type, Type.Null()], { description });

const STATES = ['match', 'pending', 'drift', 'unbilled', 'ambiguous', 'unattributed'] as const;
const State = Type.Enum([...STATES], {
  description:
    '`match`: both agree. `pending`: the provider may still report it. `drift`: another price, or billed failures. `unbilled`: booked, not billed. `ambiguous`: billed calls of several keys that the provider shows alike, one of them held here; replace one of them. `unattributed`: calls that the gateway did not make.',
});
const AccountState = Type.Enum([...STATES, 'unchecked', 'adjusted'], {
  description:
    'The most urgent state of the lines. `unchecked`: no check of the month has succeeded. `adjusted`: adjustments cover the difference.',
});

const Causes = {
  ourCents: Cents('Booked by the gateway.'),
  theirCents: Cents('Reported by the provider.'),
  differenceCents: Cents('`theirCents` minus `ourCents`: the sum of the five causes.'),
  failureCents: Cents('Billed calls that failed at the gateway.'),
  unattributedCents: Cents('Calls that the gateway did not make.'),
  ambiguousCents: Cents('Calls that the gateway did not make, of one of several keys that the provider shows alike.'),
  unbilledCents: Cents('Booked calls that the provider does not bill; 0 or negative.'),
  priceCents: Cents('The same tokens at another price.'),
};

const BillingAccount = Type.Object({
  id: Uuid,
  api: Type.Enum([...BILLING_APIS]),
  providerSlug: Type.String({ description: 'The provider whose calls are compared.' }),
  name: Type.String(),
  alertCents: Type.Integer({
    description: 'Unattributed cost of a key and day that causes `credential.used_elsewhere`.',
  }),
  checkedAt: orNull(Timestamp, 'Last check that succeeded; null: none.'),
  problem: orNull(Type.String(), 'Why the last check failed; null: it succeeded.'),
  createdAt: Timestamp,
});
export type BillingAccount = Static<typeof BillingAccount>;

const AccountReport = Type.Object({
  ...BillingAccount.properties,
  checkedAt: orNull(Timestamp, 'Last check of the month that succeeded; null: none.'),
  state: AccountState,
  ...Causes,
  pendingCents: Cents('The part of `unbilledCents` that the provider may still report; 0 or negative.'),
  otherKeysCents: Cents('Cost of keys that no account of the organization holds. Not part of `theirCents`.'),
  adjustmentCents: Cents('Accepted differences of the month.'),
  openCents: Cents('`differenceCents` minus `adjustmentCents`.'),
});
export type AccountReport = Static<typeof AccountReport>;

const PriceDrift = Type.Object({
  accountId: Uuid,
  providerSlug: Type.String(),
  model: Type.String(),
  since: Type.String({ format: 'date', description: 'First day of the month with this price.' }),
  prices: Type.Array(
    Type.Object({
      field: Type.String({ description: 'The field of PRICES_FILE.' }),
      ourUsdPerMTok: Type.Number(),
      theirUsdPerMTok: Type.Number(),
    }),
  ),
  pricesFile: Type.String({ description: 'The entry of PRICES_FILE that removes the difference.' }),
});
export type PriceDriftView = Static<typeof PriceDrift>;

const Adjustment = Type.Object({
  id: Uuid,
  accountId: Uuid,
  month: Month,
  amountCents: Cents('Accepted difference.'),
  reason: Type.String(),
  createdBy: Type.String(),
  createdAt: Timestamp,
});
export type Adjustment = Static<typeof Adjustment>;

export const BillingReport = Type.Object({
  month: Month,
  accounts: Type.Array(AccountReport),
  drifts: Type.Array(PriceDrift),
  adjustments: Type.Array(Adjustment),
});
export type BillingReport = Static<typeof BillingReport>;

export const MonthQuery = Type.Object({ month: Type.Optional(Month) });
export const BillingAccountReply = Type.Object({ account: BillingAccount });
export const AccountReportReply = Type.Object({ account: AccountReport });
export const AdjustmentReply = Type.Object({ adjustment: Adjustment });

const AdminKey = Type.String({
  minLength: 8,
  maxLength: 4_096,
  pattern: '^[\\x21-\\x7e]+$',
  description: 'OpenAI: `sk-admin-…`. Anthropic: `sk-ant-admin…`. OpenRouter: a management key. Never shown again.',
});
const AlertCents = Type.Integer({ minimum: 1, maximum: 1_000_000_000 });
export const BillingAccountInput = Body({
  api: Type.Enum([...BILLING_APIS]),
  name: Name,
  adminKey: AdminKey,
  providerSlug: Type.Optional(
    Type.String({
      minLength: 2,
      maxLength: 40,
      description: 'The custom provider that calls OpenRouter. Left out for a built-in provider.',
    }),
  ),
  alertCents: Type.Optional(AlertCents),
});
export type BillingAccountInput = Static<typeof BillingAccountInput>;
export const BillingAccountPatch = Body({
  name: Type.Optional(Name),
  adminKey: Type.Optional(AdminKey),
  alertCents: Type.Optional(AlertCents),
});
export type BillingAccountPatch = Static<typeof BillingAccountPatch>;
export const CheckInput = Body({ month: Type.Optional(Month) });
/** In nano-dollars below 2^60, where multiples of 10^7 are exact as a double. */
const ADJUSTMENT_CENTS_MAX = 100_000_000_000;
export const AdjustmentInput = Body({
  accountId: Uuid,
  month: Month,
  amountCents: Type.Integer({ minimum: -ADJUSTMENT_CENTS_MAX, maximum: ADJUSTMENT_CENTS_MAX }),
  reason: Type.String({ minLength: 1, maxLength: 500, pattern: '\\S' }),
});
export type AdjustmentInput = Static<typeof AdjustmentInput>;

const LINE_GROUPS = ['day', 'hour', 'key', 'model', 'line'] as const;
export const LineQuery = Type.Object({
  ...PageQuery,
  month: Type.Optional(Month),
  by: Type.Optional(
    Type.Enum([...LINE_GROUPS], { description: 'Sums per day (the default), hour, key or model; `line`: no sums.' }),
  ),
  day: Type.Optional(Day),
  key: Type.Optional(Type.String({ maxLength: 200, description: 'The redacted key, exactly.' })),
  model: Type.Optional(Type.String({ maxLength: 256 })),
  state: Type.Optional(Type.Enum([...STATES])),
});
export type LineQuery = Static<typeof LineQuery>;
const BillingLine = Type.Object({
  start: orNull(Timestamp, 'Start of the hour or day; null in sums over all of them.'),
  key: orNull(Type.String(), 'The key as the provider shows it, empty where it names none; null in sums.'),
  model: orNull(Type.String(), 'Null in sums.'),
  isHeld: Type.Boolean({ description: 'False: no account of the organization holds the key.' }),
  state: State,
  ourRequests: Type.Integer(),
  theirRequests: orNull(Type.Integer(), 'Null: the provider does not count requests.'),
  ourTokens: Type.Integer(),
  theirTokens: Type.Integer(),
  ...Causes,
});
export type BillingLineView = Static<typeof BillingLine>;
export const LineList = Type.Object({ lines: Type.Array(BillingLine), ...PageReply });

/** For the API document. */
export const EXAMPLES = {
  month: '2026-01',
  api: 'openai',
  adminKey: 'sk-admin-example-not-a-real-key',
  'BillingAccountInput.providerSlug': undefined,
  'accounts.name': 'OpenAI, whole company',
  'account.name': 'OpenAI, whole company',
  accountId: EXAMPLE_IDS.account,
  alertCents: 100,
  checkedAt: EXAMPLE_TIMES.used,
  problem: null,
  state: 'drift',
  ourCents: 1_240,
  theirCents: 1_265,
  differenceCents: 25,
  failureCents: 25,
  unattributedCents: 0,
  ambiguousCents: 0,
  unbilledCents: 0,
  priceCents: 0,
  pendingCents: 0,
  otherKeysCents: 0,
  adjustmentCents: 0,
  amountCents: 25,
  openCents: 25,
  'adjustments.reason': 'Timeouts that OpenAI billed',
  'adjustment.reason': 'Timeouts that OpenAI billed',
  'AdjustmentInput.reason': 'Timeouts that OpenAI billed',
  'adjustments.createdBy': 'ada@example.com',
  'adjustment.createdBy': 'ada@example.com',
  'drifts.since': '2026-01-12',
  field: 'inputPerMTok',
  ourUsdPerMTok: 0.25,
  theirUsdPerMTok: 0.3,
  pricesFile: '{"openai":{"models":{"gpt-5-mini":[{"from":"2026-01-12","inputPerMTok":0.3}]}}}',
  'lines.start': '2026-01-12T00:00:00.000Z',
  key: 'sk-abc***xyz',
  isHeld: true,
  ourRequests: 1_204,
  theirRequests: 1_210,
  ourTokens: 1_580,
  theirTokens: 1_601,
};
