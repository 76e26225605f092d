/**
 * One Redis server of the counters: sends batches, delivers verdicts, and decides with a breaker whether to call the
 * store at all. Two states:
 *
 *   enforcing  Every tick's batch is sent. The first late, rejected or lost reply fails open.
 *   open       Requests pass unchecked at once; spend stays in its counters. A probe (admit.lua with unacknowledged
 *              spend) is sent every second, on connect, and once when all inflight calls have ended. The first probe
 *              answered in time with no unacknowledged spend left restores enforcement.
 *
 * No call must arrive exactly once: counters report sums, and unacknowledged sums are sent again.
 */

import type { Logger } from '@acg/base/log';
import { type SwapRemoveItem, SwapRemoveSet } from '@acg/base/swap-remove-set';
import { waitAtMost } from '@acg/base/wait-at-most';
import type { AgentLimits } from '../../limits/agent-limits.js';
import type { CountersMetrics, LimitSnapshot, ToolRate } from '../../limits/counters-interface.js';
import type { WindowLengthsMs } from '../../limits/limit-table.js';
import { AdmissionBatch } from './admission-batch.js';
import { type AdmissionCallback, createUncheckedAdmission } from './admission-replies.js';
import type { ScriptRunner } from './client/script-runner-interface.js';
import { EnforcementState } from './enforcement-state.js';
import { ReplyTimeouts } from './reply-timeouts.js';
import { type AdmitReply, type SpendReply, spendReplyOf, writeRequestConstants } from './script/admit-script.js';
import type { SpendCounter } from './spend-counter.js';
import type { SpendCounters } from './spend-counters.js';

interface RedisNodeOptions {
  /** Host and port of the server, for log lines. */
  readonly name: string;
  readonly windows: WindowLengthsMs;
  readonly timeoutMs: number;
  /** How long, in ms, a non-urgent report waits for other reports. */
  readonly lingerMs: number;
  /** Hash tag of a key on this node, for probes without spend; `probeSlot` is its slot. */
  readonly probeTag: string;
  readonly probeSlot: number;
  /** The slot of a hash tag if this node owns it, else null. */
  ownSlotOf(tag: string): number | null;
}

interface InflightCall extends SwapRemoveItem {
  readonly batch: AdmissionBatch;
  readonly sentAtMs: number;
  /** The waiting requests have been answered, by a verdict or unchecked. */
  isAnswered: boolean;
  /** The reply timeout has passed. */
  isTimedOut: boolean;
}

const PROBE_INTERVAL_MS = 1_000;
/** A probe without a reply for this long means a dead connection. */
const PROBE_TIMEOUT_MS = 2_000;
const CHECKS_PER_CALL_MAX = 512;
const REPORTS_PER_CALL_MAX = 500;

export class RedisNode {
  readonly #scriptRunner: ScriptRunner;
  readonly #options: RedisNodeOptions;
  readonly #spendCounters: SpendCounters;
  readonly #metrics: CountersMetrics;
  /** The members of a request that never change, JSON. */
  readonly #requestConstants: string;
  readonly #replyTimeouts: ReplyTimeouts<InflightCall>;
  /** By slot. */
  #batches = new Map<number, AdmissionBatch>();
  #flushScheduled = false;
  /** Timer of non-urgent reports. */
  #lingerTimer: NodeJS.Timeout | null = null;
  /** Sent and not yet answered. */
  readonly #inflight = new SwapRemoveSet<InflightCall>();
  /** The store's clock minus this process's, ms, as of the last batch with wrong calendar windows. */
  #clockOffsetMs = 0;
  readonly enforcement: EnforcementState;
  /** Message of the last failed call; '' = no call has failed. */
  lastFailure = '';
  /** Called when the store lost data that it had acknowledged. */
  onDataLost: () => void = () => {};
  /** Called when limits are enforced again. */
  onRecovered: () => void = () => {};
  #probe: InflightCall | null = null;
  #probeTimer: NodeJS.Timeout | null = null;
  #probeWhenDrained = false;
  /** Counters whose totals the store has lost. */
  #countersToResend: SpendCounter[] = [];
  #onIdle: (() => void) | null = null;

