/**
 * One Redis node as the counters see it: batches of a turn go out, verdicts come back, and an own breaker decides
 * whether the store is asked at all. Two states:
 *
 *   enforcing  every turn's batch is sent. The first answer that is late, refused or lost opens the gate.
 *   open       requests pass unchecked at once, spend goes to the journal. Probes (admit.lua with the journal's spend,
 *              or with the writer's mark alone) go out once a second, when the connection comes back, and once when
 *              the late answers have drained. The first one answered in time with the journal empty ends the state.
 *
 * Spend is added exactly once: a call whose answer was lost with its connection is repeated with its old sequence
 * number before anything newer, and the writer's mark in the store tells whether it had arrived.
 */
import { Bag, type BagItem } from '@acg/base/bag';
import type { Logger } from '@acg/base/log';
import { type CallReply, callKeys, decodeReply, encodeCall, type Windows } from './admit-call.js';
import { AnswerDeadline, type Awaited } from './answer-deadline.js';
import { monthOfMs } from './calendar-month.js';
import type { AdmissionRequest, CountersMetrics, StandingRequest } from './counters.js';
import { Enforcement } from './enforcement.js';
import { RPM_ROW } from './limit-table.js';
import { ScriptFailure, type ScriptLink } from './script-link.js';
import { SpendJournal } from './spend-journal.js';
import type { SpendMemory } from './spend-memory.js';
import { type AdmissionDone, TurnBatch, uncheckedAdmission, type VerdictDone } from './turn-batch.js';
import { WriterMarks } from './writer-marks.js';

interface LaneSettings {
  /** For log lines: host and port of the node. */
  readonly name: string;
  readonly windows: Windows;
  readonly timeoutMs: number;
  readonly writerId: string;
  /** Hash tag of a key on this node and its slot, for probes before the first request. */
  readonly probeTag: string;
  readonly probeSlot: number;
}

interface Call extends Awaited, BagItem {
  readonly batch: TurnBatch;
  readonly seq: number;
  /** Hash tag of the mark's key. */
  readonly tag: string;
  readonly probe: boolean;
  /** Sent before on a connection that was lost. */
  repeated: boolean;
  /** Who waited has been answered. */
  decided: boolean;
  /** The deadline of this sending has passed. */
  late: boolean;
}

const PROBE_INTERVAL_MS = 1_000;
/** A probe without any answer for so long means a dead connection. */
const PROBE_GIVE_UP_MS = 2_000;
const LOOKS_PER_CALL_MAX = 512;
const SPENDS_PER_PROBE_MAX = 500;
const JOURNAL_ENTRIES_MAX = 65_536;
/** After so long, no data plane has spend left in its journal from an outage that all of them saw. */
const RAISE_AFTER_MS = 10_000;

export class StoreLane {
  readonly #link: ScriptLink;
  readonly #settings: LaneSettings;
  readonly #memory: SpendMemory;
  readonly #metrics: CountersMetrics;
  readonly #deadline: AnswerDeadline<Call>;
  readonly #journal = new SpendJournal(JOURNAL_ENTRIES_MAX);
  #turns = new Map<number, TurnBatch>();
  #flushScheduled = false;
  /** Sent and not answered. */
  readonly #outstanding = new Bag<Call>();
  /** Calls with spend whose answers were lost, in order; repeated before anything newer. */
  readonly #lost: Call[] = [];
  readonly enforcement: Enforcement;
  /** Why the last call that failed did; '' = none has. */
  lastFailure = '';
  /** The store lost data that it had. */
  onDataLost: () => void = () => {};
  #probe: Call | null = null;
  #probeTimer: NodeJS.Timeout | null = null;
  #probeWhenDrained = false;
  #seq = 1;
  readonly #marks = new WriterMarks();
  #lastSlot: number;
  #onIdle: (() => void) | null = null;

  constructor(link: ScriptLink, settings: LaneSettings, memory: SpendMemory, log: Logger, metrics: CountersMetrics) {
    this.#link = link;
    this.#settings = settings;
    this.#memory = memory;
    this.#metrics = metrics;
    this.enforcement = new Enforcement(settings.name, log, metrics);
    this.#marks.tagOf(settings.probeSlot, settings.probeTag);
    this.#lastSlot = settings.probeSlot;
    this.#deadline = new AnswerDeadline(settings.timeoutMs, this.#late);
    this.#startProbing();
    setImmediate(() => this.connected());
  }

  admit(slot: number, request: AdmissionRequest, done: AdmissionDone): void {
    if (!this.enforcement.on) {
      this.enforcement.countUnchecked(1);
      done(uncheckedAdmission(request.terms.limits[RPM_ROW]!, request.terms.spentNanos));
      return;
    }
    let turn = this.#turn(slot);
    if (turn.looks.length >= LOOKS_PER_CALL_MAX) {
      this.#flushTurns();
      turn = this.#turn(slot);
    }
    turn.admit(request, this.#memory, done);
  }

  look(slot: number, request: StandingRequest, providerSlug: string, done: VerdictDone): void {
    if (this.enforcement.on) this.#turn(slot).look(request, providerSlug, this.#memory, done);
    else done(null);
  }

  addSpend(slot: number, agentId: string, month: number, costNanos: number): void {
    this.#memory.waiting(agentId, month, costNanos);
    this.#queueSpend(slot, agentId, month, costNanos);
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

  #turn(slot: number): TurnBatch {
    let turn = this.#turns.get(slot);
    if (turn === undefined) {
      turn = new TurnBatch(slot);
      this.#turns.set(slot, turn);
      if (!this.#flushScheduled) {
        this.#flushScheduled = true;
        setImmediate(this.#flush); // after the poll phase: everything that arrived in this turn is in
      }
    }
    return turn;
  }

  readonly #flush = (): void => {
    this.#flushScheduled = false;
    this.#flushTurns();
  };

  #flushTurns(): void {
    const turns = this.#turns;
    if (turns.size === 0) return;
    this.#turns = new Map();
    for (const batch of turns.values()) this.#send(this.#newCall(batch, false));
  }

