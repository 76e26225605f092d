/** The 429 of each row of the limit table. */
import { refusalReason } from '@acg/base/limits';
import { NANOS_PER_CENT } from '@acg/base/units';
import type { Admission } from '../counters/counters.js';
import { LIMIT_TABLE, type LimitRow, type Limits, shown } from '../counters/limit-table.js';
import { NO_RETRY, RETRY_SOON, type Rejection, retryAfterSec, statusLine } from './rejections.js';

/** An SDK sleeps as long as Retry-After says: a minute is worth waiting for, a day is not. */
const WAIT_SEC_MAX = 60;

/** Null: the call was not refused. */
export function limitRefusal(admission: Admission, limits: Limits, nowMs: number): Rejection | null {
  const { refusedBy } = admission;
  if (refusedBy < 0) return null;
  const row = LIMIT_TABLE[refusedBy]!;
  const limit = shown(row, limits[refusedBy]!) ?? 0;
  return row.unit === 'cents'
    ? moneyRefusal(row, limit, admission)
    : rateRefusal(row, limit, admission.passesAtSec, nowMs);
}

function rateRefusal(row: LimitRow, limit: number, resetAt: number, nowMs: number): Rejection {
  const headers = [
    'x-ratelimit-limit',
    String(limit),
    'x-ratelimit-remaining',
    '0',
    'x-ratelimit-reset',
    String(resetAt),
  ];
  if (row.window === 'minute') headers.push('retry-after', String(retryAfterSec(resetAt, nowMs, WAIT_SEC_MAX)));
  else headers.push(...NO_RETRY);
  return refusal(row, { limitType: row.type, limit, remaining: 0, resetAt }, headers);
}

/** No X-RateLimit-*. Only a hold that others stand in the way of may pass in a moment. */
function moneyRefusal(row: LimitRow, budgetCents: number, admission: Admission): Rejection {
  const { spentNanos, heldNanos, holdNanos } = admission;
  const spentCents = shown(row, spentNanos) ?? 0;
  const facts = { limitType: row.type, scope: row.scope, spentCents, budgetCents };
  if (row.scope !== 'agent' || holdNanos === 0) return refusal(row, facts, NO_RETRY);
  const budgetNanos = budgetCents * NANOS_PER_CENT;
  const reason = holdNanos > budgetNanos ? 'never_fits' : spentNanos + holdNanos > budgetNanos ? 'spent' : 'in_flight';
  const held = { ...facts, heldCents: shown(row, heldNanos) ?? 0, reason };
  const headers = reason === 'in_flight' ? RETRY_SOON : NO_RETRY;
  return { ...refusal(row, held, headers, MESSAGES[reason]), reason: REASONS[reason] };
}

/** Of refusals while the budget is not spent: who reads that it is looks at the wrong thing. */
const MESSAGES = {
  never_fits: 'This call may cost more than the monthly budget of this agent: ask for fewer output tokens.',
  spent: undefined,
  in_flight: 'Calls under way hold the rest of the monthly budget of this agent.',
} as const;

/** In metrics and the rejection tally, `budget` means that it is spent. */
const REASONS = { never_fits: 'budget_never_fits', spent: 'budget', in_flight: 'budget_in_flight' } as const;

function refusal(row: LimitRow, facts: object, headers: readonly string[], message: string = row.message): Rejection {
  const body = JSON.stringify({ error: message, message, ...facts });
  return { reason: refusalReason(row), status: 429, statusLine: statusLine(429), message, body, headers, close: false };
}
