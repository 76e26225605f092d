/**
 * One admit.lua call for one hash slot, collected during one event-loop tick. Requests of the same agent, provider and
 * limits share one check. Everything about one spend counter is one spend item.
 */
import type { AgentLimits, ScopeSpend } from '../../limits/agent-limits.js';
import { calendarWindowAt } from '../../limits/calendar-window.js';
import type { Admission, LimitSnapshot, ToolRate, WindowSnapshot } from '../../limits/counters-interface.js';
import {
  AGENT_PROVIDER_ROWS,
  budgetWindowAt,
  FIXED_ROWS,
  LIMIT_TABLE,
  RPM_ROW,
  TOKEN_ROWS,
  TOOL_RATE_ROW,
  UNLIMITED,
} from '../../limits/limit-table.js';
import type { AdmitReply, AdmitVerdict, SpendReply } from './script/admit-script.js';
import type { ReservationSums, SpendCounter } from './spend-counter.js';
import type { SpendCounters } from './spend-counters.js';

export type AdmissionCallback = (admission: Admission) => void;
type PeekCallback = (snapshot: LimitSnapshot | null) => void;

/** A check of the request, as JSON without its number of requests. */
interface Check {
  requests: number;
  readonly json: string;
}

/** Requests that share one check. */
interface WaiterGroup extends Check {
  readonly limits: AgentLimits;
  /** Null: the reservation of a running call grows. */
  readonly providerSlug: string | null;
  readonly toolRate: ToolRate | null;
  /** Of each request, nano-dollars. */
  readonly reservationNanos: number;
  /** The budgets are those of the calendar windows of this instant, Unix seconds. */
  readonly windowsAtSec: number;
  /** Spend item of each of the agent's budgeted scopes. */
  readonly budgetItems: readonly SpendItem[];
  readonly checkIndex: number;
  /** One callback per request, in order of arrival. */
  readonly waiters: AdmissionCallback[];
}

interface PendingPeek {
  readonly limits: AgentLimits;
  readonly providerSlugs: readonly string[];
  /** Index of the first check; one check per provider. */
  readonly firstCheckIndex: number;
  /** Spend item of each of the agent's scopes. */
  readonly scopeItems: readonly SpendItem[];
  readonly done: PeekCallback;
}

/** A counter whose sums the batch reports. */
interface SpendItem {
  readonly counter: SpendCounter;
  readonly index: number;
  /** Position in KEYS. */
  readonly key: number;
  withReservations: boolean;
  /** Sums when the batch was closed; null: the item states no reservations. */
  sentTotalNanos: number;
  sentReservations: ReservationSums | null;
}

interface TokenItem {
  readonly key: number;
  tokens: number;
}

