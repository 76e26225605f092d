/**
 * One budget row of an agent, its project, its organization or its run: how much the calls that match it may spend in
 * each window. Rows are created once per context and shared by all of its calls. The plain monthly budgets, which have
 * columns of their own in the limit table, are rows like all others. Money is integer nano-dollars.
 */
import {
  type BudgetRowMode,
  type BudgetWindow as BudgetWindowKind,
  compileBudgetRowFilter,
} from '@acg/base/budget-rows';
import { type BudgetWindow, calendarWindowAt, createRunWindow } from './calendar-window.js';
import { UNLIMITED } from './limit-table.js';

export type BudgetScope = 'agent' | 'project' | 'org' | 'run';

/** The ledger's figures for a row in one window. */
export interface LedgerSpend {
  readonly window: BudgetWindow;
  /** The whole spend. */
  readonly nanos: number;
  /** The part that only the ledger counts. Data planes never add it to their own totals. */
  readonly ledgerOnlyNanos: number;
}

export interface BudgetRowInput {
  /** `''`: a plain monthly row. */
  readonly id: string;
  readonly scope: BudgetScope;
  /** Of the agent, project, organization or run. */
  readonly scopeId: string;
  /** Row of the limit table; -1: not a plain monthly row. */
  readonly tableRow: number;
  /** `total`: all months together; of a run its only window. */
  readonly window: BudgetWindowKind;
  /** UNLIMITED: spend is counted only, so that a budget set in mid-month starts from the month's spend. */
  readonly limitNanos: number;
  /** `soft`: rejects calls once it is spent. `hard`: admission reserves a call's maximum cost. `audit`: never rejects. */
  readonly mode: BudgetRowMode;
  /** Patterns of models; empty: calls of every model. */
  readonly models: readonly string[];
  /** `key=value` that a call must carry; `''`: every call. */
  readonly tag: string;
  readonly ledger: readonly LedgerSpend[];
  /** Spend of the months before those in `ledger`; only of the window `total`. */
  readonly closedNanos: number;
  /** Unix seconds until which the counters keep a run's spend; 0 for other scopes. */
  readonly keptUntilSec: number;
  /** The row is this cell's share of a budget, and counts what the cell spends (docs/regions.md#shares). Absent: none. */
  readonly cell?: string;
}

/** Name of a scope or a row in the counters' keys: `agent:…`, `project:…`, `org:…`, `run:…`, `budget:…`. */
export const spendName = (kind: BudgetScope | 'budget', id: string): string => `${kind}:${id}`;
/** The same of a cell's share of it. Ids are unique over all kinds. */
export const cellSpendName = (cell: string, id: string): string => `cell:${cell}:${id}`;

/** A budget without a window counts at most so many months besides the closed ones. */
const OPEN_MONTHS_MAX = 12;

export class BudgetRow {
  readonly id: string;
  readonly scope: BudgetScope;
  readonly scopeId: string;
  readonly tableRow: number;
  readonly window: BudgetWindowKind;
  readonly limitNanos: number;
  readonly mode: BudgetRowMode;
  readonly models: readonly string[];
  readonly tag: string;
  readonly ledger: readonly LedgerSpend[];
  readonly closedNanos: number;
  readonly keptUntilSec: number;
  /** `''`: the budget of all cells. */
  readonly cell: string;
  /** See {@link spendName} and {@link cellSpendName}. */
  readonly name: string;
  readonly #matches: ReturnType<typeof compileBudgetRowFilter>;
  readonly #runWindow: readonly BudgetWindow[] | null;
  /** Of the last instant: nearly all callers need the current windows. */
  #windows: readonly BudgetWindow[] = [];

  constructor(input: BudgetRowInput) {
    this.id = input.id;
    this.scope = input.scope;
    this.scopeId = input.scopeId;
    this.tableRow = input.tableRow;
    this.window = input.window;
    this.limitNanos = input.limitNanos;
    this.mode = input.mode;
    this.models = input.models;
    this.tag = input.tag;
    this.ledger = input.ledger;
    this.closedNanos = input.closedNanos;
    this.keptUntilSec = input.keptUntilSec;
    this.cell = input.cell ?? '';
    const isScopeItself = input.id === '' || input.scope === 'run';
    const name = isScopeItself ? spendName(input.scope, input.scopeId) : spendName('budget', input.id);
    this.name = this.cell === '' ? name : cellSpendName(this.cell, this.ledgerId);
    this.#matches = compileBudgetRowFilter(input);
    this.#runWindow = input.scope === 'run' ? [createRunWindow(input.keptUntilSec)] : null;
  }

