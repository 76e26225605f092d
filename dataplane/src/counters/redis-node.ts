/**
 * One Redis node as the counters see it: batches of a turn go out, verdicts come back, and an own breaker decides
 * whether the store is asked at all. Two states:
 *
 *   enforcing  every turn's batch is sent. The first answer that is late, refused or lost opens the gate.
 *   open       requests pass unchecked at once, spend stays in its purses. Probes (admit.lua with what the store has not
 *              confirmed of it) go out once a second, when the connection comes back, and once when the late answers
 *              have drained. The first one answered in time with nothing left to tell ends the state.
 *
 * No call has to arrive exactly once: purses tell totals, and what is not confirmed is told again.
 */
import { Bag, type BagItem } from '@acg/base/bag';
import type { Logger } from '@acg/base/log';
import { type CallReply, callKeys, decodeReply, encodeCall } from './admit-call.js';
import type { AgentTerms, ScopeSpend } from './agent-terms.js';
import { AnswerDeadline, type Awaited } from './answer-deadline.js';
import { monthOfMs } from './calendar-month.js';
import type { CountersMetrics } from './counters.js';
import { Enforcement } from './enforcement.js';
import type { Windows } from './limit-table.js';
import type { Purse } from './purse.js';
import type { Purses } from './purses.js';
import { ScriptFailure, type ScriptLink } from './script-link.js';
import { type AdmissionDone, TurnBatch, uncheckedAdmission, type VerdictDone } from './turn-batch.js';

interface RedisNodeSettings {
  /** For log lines: host and port of the node. */
  readonly name: string;
  readonly windows: Windows;
  readonly timeoutMs: number;
  /** How long a report waits for company. */
  readonly lingerMs: number;
  readonly writerId: string;
  /** Hash tag of a key on this node and its slot, for probes without spend. */
  readonly probeTag: string;
  readonly probeSlot: number;
  /** The slot of a hash tag, where it is this node's; null: another one's. */
  ownSlotOf(tag: string): number | null;
}

interface Call extends Awaited, BagItem {
  readonly batch: TurnBatch;
  readonly probe: boolean;
  month: number;
  /** Who waited has been answered. */
  decided: boolean;
  /** The deadline has passed. */
  late: boolean;
}

const PROBE_INTERVAL_MS = 1_000;
/** A probe without any answer for so long means a dead connection. */
const PROBE_GIVE_UP_MS = 2_000;
const PAIR_CHECKS_PER_CALL_MAX = 512;
const PURSES_PER_PROBE_MAX = 500;

export class RedisNode {
  readonly #link: ScriptLink;
  readonly #settings: RedisNodeSettings;
  readonly #purses: Purses;
  readonly #metrics: CountersMetrics;
  readonly #deadline: AnswerDeadline<Call>;
  #turns = new Map<number, TurnBatch>();
  #flushScheduled = false;
  /** Of what waits for company. */
  #lingerTimer: NodeJS.Timeout | null = null;
  /** Sent and not answered. */
  readonly #outstanding = new Bag<Call>();
  readonly enforcement: Enforcement;
  /** Why the last call that failed did; '' = none has. */
  lastFailure = '';
  /** The store lost data that it had. */
  onDataLost: () => void = () => {};
  /** Limits are enforced again. */
  onBack: () => void = () => {};
  #probe: Call | null = null;
  #probeTimer: NodeJS.Timeout | null = null;
  #probeWhenDrained = false;
  /** The store has lost what it had of these. */
  #toRetell: Purse[] = [];
  #onIdle: (() => void) | null = null;

  constructor(link: ScriptLink, settings: RedisNodeSettings, purses: Purses, log: Logger, metrics: CountersMetrics) {
    this.#link = link;
    this.#settings = settings;
    this.#purses = purses;
    this.#metrics = metrics;
    this.enforcement = new Enforcement(settings.name, log, metrics);
    this.#deadline = new AnswerDeadline(settings.timeoutMs, this.#late);
    this.#startProbing();
    setImmediate(() => this.connected());
  }

  /** `budgets`: those of the terms that are in this slot. */
  admit(
    slot: number,
    terms: AgentTerms,
    providerSlug: string,
    budgets: readonly ScopeSpend[],
    holdNanos: number,
    done: AdmissionDone,
  ): void {
    if (!this.enforcement.on) {
      this.enforcement.countUnchecked(1);
      done(uncheckedAdmission(terms));
      return;
    }
    this.#turnWithRoom(slot).admit(terms, providerSlug, budgets, holdNanos, done);
  }

