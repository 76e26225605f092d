/**
 * One Redis server of the counters: sends batches, delivers verdicts, and decides with a breaker whether to call the
 * store at all. Two states:
 *
 *   enforcing  Every tick's batch is sent. The first late, rejected or lost reply fails open.
 *   open       Requests pass unchecked at once; spend stays in its counters. A probe (admit.lua with unacknowledged
 *              spend) is sent every second, on connect, and once when all inflight calls have ended. The first probe
 *              answered in time with no unacknowledged spend left restores enforcement.
 *
 * No call must arrive exactly once: counters report totals, and unacknowledged totals are sent again.
 */

import type { Logger } from '@acg/base/log';
import { type SwapRemoveItem, SwapRemoveSet } from '@acg/base/swap-remove-set';
import { waitAtMost } from '@acg/base/wait-at-most';
import type { AgentLimits, ScopeSpend } from '../../limits/agent-limits.js';
import { monthOfMs } from '../../limits/calendar-month.js';
import type { CountersMetrics } from '../../limits/counters-interface.js';
import type { WindowLengthsMs } from '../../limits/limit-table.js';
import {
  AdmissionBatch,
  type AdmissionCallback,
  createUncheckedAdmission,
  type VerdictCallback,
} from './admission-batch.js';
import { type AdmitReply, decodeAdmitReply, encodeAdmitArgument, listAdmitKeys } from './admit-codec.js';
import { ScriptError, type ScriptRunner } from './client/script-runner-interface.js';
import { EnforcementState } from './enforcement-state.js';
import type { SpendCounters } from './local-spend-counters-with-eviction.js';
import { type AwaitedReply, ReplyTimeouts } from './reply-timeouts.js';
import type { SpendCounter } from './spend-counter-sent-as-totals.js';

interface RedisNodeOptions {
  /** Host and port of the server, for log lines. */
  readonly name: string;
  readonly windows: WindowLengthsMs;
  readonly timeoutMs: number;
  /** How long, in ms, a non-urgent report waits for other reports. */
  readonly lingerMs: number;
  readonly writerId: string;
  /** Hash tag of a key on this node, for probes without spend; `probeSlot` is its slot. */
  readonly probeTag: string;
  readonly probeSlot: number;
  /** The slot of a hash tag if this node owns it, else null. */
  ownSlotOf(tag: string): number | null;
}

interface InflightCall extends AwaitedReply, SwapRemoveItem {
  readonly batch: AdmissionBatch;
  readonly isProbe: boolean;
  month: number;
  /** The waiting requests have been answered, by a verdict or unchecked. */
  isAnswered: boolean;
  /** The reply timeout has passed. */
  isTimedOut: boolean;
}

const PROBE_INTERVAL_MS = 1_000;
/** A probe without a reply for this long means a dead connection. */
const PROBE_TIMEOUT_MS = 2_000;
const ADMISSION_CHECKS_PER_CALL_MAX = 512;
const SPEND_COUNTERS_PER_PROBE_MAX = 500;

