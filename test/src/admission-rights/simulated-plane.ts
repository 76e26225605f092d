/**
 * A data plane of the simulation: takes calls, admits them on rights or sends them to the store, reports, and sends
 * waiting calls again. Its turns stop during a pause and its state is lost in a crash, like those of a process.
 */
import type { SeededRandom } from '../chaos/faults/seeded-random.js';
import type { Decision, DecisionHistory } from './decision-history.js';
import type { EventQueue } from './event-queue.js';
import type { RightsHolder } from './rights-holder.js';
import type { RequestLimits, RightsMessage } from './rights-messages.js';
import type { Schedule } from './schedule.js';

interface Call {
  readonly arrivedAtUs: number;
  /** When it got its first and its last reply `wait`; null: not yet. */
  waitedUs: { readonly first: number; readonly last: number } | null;
}

/** A message on its way, with the calls that depend on its reply. */
export interface PendingMessage {
  readonly message: RightsMessage;
  readonly calls: readonly Call[];
  readonly isWaiter: boolean;
  readonly connection: number;
  readonly sentUs: number;
  /** For how long the machine's clock had stood still. */
  readonly stoppedUs: number;
}

interface Environment {
  readonly queue: EventQueue;
  readonly random: SeededRandom;
  readonly schedule: Schedule;
  readonly history: DecisionHistory;
  createHolder(): RightsHolder;
  currentLimits(): RequestLimits;
  /** Faults within a turn happen only while calls arrive. */
  hasFaults(): boolean;
  /** Many calls at all data planes. */
  burstAt(atUs: number): void;
  /** Carries a message to the store; `deliver` takes the reply, any number of times. */
  send(plane: SimulatedPlane, pending: PendingMessage, deliver: (decision: Decision) => void): void;
}

export class SimulatedPlane {
  #holder: RightsHolder;
  #limits: RequestLimits;
  #run = 0;
  #isDown = false;
  connection = 0;
  /** Messages that are sent before are lost. */
  offlineUntilUs = 0;
  #pausedUntilUs = 0;
  #stoppedUs = 0;
  #pending = new Set<PendingMessage>();
  #waiting: Call[] = [];
  #waiter: 'none' | 'scheduled' | 'sent' = 'none';
  /** What granted the present rights. */
  #basis: { readonly decision: Decision; readonly pending: PendingMessage } | null = null;
  #rightsEndedUs = 0;
  #reportTimerUs = Number.POSITIVE_INFINITY;
  /** What remains of a turn that a pause interrupted. */
  #restOfTurn: (() => void) | null = null;

  constructor(readonly environment: Environment) {
    this.#holder = environment.createHolder();
    this.#limits = environment.currentLimits();
  }