  constructor(
    scriptRunner: ScriptRunner,
    options: RedisNodeOptions,
    spendCounters: SpendCounters,
    log: Logger,
    metrics: CountersMetrics,
  ) {
    this.#scriptRunner = scriptRunner;
    this.#options = options;
    this.#spendCounters = spendCounters;
    this.#metrics = metrics;
    this.#requestConstants = writeRequestConstants(options.windows);
    this.#replyTimeouts = new ReplyTimeouts(options.timeoutMs, this.#inflight, (call) => this.#onReplyTimeout(call));
    this.enforcement = new EnforcementState(options.name, log, metrics);
    this.#startProbing();
    setImmediate(() => this.sendProbeIfNotEnforcing());
  }

  admit(
    slot: number,
    limits: AgentLimits,
    providerSlug: string,
    reservationNanos: number,
    done: AdmissionCallback,
    toolRate: ToolRate | null,
  ): void {
    if (this.enforcement.isEnforcing)
      this.#batchWithRoom(slot).admit(limits, providerSlug, reservationNanos, done, toolRate);
    else {
      this.enforcement.countUnchecked(1);
      done(createUncheckedAdmission(limits));
    }
  }

  /** While the store is unavailable the growth passes, and is not counted as an unchecked request. */
  grow(slot: number, limits: AgentLimits, admittedAtSec: number, nanos: number, done: AdmissionCallback): void {
    if (this.enforcement.isEnforcing) this.#batchWithRoom(slot).grow(limits, admittedAtSec, nanos, done);
    else done(createUncheckedAdmission(limits));
  }

  peek(
    slot: number,
    limits: AgentLimits,
    providerSlugs: readonly string[],
    done: (snapshot: LimitSnapshot | null) => void,
  ): void {
    if (this.enforcement.isEnforcing) this.#batchWithRoom(slot).peek(limits, providerSlugs, done);
    else done(null);
  }

  /** Sends the counter's sums with this tick's batch. While the store is unavailable the counter keeps them. */
  reportSpend(slot: number, counter: SpendCounter): void {
    if (this.enforcement.isEnforcing) this.#batchWithScheduledFlush(slot).report(counter);
  }

  /** Like {@link reportSpend}, but waits for the next batch or for `lingerMs`. */
  reportSpendWithNextBatch(slot: number, counter: SpendCounter): void {
    if (!this.enforcement.isEnforcing) return;
    this.#getOrCreateBatch(slot).report(counter);
    this.#lingerTimer ??= setTimeout(this.#flushAfterLinger, this.#options.lingerMs).unref();
  }

  /** Tokens added during an outage are dropped, because their minute is over when the store is back. */
  addTokens(slot: number, limits: AgentLimits, providerSlug: string, row: number, tokens: number): void {
    if (this.enforcement.isEnforcing) this.#batchWithScheduledFlush(slot).addTokens(limits, providerSlug, row, tokens);
  }

  /** Sends a probe when the connection is ready and limits are not enforced. */
  sendProbeIfNotEnforcing(): void {
    if (!this.enforcement.isEnforcing) this.#sendProbe();
  }

  /** Sends all batches and waits at most `timeoutMs` for their replies. Unsent spend returns with the ledger's figures. */
  async flushAndAwaitReplies(timeoutMs: number): Promise<void> {
    this.#flushBatches();
    if (this.#inflight.size > 0) {
      const idle = new Promise<void>((resolve) => (this.#onIdle = resolve));
      await waitAtMost(idle, timeoutMs);
    }
    this.#stopProbing();
  }

  #batchWithRoom(slot: number): AdmissionBatch {
    const batch = this.#batchWithScheduledFlush(slot);
    if (batch.checks.length < CHECKS_PER_CALL_MAX) return batch;
    this.#flushBatches();
    return this.#batchWithScheduledFlush(slot);
  }

  #batchWithScheduledFlush(slot: number): AdmissionBatch {
    if (!this.#flushScheduled) {
      this.#flushScheduled = true;
      setImmediate(this.#flush); // runs after the poll phase: the batch has everything of this tick
    }
    return this.#getOrCreateBatch(slot);
  }

  #getOrCreateBatch(slot: number): AdmissionBatch {
    let batch = this.#batches.get(slot);
    if (batch === undefined) {
      batch = this.#createBatch(slot);
      this.#batches.set(slot, batch);
    }
    return batch;
  }