export class RedisNode {
  readonly #scriptRunner: ScriptRunner;
  readonly #options: RedisNodeOptions;
  readonly #spendCounters: SpendCounters;
  readonly #metrics: CountersMetrics;
  readonly #replyTimeouts: ReplyTimeouts<InflightCall>;
  #batches = new Map<number, AdmissionBatch>();
  #flushScheduled = false;
  /** Timer of non-urgent reports. */
  #lingerTimer: NodeJS.Timeout | null = null;
  /** Sent and not yet answered. */
  readonly #inflight = new SwapRemoveSet<InflightCall>();
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
    this.enforcement = new EnforcementState(options.name, log, metrics);
    this.#replyTimeouts = new ReplyTimeouts(options.timeoutMs, this.#onReplyTimeout);
    this.#startProbing();
    setImmediate(() => this.sendProbeIfNotEnforcing());
  }

  /** `budgets`: the agent's budgeted scopes that are in this slot. */
  admit(
    slot: number,
    limits: AgentLimits,
    providerSlug: string,
    budgets: readonly ScopeSpend[],
    reservationNanos: number,
    done: AdmissionCallback,
  ): void {
    if (!this.enforcement.isEnforcing) {
      this.enforcement.countUnchecked(1);
      done(createUncheckedAdmission(limits));
      return;
    }
    this.#batchWithCapacity(slot).admit(limits, providerSlug, budgets, reservationNanos, done);
  }

  /** Checks budgets only. While the store is unavailable the check passes, and is not counted as an unchecked request. */
  checkBudgets(
    slot: number,
    limits: AgentLimits,
    budgets: readonly ScopeSpend[],
    reservationNanos: number,
    done: AdmissionCallback,
  ): void {
    if (this.enforcement.isEnforcing)
      this.#batchWithCapacity(slot).checkBudgets(limits, budgets, reservationNanos, done);
    else done(createUncheckedAdmission(limits));
  }

  peekWindows(slot: number, limits: AgentLimits, providerSlug: string, done: VerdictCallback): void {
    if (this.enforcement.isEnforcing) this.#batchWithCapacity(slot).peekWindows(limits, providerSlug, done);
    else done(null);
  }

  peekSpend(slot: number, limits: AgentLimits, spend: ScopeSpend, done: VerdictCallback): void {
    if (this.enforcement.isEnforcing) this.#batchWithCapacity(slot).peekSpend(limits, spend, done);
    else done(null);
  }

  /** Sends totals and reservations with this tick's batch. While the store is unavailable the counter keeps them. */
  reportSpend(slot: number, counter: SpendCounter): void {
    if (this.enforcement.isEnforcing) this.#batchWithScheduledFlush(slot).reportSpend(counter);
  }

  /** Like {@link reportSpend}, but waits for the next batch or for `lingerMs`. */
  reportSpendWithNextBatch(slot: number, counter: SpendCounter): void {
    if (!this.enforcement.isEnforcing) return;
    this.#getOrCreateBatch(slot).reportSpend(counter);
    this.#lingerTimer ??= setTimeout(this.#flushAfterLinger, this.#options.lingerMs).unref();
  }

  /** Tokens added during an outage are dropped, because their minute is over when the store is back. */
  addTokens(slot: number, agentId: string, providerSlug: string, row: number, tokens: number): void {
    if (this.enforcement.isEnforcing) this.#batchWithScheduledFlush(slot).addTokens(agentId, providerSlug, row, tokens);
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
    this.stopProbing();
  }

  stopProbing(): void {
    if (this.#probeTimer !== null) clearInterval(this.#probeTimer);
    this.#probeTimer = null;
  }

  #batchWithCapacity(slot: number): AdmissionBatch {
    const batch = this.#batchWithScheduledFlush(slot);
    if (batch.admissionChecks.length < ADMISSION_CHECKS_PER_CALL_MAX) return batch;
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
      batch = new AdmissionBatch(slot, this.#spendCounters);
      this.#batches.set(slot, batch);
    }
    return batch;
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
    for (const batch of batches.values()) this.#send(createInflightCall(batch, false));
  }

  #send(call: InflightCall): void {
    const { batch, isProbe } = call;
    batch.freezeTotals();
    call.month = monthOfMs(Date.now());
    const { windows, writerId, probeTag } = this.#options;
    const header = { windows, month: call.month, probe: isProbe, probeTag: batch.anyHashTag ?? probeTag };
    this.#inflight.add(call);
    this.#replyTimeouts.startWaiting(call);
    this.#scriptRunner.runAdmitScript(
      listAdmitKeys(header, batch),
      encodeAdmitArgument(header, batch),
      writerId,
      (failure, reply) => {
        this.#inflight.delete(call);
        this.#replyTimeouts.stopWaiting(call);
        const decoded = failure === null ? decodeAdmitReply(reply, batch, call.month) : null;
        if (decoded !== null) this.#onReply(call, decoded);
        else this.#onScriptError(call, failure ?? new ScriptError('unreadable reply'));
        if (this.#inflight.size === 0) this.#onDrained();
      },
    );
  }

  #onReply(call: InflightCall, reply: AdmitReply): void {
    const nowMs = performance.now();
    this.#metrics.observeStoreLatency(nowMs - call.sentAtMs);
    this.#acknowledgeTotalsAndDetectLoss(call.batch, reply, nowMs);
    call.batch.deliverReply(reply, call.isAnswered);
    call.isAnswered = true;
    if (call === this.#probe) this.#onProbeReply(call);
  }

  #acknowledgeTotalsAndDetectLoss(batch: AdmissionBatch, reply: AdmitReply, nowMs: number): void {
    for (let i = 0; i < batch.spends.length; i++) {
      const { counter, total, sentNanos } = batch.spends[i]!;
      const { previousTotalNanos, spentNanos } = reply.spends[i]!;
      counter.storeSpentNanos = spentNanos;
      if (total === null) continue;
      const isLost = previousTotalNanos < total.acknowledgedNanos;
      if (isLost && this.#spendCounters.recordIfNewDataLoss(total.acknowledgedAtMs, nowMs)) {
        this.enforcement.logDataLostNowOrOnResume();
        this.#countersToResend = this.#spendCounters.listAll();
        this.onDataLost();
      }
      counter.acknowledge(total, sentNanos, nowMs);
    }
    if (this.#countersToResend.length > 0) this.#resendTotals();
  }

  /** After a data loss: reports all totals again, up to 500 with each call. */
  #resendTotals(): void {
    for (const counter of this.#countersToResend.splice(-SPEND_COUNTERS_PER_PROBE_MAX)) {
      const slot = this.#options.ownSlotOf(counter.hashTag);
      if (slot !== null && counter.totals.length > 0) this.reportSpend(slot, counter);
    }
  }

  #onScriptError(call: InflightCall, failure: ScriptError): void {
    this.lastFailure = failure.message;
    for (const { counter, hasReservations } of call.batch.spends)
      if (hasReservations) counter.forceFullReservationReport();
    this.#failOpen(failure.message);
    this.#admitUnchecked(call);
    if (call === this.#probe) this.#probe = null;
  }

  readonly #onReplyTimeout = (call: InflightCall): void => {
    call.isTimedOut = true;
    this.#failOpen(`no reply within ${this.#options.timeoutMs} ms`);
    this.#admitUnchecked(call);
  };

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
      batch.freezeTotals();
      this.enforcement.countUnchecked(batch.admitUnchecked());
    }
    this.#probeWhenDrained = true;
    this.#startProbing();
  }

  #startProbing(): void {
    if (this.#probeTimer !== null) return;
    this.#probeTimer = setInterval(() => this.#sendProbe(), PROBE_INTERVAL_MS);
    this.#probeTimer.unref();
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
    if (sent !== null) {
      if (performance.now() - sent.sentAtMs < PROBE_TIMEOUT_MS) return;
      this.#probe = null; // if its slot has moved, the next probe goes to the new node
      this.#scriptRunner.reconnect(sent.batch.slot);
      return;
    }
    this.#probe = createInflightCall(this.#createUnacknowledgedSpendBatch(), true);
    this.#send(this.#probe);
  }

  /** A batch with unacknowledged spend of one slot; empty when there is none. */
  #createUnacknowledgedSpendBatch(): AdmissionBatch {
    let batch: AdmissionBatch | null = null;
    this.#spendCounters.unacknowledged.forEach((counter) => {
      if (batch !== null && batch.spends.length >= SPEND_COUNTERS_PER_PROBE_MAX) return;
      const slot = this.#options.ownSlotOf(counter.hashTag);
      if (slot === null) return;
      batch ??= new AdmissionBatch(slot, this.#spendCounters);
      if (batch.slot === slot) batch.reportSpend(counter);
    });
    return batch ?? new AdmissionBatch(this.#options.probeSlot, this.#spendCounters);
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
      this.stopProbing();
      this.enforcement.resume();
      this.onRecovered();
    }
  }

  #hasUnacknowledgedSpend(): boolean {
    let found = false;
    this.#spendCounters.unacknowledged.forEach((counter) => {
      if (!found && this.#options.ownSlotOf(counter.hashTag) !== null) found = true;
    });
    return found;
  }
}

const createInflightCall = (batch: AdmissionBatch, isProbe: boolean): InflightCall => ({
  batch,
  isProbe,
  month: 0,
  isAnswered: false,
  isTimedOut: false,
  sentAtMs: 0,
  ringIndex: -1,
  setIndex: -1,
});
