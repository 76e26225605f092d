/** What waits for the reply of an admission batch, and how its verdicts become admissions and snapshots. */
import type { AgentLimits } from '../../limits/agent-limits.js';
import type { BudgetRow } from '../../limits/budget-row.js';
import type { Admission, LimitSnapshot, ToolRate, WindowSnapshot } from '../../limits/counters-interface.js';
import {
  AGENT_PROVIDER_ROWS,
  LIMIT_TABLE,
  RPM_ROW,
  TOKEN_ROWS,
  TOOL_RATE_ROW,
  UNLIMITED,
} from '../../limits/limit-table.js';
import { listWouldReject, toBudgetPosition } from '../../limits/would-reject.js';
import { type AdmitReply, type AdmitVerdict, spendReplyOf } from './script/admit-script.js';
import type { ReservationSums, SpendCounter } from './spend-counter.js';

export type AdmissionCallback = (admission: Admission) => void;
export type PeekCallback = (snapshot: LimitSnapshot | null) => void;

/** A check of the request, as JSON without its number of requests. */
export interface Check {
  requests: number;
  readonly json: string;
}

/** Requests that share one check. */
export interface WaiterGroup extends Check {
  readonly limits: AgentLimits;
  /** Null: the reservation of a running call grows. */
  readonly providerSlug: string | null;
  readonly toolRate: ToolRate | null;
  /** Of each request, nano-dollars. */
  readonly reservationNanos: number;
  /** The budgets are those of the windows of this instant, Unix seconds. */
  readonly windowsAtSec: number;
  /** Spend items of each of `checkedBudgets`: that of the windows in which requests count first. */
  readonly budgetItems: readonly BudgetItems[];
  readonly checkIndex: number;
  /** One callback per request, in order of arrival. */
  readonly waiters: AdmissionCallback[];
}

export interface PendingPeek {
  readonly limits: AgentLimits;
  readonly providerSlugs: readonly string[];
  /** Index of the first check; one check per provider. */
  readonly firstCheckIndex: number;
  /** Spend items of each of the agent's budgets. */
  readonly budgetItems: readonly BudgetItems[];
  readonly done: PeekCallback;
}

/** A counter whose sums the batch reports. */
export interface SpendItem {
  readonly counter: SpendCounter;
  readonly index: number;
  /** Position in KEYS. */
  readonly key: number;
  withReservations: boolean;
  /** Sums when the batch was closed; null: the item states no reservations. */
  sentTotalNanos: number;
  sentReservations: ReservationSums | null;
}

/** The items of one budget: of the window in which requests count, then of further windows. */
export type BudgetItems = readonly SpendItem[];

const US_PER_SECOND = 1_000_000;

/** Books what the store has reserved. `isLate`: the waiters were admitted unchecked, so it is released at once. */
export function takeReservations(
  { limits, reservationNanos, budgetItems }: WaiterGroup,
  admitted: number,
  isLate: boolean,
): void {
  if (reservationNanos * admitted === 0) return;
  limits.checkedBudgets.forEach((row, i) => {
    const nanos = row.reservationOf(reservationNanos) * admitted;
    if (nanos === 0) return;
    const { counter } = budgetItems[i]![0]!;
    counter.reserve(nanos);
    if (isLate) counter.release(nanos);
  });
}

/** The number of the limit of a tool in a verdict. */
const REJECTED_BY_TOOL = -1;

