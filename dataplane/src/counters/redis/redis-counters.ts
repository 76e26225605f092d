/**
 * Counters in Redis or Redis Cluster, shared by all data planes. One RedisNode per server, or per master of a cluster:
 * a dead master lets only its own agents pass unchecked.
 *
 * On a cluster, project and organization counters may be in other slots than the agent's. Their budgets are checked
 * first; the agent's own admission follows only if all of them pass.
 */
import { randomBytes } from 'node:crypto';
import type { Logger } from '@acg/base/log';
import type { AgentLimits, ScopeSpend } from '../../limits/agent-limits.js';
import { monthOfMs } from '../../limits/calendar-month.js';
import type { CalendarWindow } from '../../limits/calendar-window.js';
import type {
  Admission,
  AdmissionRequest,
  Counters,
  CountersMetrics,
  LimitSnapshot,
  PeekRequest,
  Settlement,
  SpendSnapshot,
  WindowSnapshot,
} from '../../limits/counters-interface.js';
import { DEFAULT_WINDOW_LENGTHS_MS, TOKEN_ROWS, UNLIMITED, type WindowLengthsMs } from '../../limits/limit-table.js';
import { RESERVATION_LEASE_MS } from './admit-codec.js';
import { hashSlot } from './client/hash-slot.js';
import { RedisClient, type RedisClientOptions } from './client/redis-client.js';
import { SpendCounters } from './local-spend-counters-with-eviction.js';
import { RedisNode } from './redis-node.js';

interface RedisCountersOptions extends RedisClientOptions {
  readonly timeoutMs: number;
  /** Shortened by tests. */
  readonly windows?: Partial<WindowLengthsMs>;
  /** Bound of the spend counters kept in memory; for tests. */
  readonly spendCountersMax?: number;
  /** Replaces {@link SPEND_LINGER_MS}; for tests. */
  readonly spendLingerMs?: number;
}

const SPEND_COUNTERS_MAX = 100_000;
/** How long non-urgent spend waits for the next admission, which carries it and saves a store call. */
const SPEND_LINGER_MS = 5;
/** From this share of a budget on, spend is reported at once. */
const NEAR_BUDGET_RATIO = 0.9;
const START_TIMEOUT_MS = 3_000;
const CLOSE_TIMEOUT_MS = 1_000;
/**
 * Report interval for spend of projects and organizations without a budget, which nothing else sends. No check reads it
 * until a budget is set. Then the first admission reports this process's total at once.
 */
const UNBUDGETED_REPORT_MS = 500;
/** Allows three attempts before the lease ends. */
const RESERVATION_RENEW_MS = RESERVATION_LEASE_MS / 3;
/** A Redis Cluster has at most 1 000 masters. Nodes of removed masters stay until this bound. */
const NODES_MAX = 1_000;
/** Enough random tags to hit every slot. */
const PROBE_TAG_TRIES_MAX = 200_000;

export class RedisCounters implements Counters {
  readonly kind = 'redis';
  readonly #options: RedisCountersOptions;
  readonly #log: Logger;
  readonly #metrics: CountersMetrics;
  readonly #client: RedisClient;
  readonly #spendCounters: SpendCounters;
  readonly #nodes = new Map<string, RedisNode>();
  /** Node of a single server; on a cluster also of slots whose master is unknown. */
  readonly #defaultNode: RedisNode;
  readonly #isCluster: boolean;
  readonly #writerId = randomBytes(9).toString('base64url');
  readonly #renewTimer: NodeJS.Timeout;
  readonly #unbudgetedTimer: NodeJS.Timeout;
  #lastError = '';
  #onDataLost: () => void = () => {};