  get isPlain(): boolean {
    return this.tableRow >= 0;
  }

  /** Id of the row's spend in a cell, in the ledger. */
  get ledgerId(): string {
    return this.id || this.scopeId;
  }

  /** Whether there is a budget to check. */
  get hasLimit(): boolean {
    return this.limitNanos !== UNLIMITED;
  }

  /** Some calls of the agent do not count. */
  get isFiltered(): boolean {
    return this.models.length > 0 || this.tag !== '';
  }

  /** `models` null: rows of every model count the call; empty: none of them. `tags`: `key=value,…`. */
  countsCall(models: readonly string[] | null, tags: string): boolean {
    if (models === null) return this.#matches('', tags);
    if (models.length === 0) return this.models.length === 0 && this.#matches('', tags);
    return models.some((model) => this.#matches(model, tags));
  }

  /** Limit on the spend of {@link windowsAt}. Negative when closed months have used up more. */
  get openLimitNanos(): number {
    return this.limitNanos - this.closedNanos;
  }

  /** What admission reserves of a call that may cost at most `nanos`. */
  reservationOf(nanos: number): number {
    return this.mode === 'hard' ? nanos : 0;
  }

  /**
   * The windows whose spend counts against the budget of a call that was admitted at an instant; the call belongs to the
   * first one. `nowSec`: a budget of all time also counts the months since then. Unix seconds.
   */
  windowsAt(unixSec: number, nowSec = unixSec): readonly BudgetWindow[] {
    const windows = this.#windowsAt(unixSec);
    const own = windows[0]!;
    if (this.window !== 'total' || nowSec < own.endSec) return windows;
    return [own, ...this.#windowsAt(nowSec).filter(({ name }) => name !== own.name)];
  }

  #windowsAt(unixSec: number): readonly BudgetWindow[] {
    const current = this.#windows[0];
    if (current !== undefined && unixSec >= current.startSec && unixSec < current.endSec) return this.#windows;
    this.#windows = this.#runWindow ?? this.#createWindowsAt(unixSec);
    return this.#windows;
  }

  #createWindowsAt(unixSec: number): readonly BudgetWindow[] {
    if (this.window !== 'total') return [calendarWindowAt(this.window, unixSec)];
    const current = calendarWindowAt('month', unixSec);
    // Months before those of the ledger are in `closedNanos`. Without ledger figures the previous month counts.
    const firstSec =
      this.ledger.length === 0
        ? calendarWindowAt('month', current.startSec - 1).startSec
        : Math.min(...this.ledger.map(({ window }) => window.startSec));
    const windows = [current];
    for (let month = current; month.startSec > firstSec && windows.length < OPEN_MONTHS_MAX; ) {
      month = calendarWindowAt('month', month.startSec - 1);
      windows.push(month);
    }
    return windows;
  }

  /** When the window of an instant ends, Unix seconds; null: never. */
  resetsAtSec(unixSec: number): number | null {
    return this.window === 'total' ? null : this.windowsAt(unixSec)[0]!.endSec;
  }

  /** The ledger's figures for a window; null: the context has none. */
  findLedgerSpend(window: BudgetWindow): LedgerSpend | null {
    for (const spend of this.ledger) if (spend.window.name === window.name) return spend;
    return null;
  }
}

/** What responses say about a row: which budget it is. */
export const describeBudgetRow = ({ id, scope, window, models, tag, cell }: BudgetRow): object => ({
  scope,
  ...(id === '' ? {} : { budgetId: id }),
  window,
  ...(models.length === 0 ? {} : { models }),
  ...(tag === '' ? {} : { tag }),
  ...(cell === '' ? {} : { cell }),
});