const US_PER_SECOND = 1_000_000;

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

  /** Enlarges the reservation of a running call, in the windows of its admission. */
  grow(limits: AgentLimits, admittedAtSec: number, nanos: number, done: AdmissionCallback): void {
    this.#addGroup(limits, null, null, NO_RATES, nanos, admittedAtSec, done);
  }

  peek(limits: AgentLimits, providerSlugs: readonly string[], done: PeekCallback): void {
    const scopeItems = limits.scopes.map((scope) => this.#addScope(limits, scope, this.#nowSec, limits.hardBudget));
    const firstCheckIndex = this.checks.length;
    for (const slug of providerSlugs)
      this.checks.push({ requests: 0, json: `0,[],${this.#writeRates(limits, slug, requestLogKey(limits, slug))}` });
    this.#peeks.push({ limits, providerSlugs, firstCheckIndex, scopeItems, done });
  }

  /** Adds the counter's sums to the batch. */
  report(counter: SpendCounter): void {
    this.#addCounter(counter, counter.hasUnreportedReservations);
  }

  addTokens(limits: AgentLimits, providerSlug: string, row: number, tokens: number): void {
    this.orgId = limits.orgId;
    this.#addTokensToKey(tokenBucketsKey(limits, providerSlug, row), tokens);
  }

  /** Reads the counters' sums. Later reports go into another batch: call it right before sending or dropping this one. */
  close(): void {
    for (const item of this.spends) {
      item.counter.batch = null;
      item.sentTotalNanos = item.counter.totalNanos;
      item.sentReservations = item.withReservations ? item.counter.reservations : null;
    }
  }

  /**
   * The request as JSON, see admit.lua; `constants` are members that are the same in every request. Written by hand:
   * `JSON.stringify` takes 9 µs more a call at low load.
   */
  toJson(constants: string): string {
    let json = `{${constants}`;
    if (this.#validUntilSec !== UNLIMITED) json += `,"valid":[${this.#validFromSec},${this.#validUntilSec}]`;
    if (this.spends.length > 0) json += `,"spends":[${this.spends.map(writeSpend).join(',')}]`;
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
    const budgetItems: SpendItem[] = [];
    let budgets = '';
    for (const scope of limits.budgetedScopes) {
      const item = this.#addScope(limits, scope, windowsAtSec, reservationNanos > 0);
      budgetItems.push(item);
      budgets += `${budgets === '' ? '' : ','}[${item.index + 1},${scope.budgetNanos},${scope.row + 1}]`;
    }
    const json = `${reservationNanos},[${budgets}],${rates}`;
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
    let rates = `${this.keys.push(logKey)},${byRow[RPM_ROW]}`;
    for (const row of FIXED_ROWS) rates += `,${Math.min(byRow[row]!, Number.MAX_SAFE_INTEGER)}`;
    let tokens = '';
    for (const row of TOKEN_ROWS) {
      if (byRow[row] === UNLIMITED) continue;
      const key = this.keys.push(tokenBucketsKey(limits, providerSlug, row));
      tokens += `${tokens === '' ? '' : ','}[${key},${byRow[row]},${row + 1}]`;
    }
    return `[${tokens}],${rates}`;
  }

  /** Adds the spend of a scope in its window. */
  #addScope(limits: AgentLimits, scope: ScopeSpend, windowsAtSec: number, withReservations: boolean): SpendItem {
    const window = budgetWindowAt(scope.row, windowsAtSec);
    if (windowsAtSec === this.#nowSec) {
      this.#validFromSec = Math.max(this.#validFromSec, window.startSec);
      this.#validUntilSec = Math.min(this.#validUntilSec, window.endSec);
    }
    const counter = this.#spendCounters.getOrCreate(limits.orgId, scope.tag, window);
    if (limits.ledgerWindow?.name === window.name) counter.updateFromLedger(scope.ledgerNanos, scope.ledgerOnlyNanos);
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
const NO_RATES = '[],0,0';
const writeCheck = ({ requests, json }: Check): string => `[${requests},${json}]`;
const writeTokens = ({ key, tokens }: TokenItem): string => `[${key},${tokens}]`;

function writeSpend({ counter, key, sentTotalNanos, sentReservations }: SpendItem): string {
  const { field, ledgerNanos, ledgerOnlyNanos } = counter;
  const json = `[${key},"${field}",${sentTotalNanos},${ledgerNanos},${ledgerOnlyNanos}`;
  if (sentReservations === null) return `${json}]`;
  const { generation, grantedNanos, releasedNanos } = sentReservations;
  return `${json},${generation},${grantedNanos},${releasedNanos}]`;
}

function takeReservations({ reservationNanos, budgetItems }: WaiterGroup, admitted: number, isLate: boolean): void {
  const nanos = reservationNanos * admitted;
  if (nanos === 0) return;
  for (const { counter } of budgetItems) {
    counter.reserve(nanos);
    if (isLate) counter.release(nanos);
  }
}

function deliverVerdict(group: WaiterGroup, verdict: AdmitVerdict, reply: Required<AdmitReply>): void {
  const { limits, budgetItems, waiters, windowsAtSec, reservationNanos } = group;
  const [admitted, rejectedBy, retryAtUs, [remaining, resetUs]] = verdict;
  const rejectingRow = rejectedBy === REJECTED_BY_TOOL ? TOOL_RATE_ROW : rejectedBy - 1;
  const rejectingBudget = limits.budgetedScopes.findIndex(({ row }) => row === rejectingRow);
  const item = budgetItems[Math.max(0, rejectingBudget)];
  const [, spent, reserved] = item === undefined ? NO_SPEND : reply.spends[item.index]!;
  const isBudget = rejectingRow >= AGENT_PROVIDER_ROWS.length;
  const retryAtSec = isBudget ? budgetWindowAt(rejectingRow, windowsAtSec).endSec : ceilToSeconds(retryAtUs);
  for (let n = 0; n < waiters.length; n++) {
    const isAdmitted = n < admitted;
    waiters[n]!({
      outcome: isAdmitted ? 'admitted' : (LIMIT_TABLE[rejectingRow]?.type ?? 'tool_rpm'),
      rejectedByRow: isAdmitted ? -1 : rejectingRow,
      retryAtSec: isAdmitted ? 0 : retryAtSec,
      rpmRemaining: isAdmitted ? remaining + admitted - 1 - n : remaining,
      rpmResetAtSec: ceilToSeconds(resetUs),
      admittedAtSec: Math.floor(reply.now / US_PER_SECOND),
      spentNanos: spent,
      reservedNanos: reserved,
      reservationNanos,
    });
  }
}

/** What the script returns in place of a row. */
const REJECTED_BY_TOOL = -1;
const NO_SPEND: SpendReply = [0, 0, 0];

function toSnapshot(peek: PendingPeek, reply: Required<AdmitReply>): LimitSnapshot {
  const { limits, providerSlugs, firstCheckIndex, scopeItems } = peek;
  return {
    windows: providerSlugs.map((slug, i) => toWindowSnapshot(limits, slug, reply.checks[firstCheckIndex + i]!)),
    spends: limits.scopes.map(({ row }, i) => {
      const [, spent, reserved] = reply.spends[scopeItems[i]!.index]!;
      return { row, spentNanos: spent, reservedNanos: reserved };
    }),
  };
}

function toWindowSnapshot({ byRow }: AgentLimits, providerSlug: string, verdict: AdmitVerdict): WindowSnapshot {
  const [, rejectedBy, retryAtUs, ...figures] = verdict;
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
export function createUncheckedAdmission({ byRow, ledgerWindow, scopes }: AgentLimits): Admission {
  const nowSec = Date.now() / 1000;
  const isLedgerCurrent = ledgerWindow?.name === calendarWindowAt('month', nowSec).name;
  return {
    outcome: 'unchecked',
    rejectedByRow: -1,
    retryAtSec: 0,
    rpmRemaining: byRow[RPM_ROW]!,
    rpmResetAtSec: Math.ceil(nowSec),
    admittedAtSec: Math.floor(nowSec),
    spentNanos: isLedgerCurrent ? scopes[0]!.ledgerNanos : 0,
    reservedNanos: 0,
    reservationNanos: 0,
  };
}

/** Rounds up, so that the event has happened at the returned second. */
const ceilToSeconds = (us: number): number => Math.ceil(us / US_PER_SECOND);