/** Passes a verdict to the callbacks of all its requests. */
export function deliverVerdict(group: WaiterGroup, verdict: AdmitVerdict, reply: Required<AdmitReply>): void {
  const { limits, budgetItems, waiters, windowsAtSec, reservationNanos } = group;
  const [admitted, rejectedBy, retryAtUs, wouldReject, [remaining, resetUs]] = verdict;
  const budgetAt = toBudgetPosition(rejectedBy);
  const rejectingBudget = limits.checkedBudgets[budgetAt] ?? null;
  const rejectedByRow = rejectingBudget?.tableRow ?? (rejectedBy === REJECTED_BY_TOOL ? TOOL_RATE_ROW : rejectedBy - 1);
  const rejectionType = rejectingBudget === null ? (LIMIT_TABLE[rejectedByRow]?.type ?? 'tool_rpm') : 'budget';
  const reportedAt = Math.max(0, budgetAt);
  const spend = sumSpend(limits.checkedBudgets[reportedAt], budgetItems[reportedAt], reply);
  const retryAtSec =
    rejectingBudget === null ? ceilToSeconds(retryAtUs) : (rejectingBudget.resetsAtSec(windowsAtSec) ?? 0);
  /** Of the request minute: in audit mode it may be full before the last request. */
  const logged = wouldReject[0] === RPM_ROW + 1 ? wouldReject[1]! : admitted;
  for (let n = 0; n < waiters.length; n++) {
    const isAdmitted = n < admitted;
    waiters[n]!({
      outcome: isAdmitted ? 'admitted' : rejectionType,
      rejectedByRow: isAdmitted ? -1 : rejectedByRow,
      rejectedByBudget: isAdmitted ? null : rejectingBudget,
      retryAtSec: isAdmitted ? 0 : retryAtSec,
      wouldReject: isAdmitted ? listWouldReject(limits, wouldReject, n) : '',
      rpmRemaining: isAdmitted ? Math.max(0, remaining + logged - 1 - n) : remaining,
      rpmResetAtSec: ceilToSeconds(resetUs),
      admittedAtSec: floorToSeconds(reply.now),
      ...spend,
      reservationNanos,
    });
  }
}

/** Spend and reservations of a row in all of its windows. No row: 0. */
function sumSpend(row: BudgetRow | undefined, items: BudgetItems | undefined, reply: Required<AdmitReply>) {
  let [spentNanos, reservedNanos] = [row?.closedNanos ?? 0, 0];
  for (const { index } of items ?? []) {
    const [, spent, reserved] = spendReplyOf(reply.spends, index);
    spentNanos += spent;
    reservedNanos += reserved;
  }
  return { spentNanos, reservedNanos };
}

export function toSnapshot(peek: PendingPeek, reply: Required<AdmitReply>): LimitSnapshot {
  const { limits, providerSlugs, firstCheckIndex, budgetItems } = peek;
  return {
    takenAtSec: floorToSeconds(reply.now),
    windows: providerSlugs.map((slug, i) => toWindowSnapshot(limits, slug, reply.checks[firstCheckIndex + i]!)),
    spends: limits.budgets.map((budget, i) => ({ budget, ...sumSpend(budget, budgetItems[i], reply) })),
  };
}

function toWindowSnapshot({ byRow }: AgentLimits, providerSlug: string, verdict: AdmitVerdict): WindowSnapshot {
  const [, rejectedBy, retryAtUs, , ...figures] = verdict;
  const ofRow = AGENT_PROVIDER_ROWS.map((row) =>
    TOKEN_ROWS.includes(row) && byRow[row] === UNLIMITED ? ([UNLIMITED, 0] as const) : figures.shift()!,
  );
  return {
    providerSlug,
    remaining: ofRow.map(([remaining]) => remaining),
    resetAtSec: ofRow.map(([, reset]) => ceilToSeconds(reset) || null),
    rejection: rejectedBy === 0 ? null : { row: rejectedBy - 1, retryAtSec: ceilToSeconds(retryAtUs) },
  };
}

/**
 * Admission when the store cannot be reached: the full RPM limit remains, and the reset time is now because it is
 * unknown.
 */
export function createUncheckedAdmission({ byRow, budgets }: AgentLimits): Admission {
  const nowSec = Date.now() / 1000;
  const ledger = budgets[0]?.findLedgerSpend(budgets[0].windowsAt(nowSec)[0]!);
  return {
    outcome: 'unchecked',
    rejectedByRow: -1,
    rejectedByBudget: null,
    retryAtSec: 0,
    wouldReject: '',
    rpmRemaining: byRow[RPM_ROW]!,
    rpmResetAtSec: Math.ceil(nowSec),
    admittedAtSec: Math.floor(nowSec),
    spentNanos: ledger?.nanos ?? 0,
    reservedNanos: 0,
    reservationNanos: 0,
  };
}

const floorToSeconds = (us: number): number => Math.floor(us / US_PER_SECOND);
/** Rounds up, so that the event has happened at the returned second. */
const ceilToSeconds = (us: number): number => Math.ceil(us / US_PER_SECOND);
