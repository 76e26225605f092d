/**
 * Counters of one data plane in its own memory, by the same rules as admit.lua and with an injected clock. Rate windows
 * start empty with the process. Spend is this process's own spend or the ledger's figure, whichever is higher.
 * Memory is bounded: each admission checks a few entries and evicts the expired ones.
 */
import type { AgentLimits } from '../../limits/agent-limits.js';
import { type BudgetRow, spendName } from '../../limits/budget-row.js';
import { type BudgetWindow, RUN_WINDOW_NAME } from '../../limits/calendar-window.js';
import type {
  Admission,
  AdmissionRequest,
  Counters,
  LimitSnapshot,
  PeekRequest,
  Settlement,
  SpendSnapshot,
  ToolRate,
  WindowSnapshot,
} from '../../limits/counters-interface.js';
import {
  AGENT_PROVIDER_ROWS,
  DEFAULT_WINDOW_LENGTHS_MS,
  LIMIT_TABLE,
  RPM_ROW,
  TOKEN_ROWS,
  TOOL_RATE_ROW,
  UNLIMITED,
  type WindowLengthsMs,
} from '../../limits/limit-table.js';
import { nameBudgetInAudit } from '../../limits/would-reject.js';
import { type ClockUs, createMicrosecondWallClock } from './microsecond-wall-clock.js';
import { RateLimitWindows } from './rate-limit-windows.js';
import { WindowSpend } from './window-spend.js';

/** Checked before the limit of a tool. */
const REQUEST_ROWS = AGENT_PROVIDER_ROWS.filter((row) => !TOKEN_ROWS.includes(row));
const RATE_CHECKS_PER_ADMISSION = 2;
/** The last calls of an ended run end within a second. */
const ENDED_RUN_KEPT_SEC = 60;
const US_PER_SECOND = 1_000_000;

/** Spend of a budget that an admission checks: of the window in which the call counts, then of further windows. */
interface CheckedBudget {
  readonly row: BudgetRow;
  readonly windows: readonly WindowSpend[];
}

export class MemoryCounters implements Counters {
  readonly kind = 'memory';
  readonly isEnforcing = true;
  readonly #clock: ClockUs;
  readonly #windows: WindowLengthsMs;
  readonly #rateWindows = new Map<string, RateLimitWindows>();
  /** By row and window. */
  readonly #spends = new Map<string, WindowSpend>();
  #windowSweep: IterableIterator<[string, RateLimitWindows]> | null = null;
  #spendSweep: IterableIterator<[string, WindowSpend]> | null = null;

  constructor(clock: ClockUs = createMicrosecondWallClock(), windows: Partial<WindowLengthsMs> = {}) {
    this.#clock = clock;
    this.#windows = { ...DEFAULT_WINDOW_LENGTHS_MS, ...windows };
  }

  /** Number of tracked agent-provider pairs and of budget rows per window; for tests of the memory bound. */
  get trackedCount(): number {
    return this.#rateWindows.size + this.#spends.size;
  }

  admit(request: AdmissionRequest, done: (admission: Admission) => void): void {
    const { limits, providerSlug, reservationNanos, toolRate = null } = request;
    const nowUs = this.#clock();
    const nowSec = Math.floor(nowUs / US_PER_SECOND);
    this.#evictExpiredIncrementally(nowUs, countSpends(limits, nowSec) + 1);
    const rateWindows = this.#getOrCreateWindows(limits.agentId, providerSlug);
    rateWindows.advanceTo(nowUs);
    const toolWindows = toolRate === null ? null : this.#getOrCreateToolWindows(limits, providerSlug, toolRate);
    toolWindows?.advanceTo(nowUs);
    const budgets = this.#checkedBudgets(limits, nowSec);
    const fullRows = AGENT_PROVIDER_ROWS.filter((row) => isFull(rateWindows, limits, row));
    const exceeded = budgets.filter((budget) => isExceeded(budget, reservationNanos));
    const full =
      findRejection(rateWindows, limits, REQUEST_ROWS) ??
      findToolRejection(toolWindows, toolRate) ??
      findRejection(rateWindows, limits, TOKEN_ROWS);
    const budget = full === null ? (exceeded.find(({ row }) => row.mode !== 'audit') ?? null) : null;
    const isAdmitted = full === null && budget === null;
    const rejectedBy = full === null ? 'budget' : (LIMIT_TABLE[full.row]?.type ?? 'tool_rpm');
    if (isAdmitted) {
      rateWindows.consumeRequest(limits);
      toolWindows?.consumeRequest(TOOL_LIMITS);
      reserve(budgets, reservationNanos);
    }
    done({
      outcome: isAdmitted ? 'admitted' : rejectedBy,
      rejectedByRow: full?.row ?? budget?.row.tableRow ?? -1,
      rejectedByBudget: budget?.row ?? null,
      retryAtSec: full?.retryAtSec ?? budget?.row.resetsAtSec(nowSec) ?? 0,
      wouldReject: isAdmitted
        ? [
            ...fullRows.map((row) => LIMIT_TABLE[row]!.type),
            ...exceeded.map(({ row }) => nameBudgetInAudit(row)),
          ].join()
        : '',
      rpmRemaining: rateWindows.remaining(RPM_ROW, limits),
      rpmResetAtSec: rateWindows.resetAtSec(RPM_ROW) ?? 0,
      admittedAtSec: nowSec,
      ...sumSpend(budget ?? budgets[0]),
      reservationNanos,
    });
  }

