/**
 * Counters in Redis or Redis Cluster, shared by all data planes (docs/contract.md#limits). Splits the work over lanes:
 * one for a single server, one per master of a cluster, so that a dead master opens the gate for its own agents only.
 */
import { randomBytes } from 'node:crypto';
import type { Logger } from '@acg/base/log';
import { STANDARD_WINDOWS, type Windows } from './admit-call.js';
import { monthOfMs } from './calendar-month.js';
import type {
  Admission,
  AdmissionRequest,
  AgentStanding,
  Counters,
  CountersMetrics,
  StandingRequest,
  WindowStanding,
} from './counters.js';
import { hashSlot } from './hash-slot.js';
import { type RedisAccess, RedisLink } from './redis-link.js';
import { SpendMemory } from './spend-memory.js';
import { StoreLane } from './store-lane.js';

interface RedisCountersOptions extends RedisAccess {
  readonly timeoutMs: number;
  readonly windows?: Windows;
}

const AGENTS_REMEMBERED_MAX = 100_000;
/** Looks at no pair that exists: an agent without providers still has spend to show. */
const NO_PROVIDER: readonly string[] = [''];
const START_TIMEOUT_MS = 3_000;
const CLOSE_TIMEOUT_MS = 1_000;
/** A cluster has at most 1 000 masters; lanes of masters that are gone stay until then. */
const LANES_MAX = 1_000;
/** Enough to meet every slot. */
const TAGS_TRIED_MAX = 200_000;

export class RedisCounters implements Counters {
  readonly kind = 'redis';
  readonly #options: RedisCountersOptions;
  readonly #log: Logger;
  readonly #metrics: CountersMetrics;
  readonly #link: RedisLink;
  readonly #memory = new SpendMemory(AGENTS_REMEMBERED_MAX);
  readonly #lanes = new Map<string, StoreLane>();
  /** The lane of a single server, and of a cluster's slots while their master is unknown. */
  readonly #firstLane: StoreLane;
  readonly #clustered: boolean;
  readonly #writerId = randomBytes(6).toString('hex');
  #lastError = '';
  #onDataLost: () => void = () => {};

  constructor(options: RedisCountersOptions, log: Logger, metrics: CountersMetrics) {
    this.#options = options;
    this.#log = log;
    this.#metrics = metrics;
    this.#clustered = options.urls.length > 1;
    this.#link = new RedisLink(options, {
      onConnected: this.#connected,
      onError: (error) => {
        this.#lastError = error.message;
      },
    });
    this.#firstLane = this.#lane(options.urls.map((url) => url.host).join(','), this.#writerId);
  }

  /**
   * Waits for the store, but not for long: without it requests pass unchecked
   * (docs/contract.md#without-the-counter-store).
   */
  async start(): Promise<void> {
    await this.#firstLane.enforcement.onWithin(START_TIMEOUT_MS);
    if (this.#firstLane.enforcement.on) {
      await Promise.all([...this.#lanes.values()].map((lane) => lane.enforcement.onWithin(START_TIMEOUT_MS)));
    }
    for (const lane of this.#lanes.values()) lane.enforcement.announceIfOff(lane.lastFailure || this.#lastError);
    if (!this.#firstLane.enforcement.on) return;
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
    for (const lane of this.#lanes.values()) if (!lane.enforcement.on) return false;
    return true;
  }

  admit(request: AdmissionRequest, done: (admission: Admission) => void): void {
    const slot = this.#slotOf(request.terms.agentId);
    this.#laneOf(slot).admit(slot, request, done);
  }

  addSpend(agentId: string, costNanos: number): void {
    if (!(costNanos > 0)) return;
    const slot = this.#slotOf(agentId);
    this.#laneOf(slot).addSpend(slot, agentId, monthOfMs(Date.now()), Math.round(costNanos));
  }

  standing(request: StandingRequest, done: (standing: AgentStanding | null) => void): void {
    const slot = this.#slotOf(request.terms.agentId);
    const lane = this.#laneOf(slot);
    const windows: WindowStanding[] = [];
    const slugs = request.providerSlugs.length > 0 ? request.providerSlugs : NO_PROVIDER;
    let missing = slugs.length;
    let { spentNanos } = request.terms;
    let available = true;
    for (const providerSlug of slugs) {
      lane.look(slot, request, providerSlug, (verdict) => {
        if (verdict === null) available = false;
        else {
          spentNanos = verdict.spentNanos;
          const remaining = [verdict.rpmRemaining, verdict.rpdRemaining];
          const resetAtSec = [verdict.rpmResetAtSec, verdict.rpdResetAtSec];
          if (slugs !== NO_PROVIDER) windows.push({ providerSlug, remaining, resetAtSec });
        }
        missing--;
        if (missing === 0) done(available ? { windows, spentNanos } : null);
      });
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#lanes.values()].map((lane) => lane.drain(CLOSE_TIMEOUT_MS)));
    this.#link.close();
  }

  #slotOf(agentId: string): number {
    return this.#clustered ? hashSlot(agentId) : 0;
  }

  #laneOf(slot: number): StoreLane {
    if (!this.#clustered) return this.#firstLane;
    const node = this.#link.nodeOf(slot);
    return node === null ? this.#firstLane : (this.#lanes.get(node) ?? this.#laneOfMaster(node));
  }

  readonly #connected = (): void => {
    if (this.#clustered) for (const node of this.#link.masters()) this.#laneOfMaster(node);
    for (const lane of this.#lanes.values()) lane.connected();
  };

  #laneOfMaster(node: string): StoreLane {
    const known = this.#lanes.get(node);
    if (known !== undefined || this.#lanes.size >= LANES_MAX) return known ?? this.#firstLane;
    let tag = 0;
    while (tag < TAGS_TRIED_MAX && this.#link.nodeOf(hashSlot(String(tag))) !== node) tag++;
    return this.#lane(node, String(tag));
  }

  #lane(name: string, probeTag: string): StoreLane {
    const lane = new StoreLane(
      this.#link,
      {
        name,
        windows: this.#options.windows ?? STANDARD_WINDOWS,
        timeoutMs: this.#options.timeoutMs,
        writerId: this.#writerId,
        probeTag,
        probeSlot: this.#slotOf(probeTag),
      },
      this.#memory,
      this.#log,
      this.#metrics,
    );
    lane.onDataLost = () => this.#onDataLost();
    this.#lanes.set(name, lane);
    return lane;
  }
}
