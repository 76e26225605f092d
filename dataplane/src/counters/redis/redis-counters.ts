/**
 * Counters in Redis or Redis Cluster, shared by all data planes. All keys of an organization are in one hash slot, so
 * one script call decides about all limits of a call. One RedisNode per server, or per master of a cluster: a dead
 * master lets only its own organizations pass unchecked.
 */
import { randomBytes } from 'node:crypto';
import type { Logger } from '@acg/base/log';
import { noop } from '@acg/base/noop';
import type { AgentLimits } from '../../limits/agent-limits.js';
import { type BudgetRow, cellSpendName, spendName } from '../../limits/budget-row.js';
import { type BudgetWindow, RUN_KEPT_AFTER_END_SEC, RUN_WINDOW_NAME } from '../../limits/calendar-window.js';
import type {
  Admission,
  AdmissionRequest,
  Counters,
  CountersMetrics,
  LimitSnapshot,
  PeekRequest,
  Settlement,
} from '../../limits/counters-interface.js';
import {
  BUDGET_ROW,
  DEFAULT_WINDOW_LENGTHS_MS,
  TOKEN_ROWS,
  UNLIMITED,
  type WindowLengthsMs,
} from '../../limits/limit-table.js';
import { hashSlot } from './client/hash-slot.js';
import { RedisClient, type RedisClientOptions } from './client/redis-client.js';
import { EvictionPolicyWatch } from './eviction-policy-watch.js';
import { RedisNode } from './redis-node.js';
import { RESERVATION_LEASE_MS } from './script/admit-script.js';
import { SpendCounter } from './spend-counter.js';
import { SpendCounters } from './spend-counters.js';

interface RedisCountersOptions extends RedisClientOptions {
  readonly timeoutMs: number;
  /** Of the data plane's cell; absent or `''`: none. */
  readonly cellName?: string;
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
 * Report interval for spend of projects and organizations without a plain monthly budget, which nothing else sends. No check reads it
 * until a budget is set. Then the first admission reports this process's total at once.
 */
const UNBUDGETED_REPORT_MS = 500;
/** Allows three attempts before the lease ends. */
const RESERVATION_RENEW_MS = RESERVATION_LEASE_MS / 3;
/** A Redis Cluster has at most 1 000 masters. Nodes of removed masters stay until this bound. */
const NODES_MAX = 1_000;
/** Enough random tags to hit every slot. */
const PROBE_TAG_TRIES_MAX = 200_000;

/** What writers of the previous release have spent in a scope and window, nano-dollars. */
interface PreviousTotals {
  /** By the writer's field. */
  readonly totals: ReadonlyMap<string, number>;
  readonly ledgerNanos: number;
  readonly ledgerOnlyNanos: number;
}

const NO_REPORT_SETS = { unacknowledged: new Set<SpendCounter>(), reserved: new Set<SpendCounter>() };

export class RedisCounters implements Counters {
  readonly kind = 'redis';
  readonly #options: RedisCountersOptions;
  readonly #log: Logger;
  readonly #metrics: CountersMetrics;
  readonly client: RedisClient;
  readonly #spendCounters: SpendCounters;
  readonly #nodes = new Map<string, RedisNode>();
  /** Node of a single server; on a cluster also of slots whose master is unknown. */
  readonly #defaultNode: RedisNode;
  readonly #isCluster: boolean;
  readonly #renewTimer: NodeJS.Timeout;
  readonly #unbudgetedTimer: NodeJS.Timeout;
  readonly #evictionWatch: EvictionPolicyWatch;
  #lastError = '';
  #onDataLost: () => void = () => {};