  growReservation(
    limits: AgentLimits,
    admittedAtSec: number,
    additionalNanos: number,
    done: (granted: boolean) => void,
  ): void {
    const nowSec = Math.floor(this.#clock() / US_PER_SECOND);
    const budgets = limits.checkedBudgets.map((row) => this.#refreshBudget(row, admittedAtSec, nowSec));
    // Soft rows let calls that run end.
    const granted = !budgets.some((budget) => budget.row.mode === 'hard' && isExceeded(budget, additionalNanos));
    if (granted) reserve(budgets, additionalNanos);
    done(granted);
  }

  settle({ limits, providerSlug, admittedAtSec, costNanos, tokens, reservationNanos }: Settlement): void {
    const cost = Math.round(costNanos);
    for (const row of cost > 0 ? limits.budgets : [])
      this.#getOrCreateSpend(row.name, row.windowsAt(admittedAtSec)[0]!).addSpend(cost);
    if (reservationNanos > 0) reserve(this.#checkedBudgets(limits, admittedAtSec), -reservationNanos);
    for (const row of TOKEN_ROWS) {
      if (limits.byRow[row] === UNLIMITED || !(tokens > 0)) continue;
      this.#getOrCreateWindows(limits.agentId, providerSlug).addTokens(row, this.#clock(), tokens);
    }
  }

  updateLedgerSpend(name: string, window: Pick<BudgetWindow, 'name'>, nanos: number, ledgerOnlyNanos: number): void {
    this.#spends.get(spendKey(name, window))?.updateFromLedger(nanos, ledgerOnlyNanos);
  }

  endRun(runId: string): void {
    const spend = this.#spends.get(spendKey(spendName('run', runId), { name: RUN_WINDOW_NAME }));
    spend?.keepUntil(this.#clock() / US_PER_SECOND + ENDED_RUN_KEPT_SEC);
  }

  peek({ limits, providerSlugs }: PeekRequest, done: (snapshot: LimitSnapshot | null) => void): void {
    const nowUs = this.#clock();
    const nowSec = Math.floor(nowUs / US_PER_SECOND);
    const windows = providerSlugs.map((providerSlug): WindowSnapshot => {
      const rateWindows =
        this.#rateWindows.get(windowsKey(limits.agentId, providerSlug)) ?? new RateLimitWindows(this.#windows);
      rateWindows.advanceTo(nowUs);
      return {
        providerSlug,
        remaining: AGENT_PROVIDER_ROWS.map((row) => rateWindows.remaining(row, limits)),
        resetAtSec: AGENT_PROVIDER_ROWS.map((row) => rateWindows.resetAtSec(row)),
        rejection: findRejection(rateWindows, limits, AGENT_PROVIDER_ROWS),
      };
    });
    const spends = limits.budgets.map((budget): SpendSnapshot => {
      return { budget, ...sumSpend(this.#refreshBudget(budget, nowSec)) };
    });
    done({ takenAtSec: nowSec, windows, spends });
  }

  /** Does nothing: without an external store there is no data loss to report. */
  setDataLostListener(): void {}

  async close(): Promise<void> {}

  #checkedBudgets(limits: AgentLimits, unixSec: number): readonly CheckedBudget[] {
    return limits.checkedBudgets.map((row) => this.#refreshBudget(row, unixSec));
  }

  #getOrCreateToolWindows({ agentId }: AgentLimits, providerSlug: string, { pattern }: ToolRate): RateLimitWindows {
    return this.#getOrCreateWindows(agentId, `${providerSlug}:tool:${pattern}`);
  }

  #getOrCreateWindows(agentId: string, windowOf: string): RateLimitWindows {
    const key = windowsKey(agentId, windowOf);
    let rateWindows = this.#rateWindows.get(key);
    if (rateWindows === undefined) {
      rateWindows = new RateLimitWindows(this.#windows);
      this.#rateWindows.set(key, rateWindows);
    }
    return rateWindows;
  }

  #refreshBudget(row: BudgetRow, unixSec: number, nowSec = unixSec): CheckedBudget {
    const windows = row.windowsAt(unixSec, nowSec).map((window) => {
      const spend = this.#getOrCreateSpend(row.name, window);
      const ledger = row.findLedgerSpend(window);
      if (ledger !== null) spend.updateFromLedger(ledger.nanos, ledger.ledgerOnlyNanos);
      return spend;
    });
    return { row, windows };
  }

  #getOrCreateSpend(name: string, window: BudgetWindow): WindowSpend {
    const key = spendKey(name, window);
    let spend = this.#spends.get(key);
    if (spend === undefined) {
      spend = new WindowSpend(window);
      this.#spends.set(key, spend);
    }
    return spend;
  }

  /** `spendChecks`: one more than an admission can create, so that the sweep passes every entry in time. */
  #evictExpiredIncrementally(nowUs: number, spendChecks: number): void {
    for (let i = 0; i < RATE_CHECKS_PER_ADMISSION; i++) {
      this.#windowSweep ??= this.#rateWindows.entries();
      const entry = this.#windowSweep.next();
      if (entry.done === true) this.#windowSweep = null;
      else if (entry.value[1].isExpired(nowUs)) this.#rateWindows.delete(entry.value[0]);
    }
    for (let i = 0; i < spendChecks; i++) {
      this.#spendSweep ??= this.#spends.entries();
      const spend = this.#spendSweep.next();
      if (spend.done === true) this.#spendSweep = null;
      else if (spend.value[1].isExpired(nowUs / US_PER_SECOND)) this.#spends.delete(spend.value[0]);
    }
  }
}

/** How many entries a call of these limits can create: one for each window of each row. */
function countSpends(limits: AgentLimits, nowSec: number): number {
  let count = 0;
  for (const row of limits.budgets) count += row.windowsAt(nowSec).length;
  return count;
}

const windowsKey = (agentId: string, providerSlug: string): string => `${agentId}:${providerSlug}`;
const spendKey = (name: string, window: Pick<BudgetWindow, 'name'>): string => `${name}:${window.name}`;

const isFull = (rateWindows: RateLimitWindows, limits: AgentLimits, row: number): boolean =>
  limits.byRow[row] !== UNLIMITED && rateWindows.remaining(row, limits) === 0;

/** The first of `rows` that is full and not in audit mode; null: none. */
function findRejection(
  rateWindows: RateLimitWindows,
  limits: AgentLimits,
  rows: readonly number[],
): WindowSnapshot['rejection'] {
  const row = rows.find((one) => !limits.auditedRows.includes(one) && isFull(rateWindows, limits, one));
  return row === undefined ? null : { row, retryAtSec: rateWindows.retryAtSec(row, limits) };
}

/** The windows of a tool have no limits of their own: {@link findToolRejection} compares the minute. */
const TOOL_LIMITS = { byRow: LIMIT_TABLE.map(() => UNLIMITED) };

/** The minute of a tool is that of a provider with another limit. */
function findToolRejection(windows: RateLimitWindows | null, rate: ToolRate | null): WindowSnapshot['rejection'] {
  if (windows === null || rate === null) return null;
  const limits = { byRow: [rate.rpm] };
  if (windows.remaining(RPM_ROW, limits) > 0) return null;
  return { row: TOOL_RATE_ROW, retryAtSec: windows.retryAtSec(RPM_ROW, limits) };
}

/** Whether the budget has no room for a request that may cost at most `reservationNanos`. */
function isExceeded(budget: CheckedBudget, reservationNanos: number): boolean {
  const { limitNanos } = budget.row;
  const { spentNanos, reservedNanos } = sumSpend(budget);
  const reservation = budget.row.reservationOf(reservationNanos);
  return reservation > 0 ? spentNanos + reservedNanos + reservation > limitNanos : spentNanos >= limitNanos;
}

/** Takes a reservation in each hard row, or releases it when `nanos` is negative. */
function reserve(budgets: readonly CheckedBudget[], nanos: number): void {
  for (const { row, windows } of budgets) {
    const spend = windows[0]!;
    spend.reservedNanos = Math.max(0, spend.reservedNanos + row.reservationOf(nanos));
  }
}

function sumSpend(budget: CheckedBudget | undefined): { spentNanos: number; reservedNanos: number } {
  let [spentNanos, reservedNanos] = [budget?.row.closedNanos ?? 0, 0];
  for (const spend of budget?.windows ?? []) {
    spentNanos += spend.spentNanos;
    reservedNanos += spend.reservedNanos;
  }
  return { spentNanos, reservedNanos };
}
