/** Runs a schedule in virtual time: data planes, a network, a store with failovers. Returns what its oracle needs. */
import { SeededRandom } from '../chaos/faults/seeded-random.js';
import type { DataLoss, Decision, DecisionHistory } from './decision-history.js';
import { LIMITS_DELAY_US } from './decision-history.js';
import { EventQueue } from './event-queue.js';
import { RightsHolder } from './rights-holder.js';
import type { RequestLimits, RightsRules } from './rights-messages.js';
import { RightsStore } from './rights-store.js';
import { CALM_NETWORK, type Fault, type Schedule } from './schedule.js';
import { type PendingMessage, SimulatedPlane } from './simulated-plane.js';

/** Creates the logic under test. Mutants replace parts. */
export interface RightsLogic {
  createStore(rules: RightsRules): RightsStore;
  createHolder(writer: string, rules: RightsRules): RightsHolder;
}

export const RIGHTS_LOGIC: RightsLogic = {
  createStore: (rules) => new RightsStore(rules),
  createHolder: (writer, rules) => new RightsHolder(writer, rules),
};

/** Share of messages to the server before a failover that the one after it receives. */
const REDIRECTED = 0.3;
/** Share of messages of a broken connection that still arrive. */
const LATE_ARRIVALS = 0.5;
/** Data planes find out about a failover within this time. */
const DETECTION_US = 200_000;

/** Calls of a burst at each data plane: half of the highest limit. */
const BURST_CALLS = 30;
/** Far more than any schedule has. */
const MAX_EVENTS = 1_000_000;

class Simulation {
  readonly queue = new EventQueue();
  readonly random: SeededRandom;
  readonly history: DecisionHistory = {
    decisions: [],
    providerCalls: [],
    losses: [],
    waits: [],
    limitChangesUs: [],
    misuses: [],
    rejectedCalls: 0,
    failedCalls: 0,
  };
  readonly #planes: SimulatedPlane[];
  #store: RightsStore;
  #servers = 1;
  #storeDownUntilUs = 0;
  #limits: RequestLimits;
  #writers = 0;

  constructor(
    readonly schedule: Schedule,
    readonly logic: RightsLogic,
  ) {
    this.random = new SeededRandom(schedule.seed ^ 0x5eed);
    this.#limits = schedule.limits;
    this.#store = logic.createStore(schedule.rules);
    this.#planes = schedule.callsPerSecond.map(() => new SimulatedPlane(this));
  }

