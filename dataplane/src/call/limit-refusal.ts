/** The 429 of each row of the limit table. */
import type { Admission } from '../counters/counters.js';
import { LIMIT_TABLE, type LimitRow, type Limits, shown } from '../counters/limit-table.js';
import { NO_RETRY, type Rejection, retryAfterSec, statusLine } from './rejections.js';

/** An SDK sleeps as long as Retry-After says: a minute is worth waiting for, a day is not. */
const WAIT_SEC_MAX = 60;

/** Null: the call was not refused. */
export function limitRefusal(admission: Admission, limits: Limits, nowMs: number): Rejection | null {
  const { refusedBy } = admission;
  if (refusedBy < 0) return null;
  const row = LIMIT_TABLE[refusedBy]!;
  const limit = shown(row, limits[refusedBy]!) ?? 0;
  return row.unit === 'cents'
    ? moneyRefusal(row, limit, shown(row, admission.spentNanos) ?? 0)
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

/** No X-RateLimit-*, no Retry-After. */
function moneyRefusal(row: LimitRow, budgetCents: number, spentCents: number): Rejection {
  return refusal(row, { limitType: row.type, scope: row.scope, spentCents, budgetCents }, NO_RETRY);
}

function refusal(row: LimitRow, facts: object, headers: readonly string[]): Rejection {
  const { type, message } = row;
  const body = JSON.stringify({ error: message, message, ...facts });
  return { reason: type, status: 429, statusLine: statusLine(429), message, body, headers, close: false };
}