  #createBatch(slot: number): AdmissionBatch {
    return new AdmissionBatch(slot, this.#spendCounters, Math.floor((Date.now() + this.#clockOffsetMs) / 1000));
  }

  readonly #flush = (): void => {
    this.#flushScheduled = false;
    this.#flushBatches();
  };

  readonly #flushAfterLinger = (): void => {
    this.#lingerTimer = null;
    this.#flushBatches();
  };

  #flushBatches(): void {
    const batches = this.#batches;
    if (batches.size === 0) return;
    this.#batches = new Map();
    for (const batch of batches.values()) this.#send(batch, false);
  }

  #send(batch: AdmissionBatch, isProbe: boolean): InflightCall {
    let constants = this.#requestConstants;
    if (isProbe) constants += `,"probe":${batch.keys.push(`acg:{${batch.orgId ?? this.#options.probeTag}}:probe`)}`;
    batch.close();
    const call = { batch, sentAtMs: performance.now(), isAnswered: false, isTimedOut: false, setIndex: -1 };
    this.#inflight.add(call);
    this.#replyTimeouts.watch();
    this.#scriptRunner.runAdmitScript(batch.keys, batch.toJson(constants), (failure, reply) => {
      this.#inflight.delete(call);
      if (reply === null) this.#onScriptError(call, failure!);
      else this.#onReply(call, JSON.parse(reply));
      batch.end();
      if (this.#inflight.size === 0) this.#onDrained();
    });
    return call;
  }

  #onReply(call: InflightCall, { now, spends, checks }: AdmitReply): void {
    const nowMs = performance.now();
    this.#metrics.observeStoreLatency(nowMs - call.sentAtMs);
    if (spends === undefined || checks === undefined) {
      this.#repeatInWindowsAt(now, call);
      return;
    }
    for (const item of call.batch.spends) this.#acknowledge(item, spendReplyOf(spends, item.index), nowMs);
    if (this.#countersToResend.length > 0) this.#resendTotals();
    call.batch.deliverReply({ now, spends, checks }, call.isAnswered);
    call.isAnswered = true;
    if (call === this.#probe) this.#onProbeReply(call);
  }

  /** A calendar window ended between the clocks: nothing was recorded. Sends everything again by the store's clock. */
  #repeatInWindowsAt(storeUs: number, { batch, isAnswered }: InflightCall): void {
    this.#clockOffsetMs = storeUs / 1000 - Date.now();
    if (!isAnswered) batch.repeatIn(this.#batchWithScheduledFlush(batch.slot));
    else for (const { counter } of batch.spends) this.reportSpend(batch.slot, counter);
  }

  #acknowledge(
    { counter, sentTotalNanos, sentReservations }: AdmissionBatch['spends'][number],
    [previous, spent]: SpendReply,
    nowMs: number,
  ): void {
    counter.storeSpentNanos = spent;
    const isLost = previous < counter.acknowledgedNanos;
    if (isLost && this.#spendCounters.recordIfNewDataLoss(counter.acknowledgedAtMs, nowMs)) {
      this.enforcement.logDataLostNowOrOnResume();
      this.#countersToResend = this.#spendCounters.listAll();
      this.onDataLost();
    }
    counter.acknowledge(sentTotalNanos, sentReservations, nowMs);
  }

  /** After a data loss: reports all sums again, up to 500 with each call. */
  #resendTotals(): void {
    for (const counter of this.#countersToResend.splice(-REPORTS_PER_CALL_MAX)) {
      const slot = this.#options.ownSlotOf(counter.orgId);
      if (slot !== null && (counter.totalNanos > 0 || counter.reservedNanos > 0)) this.reportSpend(slot, counter);
    }
  }

  #onScriptError(call: InflightCall, failure: Error): void {
    this.lastFailure = failure.message;
    for (const { counter, withReservations } of call.batch.spends) if (withReservations) counter.onReplyLost();
    this.#failOpen(failure.message);
    this.#admitUnchecked(call);
    if (call === this.#probe) this.#probe = null;
  }

  #onReplyTimeout(call: InflightCall): void {
    this.#failOpen(`no reply within ${this.#options.timeoutMs} ms`);
    this.#admitUnchecked(call);
  }

  #admitUnchecked(call: InflightCall): void {
    if (call.isAnswered) return;
    call.isAnswered = true;
    this.enforcement.countUnchecked(call.batch.admitUnchecked());
  }

  #failOpen(reason: string): void {
    if (!this.enforcement.isEnforcing) return;
    this.enforcement.failOpen(reason);
    this.#inflight.forEach((call) => {
      this.#admitUnchecked(call);
    });
    const batches = this.#batches;
    this.#batches = new Map();
    for (const batch of batches.values()) {
      batch.close();
      this.enforcement.countUnchecked(batch.admitUnchecked());
      batch.end();
    }
    this.#probeWhenDrained = true;
    this.#startProbing();
  }

  #startProbing(): void {
    this.#probeTimer ??= setInterval(() => this.#sendProbe(), PROBE_INTERVAL_MS).unref();
  }

  #stopProbing(): void {
    if (this.#probeTimer !== null) clearInterval(this.#probeTimer);
    this.#probeTimer = null;
  }

  #onDrained(): void {
    if (this.#probeWhenDrained && !this.enforcement.isEnforcing) {
      this.#probeWhenDrained = false;
      setImmediate(() => this.sendProbeIfNotEnforcing());
    }
    this.#onIdle?.();
    this.#onIdle = null;
  }

  #sendProbe(): void {
    if (this.enforcement.isEnforcing || this.#probeTimer === null) return;
    const sent = this.#probe;
    if (sent === null) this.#probe = this.#send(this.#createUnacknowledgedBatch(), true);
    else if (performance.now() - sent.sentAtMs >= PROBE_TIMEOUT_MS) {
      this.#probe = null; // if its slot has moved, the next probe goes to the new node
      this.#scriptRunner.reconnect(sent.batch.slot);
    }
  }

  /** A batch with unacknowledged sums of one slot; empty when there is none. */
  #createUnacknowledgedBatch(): AdmissionBatch {
    let batch: AdmissionBatch | null = null;
    this.#spendCounters.unacknowledged.forEach((counter) => {
      const slot = this.#options.ownSlotOf(counter.orgId);
      if (slot === null) return;
      batch ??= this.#createBatch(slot);
      if (batch.slot === slot && batch.spends.length < REPORTS_PER_CALL_MAX) batch.report(counter);
    });
    return batch ?? this.#createBatch(this.#options.probeSlot);
  }

  #onProbeReply(call: InflightCall): void {
    this.#probe = null;
    if (this.enforcement.isEnforcing) return;
    if (call.isTimedOut) {
      // The server was paused and replies again: probe at once. A store that is merely slow waits for the next
      // interval.
      if (performance.now() - call.sentAtMs >= PROBE_INTERVAL_MS) this.#sendProbe();
    } else if (this.#hasUnacknowledgedSpend()) {
      this.#sendProbe();
    } else {
      this.#stopProbing();
      this.enforcement.resume();
      this.onRecovered();
    }
  }

  #hasUnacknowledgedSpend(): boolean {
    let found = false;
    this.#spendCounters.unacknowledged.forEach((counter) => {
      found ||= this.#options.ownSlotOf(counter.orgId) !== null;
    });
    return found;
  }
}