  run(): DecisionHistory {
    const { callsPerSecond, faults } = this.schedule;
    callsPerSecond.forEach((rate, plane) => {
      this.#scheduleArrival(this.#planes[plane]!, rate / ((1 + this.schedule.burst) / 2));
    });
    for (const fault of faults) this.queue.add(fault.atUs, () => this.#inject(fault));
    if (!this.queue.runAll(MAX_EVENTS)) this.history.misuses.push('data planes send messages without end');
    const unfinished = this.#planes.reduce((sum, plane) => sum + plane.unfinishedCalls, 0);
    if (unfinished > 0) this.history.misuses.push(`${unfinished} calls never got an outcome`);
    return this.history;
  }

  createHolder(): RightsHolder {
    return this.logic.createHolder(`writer-${this.#writers++}`, this.schedule.rules);
  }

  currentLimits(): RequestLimits {
    return this.#limits;
  }

  hasFaults(): boolean {
    return this.queue.nowUs < this.schedule.durationUs;
  }

  burstAt(atUs: number): void {
    this.queue.add(atUs, () => {
      for (const plane of this.#planes)
        for (let i = 0; i < BURST_CALLS; i++) plane.receiveCall({ arrivedAtUs: atUs, waitedUs: null });
    });
  }

  send(plane: SimulatedPlane, pending: PendingMessage, deliver: (decision: Decision) => void): void {
    const server = this.#servers;
    if (this.queue.nowUs < plane.offlineUntilUs) return;
    this.#carry(() => {
      if (this.queue.nowUs < this.#storeDownUntilUs) return;
      if (server !== this.#servers && this.random.next() >= REDIRECTED) return;
      if (pending.connection !== plane.connection && this.random.next() >= LATE_ARRIVALS) return;
      const decision = this.#decide(pending);
      this.#carry(() => deliver(decision));
    });
  }

  #decide({ message }: PendingMessage): Decision {
    const { nowUs } = this.queue;
    const runId = `server-${this.#servers}`;
    const { decisions, losses } = this.history;
    const reply = this.#store.decide(message, runId, nowUs);
    const decision = { atUs: nowUs, order: decisions.length, runId, message, reply, loss: null };
    decisions.push(decision);
    for (const loss of losses) loss.nextDecisionUs = Math.min(loss.nextDecisionUs, nowUs);
    return decision;
  }

  /** Delivers a message once, never or twice. */
  #carry(deliver: () => void): void {
    const network = this.hasFaults() ? this.schedule.network : CALM_NETWORK;
    const copies = this.random.next() < network.repeatRate ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      if (this.random.next() < network.lossRate) continue;
      let delayUs = network.delayUs - network.jitterUs * Math.log(1 - this.random.next());
      if (this.random.next() < network.spikeRate) delayUs += network.spikeUs * this.random.next();
      this.queue.add(this.queue.nowUs + Math.floor(delayUs), deliver);
    }
  }

  #scheduleArrival(plane: SimulatedPlane, burstsPerSecond: number): void {
    const { durationUs, burst, idleUs } = this.schedule;
    const gapUs = Math.floor((-Math.log(1 - this.random.next()) * 1_000_000) / burstsPerSecond) + 1;
    const atUs = this.queue.nowUs + gapUs;
    if (atUs >= durationUs) return;
    this.queue.add(atUs, () => {
      const isIdle = Math.floor(atUs / idleUs) % 2 === 1;
      const calls = isIdle ? 0 : this.random.integerBetween(1, burst);
      for (let i = 0; i < calls; i++) plane.receiveCall({ arrivedAtUs: atUs, waitedUs: null });
      this.#scheduleArrival(plane, burstsPerSecond);
    });
  }

  #inject(fault: Fault): void {
    switch (fault.kind) {
      case 'crash':
        this.#planes[fault.plane]!.crash(fault.lengthUs);
        break;
      case 'disconnect':
        this.#planes[fault.plane]!.disconnect(fault.lengthUs);
        break;
      case 'pause':
        this.#planes[fault.plane]!.pause(fault.lengthUs, fault.isClockStopped);
        break;
      case 'failover':
        this.#servers++;
        this.#storeDownUntilUs = this.queue.nowUs + fault.lengthUs;
        this.#loseDecisions(fault.lostUs);
        if (this.random.next() < this.schedule.hostileEventRate) this.burstAt(this.#storeDownUntilUs);
        for (const plane of this.#planes)
          this.queue.add(this.queue.nowUs + Math.floor(this.random.next() * DETECTION_US), () => plane.disconnect(0));
        break;
      case 'flush':
        this.#loseDecisions(Number.POSITIVE_INFINITY);
        break;
      case 'new limits':
        this.#limits = fault.limits;
        this.history.limitChangesUs.push(this.queue.nowUs);
        for (const plane of this.#planes)
          plane.turnAt(this.queue.nowUs + Math.floor(this.random.next() * LIMITS_DELAY_US), () =>
            plane.setLimits(fault.limits),
          );
    }
  }

  /** Takes back the decisions of the last `lostUs`: the new store repeats all earlier ones. */
  #loseDecisions(lostUs: number): void {
    const { nowUs } = this.queue;
    const { decisions, losses } = this.history;
    const loss: DataLoss = { atUs: nowUs, order: decisions.length, nextDecisionUs: Number.POSITIVE_INFINITY };
    losses.push(loss);
    this.#store = this.logic.createStore(this.schedule.rules);
    for (const decision of decisions) {
      if (decision.loss !== null) continue;
      if (decision.atUs > nowUs - lostUs) decision.loss = loss;
      else this.#store.decide(decision.message, decision.runId, decision.atUs);
    }
  }
}

export function simulate(schedule: Schedule, logic: RightsLogic = RIGHTS_LOGIC): DecisionHistory {
  return new Simulation(schedule, logic).run();
}
