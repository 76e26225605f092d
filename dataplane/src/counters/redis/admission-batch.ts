/**
 * One admit.lua call for one hash slot, collected during one event-loop tick. Requests of the same agent, provider and
 * limits share one check. Everything about one spend counter is one spend item.
 */
import type { AgentLimits } from '../../limits/agent-limits.js';
import type { BudgetRow } from '../../limits/budget-row.js';
import type { BudgetWindow } from '../../limits/calendar-window.js';
import type { ToolRate } from '../../limits/counters-interface.js';
import { FIXED_ROWS, LIMIT_TABLE, RPM_ROW, TOKEN_ROWS, UNLIMITED } from '../../limits/limit-table.js';
import {
  type AdmissionCallback,
  type BudgetItems,
  type Check,
  createUncheckedAdmission,
  deliverVerdict,
  type PeekCallback,
  type PendingPeek,
  type SpendItem,
  takeReservations,
  toSnapshot,
  type WaiterGroup,
} from './admission-replies.js';
import type { AdmitReply } from './script/admit-script.js';
import type { SpendCounter } from './spend-counter.js';
import type { SpendCounters } from './spend-counters.js';

interface TokenItem {
  readonly key: number;
  tokens: number;
}

/** Key of the log of an agent's requests to a provider; see docs/counters.md. */
export const requestLogKey = ({ orgId, agentId }: AgentLimits, providerSlug: string): string =>
  `acg:{${orgId}}:requests:${agentId}:${providerSlug}`;
/** Key of the log of an agent's requests to tools of an MCP server. */
const toolLogKey = (limits: AgentLimits, providerSlug: string, { pattern }: ToolRate): string =>
  `${requestLogKey(limits, providerSlug)}:tool:${pattern}`;
const tokenBucketsKey = ({ orgId, agentId }: AgentLimits, providerSlug: string, row: number): string =>
  `acg:{${orgId}}:${LIMIT_TABLE[row]!.type}:${agentId}:${providerSlug}`;

export class AdmissionBatch {
  readonly slot: number;
  /** An organization with keys in the slot; null while the batch is empty. */
  orgId: string | null = null;
  readonly keys: string[] = [];
  readonly spends: SpendItem[] = [];
  readonly checks: Check[] = [];
  readonly #tokensByKey = new Map<string, TokenItem>();
  readonly #spendCounters: SpendCounters;
  /** New requests belong to the calendar windows of this instant, Unix seconds. */
  readonly #nowSec: number;
  #validFromSec = 0;
  #validUntilSec = UNLIMITED;
  readonly #groups: WaiterGroup[] = [];
  readonly #groupByLogKey = new Map<string, WaiterGroup>();
  readonly #peeks: PendingPeek[] = [];

  constructor(slot: number, spendCounters: SpendCounters, nowSec: number) {
    this.slot = slot;
    this.#spendCounters = spendCounters;
    this.#nowSec = nowSec;
  }

  admit(
    limits: AgentLimits,
    providerSlug: string,
    reservationNanos: number,
    done: AdmissionCallback,
    toolRate: ToolRate | null = null,
  ): void {
    const logKey = requestLogKey(limits, providerSlug);
    const toolKey = toolRate === null ? null : toolLogKey(limits, providerSlug, toolRate);
    const known = this.#groupByLogKey.get(toolKey ?? logKey);
    if (known !== undefined && known.limits === limits && known.reservationNanos === reservationNanos) {
      known.requests++;
      known.waiters.push(done);
      return;
    }
    let rates = this.#writeRates(limits, providerSlug, logKey);
    if (toolKey !== null) rates += `,${this.keys.push(toolKey)},${toolRate!.rpm}`;
    const group = this.#addGroup(limits, providerSlug, toolRate, rates, reservationNanos, this.#nowSec, done);
    this.#groupByLogKey.set(toolKey ?? logKey, group);
  }

  /** Enlarges the reservation of a running call, in the windows of its admission. Only hard rows can reject it. */
  grow(limits: AgentLimits, admittedAtSec: number, nanos: number, done: AdmissionCallback): void {
    this.#addGroup(limits, null, null, NO_RATES, nanos, admittedAtSec, done);
  }

  peek(limits: AgentLimits, providerSlugs: readonly string[], done: PeekCallback): void {
    const budgetItems = limits.budgets.map((row) =>
      this.#addBudget(limits, row, this.#nowSec, row.hasLimit && row.mode === 'hard'),
    );
    const firstCheckIndex = this.checks.length;
    for (const slug of providerSlugs)
      this.checks.push({ requests: 0, json: `[],${this.#writeRates(limits, slug, requestLogKey(limits, slug))}` });
    this.#peeks.push({ limits, providerSlugs, firstCheckIndex, budgetItems, done });
  }