  constructor(options: RedisCountersOptions, log: Logger, metrics: CountersMetrics) {
    this.#options = options;
    this.#log = log;
    this.#metrics = metrics;
    this.#isCluster = options.urls.length > 1;
    const writerId = randomBytes(9).toString('base64url');
    this.#spendCounters = new SpendCounters(options.spendCountersMax ?? SPEND_COUNTERS_MAX, writerId);
    this.#spendCounters.onEndedForgotten = ({ key }) => {
      // Otherwise the key would stay until the run would have ended by itself: up to 30 days.
      this.client.expire(key, RUN_KEPT_AFTER_END_SEC).catch(noop);
    };
    this.#evictionWatch = new EvictionPolicyWatch(
      () => this.client.fetchEvictionPolicies(),
      log,
      (isEvictable) => metrics.setEvictable(isEvictable),
    );
    this.client = new RedisClient(options, {
      onConnected: this.#onConnected,
      onError: (error) => {
        this.#lastError = error.message;
      },
    });
    this.#defaultNode = this.#createNode(options.urls.map((url) => url.host).join(','), writerId);
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
    await this.#evictionWatch.check();
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

  admit(request: AdmissionRequest, done: (admission: Admission) => void): void {
    const { limits, providerSlug, reservationNanos, toolRate = null } = request;
    const slot = this.#slotOf(limits.orgId);
    this.#nodeOf(slot).admit(slot, limits, providerSlug, reservationNanos, done, toolRate);
  }