  #newCall(batch: TurnBatch, probe: boolean): Call {
    const tag = this.#marks.tagOf(batch.slot, batch.agentId);
    this.#lastSlot = batch.slot;
    return {
      batch,
      seq: this.#seq++,
      tag,
      probe,
      repeated: false,
      decided: false,
      late: false,
      sentAtMs: 0,
      ringAt: -1,
      bagIndex: -1,
    };
  }

  #send(call: Call): void {
    const { looks, spends } = call.batch;
    const sent = call.repeated ? [] : looks;
    for (const spend of spends) spend.baseNanos = this.#memory.of(spend.agentId).baseNanos(spend.month);
    const header = {
      windows: this.#settings.windows,
      month: monthOfMs(Date.now()),
      seq: call.seq,
      raise: this.enforcement.onFor(RAISE_AFTER_MS),
      mark: call.probe || spends.length > 0,
      tag: call.tag,
      writerId: this.#settings.writerId,
    };
    this.#outstanding.add(call);
    this.#deadline.start(call);
    this.#link.run(callKeys(header, spends, sent), encodeCall(header, spends, sent), (failure, reply) => {
      this.#outstanding.delete(call);
      this.#deadline.answered(call);
      const decoded = failure === null ? decodeReply(reply, spends.length, sent.length) : null;
      if (decoded !== null) this.#answered(call, decoded);
      else this.#failed(call, failure ?? new ScriptFailure('unreadable answer', 'unknown'));
      if (this.#outstanding.size === 0) this.#drained();
    });
  }

  #answered(call: Call, reply: CallReply): void {
    const nowMs = performance.now();
    this.#metrics.storeLatency(nowMs - call.sentAtMs);
    const { batch } = call;
    if (reply.mark !== null && !this.#marks.found(batch.slot, reply.mark, nowMs)) {
      this.enforcement.noteDataLost();
      this.onDataLost();
    }
    if (reply.applied && (call.probe || batch.spends.length > 0)) this.#marks.written(batch.slot, call.seq, nowMs);
    if (call.repeated) this.#lost.shift();
    // Overtaken by a later call of this writer (a slot on the move): the store took it for a repetition.
    const skipped = !reply.applied && !call.repeated;
    for (let i = 0; i < batch.spends.length; i++) {
      const spend = batch.spends[i]!;
      if (skipped) {
        this.#queueSpend(batch.slot, spend.agentId, spend.month, spend.costNanos);
        continue;
      }
      this.#memory.confirmed(spend.agentId, spend.month, spend.costNanos);
      if (reply.applied) this.#memory.seen(spend.agentId, spend.month, reply.totals[i]!);
    }
    if (!call.decided) {
      call.decided = true;
      batch.settle(reply, this.#memory);
    }
    if (call === this.#probe) this.#probed(call);
  }

  #failed(call: Call, failure: ScriptFailure): void {
    this.lastFailure = failure.message;
    this.#trip(failure.message);
    this.#passUnchecked(call);
    if (call.batch.spends.length > 0 && !(call.repeated && this.#lost[0] === call)) {
      if (failure.applied === 'no') this.#journalBatch(call.batch);
      else this.#lost.push(call);
    }
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
      this.enforcement.countUnchecked(batch.passUnchecked());
      this.#journalBatch(batch);
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
    if (this.#probe !== null) {
      if (performance.now() - this.#probe.sentAtMs >= PROBE_GIVE_UP_MS) this.#link.reconnect();
      return;
    }
    this.#probe = this.#lost[0] ?? this.#journalCall();
    if (this.#probe === this.#lost[0]) {
      this.#probe.repeated = true;
      this.#probe.late = false;
    }
    this.#send(this.#probe);
  }

  #journalCall(): Call {
    const taken = this.#journal.take(SPENDS_PER_PROBE_MAX);
    const batch = new TurnBatch(taken?.slot ?? this.#lastSlot);
    for (const spend of taken?.spends ?? []) batch.addSpend(spend.agentId, spend.month, spend.costNanos);
    return this.#newCall(batch, true);
  }

  #probed(call: Call): void {
    this.#probe = null;
    if (this.enforcement.on) return;
    if (call.late) {
      // It slept and is awake: ask again. A store that is merely slow waits for the next interval.
      if (performance.now() - call.sentAtMs >= PROBE_INTERVAL_MS) this.#sendProbe();
    } else if (this.#lost.length > 0 || this.#journal.size > 0) {
      this.#sendProbe();
    } else {
      this.stop();
      this.enforcement.start();
    }
  }

  #queueSpend(slot: number, agentId: string, month: number, costNanos: number): void {
    if (this.enforcement.on) this.#turn(slot).addSpend(agentId, month, costNanos);
    else if (!this.#journal.add(slot, agentId, month, costNanos)) this.#memory.confirmed(agentId, month, costNanos);
  }

  #journalBatch(batch: TurnBatch): void {
    for (const spend of batch.spends) this.#queueSpend(batch.slot, spend.agentId, spend.month, spend.costNanos);
  }
}