  /** Adds the counter's sums to the batch. */
  report(counter: SpendCounter): void {
    this.#addCounter(counter, counter.hasUnreportedReservations);
  }

  addTokens(limits: AgentLimits, providerSlug: string, row: number, tokens: number): void {
    this.orgId = limits.orgId;
    this.#addTokensToKey(tokenBucketsKey(limits, providerSlug, row), tokens);
  }

  /**
   * Reads the counters' sums. Later reports go into another batch: call it right before sending or dropping this one.
   * No counter of the batch is evicted before {@link end}.
   */
  close(): void {
    for (const item of this.spends) {
      item.counter.batch = null;
      item.counter.batchesInFlight++;
      item.sentTotalNanos = item.counter.totalNanos;
      item.sentReservations = item.withReservations ? item.counter.reservations : null;
    }
  }

  /** Call it once after {@link close}: when the reply or the failure was handled, or the batch was dropped. */
  end(): void {
    for (const { counter } of this.spends) counter.batchesInFlight--;
  }

  /**
   * The request as JSON, see admit.lua; `constants` are members that are the same in every request. Written by hand:
   * `JSON.stringify` takes 9 µs more a call at low load.
   */
  toJson(constants: string): string {
    let json = `{${constants}`;
    if (this.#validUntilSec !== UNLIMITED) json += `,"valid":[${this.#validFromSec},${this.#validUntilSec}]`;
    json += writeSpends(this.spends);
    if (this.#tokensByKey.size > 0)
      json += `,"tokens":[${Array.from(this.#tokensByKey.values(), writeTokens).join(',')}]`;
    if (this.checks.length > 0) json += `,"checks":[${this.checks.map(writeCheck).join(',')}]`;
    return `${json}}`;
  }

  /** Adds everything of this batch, of which nothing was recorded, to a batch of other calendar windows. */
  repeatIn(batch: AdmissionBatch): void {
    for (const { limits, providerSlug, toolRate, reservationNanos, windowsAtSec, waiters } of this.#groups) {
      for (const done of waiters) {
        if (providerSlug === null) batch.grow(limits, windowsAtSec, reservationNanos, done);
        else batch.admit(limits, providerSlug, reservationNanos, done, toolRate);
      }
    }
    for (const { limits, providerSlugs, done } of this.#peeks) batch.peek(limits, providerSlugs, done);
    for (const { counter } of this.spends) batch.report(counter);
    for (const [key, { tokens }] of this.#tokensByKey) batch.#addTokensToKey(key, tokens);
  }

  /**
   * Passes the store's verdicts to all waiting callbacks. `isLate`: the waiters were already admitted unchecked, so
   * reservations that the store granted are released.
   */
  deliverReply(reply: Required<AdmitReply>, isLate: boolean): void {
    for (const group of this.#groups) {
      const verdict = reply.checks[group.checkIndex]!;
      takeReservations(group, verdict[0], isLate);
      if (!isLate) deliverVerdict(group, verdict, reply);
    }
    if (!isLate) for (const peek of this.#peeks) peek.done(toSnapshot(peek, reply));
  }

  /** Admits all waiting requests unchecked. Returns their number. */
  admitUnchecked(): number {
    let count = 0;
    for (const { limits, waiters } of this.#groups) {
      for (const done of waiters) done(createUncheckedAdmission(limits));
      count += waiters.length;
    }
    for (const { done } of this.#peeks) done(null);
    return count;
  }

  #addGroup(
    limits: AgentLimits,
    providerSlug: string | null,
    toolRate: ToolRate | null,
    rates: string,
    reservationNanos: number,
    windowsAtSec: number,
    done: AdmissionCallback,
  ): WaiterGroup {
    const budgetItems: BudgetItems[] = [];
    let budgets = '';
    for (const row of limits.checkedBudgets) {
      const reservation = row.reservationOf(reservationNanos);
      const items = this.#addBudget(limits, row, windowsAtSec, reservation > 0);
      budgetItems.push(items);
      // Only hard rows decide about growth: soft ones let calls that run end.
      const isAudited = row.mode === 'audit' || (providerSlug === null && row.mode !== 'hard') ? 1 : 0;
      let budget = `${row.openLimitNanos},${reservation},${isAudited}`;
      for (const { index } of items) budget += `,${index + 1}`;
      budgets += `${budgets === '' ? '' : ','}[${budget}]`;
    }
    const json = `[${budgets}],${rates}`;
    const group = {
      requests: 1,
      json,
      limits,
      providerSlug,
      toolRate,
      reservationNanos,
      windowsAtSec,
      budgetItems,
      checkIndex: this.checks.length,
      waiters: [done],
    };
    this.checks.push(group);
    this.#groups.push(group);
    return group;
  }

  /** The members of a check that concern the limits per provider. */
  #writeRates(limits: AgentLimits, providerSlug: string, logKey: string): string {
    this.orgId = limits.orgId;
    const { byRow } = limits;
    const audited = limits.auditedRows.map((row) => row + 1).join();
    let rates = `[${audited}],${this.keys.push(logKey)},${byRow[RPM_ROW]}`;
    for (const row of FIXED_ROWS) rates += `,${Math.min(byRow[row]!, Number.MAX_SAFE_INTEGER)}`;
    let tokens = '';
    for (const row of TOKEN_ROWS) {
      if (byRow[row] === UNLIMITED) continue;
      const key = this.keys.push(tokenBucketsKey(limits, providerSlug, row));
      tokens += `${tokens === '' ? '' : ','}[${key},${byRow[row]},${row + 1}]`;
    }
    return `[${tokens}],${rates}`;
  }

  /** Adds the spend of a row in its windows. */
  #addBudget(limits: AgentLimits, row: BudgetRow, windowsAtSec: number, withReservations: boolean): BudgetItems {
    const windows = row.windowsAt(windowsAtSec, this.#nowSec);
    if (windowsAtSec === this.#nowSec || windows.length > 1) this.#restrictValidity(row.windowsAt(this.#nowSec)[0]!);
    return windows.map((window) => this.#addWindow(limits.orgId, row, window, withReservations));
  }

  /** The request is valid only while the window is the current one by the store's clock. */
  #restrictValidity({ startSec, endSec }: BudgetWindow): void {
    this.#validFromSec = Math.max(this.#validFromSec, startSec);
    this.#validUntilSec = Math.min(this.#validUntilSec, endSec);
  }

  #addWindow(orgId: string, row: BudgetRow, window: BudgetWindow, withReservations: boolean): SpendItem {
    const counter = this.#spendCounters.getOrCreate(orgId, row.name, window);
    const ledger = row.findLedgerSpend(window);
    if (ledger !== null) counter.updateFromLedger(ledger.nanos, ledger.ledgerOnlyNanos);
    return this.#addCounter(counter, withReservations || counter.hasUnreportedReservations);
  }

  #addCounter(counter: SpendCounter, withReservations: boolean): SpendItem {
    if (counter.batch === this) {
      const known = this.spends[counter.batchIndex]!;
      known.withReservations ||= withReservations;
      return known;
    }
    this.orgId = counter.orgId;
    const index = this.spends.length;
    counter.batch = this;
    counter.batchIndex = index;
    const key = this.keys.push(counter.key);
    const item = { counter, index, key, withReservations, sentTotalNanos: 0, sentReservations: null };
    this.spends.push(item);
    return item;
  }

  #addTokensToKey(key: string, tokens: number): void {
    const known = this.#tokensByKey.get(key);
    if (known === undefined) this.#tokensByKey.set(key, { key: this.keys.push(key), tokens });
    else known.tokens += tokens;
  }
}

/** Of a check that concerns budgets only. */
const NO_RATES = '[],[],0';
const writeCheck = ({ requests, json }: Check): string => `[${requests},${json}]`;
const writeTokens = ({ key, tokens }: TokenItem): string => `[${key},${tokens}]`;

/** The members `spends` and `held`. */
function writeSpends(items: readonly SpendItem[]): string {
  let [spends, held] = ['', ''];
  for (const { counter, index, key, sentTotalNanos, sentReservations } of items) {
    const { field, ledgerNanos, ledgerOnlyNanos, keptUntilSec } = counter;
    spends += `,${key},"${field}",${sentTotalNanos},${ledgerNanos},${ledgerOnlyNanos},${keptUntilSec}`;
    if (sentReservations === null) continue;
    const { generation, grantedNanos, releasedNanos } = sentReservations;
    held += `,${index + 1},${generation},${grantedNanos},${releasedNanos}`;
  }
  const json = spends === '' ? '' : `,"spends":[${spends.slice(1)}]`;
  return held === '' ? json : `${json},"held":[${held.slice(1)}]`;
}
