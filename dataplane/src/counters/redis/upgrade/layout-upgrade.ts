/**
 * Counters during the upgrade from the previous release, which had other keys (docs/counters.md#upgrade). Two stages:
 *
 *   both  A call with a budget passes only if the previous and the present layout admit it. Spend and reservations are
 *         reported to both. The process stays here until the control plane says that no old data plane is left.
 *   new   Only the present layout. Before a scope's first admission, totals of old data planes are copied into it.
 *
 * Without a reply about the previous layout a call is unchecked, as in any outage of the store.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { AgentLimits } from '../../../limits/agent-limits.js';
import type { BudgetRow } from '../../../limits/budget-row.js';
import { type BudgetWindow, calendarWindowAt } from '../../../limits/calendar-window.js';
import type {
  Admission,
  AdmissionRequest,
  Counters,
  CountersMetrics,
  LayoutStage,
  LimitSnapshot,
  PeekRequest,
  Settlement,
} from '../../../limits/counters-interface.js';
import { LIMIT_TABLE, RPM_ROW } from '../../../limits/limit-table.js';
import { createUncheckedAdmission } from '../admission-replies.js';
import type { RedisClient } from '../client/redis-client.js';
import type { RedisCounters } from '../redis-counters.js';
import { RESERVATION_LEASE_MS } from '../script/admit-script.js';
import { enforcedOf, monthAt, plainOf, previousSpendKey } from './previous-budgets.js';
import { PreviousScope, type PreviousVerdict } from './previous-scope.js';

const PREVIOUS_SPEND_SCRIPT = readFileSync(new URL('./previous-spend.lua', import.meta.url), 'utf8');
const REPORT_MS = 500;
const REPORTS_PER_RENEWAL = RESERVATION_LEASE_MS / 3 / REPORT_MS;
/** A scope beyond this number replaces an idle one. */
const SCOPES_MAX = 100_000;
const EVICTION_CANDIDATES = 8;
/** Begins the fields of this release in the previous layout. Their spend is in the present one under another name. */
const OWN_FIELD_PREFIX = '+';

export class LayoutUpgrade implements Counters {
  readonly kind = 'redis';
  readonly #counters: RedisCounters;
  readonly #client: RedisClient;
  readonly #timeoutMs: number;
  readonly #metrics: CountersMetrics;
  readonly #writerId = OWN_FIELD_PREFIX + randomBytes(9).toString('base64url');
  #fieldCount = 0;
  #stage: LayoutStage = { name: 'both' };
  /** By key, in order of creation. */
  readonly #scopes = new Map<string, PreviousScope>();
  /** Keys whose totals the present layout has. */
  readonly #imported = new Set<string>();
  readonly #importing = new Map<AgentLimits, ((isImported: boolean) => void)[]>();
  #onDataLost: () => void = () => {};
  #reportTimer: NodeJS.Timeout | null = null;
  #reportCount = 0;
  /** The store's clock minus this process's, s, as of the last admission. */
  #clockOffsetSec = 0;

  constructor(counters: RedisCounters, timeoutMs: number, metrics: CountersMetrics) {
    this.#counters = counters;
    this.#client = counters.client;
    this.#timeoutMs = timeoutMs;
    this.#metrics = metrics;
    counters.setDataLostListener(() => {
      this.#imported.clear();
      for (const scope of this.#scopes.values()) scope.onDataLost();
      this.#onDataLost();
    });
  }

  /** There is no way back from `new`. */
  setLayoutStage(stage: LayoutStage): void {
    if (this.#stage.name === 'new') return;
    this.#stage = stage;
    if (stage.name === 'new') this.#forgetPreviousLayout();
  }

  get isEnforcing(): boolean {
    return this.#counters.isEnforcing;
  }

  setDataLostListener(listener: () => void): void {
    this.#onDataLost = listener;
  }

  admit(request: AdmissionRequest, done: (admission: Admission) => void): void {
    const { limits } = request;
    if (this.#stage.name === 'new') {
      this.#whenImported(limits, (isImported) => {
        if (isImported) this.#counters.admit(request, done);
        else this.#admitUnchecked(limits, done);
      });
    } else if (enforcedOf(limits).length === 0) this.#counters.admit(request, done);
    else if (!this.isEnforcing) this.#admitUnchecked(limits, done);
    else this.#admitInBoth(request, done);
  }

