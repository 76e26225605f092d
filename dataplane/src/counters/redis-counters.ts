/**
 * Counters in Redis or Redis Cluster, shared by all data planes. Splits the work over nodes: one for a single server, one
 * per master of a cluster, so that a dead master opens the gate for its own agents only.
 *
 * On a cluster the purses of projects and organizations live in other slots than the agent: those are asked first, and
 * the agent's admission follows where they let it pass.
 */
import { randomBytes } from 'node:crypto';
import type { Logger } from '@acg/base/log';
import { HOLD_LEASE_MS } from './admit-call.js';
import type { AgentTerms, ScopeSpend } from './agent-terms.js';
import type {
  Admission,
  AdmissionRequest,
  AgentStanding,
  Counters,
  CountersMetrics,
  Settlement,
  SpendStanding,
  StandingRequest,
  WindowStanding,
} from './counters.js';
import { hashSlot } from './hash-slot.js';
import { REAL_WINDOWS, TOKEN_ROWS, UNLIMITED, type Windows } from './limit-table.js';
import { Purses } from './purses.js';
import { type RedisAccess, RedisLink } from './redis-link.js';
import { RedisNode } from './redis-node.js';

interface RedisCountersOptions extends RedisAccess {
  readonly timeoutMs: number;
  /** Shortened by tests. */
  readonly windows?: Partial<Windows>;
  /** Scopes whose spend is kept in mind; for tests of the bound. */
  readonly pursesMax?: number;
  /** Another {@link SPEND_LINGER_MS}; for tests. */
  readonly spendLingerMs?: number;
}

const PURSES_MAX = 100_000;
/** How long spend that nobody waits for is kept back: the next admission takes it along, which saves a call to the store. */
const SPEND_LINGER_MS = 5;
/** From here on a budget is nearly used, and its spend is told at once. */
const NEAR_RATIO = 0.9;
const START_TIMEOUT_MS = 3_000;
const CLOSE_TIMEOUT_MS = 1_000;
/**
 * How often the store is told of spend that nothing else sends: of projects and organizations without a budget. Nobody reads
 * it until there is one, and then the first admission takes this process's total along at once.
 */
const UNBUDGETED_REPORT_MS = 500;
/** Three chances before the lease is over. */
const HOLD_RENEW_MS = HOLD_LEASE_MS / 3;
/** A cluster has at most 1 000 masters; nodes of masters that are gone stay until then. */
const NODES_MAX = 1_000;
/** Enough to meet every slot. */
const TAGS_TRIED_MAX = 200_000;

export class RedisCounters implements Counters {
  readonly kind = 'redis';
  readonly #options: RedisCountersOptions;
  readonly #log: Logger;
  readonly #metrics: CountersMetrics;
  readonly #link: RedisLink;
  readonly #purses: Purses;
  readonly #nodes = new Map<string, RedisNode>();
  /** The node of a single server, and of a cluster's slots while their master is unknown. */
  readonly #firstNode: RedisNode;
  readonly #clustered: boolean;
  readonly #writerId = randomBytes(9).toString('base64url');
  readonly #renewTimer: NodeJS.Timeout;
  readonly #unbudgetedTimer: NodeJS.Timeout;
  #lastError = '';
  #onDataLost: () => void = () => {};

