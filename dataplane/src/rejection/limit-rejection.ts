/** Builds the 429 rejection for each row of the limit table. */
import { rejectionReason } from '@acg/base/limit-definitions';
import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import type { Admission, ToolRate } from '../limits/counters-interface.js';
import {
  LIMIT_TABLE,
  type LimitRow,
  type LimitValues,
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

/** Null: the call was admitted. */
export function createLimitRejection(
  admission: Admission,
  limits: LimitValues,
  nowMs: number,
  toolRate: ToolRate | null = null,
): Rejection | null {
  const { rejectedByRow: refusedBy } = admission;
  if (refusedBy === TOOL_RATE_ROW) return createToolRateRejection(toolRate!, admission.retryAtSec, nowMs);
  if (refusedBy < 0) return null;
  const row = LIMIT_TABLE[refusedBy]!;
  const limit = toDisplayValue(row, limits[refusedBy]!) ?? 0;
  return row.unit === 'cents'
    ? createBudgetRejection(row, limit, admission)
    : createRateLimitRejection(row, limit, admission.retryAtSec, nowMs);
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
  return buildLimitRejection(row, { limitType: row.type, limit, remaining: 0, resetAt }, headers);
}

const TOOL_RATE_MESSAGE = 'Rate limit exceeded: too many requests for this tool in a minute.';

function createToolRateRejection({ pattern, rpm }: ToolRate, resetAt: number, nowMs: number): Rejection {
  const row = LIMIT_TABLE[RPM_ROW]!;
  const { headers } = createRateLimitRejection(row, rpm, resetAt, nowMs);
  const facts = { limitType: row.type, scope: 'tool', tool: pattern, limit: rpm, remaining: 0, resetAt };
  return { ...buildLimitRejection(row, facts, headers, TOOL_RATE_MESSAGE), reason: 'rpm_tool' };
}

/** Sends no X-RateLimit-* headers. Only a reservation that other reservations block may succeed soon. */
function createBudgetRejection(row: LimitRow, budgetCents: number, admission: Admission): Rejection {
  const { spentNanos, reservedNanos: heldNanos, reservationNanos: holdNanos } = admission;
  const spentCents = toDisplayValue(row, spentNanos) ?? 0;
  const facts = { limitType: row.type, scope: row.scope, spentCents, budgetCents };
  if (holdNanos === 0) return buildLimitRejection(row, facts, NO_RETRY_HEADERS);
  const budgetNanos = budgetCents * NANOS_PER_CENT;
  const reason = holdNanos > budgetNanos ? 'never_fits' : spentNanos + holdNanos > budgetNanos ? 'spent' : 'in_flight';
  const held = { ...facts, heldCents: toDisplayValue(row, heldNanos) ?? 0, reason };
  const headers = reason === 'in_flight' ? RETRY_SOON_HEADERS : NO_RETRY_HEADERS;
  if (reason === 'spent') return buildLimitRejection(row, held, headers);
  // The row's own message and reason say that the budget is used up.
  const message = BUDGET_MESSAGES[reason](SCOPE_NAMES[row.scope]!);
  return { ...buildLimitRejection(row, held, headers, message), reason: `budget_${reason}` };
}

/** Texts while the budget is not used up. */
const BUDGET_MESSAGES = {
  never_fits: (scope: string) =>
    `This call may cost more than the monthly budget of ${scope}: request fewer output tokens.`,
  in_flight: (scope: string) => `Calls in flight have reserved the rest of the monthly budget of ${scope}.`,
} as const;
const SCOPE_NAMES: Readonly<Record<string, string>> = {
  agent: 'this agent',
  project: 'the project',
  org: 'the organization',
};

function buildLimitRejection(
  row: LimitRow,
  facts: object,
  headers: readonly string[],
  message: string = row.message,
): Rejection {
  const body = JSON.stringify({ error: message, message, ...facts });
  return {
    reason: rejectionReason(row),
    status: 429,
    statusLine: statusLine(429),
    message,
    body,
    headers,
    closesConnection: false,
  };
}