  growReservation(
    limits: AgentLimits,
    admittedAtSec: number,
    additionalNanos: number,
    done: (granted: boolean) => void,
  ): void {
    const grow = (onGranted: typeof done) =>
      this.#counters.growReservation(limits, admittedAtSec, additionalNanos, onGranted);
    if (this.#stage.name === 'new') {
      grow(done);
      return;
    }
    this.#checkPrevious(limits, admittedAtSec, additionalNanos, (verdicts) => {
      if (verdicts === null && !limits.rejectsUnchecked)
        for (const [row, scope] of this.#enforcedScopes(limits, admittedAtSec))
          scope.reserveUnchecked(row.reservationOf(additionalNanos));
      else if (verdicts === null || !verdicts.every(({ fits }) => fits)) {
        done(false);
        return;
      }
      grow((granted) => {
        if (!granted) this.#releasePrevious(limits, admittedAtSec, additionalNanos);
        done(granted);
      });
    });
  }

  settle(settlement: Settlement): void {
    const { limits, admittedAtSec, reservationNanos } = settlement;
    if (this.#stage.name === 'both') {
      for (const row of plainOf(limits.budgets)) {
        const scope = this.#getOrCreateScope(row, monthAt(row, admittedAtSec));
        const reserved = row.hasLimit ? row.reservationOf(reservationNanos) : 0;
        scope.settle(Math.round(settlement.costNanos), reserved, row.hasLimit);
      }
    }
    this.#counters.settle(settlement);
  }

  updateLedgerSpend(name: string, window: Pick<BudgetWindow, 'name'>, nanos: number, ledgerOnlyNanos: number): void {
    this.#counters.updateLedgerSpend(name, window, nanos, ledgerOnlyNanos);
  }

  /** The previous layout has no runs. */
  endRun(runId: string): void {
    this.#counters.endRun(runId);
  }

  peek(request: PeekRequest, done: (snapshot: LimitSnapshot | null) => void): void {
    const { limits } = request;
    if (this.#stage.name === 'new')
      this.#whenImported(limits, (isImported) => (isImported ? this.#counters.peek(request, done) : done(null)));
    else
      this.#counters.peek(request, (snapshot) => {
        if (snapshot === null) done(null);
        else
          this.#checkScopes(plainOf(limits.budgets), this.#nowSec, 0, (verdicts) =>
            done(mergeSpends(snapshot, verdicts)),
          );
      });
  }

  async close(): Promise<void> {
    const reports = [...this.#scopes.values()].map((scope) => scope.flush());
    this.#forgetPreviousLayout();
    await Promise.all(reports);
    await this.#counters.close();
  }

  /** Unix seconds by the store's clock. */
  get #nowSec(): number {
    return Date.now() / 1000 + this.#clockOffsetSec;
  }

  #admitUnchecked(limits: AgentLimits, done: (admission: Admission) => void): void {
    this.#metrics.countUnchecked(1);
    done(createUncheckedAdmission(limits));
  }

  /** The previous layout first, because what it admits can be released again; counted requests cannot. */
  #admitInBoth(request: AdmissionRequest, done: (admission: Admission) => void): void {
    const { limits, reservationNanos } = request;
    const checkedAtSec = this.#nowSec;
    this.#checkPrevious(limits, checkedAtSec, reservationNanos, (verdicts) => {
      const rejectedBy = verdicts?.findIndex(({ fits }) => !fits) ?? -1;
      if (verdicts === null) this.#admitUnchecked(limits, done);
      else if (rejectedBy >= 0) this.#reject(request, checkedAtSec, rejectedBy, verdicts[rejectedBy]!, done);
      else
        this.#counters.admit(request, (admission) => {
          if (admission.outcome !== 'unchecked')
            this.#clockOffsetSec = admission.admittedAtSec - Math.floor(Date.now() / 1000);
          this.#adjustToAdmission(request, checkedAtSec, admission);
          done(admission);
        });
    });
  }

  /** Ends the reservation of a call that does not pass, and moves one that was admitted in the next window. */
  #adjustToAdmission({ limits, reservationNanos }: AdmissionRequest, checkedAtSec: number, admission: Admission): void {
    const { outcome, admittedAtSec } = admission;
    const isMoved = enforcedOf(limits).some(
      (row) => monthAt(row, checkedAtSec).name !== monthAt(row, admittedAtSec).name,
    );
    if (outcome === 'admitted' && !isMoved) return;
    this.#releasePrevious(limits, checkedAtSec, reservationNanos);
    if (outcome !== 'admitted') return;
    for (const [row, scope] of this.#enforcedScopes(limits, admittedAtSec))
      scope.reserveUnchecked(row.reservationOf(reservationNanos));
  }

  /** Answers with the previous layout's budget and the present layout's requests per minute. */
  #reject(
    { limits, providerSlug, reservationNanos }: AdmissionRequest,
    checkedAtSec: number,
    rejectedBy: number,
    { spentNanos, reservedNanos }: NonNullable<PreviousVerdict>,
    done: (admission: Admission) => void,
  ): void {
    const budget = enforcedOf(limits)[rejectedBy]!;
    this.#counters.peek({ limits, providerSlugs: [providerSlug] }, (snapshot) => {
      const window = snapshot?.windows[0];
      // A rate limit comes before every budget.
      const full = window?.rejection ?? null;
      const { row, retryAtSec } = full ?? {
        row: budget.tableRow,
        retryAtSec: monthAt(budget, checkedAtSec).endSec,
      };
      done({
        outcome: LIMIT_TABLE[row]!.type,
        rejectedByRow: row,
        rejectedByBudget: full === null ? budget : null,
        retryAtSec,
        wouldReject: '',
        rpmRemaining: window?.remaining[RPM_ROW] ?? limits.byRow[RPM_ROW]!,
        rpmResetAtSec: window?.resetAtSec[RPM_ROW] ?? 0,
        admittedAtSec: Math.floor(checkedAtSec),
        spentNanos,
        reservedNanos,
        reservationNanos,
      });
    });
  }

  /** Takes the reservation in all budgeted scopes or in none. Null: at least one of them is unknown. */
  #checkPrevious(
    limits: AgentLimits,
    unixSec: number,
    reservationNanos: number,
    done: (verdicts: readonly NonNullable<PreviousVerdict>[] | null) => void,
  ): void {
    this.#checkScopes(enforcedOf(limits), unixSec, reservationNanos, (verdicts) => {
      if (!verdicts.every((verdict) => verdict?.fits === true))
        this.#enforcedScopes(limits, unixSec).forEach(([row, scope], i) => {
          if (verdicts[i]?.fits === true) scope.release(row.reservationOf(reservationNanos));
        });
      done(verdicts.includes(null) ? null : (verdicts as NonNullable<PreviousVerdict>[]));
    });
  }

  #checkScopes(
    rows: readonly BudgetRow[],
    unixSec: number,
    reservationNanos: number,
    done: (verdicts: readonly PreviousVerdict[]) => void,
  ): void {
    const verdicts: PreviousVerdict[] = new Array(rows.length).fill(null);
    let pending = rows.length;
    if (pending === 0) done(verdicts);
    rows.forEach((row, i) => {
      const budget = Math.min(row.limitNanos, Number.MAX_SAFE_INTEGER);
      const reservation = row.reservationOf(reservationNanos);
      this.#getOrCreateScope(row, monthAt(row, unixSec)).check(budget, reservation, (verdict) => {
        verdicts[i] = verdict;
        pending--;
        if (pending === 0) done(verdicts);
      });
    });
  }

  #releasePrevious(limits: AgentLimits, unixSec: number, reservationNanos: number): void {
    for (const [row, scope] of this.#enforcedScopes(limits, unixSec))
      scope.release(row.reservationOf(reservationNanos));
  }

  #enforcedScopes(limits: AgentLimits, unixSec: number): readonly (readonly [BudgetRow, PreviousScope])[] {
    return enforcedOf(limits).map((row) => [row, this.#getOrCreateScope(row, monthAt(row, unixSec))]);
  }

  #getOrCreateScope(row: BudgetRow, window: BudgetWindow): PreviousScope {
    const key = previousSpendKey(row, window);
    let scope = this.#scopes.get(key);
    if (scope !== undefined) return scope;
    if (this.#scopes.size >= SCOPES_MAX) this.#evictIdleScope();
    const options = {
      run: (scopeKey: string, args: readonly (string | number)[]) =>
        this.#client.evaluate(PREVIOUS_SPEND_SCRIPT, scopeKey, args) as Promise<readonly number[]>,
      timeoutMs: this.#timeoutMs,
      leaseMs: RESERVATION_LEASE_MS,
    };
    scope = new PreviousScope(options, key, `${this.#writerId}.${(this.#fieldCount++).toString(36)}`);
    this.#scopes.set(key, scope);
    this.#reportTimer ??= setInterval(this.#report, REPORT_MS).unref();
    return scope;
  }

  #evictIdleScope(): void {
    let checkedCount = 0;
    for (const [key, scope] of this.#scopes) {
      if (checkedCount++ >= EVICTION_CANDIDATES) return;
      this.#scopes.delete(key);
      if (scope.isIdle) return;
      this.#scopes.set(key, scope);
    }
  }

  readonly #report = (): void => {
    const renewsLeases = ++this.#reportCount % REPORTS_PER_RENEWAL === 0;
    for (const scope of this.#scopes.values()) scope.report(renewsLeases);
  };

  /** Reservations in the previous layout end with their lease. */
  #forgetPreviousLayout(): void {
    if (this.#reportTimer !== null) clearInterval(this.#reportTimer);
    this.#reportTimer = null;
    this.#scopes.clear();
  }

  /** Copies what old data planes spent in the agent's scopes, once for each scope. False: the store is unavailable. */
  #whenImported(limits: AgentLimits, done: (isImported: boolean) => void): void {
    const window = calendarWindowAt('month', this.#nowSec);
    // Old data planes have spent nothing in months that began after the last of them had gone.
    if (this.#stage.name !== 'new' || window.startSec * 1000 > this.#stage.sinceMs) {
      done(true);
      return;
    }
    const missing = plainOf(limits.budgets).filter((row) => !this.#imported.has(previousSpendKey(row, window)));
    if (missing.length === 0) {
      done(true);
      return;
    }
    if (!this.isEnforcing) {
      done(false);
      return;
    }
    const waiting = this.#importing.get(limits);
    if (waiting !== undefined) {
      waiting.push(done);
      return;
    }
    const callbacks = [done];
    this.#importing.set(limits, callbacks);
    void this.#importScopes(limits, missing, window).then((isImported) => {
      this.#importing.delete(limits);
      for (const callback of callbacks) callback(isImported);
    });
  }

  async #importScopes(limits: AgentLimits, rows: readonly BudgetRow[], window: BudgetWindow): Promise<boolean> {
    const keys = rows.map((row) => previousSpendKey(row, window));
    const months = await Promise.all(keys.map((key) => this.#client.readHash(key, this.#timeoutMs)));
    if (months.includes(null)) return false;
    const reports = rows.flatMap(({ name }, i) => {
      const { s: sums, h: _, ...totals } = months[i]!;
      const ofOldPlanes = Object.entries(totals).filter(([field]) => !field.startsWith(OWN_FIELD_PREFIX));
      const ledger = sums === undefined ? [0, 0] : [sums.readDoubleLE(8), sums.readDoubleLE(16)];
      return this.#counters.reportTotals(limits.orgId, name, window, {
        totals: new Map(ofOldPlanes.map(([field, total]) => [field, total.readDoubleLE(0)])),
        ledgerNanos: ledger[0]!,
        ledgerOnlyNanos: ledger[1]!,
      });
    });
    // The peek is in the same call of the store as the reports, or in a later one.
    const snapshot = await new Promise<LimitSnapshot | null>((resolve) =>
      this.#counters.peek({ limits, providerSlugs: [] }, resolve),
    );
    if (snapshot === null || !reports.every(({ isAcknowledged }) => isAcknowledged)) return false;
    if (this.#imported.size >= SCOPES_MAX) this.#imported.clear(); // importing twice does no harm
    for (const key of keys) this.#imported.add(key);
    return true;
  }
}

/** Spend is the higher of both layouts, because calls of this release are in both. */
function mergeSpends(snapshot: LimitSnapshot, verdicts: readonly PreviousVerdict[]): LimitSnapshot {
  return {
    ...snapshot,
    // The plain budgets are the first ones.
    spends: snapshot.spends.map(({ budget, spentNanos, reservedNanos }, i) => ({
      budget,
      spentNanos: Math.max(spentNanos, verdicts[i]?.spentNanos ?? 0),
      reservedNanos: Math.max(reservedNanos, verdicts[i]?.reservedNanos ?? 0),
    })),
  };
}