  constructor(options: RedisCountersOptions, log: Logger, metrics: CountersMetrics) {
    this.#options = options;
    this.#log = log;
    this.#metrics = metrics;
    this.#isCluster = options.urls.length > 1;
    this.#spendCounters = new SpendCounters(options.spendCountersMax ?? SPEND_COUNTERS_MAX, this.#writerId);
    this.#client = new RedisClient(options, {
      onConnected: this.#onConnected,
      onError: (error) => {
        this.#lastError = error.message;
      },
    });
    this.#defaultNode = this.#createNode(options.urls.map((url) => url.host).join(','), this.#writerId);
    this.#renewTimer = setInterval(this.#renewReservations, RESERVATION_RENEW_MS).unref();
    this.#unbudgetedTimer = setInterval(this.#reportUnacknowledged, UNBUDGETED_REPORT_MS).unref();
  }

  /** Waits for the store for at most a few seconds. Requests pass unchecked until it is available. */
  async waitForStoreAndCheckEviction(): Promise<void> {
    await this.#defaultNode.enforcement.waitUntilEnforcing(START_TIMEOUT_MS);
    if (this.#defaultNode.enforcement.isEnforcing) {
      await Promise.all([...this.#nodes.values()].map((node) => node.enforcement.waitUntilEnforcing(START_TIMEOUT_MS)));
    }
    for (const node of this.#nodes.values()) node.enforcement.logIfFailedOpen(node.lastFailure || this.#lastError);
    if (!this.#defaultNode.enforcement.isEnforcing) return;
    for (const policy of new Set(await this.#client.fetchEvictionPolicies())) {
      if (policy === null || policy === 'noeviction') continue;
      this.#log.warn(
        { policy },
        'Redis may evict the keys of limits when its memory is full. Set maxmemory-policy to noeviction.',
      );
    }
  }

  setDataLostListener(listener: () => void): void {
    this.#onDataLost = listener;
  }

  get isEnforcing(): boolean {
    for (const node of this.#nodes.values()) if (!node.enforcement.isEnforcing) return false;
    return true;
  }

  /** Number of spend counters in memory; for tests of the bound. */
  get trackedCount(): number {
    return this.#spendCounters.size;
  }

  admit({ limits, providerSlug, reservationNanos }: AdmissionRequest, done: (admission: Admission) => void): void {
    const slot = this.#slotOf(limits.agentId);
    const foreignBudgets = this.#isCluster
      ? limits.budgetedScopes.filter(({ tag }) => tag !== limits.agentId)
      : NO_SCOPES;
    if (foreignBudgets.length === 0) {
      this.#nodeOf(slot).admit(slot, limits, providerSlug, limits.budgetedScopes, reservationNanos, done);
      return;
    }
    const ownBudgets = limits.budgetedScopes.filter(({ tag }) => tag === limits.agentId);
    this.#checkBudgetsInOrder(limits, foreignBudgets, 0, (rejection) => {
      if (rejection !== null) done(rejection);
      else this.#nodeOf(slot).admit(slot, limits, providerSlug, ownBudgets, reservationNanos, done);
    });
  }

  growReservation(
    limits: AgentLimits,
    _admittedAtSec: number,
    additionalNanos: number,
    done: (granted: boolean) => void,
  ): void {
    const slot = this.#slotOf(limits.agentId);
    const ownBudgets = limits.budgetedScopes.filter(({ tag }) => tag === limits.agentId);
    this.#nodeOf(slot).checkBudgets(slot, limits, ownBudgets, additionalNanos, ({ rejectedByRow, outcome }) => {
      if (outcome === 'unchecked' && limits.rejectsUnchecked) {
        done(false);
        return;
      }
      if (outcome === 'unchecked')
        this.#spendCounters.getOrCreate(limits.agentId).reserveWhileStoreUnavailable(additionalNanos);
      done(rejectedByRow < 0);
    });
  }

  settle({ limits, providerSlug, admittedAtSec, costNanos, tokens, reservationNanos }: Settlement): void {
    const month = monthOfMs(admittedAtSec * 1000);
    const cost = Math.round(costNanos);
    const isUrgent = limits.hardBudget || reservationNanos > 0 || this.#isNearBudget(limits, cost);
    for (let i = 0; i < limits.scopes.length; i++) {
      const { tag, budgetNanos } = limits.scopes[i]!;
      const releasedNanos = i === 0 ? reservationNanos : 0;
      if (!(cost > 0) && releasedNanos === 0) continue;
      const counter = this.#spendCounters.getOrCreate(tag);
      if (cost > 0) counter.addSpend(month, cost);
      if (releasedNanos > 0) counter.release(releasedNanos);
      if (i > 0 && budgetNanos === UNLIMITED) continue; // the timer reports it
      const slot = this.#slotOf(tag);
      if (isUrgent) this.#nodeOf(slot).reportSpend(slot, counter);
      else this.#nodeOf(slot).reportSpendWithNextBatch(slot, counter);
    }
    for (const row of TOKEN_ROWS) {
      if (limits.byRow[row] === UNLIMITED || !(tokens > 0)) continue;
      const slot = this.#slotOf(limits.agentId);
      this.#nodeOf(slot).addTokens(slot, limits.agentId, providerSlug, row, tokens);
    }
  }

  /**
   * Whether the spend of a budgeted scope must be reported at once, so that other data planes do not admit calls over
   * budget.
   */
  #isNearBudget({ budgetedScopes }: AgentLimits, costNanos: number): boolean {
    for (let i = 0; i < budgetedScopes.length; i++) {
      const { tag, budgetNanos } = budgetedScopes[i]!;
      if (this.#spendCounters.getOrCreate(tag).storeSpentNanos + costNanos >= NEAR_BUDGET_RATIO * budgetNanos)
        return true;
    }
    return false;
  }

  updateLedgerSpend(tag: string, window: CalendarWindow, nanos: number, ledgerOnlyNanos: number): void {
    const month = monthOfMs(window.startSec * 1000);
    this.#spendCounters.findByTag(tag)?.updateFromLedger(month, nanos, ledgerOnlyNanos);
  }

  peek({ limits, providerSlugs }: PeekRequest, done: (snapshot: LimitSnapshot | null) => void): void {
    const windows: WindowSnapshot[] = [];
    const spends: SpendSnapshot[] = [];
    let pendingReplies = providerSlugs.length + limits.scopes.length;
    let allAvailable = true;
    const onReply = (isAvailable: boolean): void => {
      allAvailable &&= isAvailable;
      pendingReplies--;
      if (pendingReplies === 0) done(allAvailable ? { windows, spends } : null);
    };
    limits.scopes.forEach((spend, index) => {
      const slot = this.#slotOf(spend.tag);
      this.#nodeOf(slot).peekSpend(slot, limits, spend, (verdict) => {
        if (verdict !== null) {
          spends[index] = { row: spend.row, spentNanos: verdict.spentNanos, reservedNanos: verdict.reservedNanos };
        }
        onReply(verdict !== null);
      });
    });
    const slot = this.#slotOf(limits.agentId);
    providerSlugs.forEach((providerSlug, index) => {
      this.#nodeOf(slot).peekWindows(slot, limits, providerSlug, (verdict) => {
        if (verdict !== null) {
          const { remaining, resetAtSec, rejectedByRow, retryAtSec } = verdict;
          const rejection = rejectedByRow < 0 ? null : { row: rejectedByRow, retryAtSec };
          windows[index] = { providerSlug, remaining: remaining!, resetAtSec: resetAtSec!, rejection };
        }
        onReply(verdict !== null);
      });
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#renewTimer);
    clearInterval(this.#unbudgetedTimer);
    this.#reportUnacknowledged();
    await Promise.all([...this.#nodes.values()].map((node) => node.flushAndAwaitReplies(CLOSE_TIMEOUT_MS)));
    this.#client.close();
  }

  /** Checks the budgets one after another in table order. Reports the first rejection, or null when all pass. */
  #checkBudgetsInOrder(
    limits: AgentLimits,
    budgets: readonly ScopeSpend[],
    index: number,
    done: (rejection: Admission | null) => void,
  ): void {
    const budget = budgets[index];
    if (budget === undefined) {
      done(null);
      return;
    }
    const slot = this.#slotOf(budget.tag);
    this.#nodeOf(slot).checkBudgets(slot, limits, [budget], 0, (admission) => {
      if (admission.rejectedByRow >= 0) done(admission);
      else this.#checkBudgetsInOrder(limits, budgets, index + 1, done);
    });
  }

  /** Renews the leases of reservations. When a process dies, its reservations expire with their lease. */
  readonly #renewReservations = (): void => {
    this.#spendCounters.forEachWithReservations((counter) => {
      const slot = this.#slotOf(counter.hashTag);
      this.#nodeOf(slot).reportSpend(slot, counter);
    });
  };

  /** Reports unacknowledged spend that is in no batch. Spend in an inflight call is sent twice, which is harmless. */
  readonly #reportUnacknowledged = (): void => {
    this.#spendCounters.unacknowledged.forEach((counter) => {
      if (counter.batch !== null) return;
      const slot = this.#slotOf(counter.hashTag);
      this.#nodeOf(slot).reportSpend(slot, counter);
    });
  };

  #slotOf(tag: string): number {
    return this.#isCluster ? hashSlot(tag) : 0;
  }

  #nodeOf(slot: number): RedisNode {
    if (!this.#isCluster) return this.#defaultNode;
    const master = this.#client.masterOfSlot(slot);
    return master === null ? this.#defaultNode : (this.#nodes.get(master) ?? this.#getOrCreateNode(master));
  }

  readonly #onConnected = (): void => {
    if (this.#isCluster) for (const master of this.#client.listMasters()) this.#getOrCreateNode(master);
    for (const node of this.#nodes.values()) node.sendProbeIfNotEnforcing();
  };

  #getOrCreateNode(master: string): RedisNode {
    const known = this.#nodes.get(master);
    if (known !== undefined || this.#nodes.size >= NODES_MAX) return known ?? this.#defaultNode;
    let tag = 0;
    while (tag < PROBE_TAG_TRIES_MAX && this.#client.masterOfSlot(hashSlot(String(tag))) !== master) tag++;
    return this.#createNode(master, String(tag));
  }

  #createNode(name: string, probeTag: string): RedisNode {
    const node: RedisNode = new RedisNode(
      this.#client,
      {
        name,
        windows: { ...DEFAULT_WINDOW_LENGTHS_MS, ...this.#options.windows },
        timeoutMs: this.#options.timeoutMs,
        lingerMs: this.#options.spendLingerMs ?? SPEND_LINGER_MS,
        writerId: this.#writerId,
        probeTag,
        probeSlot: this.#slotOf(probeTag),
        ownSlotOf: (tag) => {
          const slot = this.#slotOf(tag);
          return this.#nodeOf(slot) === node ? slot : null;
        },
      },
      this.#spendCounters,
      this.#log,
      this.#metrics,
    );
    node.onDataLost = () => this.#onDataLost();
    node.onRecovered = this.#renewReservations;
    this.#nodes.set(name, node);
    return node;
  }
}

const NO_SCOPES: readonly ScopeSpend[] = [];
