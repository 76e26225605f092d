/**
 * Replays recorded calls against limits that were not in force: the in-process counters' windows on the times of the
 * records (docs/contract.md#replay-of-limits). Calls are given in the order of their start. A rejected call costs nothing
 * and is not repeated. Budgets are soft here: a record does not say what its call would have reserved.
 */
import {
  type BudgetRowFilter,
  type BudgetWindow,
  compileBudgetRowFilter,
  utcDayOf,
  windowInstanceOf,
} from '../budget-rows.js';
import { DAY_MS, MINUTE_MS } from '../time-and-money-units.js';
import { SlidingWindowLog } from './sliding-window-log.js';
import { TokenUsageWindow } from './token-usage-window.js';

export interface ReplayedCall {
  readonly agentId: string;
  readonly providerSlug: string;
  /** `''`: none. */
  readonly model: string;
  /** `key=value,…`; `''`: none. */
  readonly tags: string;
  /** Unix ms. */
  readonly startedMs: number;
  readonly durationMs: number;
  /** In and out. */
  readonly tokens: number;
  readonly costNanos: number;
}

interface ReplayBudget extends BudgetRowFilter {
  readonly window: BudgetWindow;
  readonly nanos: number;
}

export interface ReplayLimits {
  /** Null: no limit. */
  readonly rpm: number | null;
  readonly rpd: number | null;
  readonly tpm: number | null;
  readonly budgets: readonly ReplayBudget[];
  /** True: each budget counts all agents together, as that of a project does. */
  readonly sharedBudgets: boolean;
}

/** `rpm`, `rpd`, `tpm`, or the index of the budget. */
export type ReplayRejection = 'rpm' | 'rpd' | 'tpm' | number;

/** Of the data planes: 30 ms longer than a minute (dataplane/src/limits/limit-table.ts). */
const REQUEST_MINUTE_US = (MINUTE_MS + 30) * 1_000;
const TOKEN_MINUTE_US = MINUTE_MS * 1_000;
const DAY_US = DAY_MS * 1_000;

interface PairWindows {
  readonly log: SlidingWindowLog;
  dayStartUs: number;
  dayCount: number;
  readonly tokens: TokenUsageWindow;
}

/** What an admitted call adds when it ends. */
interface Settlement {
  readonly endUs: number;
  readonly pair: PairWindows;
  readonly tokens: number;
  readonly costNanos: number;
  /** Keys of `#spent`. */
  readonly budgets: readonly string[];
}

export class LimitReplay {
  readonly #pairs = new Map<string, PairWindows>();
  /** Nano-dollars by budget, agent and instance of the window. */
  readonly #spent = new Map<string, number>();
  /** A binary heap: the call that ends first is at 0. */
  readonly #running: Settlement[] = [];
  readonly #filters: readonly ((model: string, tags: string) => boolean)[];

  constructor(readonly limits: ReplayLimits) {
    this.#filters = limits.budgets.map(compileBudgetRowFilter);
  }

  /** Returns the limit that would have rejected the call; null: admitted. */
  admit(call: ReplayedCall): ReplayRejection | null {
    const nowUs = call.startedMs * 1_000;
    this.#settleUntil(nowUs);
    const pair = this.#advancePair(`${call.agentId} ${call.providerSlug}`, nowUs);
    const budgets = this.#budgetsOf(call);
    const rejection = this.#findRejection(pair, budgets, nowUs);
    if (rejection !== null) return rejection;
    pair.log.appendTime(nowUs);
    if (pair.dayCount === 0) pair.dayStartUs = nowUs;
    pair.dayCount++;
    const { tokens, costNanos, durationMs } = call;
    const endUs = nowUs + durationMs * 1_000;
    const keys = budgets.map(({ key }) => key);
    pushToHeap(this.#running, { endUs, pair, tokens, costNanos, budgets: keys });
    return null;
  }

  /** As in the data planes: windows of requests, then of tokens, then budgets. */
  #findRejection(
    pair: PairWindows,
    budgets: readonly { readonly index: number; readonly key: string }[],
    nowUs: number,
  ): ReplayRejection | null {
    const { rpm, rpd, tpm } = this.limits;
    if (rpm !== null && pair.log.dropExpiredAndCount(nowUs, REQUEST_MINUTE_US) >= rpm) return 'rpm';
    if (rpd !== null && pair.dayCount >= rpd) return 'rpd';
    if (tpm !== null && pair.tokens.tokensUsedAt(nowUs) >= tpm) return 'tpm';
    for (const { index, key } of budgets)
      if ((this.#spent.get(key) ?? 0) >= this.limits.budgets[index]!.nanos) return index;
    return null;
  }

  #budgetsOf({ agentId, model, tags, startedMs }: ReplayedCall): readonly { index: number; key: string }[] {
    if (this.limits.budgets.length === 0) return [];
    const day = utcDayOf(startedMs);
    return this.limits.budgets.flatMap(({ window }, index) => {
      if (!this.#filters[index]!(model, tags)) return [];
      const instance = window === 'total' ? 'total' : windowInstanceOf(window, day);
      return [{ index, key: `${index} ${this.limits.sharedBudgets ? '' : agentId} ${instance}` }];
    });
  }

  #advancePair(key: string, nowUs: number): PairWindows {
    let pair = this.#pairs.get(key);
    if (pair === undefined) {
      const tokens = new TokenUsageWindow(TOKEN_MINUTE_US);
      pair = { log: new SlidingWindowLog(), dayStartUs: 0, dayCount: 0, tokens };
      this.#pairs.set(key, pair);
    }
    if (nowUs >= pair.dayStartUs + DAY_US) pair.dayCount = 0;
    pair.log.dropExpiredAndCount(nowUs, REQUEST_MINUTE_US);
    return pair;
  }

  /** A call that ended at this instant counts. */
  #settleUntil(nowUs: number): void {
    while (this.#running.length > 0 && this.#running[0]!.endUs <= nowUs) {
      const { endUs, pair, tokens, costNanos, budgets } = popFromHeap(this.#running);
      if (tokens > 0 && this.limits.tpm !== null) pair.tokens.addTokens(endUs, tokens);
      if (costNanos > 0) for (const key of budgets) this.#spent.set(key, (this.#spent.get(key) ?? 0) + costNanos);
    }
  }
}

function pushToHeap(heap: Settlement[], item: Settlement): void {
  let at = heap.length;
  heap.push(item);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (heap[parent]!.endUs <= item.endUs) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = item;
}

function popFromHeap(heap: Settlement[]): Settlement {
  const first = heap[0]!;
  const last = heap.pop()!;
  if (heap.length === 0) return first;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && heap[child + 1]!.endUs < heap[child]!.endUs) child++;
    if (heap[child]!.endUs >= last.endUs) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = last;
  return first;
}