  growReservation(
    limits: AgentLimits,
    admittedAtSec: number,
    additionalNanos: number,
    done: (granted: boolean) => void,
  ): void {
    const slot = this.#slotOf(limits.orgId);
    this.#nodeOf(slot).grow(slot, limits, admittedAtSec, additionalNanos, ({ outcome }) => {
      const isUnchecked = outcome === 'unchecked' && !limits.rejectsUnchecked;
      if (isUnchecked) {
        for (const row of limits.checkedBudgets) {
          const nanos = row.reservationOf(additionalNanos);
          if (nanos > 0) this.#counterOf(limits, row, admittedAtSec).reserve(nanos);
        }
      }
      done(isUnchecked || outcome === 'admitted');
    });
  }

  settle({ limits, providerSlug, admittedAtSec, costNanos, tokens, reservationNanos }: Settlement): void {
    const cost = Math.round(costNanos);
    const slot = this.#slotOf(limits.orgId);
    const node = this.#nodeOf(slot);
    let isUrgent = limits.hasHardBudget || reservationNanos > 0;
    const changed: SpendCounter[] = [];
    for (const row of limits.budgets) {
      const reserved = row.hasLimit ? row.reservationOf(reservationNanos) : 0;
      if (!(cost > 0) && !(reserved > 0)) continue;
      const counter = this.#counterOf(limits, row, admittedAtSec);
      if (cost > 0) counter.addSpend(cost);
      if (reserved > 0) counter.release(reserved);
      if (!row.hasLimit && row.tableRow !== BUDGET_ROW) continue; // the timer reports it
      const isEnforced = row.mode !== 'audit';
      if (isEnforced && counter.storeSpentNanos + cost >= NEAR_BUDGET_RATIO * row.openLimitNanos) isUrgent = true;
      changed.push(counter);
    }
    for (const counter of changed) {
      // Near a budget at once, so that other data planes do not admit calls over budget.
      if (isUrgent) node.reportSpend(slot, counter);
      else node.reportSpendWithNextBatch(slot, counter);
    }
    for (const row of TOKEN_ROWS) {
      if (limits.byRow[row] !== UNLIMITED && tokens > 0) node.addTokens(slot, limits, providerSlug, row, tokens);
    }
  }

  updateLedgerSpend(name: string, window: Pick<BudgetWindow, 'name'>, nanos: number, ledgerOnlyNanos: number): void {
    this.#spendCounters.find(name, window)?.updateFromLedger(nanos, ledgerOnlyNanos);
  }

  endRun(runId: string): void {
    for (const name of [spendName('run', runId), cellSpendName(this.#options.cellName ?? '', runId)])
      this.#spendCounters.forgetSoon(name, { name: RUN_WINDOW_NAME }, performance.now());
  }

  /** Reports totals of other writers with this tick's batch. Reporting the same totals again adds nothing. */
  reportTotals(
    orgId: string,
    name: string,
    window: BudgetWindow,
    { totals, ledgerNanos, ledgerOnlyNanos }: PreviousTotals,
  ): readonly SpendCounter[] {
    const slot = this.#slotOf(orgId);
    const ledger = new SpendCounter(NO_REPORT_SETS, orgId, name, window, 'previous-layout');
    ledger.updateFromLedger(ledgerNanos, ledgerOnlyNanos);
    const writers = [...totals].map(([field, nanos]) => {
      const counter = new SpendCounter(NO_REPORT_SETS, orgId, name, window, field);
      counter.totalNanos = nanos;
      return counter;
    });
    const all = [ledger, ...writers];
    for (const counter of all) this.#nodeOf(slot).reportSpend(slot, counter);
    return all;
  }

  peek({ limits, providerSlugs }: PeekRequest, done: (snapshot: LimitSnapshot | null) => void): void {
    const slot = this.#slotOf(limits.orgId);
    this.#nodeOf(slot).peek(slot, limits, providerSlugs, done);
  }

  async close(): Promise<void> {
    clearInterval(this.#renewTimer);
    clearInterval(this.#unbudgetedTimer);
    this.#evictionWatch.close();
    this.#reportUnacknowledged();
    await Promise.all([...this.#nodes.values()].map((node) => node.flushAndAwaitReplies(CLOSE_TIMEOUT_MS)));
    this.client.close();
  }

  /** Renews the leases of reservations. When a process dies, its reservations expire with their lease. */
  readonly #renewReservations = (): void => {
    for (const counter of this.#spendCounters.reserved) this.#report(counter);
  };

  /** Reports unacknowledged sums that are in no batch. Those in an inflight call are sent twice, which is harmless. */
  readonly #reportUnacknowledged = (): void => {
    this.#spendCounters.unacknowledged.forEach((counter) => {
      if (counter.batch === null) this.#report(counter);
    });
  };

  #report(counter: SpendCounter): void {
    const slot = this.#slotOf(counter.orgId);
    this.#nodeOf(slot).reportSpend(slot, counter);
  }

  /** The counter of the window in which a call that was admitted at an instant, Unix seconds, counts. */
  #counterOf({ orgId }: AgentLimits, row: BudgetRow, admittedAtSec: number): SpendCounter {
    return this.#spendCounters.getOrCreate(orgId, row.name, row.windowsAt(admittedAtSec)[0]!);
  }

  #slotOf(hashTag: string): number {
    return this.#isCluster ? hashSlot(hashTag) : 0;
  }

  #nodeOf(slot: number): RedisNode {
    if (!this.#isCluster) return this.#defaultNode;
    const master = this.client.masterOfSlot(slot);
    return master === null ? this.#defaultNode : (this.#nodes.get(master) ?? this.#getOrCreateNode(master));
  }

  readonly #onConnected = (): void => {
    if (this.#isCluster) for (const master of this.client.listMasters()) this.#getOrCreateNode(master);
    for (const node of this.#nodes.values()) node.sendProbeIfNotEnforcing();
    void this.#evictionWatch.check();
  };

  #getOrCreateNode(master: string): RedisNode {
    const known = this.#nodes.get(master);
    if (known !== undefined || this.#nodes.size >= NODES_MAX) return known ?? this.#defaultNode;
    let tag = 0;
    while (tag < PROBE_TAG_TRIES_MAX && this.client.masterOfSlot(hashSlot(String(tag))) !== master) tag++;
    return this.#createNode(master, String(tag));
  }

  #createNode(name: string, probeTag: string): RedisNode {
    const node: RedisNode = new RedisNode(
      this.client,
      {
        name,
        windows: { ...DEFAULT_WINDOW_LENGTHS_MS, ...this.#options.windows },
        timeoutMs: this.#options.timeoutMs,
        lingerMs: this.#options.spendLingerMs ?? SPEND_LINGER_MS,
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