  constructor(options: RedisCountersOptions, log: Logger, metrics: CountersMetrics) {
    this.#options = options;
    this.#log = log;
    this.#metrics = metrics;
    this.#clustered = options.urls.length > 1;
    this.#purses = new Purses(options.pursesMax ?? PURSES_MAX, this.#writerId);
    this.#link = new RedisLink(options, {
      onConnected: this.#connected,
      onError: (error) => {
        this.#lastError = error.message;
      },
    });
    this.#firstNode = this.#node(options.urls.map((url) => url.host).join(','), this.#writerId);
    this.#renewTimer = setInterval(this.#renewHolds, HOLD_RENEW_MS).unref();
    this.#unbudgetedTimer = setInterval(this.#reportUnconfirmed, UNBUDGETED_REPORT_MS).unref();
  }

  /** Waits for the store, but not for long: without it requests pass unchecked. */
  async start(): Promise<void> {
    await this.#firstNode.enforcement.onWithin(START_TIMEOUT_MS);
    if (this.#firstNode.enforcement.on) {
      await Promise.all([...this.#nodes.values()].map((node) => node.enforcement.onWithin(START_TIMEOUT_MS)));
    }
    for (const node of this.#nodes.values()) node.enforcement.announceIfOff(node.lastFailure || this.#lastError);
    if (!this.#firstNode.enforcement.on) return;
    for (const policy of new Set(await this.#link.evictionPolicies())) {
      if (policy === null || policy === 'noeviction') continue;
      this.#log.warn(
        { policy },
        'Redis evicts keys when its memory is full, and limits with them: set maxmemory-policy noeviction',
      );
    }
  }

  onDataLost(listener: () => void): void {
    this.#onDataLost = listener;
  }

  get enforcing(): boolean {
    for (const node of this.#nodes.values()) if (!node.enforcement.on) return false;
    return true;
  }

  /** Scopes held; for tests of the bound. */
  get size(): number {
    return this.#purses.size;
  }

  admit({ terms, providerSlug, holdNanos }: AdmissionRequest, done: (admission: Admission) => void): void {
    const slot = this.#slotOf(terms.agentId);
    const foreign = this.#clustered ? terms.budgets.filter(({ tag }) => tag !== terms.agentId) : NONE;
    if (foreign.length === 0) {
      this.#nodeOf(slot).admit(slot, terms, providerSlug, terms.budgets, holdNanos, done);
      return;
    }
    const own = terms.budgets.filter(({ tag }) => tag === terms.agentId);
    this.#checkEach(terms, foreign, 0, (refusal) => {
      if (refusal !== null) done(refusal);
      else this.#nodeOf(slot).admit(slot, terms, providerSlug, own, holdNanos, done);
    });
  }

  grow(terms: AgentTerms, holdNanos: number, done: (granted: boolean) => void): void {
    const slot = this.#slotOf(terms.agentId);
    const own = terms.budgets.filter(({ tag }) => tag === terms.agentId);
    this.#nodeOf(slot).check(slot, terms, own, holdNanos, ({ refusedBy, outcome }) => {
      if (outcome === 'unchecked' && terms.refuseUnchecked) {
        done(false);
        return;
      }
      if (outcome === 'unchecked') this.#purses.of(terms.agentId).holdUnchecked(holdNanos);
      done(refusedBy < 0);
    });
  }

  settle({ terms, providerSlug, month, costNanos, tokens, holdNanos }: Settlement): void {
    const cost = Math.round(costNanos);
    const urgent = terms.hardBudget || holdNanos > 0 || this.#nearBudget(terms, cost);
    for (let i = 0; i < terms.spends.length; i++) {
      const { tag } = terms.spends[i]!;
      const held = i === 0 ? holdNanos : 0;
      if (!(cost > 0) && held === 0) continue;
      const purse = this.#purses.of(tag);
      if (cost > 0) purse.spend(month, cost);
      if (held > 0) purse.release(held);
      const slot = this.#slotOf(tag);
      if (urgent) this.#nodeOf(slot).report(slot, purse);
      else this.#nodeOf(slot).reportWithNext(slot, purse);
    }
    if (cost > 0) for (const tag of terms.unbudgeted) this.#purses.of(tag).spend(month, cost);
    for (const row of TOKEN_ROWS) {
      if (terms.limits[row] === UNLIMITED || !(tokens > 0)) continue;
      const slot = this.#slotOf(terms.agentId);
      this.#nodeOf(slot).addTokens(slot, terms.agentId, providerSlug, row, tokens);
    }
  }

  /** Whether others should hear of the spend at once, lest they let pass what is over the budget. */
  #nearBudget({ budgets }: AgentTerms, costNanos: number): boolean {
    for (let i = 0; i < budgets.length; i++) {
      const { tag, budgetNanos } = budgets[i]!;
      if (this.#purses.of(tag).storeNanos + costNanos >= NEAR_RATIO * budgetNanos) return true;
    }
    return false;
  }

  noteLedger(tag: string, month: number, nanos: number, ownNanos: number): void {
    this.#purses.find(tag)?.learn(month, nanos, ownNanos);
  }

  standing({ terms, providerSlugs }: StandingRequest, done: (standing: AgentStanding | null) => void): void {
    const windows: WindowStanding[] = [];
    const spends: SpendStanding[] = [];
    let missing = providerSlugs.length + terms.spends.length;
    let available = true;
    const answered = (isAvailable: boolean): void => {
      available &&= isAvailable;
      missing--;
      if (missing === 0) done(available ? { windows, spends } : null);
    };
    terms.spends.forEach((spend, at) => {
      const slot = this.#slotOf(spend.tag);
      this.#nodeOf(slot).lookAtSpend(slot, terms, spend, (verdict) => {
        if (verdict !== null) {
          spends[at] = { row: spend.row, spentNanos: verdict.spentNanos, heldNanos: verdict.heldNanos };
        }
        answered(verdict !== null);
      });
    });
    const slot = this.#slotOf(terms.agentId);
    providerSlugs.forEach((providerSlug, at) => {
      this.#nodeOf(slot).look(slot, terms, providerSlug, (verdict) => {
        if (verdict !== null) {
          const { remaining, resetAtSec, refusedBy, freeAtSec } = verdict;
          const refusal = refusedBy < 0 ? null : { row: refusedBy, passesAtSec: freeAtSec };
          windows[at] = { providerSlug, remaining: remaining!, resetAtSec: resetAtSec!, refusal };
        }
        answered(verdict !== null);
      });
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#renewTimer);
    clearInterval(this.#unbudgetedTimer);
    this.#reportUnconfirmed();
    await Promise.all([...this.#nodes.values()].map((node) => node.drain(CLOSE_TIMEOUT_MS)));
    this.#link.close();
  }

  /** One after the other, as the table has them: the first that refuses answers; null when all pass. */
  #checkEach(
    terms: AgentTerms,
    budgets: readonly ScopeSpend[],
    at: number,
    done: (refusal: Admission | null) => void,
  ): void {
    const budget = budgets[at];
    if (budget === undefined) {
      done(null);
      return;
    }
    const slot = this.#slotOf(budget.tag);
    this.#nodeOf(slot).check(slot, terms, [budget], 0, (admission) => {
      if (admission.refusedBy >= 0) done(admission);
      else this.#checkEach(terms, budgets, at + 1, done);
    });
  }

  /** Holds are leased: a process that dies frees what it held. */
  readonly #renewHolds = (): void => {
    this.#purses.forEachHolding((purse) => {
      const slot = this.#slotOf(purse.tag);
      this.#nodeOf(slot).report(slot, purse);
    });
  };

  /** All that the store has not confirmed and no call waits to take. What is on its way now is told twice: no harm. */
  readonly #reportUnconfirmed = (): void => {
    this.#purses.unconfirmed.forEach((purse) => {
      if (purse.turn !== null) return;
      const slot = this.#slotOf(purse.tag);
      this.#nodeOf(slot).report(slot, purse);
    });
  };

  #slotOf(tag: string): number {
    return this.#clustered ? hashSlot(tag) : 0;
  }

  #nodeOf(slot: number): RedisNode {
    if (!this.#clustered) return this.#firstNode;
    const master = this.#link.nodeOf(slot);
    return master === null ? this.#firstNode : (this.#nodes.get(master) ?? this.#nodeOfMaster(master));
  }

  readonly #connected = (): void => {
    if (this.#clustered) for (const master of this.#link.masters()) this.#nodeOfMaster(master);
    for (const node of this.#nodes.values()) node.connected();
  };

  #nodeOfMaster(master: string): RedisNode {
    const known = this.#nodes.get(master);
    if (known !== undefined || this.#nodes.size >= NODES_MAX) return known ?? this.#firstNode;
    let tag = 0;
    while (tag < TAGS_TRIED_MAX && this.#link.nodeOf(hashSlot(String(tag))) !== master) tag++;
    return this.#node(master, String(tag));
  }

  #node(name: string, probeTag: string): RedisNode {
    const node: RedisNode = new RedisNode(
      this.#link,
      {
        name,
        windows: { ...REAL_WINDOWS, ...this.#options.windows },
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
      this.#purses,
      this.#log,
      this.#metrics,
    );
    node.onDataLost = () => this.#onDataLost();
    node.onBack = this.#renewHolds;
    this.#nodes.set(name, node);
    return node;
  }
}

const NONE: readonly ScopeSpend[] = [];
