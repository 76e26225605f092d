/** Builds the 429 rejection of a limit or a budget row. */
import { rejectionReason } from '@acg/base/limit-definitions';
import type { AgentLimits } from '../limits/agent-limits.js';
import { type BudgetRow, type BudgetScope, describeBudgetRow } from '../limits/budget-row.js';
import type { Admission, ToolRate } from '../limits/counters-interface.js';
import {
  LIMIT_TABLE,
  type LimitRow,
  nanosToCents,
  RPM_ROW,
  TOOL_RATE_ROW,
  toDisplayValue,
} from '../limits/limit-table.js';
import {
  computeRetryAfterSec,
  NO_RETRY_HEADERS,
  RETRY_SOON_HEADERS,
  type Rejection,
  statusLine,
} from './rejections.js';

/** SDKs sleep as long as Retry-After says: up to a minute is useful, a day is not. */
const RETRY_AFTER_SEC_MAX = 60;
const MS_PER_SECOND = 1000;

/** Null: the call was admitted. `limits`: of the call. */
export function createLimitRejection(
  admission: Admission,
  limits: AgentLimits,
  toolRate: ToolRate | null = null,
): Rejection | null {
  const { rejectedByBudget, rejectedByRow } = admission;
  const nowMs = admission.admittedAtSec * MS_PER_SECOND;
  if (rejectedByRow === TOOL_RATE_ROW) return createToolRateRejection(toolRate!, admission.retryAtSec, nowMs);
  if (rejectedByBudget !== null) return createBudgetRejection(rejectedByBudget, admission);
  if (rejectedByRow < 0) return null;
  const row = LIMIT_TABLE[rejectedByRow]!;
  const limit = toDisplayValue(row, limits.byRow[rejectedByRow]!) ?? 0;
  return createRateLimitRejection(row, limit, admission.retryAtSec, nowMs);
}

function createRateLimitRejection(row: LimitRow, limit: number, resetAt: number, nowMs: number): Rejection {
  const headers = [
    'x-ratelimit-limit',
    String(limit),
    'x-ratelimit-remaining',
    '0',
    'x-ratelimit-reset',
    String(resetAt),
  ];
  if (row.window === 'minute')
    headers.push('retry-after', String(computeRetryAfterSec(resetAt, nowMs, RETRY_AFTER_SEC_MAX)));
  else headers.push(...NO_RETRY_HEADERS);
  const facts = { limitType: row.type, limit, remaining: 0, resetAt };
  return buildLimitRejection(rejectionReason(row), row.message, facts, headers);
}

const TOOL_RATE_MESSAGE = 'Rate limit exceeded: too many requests for this tool in a minute.';

function createToolRateRejection({ pattern, rpm }: ToolRate, resetAt: number, nowMs: number): Rejection {
  const row = LIMIT_TABLE[RPM_ROW]!;
  const { headers } = createRateLimitRejection(row, rpm, resetAt, nowMs);
  const facts = { limitType: row.type, scope: 'tool', tool: pattern, limit: rpm, remaining: 0, resetAt };
  return buildLimitRejection('rpm_tool', TOOL_RATE_MESSAGE, facts, headers);
}

/** Sends no X-RateLimit-* headers. Only a reservation that other reservations block may succeed soon. */
function createBudgetRejection(row: BudgetRow, admission: Admission): Rejection {
  const { spentNanos, reservedNanos: heldNanos, retryAtSec } = admission;
  const holdNanos = row.reservationOf(admission.reservationNanos);
  const facts = {
    limitType: 'budget',
    ...describeBudgetRow(row),
    spentCents: nanosToCents(spentNanos),
    budgetCents: nanosToCents(row.limitNanos),
    ...(retryAtSec === 0 ? {} : { resetAt: retryAtSec }),
  };
  const reason = row.scope === 'run' ? 'budget_run' : rejectionReason({ type: 'budget', scope: row.scope });
  const spent = nameSpentBudget(row);
  if (holdNanos === 0) return withBudgetId(buildLimitRejection(reason, spent, facts, NO_RETRY_HEADERS), row);
  const why =
    holdNanos > row.limitNanos ? 'never_fits' : spentNanos + holdNanos > row.limitNanos ? 'spent' : 'in_flight';
  const held = { ...facts, heldCents: nanosToCents(heldNanos), reason: why };
  const headers = why === 'in_flight' ? RETRY_SOON_HEADERS : NO_RETRY_HEADERS;
  const rejection =
    why === 'spent' // the row's own reason says that the budget is used up
      ? buildLimitRejection(reason, spent, held, headers)
      : buildLimitRejection(`budget_${why}`, BUDGET_MESSAGES[why](nameBudget(row)), held, headers);
  return withBudgetId(rejection, row);
}

const withBudgetId = (rejection: Rejection, { id }: BudgetRow): Rejection =>
  id === '' ? rejection : { ...rejection, budgetId: id };

/** Texts while the budget is not used up. */
const BUDGET_MESSAGES = {
  never_fits: (budget: string) => `This call may cost more than ${budget}: request fewer output tokens.`,
  in_flight: (budget: string) => `Calls in flight have reserved the rest of ${budget}.`,
} as const;
const SCOPE_NAMES: Readonly<Record<BudgetScope, string>> = {
  agent: 'this agent',
  project: 'the project',
  org: 'the organization',
  run: 'the run',
};
const WINDOW_NAMES: Readonly<Record<BudgetRow['window'], string>> = {
  day: 'daily ',
  week: 'weekly ',
  month: 'monthly ',
  total: 'total ',
};

/** `the monthly budget of this agent`. */
function nameBudget({ scope, window, models, tag, cell }: BudgetRow): string {
  const model = models.length === 0 ? '' : ` for models ${models.join(', ')}`;
  const tagged = tag === '' ? '' : ` for calls with the tag ${tag}`;
  const share = cell === '' ? '' : `share of the cell ${cell} in the `;
  return `the ${share}${scope === 'run' ? '' : WINDOW_NAMES[window]}budget of ${SCOPE_NAMES[scope]}${model}${tagged}`;
}

function nameSpentBudget(row: BudgetRow): string {
  const name = nameBudget(row);
  return `${name[0]!.toUpperCase()}${name.slice(1)} is spent.`;
}

const buildLimitRejection = (
  reason: Rejection['reason'],
  message: string,
  facts: object,
  headers: readonly string[],
): Rejection => ({
  reason,
  status: 429,
  statusLine: statusLine(429),
  message,
  body: JSON.stringify({ error: message, message, ...facts }),
  headers,
  closesConnection: false,
});