  /** Budgets alone; see TurnBatch. While the store is away it passes, and is not counted as a request. */
  check(slot: number, terms: AgentTerms, budgets: readonly ScopeSpend[], holdNanos: number, done: AdmissionDone): void {
    if (this.enforcement.on) this.#turnWithRoom(slot).check(terms, budgets, holdNanos, done);
    else done(uncheckedAdmission(terms));
  }

  look(slot: number, terms: AgentTerms, providerSlug: string, done: VerdictDone): void {
    if (this.enforcement.on) this.#turnWithRoom(slot).look(terms, providerSlug, done);
    else done(null);
  }

  lookAtSpend(slot: number, terms: AgentTerms, spend: ScopeSpend, done: VerdictDone): void {
    if (this.enforcement.on) this.#turnWithRoom(slot).lookAtSpend(terms, spend, done);
    else done(null);
  }

  /** Tells the store what the purse has to tell. While the store is away the purse keeps it. */
  report(slot: number, purse: Purse): void {
    if (this.enforcement.on) this.#turn(slot).report(purse);
  }

  /** Like {@link report}, with whatever is sent next, or when it has lingered. */
  reportWithNext(slot: number, purse: Purse): void {
    if (!this.enforcement.on) return;
    this.#openTurn(slot).report(purse);
    this.#lingerTimer ??= setTimeout(this.#flushLate, this.#settings.lingerMs).unref();
  }

  /** Tokens of a gap are not added later: their minute is over. */
  addTokens(slot: number, agentId: string, providerSlug: string, row: number, tokens: number): void {
    if (this.enforcement.on) this.#turn(slot).addTokens(agentId, providerSlug, row, tokens);
  }

  /** The connection is up: a good moment to ask. */
  connected(): void {
    if (!this.enforcement.on) this.#sendProbe();
  }

  /** Sends what is queued and waits for the answers, at most `timeoutMs`. What is left comes back with the ledger. */
  async drain(timeoutMs: number): Promise<void> {
    this.#flushTurns();
    if (this.#outstanding.size > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        this.#onIdle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.stop();
  }

  stop(): void {
    if (this.#probeTimer !== null) clearInterval(this.#probeTimer);
    this.#probeTimer = null;
  }

  #turnWithRoom(slot: number): TurnBatch {
    const turn = this.#turn(slot);
    if (turn.pairChecks.length < PAIR_CHECKS_PER_CALL_MAX) return turn;
    this.#flushTurns();
    return this.#turn(slot);
  }

  #turn(slot: number): TurnBatch {
    if (!this.#flushScheduled) {
      this.#flushScheduled = true;
      setImmediate(this.#flush); // after the poll phase: everything that arrived in this turn is in
    }
    return this.#openTurn(slot);
  }

  #openTurn(slot: number): TurnBatch {
    let turn = this.#turns.get(slot);
    if (turn === undefined) {
      turn = new TurnBatch(slot, this.#purses);
      this.#turns.set(slot, turn);
    }
    return turn;
  }

  readonly #flush = (): void => {
    this.#flushScheduled = false;
    this.#flushTurns();
  };