  /** The monotonic clock of the machine. */
  get #clockUs(): number {
    return this.environment.queue.nowUs - this.#stoppedUs;
  }

  /** Runs a turn of the present process, after a pause that lasts at the time. */
  turnAt(atUs: number, turn: () => void): void {
    const { queue } = this.environment;
    const run = this.#run;
    const start = (): void => {
      if (run !== this.#run || this.#isDown) return;
      if (queue.nowUs < this.#pausedUntilUs) {
        queue.add(this.#pausedUntilUs, start);
        return;
      }
      const rest = this.#restOfTurn;
      if (rest !== null) {
        this.#restOfTurn = null;
        rest();
        start();
        return;
      }
      turn();
      if (run === this.#run) this.#scheduleReport();
    };
    queue.add(atUs, start);
  }

  receiveCall(call: Call): void {
    if (this.#isDown) return;
    this.turnAt(this.environment.queue.nowUs, () => {
      if (this.#waiter === 'none') this.#decide(call);
      else this.#waiting.push(call);
    });
  }

  pause(lengthUs: number, isClockStopped: boolean): void {
    this.#pausedUntilUs = Math.max(this.#pausedUntilUs, this.environment.queue.nowUs + lengthUs);
    if (isClockStopped) this.#stoppedUs += lengthUs;
  }

  crash(restartAfterUs: number): void {
    this.#run++;
    this.#isDown = true;
    this.#restOfTurn = null;
    this.#pending = new Set();
    this.#waiting = [];
    const { queue } = this.environment;
    const run = this.#run;
    queue.add(queue.nowUs + restartAfterUs, () => {
      if (run !== this.#run) return;
      this.#isDown = false;
      this.#pausedUntilUs = 0;
      this.#holder = this.environment.createHolder();
      this.#limits = this.environment.currentLimits();
      this.#basis = null;
      this.#waiter = 'none';
      this.#reportTimerUs = Number.POSITIVE_INFINITY;
      this.connection++;
    });
  }

  /** Breaks the connection. Its replies are lost; its messages may still arrive. */
  disconnect(offlineUs: number): void {
    const { queue } = this.environment;
    this.offlineUntilUs = Math.max(this.offlineUntilUs, queue.nowUs + offlineUs);
    this.connection++;
    this.turnAt(queue.nowUs, () => {
      this.#endRights();
      for (const pending of [...this.#pending]) if (pending.connection !== this.connection) this.#fail(pending);
    });
  }

  setLimits(limits: RequestLimits): void {
    this.#limits = limits;
    this.#endRights();
  }

  #endRights(): void {
    this.#rightsEndedUs = this.environment.queue.nowUs;
    this.#holder.endRights(this.#clockUs);
  }

  /** Calls without an outcome. */
  get unfinishedCalls(): number {
    let sum = this.#waiting.length;
    for (const { calls } of this.#pending) sum += calls.length;
    return sum;
  }

  #decide(call: Call): void {
    const decidedAtUs = this.#clockUs;
    if (!this.#holder.tryUse(decidedAtUs)) {
      this.#sendMessage([call], false);
      return;
    }
    this.#stop(this.environment.schedule.stallRate, () => this.#checkAndWrite(call, decidedAtUs));
  }

  /** Continues a turn, sometimes after a stop within it. */
  #stop(rate: number, next: () => void): void {
    const { queue, random, schedule } = this.environment;
    if (!this.environment.hasFaults() || random.next() >= rate) {
      next();
      return;
    }
    const lengthUs = Math.floor(schedule.rules.minuteUs * 1000 ** -random.next());
    this.pause(lengthUs, random.next() < 0.2);
    this.#restOfTurn = next;
    this.turnAt(queue.nowUs + lengthUs, () => {});
  }

  #checkAndWrite(call: Call, decidedAtUs: number): void {
    if (!this.#holder.confirmUse(decidedAtUs, this.#clockUs)) {
      this.#sendMessage([call], false);
      return;
    }
    const { queue, schedule, history } = this.environment;
    const { decision, pending } = this.#basis!;
    const checkedAtUs = queue.nowUs;
    const right = this.#holder.total;
    if (pending.sentUs < this.#rightsEndedUs) history.misuses.push(`right ${right} used after rights ended`);
    if (this.#limits.hasTokenLimit) history.misuses.push(`right ${right} used beside a limit of tokens`);
    const isAfterStoppedClock =
      checkedAtUs >= pending.sentUs + schedule.rules.termUs && this.#stoppedUs > pending.stoppedUs;
    this.#stop(schedule.preemptionRate, () => {
      history.providerCalls.push({
        arrivedAtUs: call.arrivedAtUs,
        writtenAtUs: queue.nowUs,
        atUs: Math.min(queue.nowUs, checkedAtUs + schedule.rules.travelUs),
        decidedAtUs: checkedAtUs,
        basis: decision,
        right,
        isAfterStoppedClock,
      });
      this.#maybeCrash(decision);
    });
  }

  /** Crashes before the use is reported; bursts follow when its term and its minute end. Late uses are more likely to. */
  #maybeCrash({ atUs }: Decision): void {
    const { queue, random, schedule } = this.environment;
    const { minuteUs, termUs } = schedule.rules;
    const isLate = queue.nowUs >= atUs + 0.9 * termUs;
    if (!this.environment.hasFaults() || random.next() >= schedule.hostileEventRate * (isLate ? 1 : 0.02)) return;
    this.environment.burstAt(queue.nowUs + termUs);
    this.environment.burstAt(queue.nowUs + Math.floor(minuteUs * random.next()));
    this.environment.burstAt(queue.nowUs + minuteUs - Math.floor(random.next() * 40_000));
    this.crash(minuteUs);
  }

  /** Sometimes adds a call when the rights that were just granted end, by the clock of the message or of its reply. */
  #maybeCallLate(sentUs: number): void {
    const { queue, random, schedule } = this.environment;
    if (!this.environment.hasFaults() || random.next() >= schedule.hostileEventRate) return;
    const fromUs = sentUs + schedule.rules.termUs - 100_000;
    const atUs = fromUs + Math.floor(random.next() * (queue.nowUs - sentUs + 150_000));
    queue.add(atUs, () => this.receiveCall({ arrivedAtUs: atUs, waitedUs: null }));
  }

  #sendMessage(calls: readonly Call[], isWaiter: boolean): void {
    const { queue, schedule } = this.environment;
    const pending: PendingMessage = {
      message: this.#holder.createMessage(calls.length, this.#limits, this.#clockUs),
      calls,
      isWaiter,
      connection: this.connection,
      sentUs: queue.nowUs,
      stoppedUs: this.#stoppedUs,
    };
    this.#pending.add(pending);
    const run = this.#run;
    this.environment.send(this, pending, (decision) => {
      if (run === this.#run) this.turnAt(queue.nowUs, () => this.#takeReply(pending, decision));
    });
    this.turnAt(queue.nowUs + schedule.timeoutUs, () => {
      if (!this.#pending.has(pending)) return;
      this.#endRights();
      this.#fail(pending);
    });
  }

  #takeReply(pending: PendingMessage, decision: Decision): void {
    if (pending.connection !== this.connection || !this.#pending.delete(pending)) return;
    const { history, queue, schedule } = this.environment;
    const { reply } = decision;
    if (this.#holder.applyReply(pending.message, reply, this.#clockUs)) {
      this.#basis = { decision, pending };
      this.#maybeCallLate(pending.sentUs);
    }
    for (const { arrivedAtUs } of pending.calls.slice(0, reply.admittedCount)) {
      history.providerCalls.push({
        arrivedAtUs,
        writtenAtUs: queue.nowUs,
        atUs: Math.min(queue.nowUs, decision.atUs + schedule.rules.travelUs),
        decidedAtUs: decision.atUs,
        basis: decision,
        right: null,
        isAfterStoppedClock: false,
      });
    }
    const others = pending.calls.slice(reply.admittedCount);
    if (reply.otherOutcome === 'rejected') {
      history.rejectedCalls += others.length;
    } else if (others.length > 0) {
      for (const call of others) this.#noteWait(call, decision.atUs);
      const firstAtUs = Math.min(...others.map(({ waitedUs }) => waitedUs!.first));
      history.waits.push({ firstAtUs, atUs: decision.atUs });
      this.#waiting = pending.isWaiter ? [...others, ...this.#waiting] : [...this.#waiting, ...others];
      if (pending.isWaiter || this.#waiter === 'none') {
        this.#waiter = 'scheduled';
        this.turnAt(queue.nowUs + schedule.rules.reportUs, () => this.#sendWaitingCalls());
      }
      return;
    }
    if (pending.isWaiter) this.#sendWaitingCalls();
  }

  /** A wait begins again when no message came for a term: the store grants rights then. */
  #noteWait(call: Call, atUs: number): void {
    const { waitedUs } = call;
    const goesOn = waitedUs !== null && atUs < waitedUs.last + this.environment.schedule.rules.termUs;
    call.waitedUs = { first: goesOn ? waitedUs.first : atUs, last: atUs };
  }

  /** Asks for all waiting calls in one message. */
  #sendWaitingCalls(): void {
    const calls = this.#waiting;
    this.#waiting = [];
    this.#waiter = calls.length === 0 ? 'none' : 'sent';
    if (calls.length > 0) this.#sendMessage(calls, true);
  }

  /** A message has failed, and with it its calls. */
  #fail(pending: PendingMessage): void {
    this.#pending.delete(pending);
    this.environment.history.failedCalls += pending.calls.length;
    if (pending.isWaiter) this.#sendWaitingCalls();
  }

  #scheduleReport(): void {
    const { queue } = this.environment;
    const atUs = Math.max(queue.nowUs, this.#holder.reportAtUs + this.#stoppedUs);
    if (atUs >= this.#reportTimerUs) return;
    this.#reportTimerUs = atUs;
    this.turnAt(atUs, () => {
      if (this.#reportTimerUs !== atUs) return;
      this.#reportTimerUs = Number.POSITIVE_INFINITY;
      if (this.#clockUs >= this.#holder.reportAtUs) this.#sendMessage([], false);
    });
  }
}