  readonly #flushLate = (): void => {
    this.#lingerTimer = null;
    this.#flushTurns();
  };

  #flushTurns(): void {
    const turns = this.#turns;
    if (turns.size === 0) return;
    this.#turns = new Map();
    for (const batch of turns.values()) this.#send(newCall(batch, false));
  }

  #send(call: Call): void {
    const { batch, probe } = call;
    batch.seal();
    call.month = monthOfMs(Date.now());
    const { windows, writerId, probeTag } = this.#settings;
    const header = { windows, month: call.month, probe, probeTag: batch.tag ?? probeTag };
    this.#outstanding.add(call);
    this.#deadline.start(call);
    this.#link.run(callKeys(header, batch), encodeCall(header, batch), writerId, (failure, reply) => {
      this.#outstanding.delete(call);
      this.#deadline.answered(call);
      const decoded = failure === null ? decodeReply(reply, batch, call.month) : null;
      if (decoded !== null) this.#answered(call, decoded);
      else this.#failed(call, failure ?? new ScriptFailure('unreadable answer'));
      if (this.#outstanding.size === 0) this.#drained();
    });
  }

  #answered(call: Call, reply: CallReply): void {
    const nowMs = performance.now();
    this.#metrics.storeLatency(nowMs - call.sentAtMs);
    this.#confirm(call.batch, reply, nowMs);
    call.batch.deliver(reply, call.decided);
    call.decided = true;
    if (call === this.#probe) this.#probed(call);
  }

  #confirm(batch: TurnBatch, reply: CallReply, nowMs: number): void {
    for (let i = 0; i < batch.purses.length; i++) {
      const { purse, total, sentNanos } = batch.purses[i]!;
      const { foundNanos, spentNanos } = reply.purses[i]!;
      purse.storeNanos = spentNanos;
      if (total === null) continue;
      const known = total.confirmedNanos;
      if (foundNanos < known && this.#purses.noteLoss(total.confirmedAtMs, nowMs)) {
        this.enforcement.noteDataLost();
        this.#toRetell = this.#purses.all();
        this.onDataLost();
      }
      purse.confirm(total, sentNanos, nowMs);
    }
    if (this.#toRetell.length > 0) this.#retell();
  }

  /** After a loss: all that the store had been told, some of it with each call. */
  #retell(): void {
    for (const purse of this.#toRetell.splice(-PURSES_PER_PROBE_MAX)) {
      const slot = this.#settings.ownSlotOf(purse.tag);
      if (slot !== null && purse.totals.length > 0) this.report(slot, purse);
    }
  }

  #failed(call: Call, failure: ScriptFailure): void {
    this.lastFailure = failure.message;
    for (const { purse, holds } of call.batch.purses) if (holds) purse.holdReportLost();
    this.#trip(failure.message);
    this.#passUnchecked(call);
    if (call === this.#probe) this.#probe = null;
  }

  readonly #late = (call: Call): void => {
    call.late = true;
    this.#trip(`no answer within ${this.#settings.timeoutMs} ms`);
    this.#passUnchecked(call);
  };

  #passUnchecked(call: Call): void {
    if (call.decided) return;
    call.decided = true;
    this.enforcement.countUnchecked(call.batch.passUnchecked());
  }

  #trip(reason: string): void {
    if (!this.enforcement.on) return;
    this.enforcement.stop(reason);
    this.#outstanding.forEach((call) => {
      this.#passUnchecked(call);
    });
    const turns = this.#turns;
    this.#turns = new Map();
    for (const batch of turns.values()) {
      batch.seal();
      this.enforcement.countUnchecked(batch.passUnchecked());
    }
    this.#probeWhenDrained = true;
    this.#startProbing();
  }

  #startProbing(): void {
    if (this.#probeTimer !== null) return;
    this.#probeTimer = setInterval(() => this.#sendProbe(), PROBE_INTERVAL_MS);
    this.#probeTimer.unref();
  }

  #drained(): void {
    if (this.#probeWhenDrained && !this.enforcement.on) {
      this.#probeWhenDrained = false;
      setImmediate(() => this.connected());
    }
    this.#onIdle?.();
    this.#onIdle = null;
  }

  #sendProbe(): void {
    if (this.enforcement.on || this.#probeTimer === null) return;
    const sent = this.#probe;
    if (sent !== null) {
      if (performance.now() - sent.sentAtMs < PROBE_GIVE_UP_MS) return;
      this.#probe = null; // should its slot have moved, the next one asks there
      this.#link.reconnect(sent.batch.slot);
      return;
    }
    this.#probe = newCall(this.#unconfirmedBatch(), true);
    this.#send(this.#probe);
  }

  /** What the store has not confirmed, of one slot; empty when there is nothing. */
  #unconfirmedBatch(): TurnBatch {
    let batch: TurnBatch | null = null;
    this.#purses.unconfirmed.forEach((purse) => {
      if (batch !== null && batch.purses.length >= PURSES_PER_PROBE_MAX) return;
      const slot = this.#settings.ownSlotOf(purse.tag);
      if (slot === null) return;
      batch ??= new TurnBatch(slot, this.#purses);
      if (batch.slot === slot) batch.report(purse);
    });
    return batch ?? new TurnBatch(this.#settings.probeSlot, this.#purses);
  }

  #probed(call: Call): void {
    this.#probe = null;
    if (this.enforcement.on) return;
    if (call.late) {
      // It slept and is awake: ask again. A store that is merely slow waits for the next interval.
      if (performance.now() - call.sentAtMs >= PROBE_INTERVAL_MS) this.#sendProbe();
    } else if (this.#hasUnconfirmed()) {
      this.#sendProbe();
    } else {
      this.stop();
      this.enforcement.start();
      this.onBack();
    }
  }

  #hasUnconfirmed(): boolean {
    let found = false;
    this.#purses.unconfirmed.forEach((purse) => {
      if (!found && this.#settings.ownSlotOf(purse.tag) !== null) found = true;
    });
    return found;
  }
}

const newCall = (batch: TurnBatch, probe: boolean): Call => ({
  batch,
  probe,
  month: 0,
  decided: false,
  late: false,
  sentAtMs: 0,
  ringAt: -1,
  bagIndex: -1,
});
