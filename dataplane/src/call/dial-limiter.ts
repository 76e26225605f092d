/**
 * Bounds the upstream connections that calls open before the limits have counted them. A call over a limit is rejected
 * before it dials. The calls of one agent to one provider have at most as many dials open as the limits would admit
 * calls now; the others wait for one of these dials, but not for long. Consumes nothing from any limit.
 */
import type { AgentLimits } from '../limits/agent-limits.js';
import type { Counters, LimitSnapshot } from '../limits/counters-interface.js';
import { countAdmissibleCalls, precheckLimits } from '../rejection/precheck-limits.js';
import { REJECTIONS, type Rejection } from '../rejection/rejections.js';
import type { Exchange, RoutedExchange } from './exchange.js';

/** How often a call may wait for a dial of another call that ends in a timeout. */
const TIMEOUTS_AWAITED = 2;

interface DialCallbacks {
  /** The call may dial. Runs possibly within {@link DialLimiter.enter}. */
  onMayDial(exchange: RoutedExchange): void;
  /** The call has waited too long for the dials of others. */
  onTimedOut(exchange: RoutedExchange): void;
}

interface WaitingCall {
  readonly exchange: RoutedExchange;
  readonly limits: AgentLimits;
  readonly reservationNanos: number;
  readonly callbacks: DialCallbacks;
  readonly timeout: NodeJS.Timeout;
  /** Number of the call in the order of arrival. */
  readonly arrival: number;
}

/** The dials of one agent to one provider. */
interface Lane {
  readonly key: string;
  /** Calls that dial, or whose connection stands and that were not counted yet. */
  dialing: number;
  /** In the order of arrival. */
  readonly waiting: Map<Exchange, WaitingCall>;
  isPeeking: boolean;
  /** A call arrived or a dial ended since the limits were last read. */
  mustPeekAgain: boolean;
}

export class DialLimiter {
  readonly #counters: Pick<Counters, 'peek'>;
  readonly #waitMsMax: number;
  readonly #lanes = new Map<string, Lane>();
  /** The lane of each call that dials or waits. */
  readonly #laneOf = new Map<Exchange, Lane>();
  #arrivals = 0;

  /** `connectTimeoutMs`: how long one dial may take. */
  constructor(counters: Pick<Counters, 'peek'>, connectTimeoutMs: number) {
    this.#counters = counters;
    this.#waitMsMax = TIMEOUTS_AWAITED * connectTimeoutMs;
  }

  /** Number of agents and providers with dials, for tests. */
  get laneCount(): number {
    return this.#lanes.size;
  }

  /**
   * Calls one of the callbacks, or rejects the call. {@link release} must follow `onMayDial`. `limits`: of the call.
   */
  enter(exchange: RoutedExchange, limits: AgentLimits, reservationNanos: number, callbacks: DialCallbacks): void {
    const { context, upstream } = exchange.routed;
    const key = `${context.agentId} ${upstream.providerSlug}`;
    let lane = this.#lanes.get(key);
    if (lane === undefined) {
      lane = { key, dialing: 0, waiting: new Map(), isPeeking: false, mustPeekAgain: false };
      this.#lanes.set(key, lane);
    }
    const timeout = setTimeout(() => {
      this.release(exchange);
      callbacks.onTimedOut(exchange);
    }, this.#waitMsMax);
    this.#arrivals++;
    lane.waiting.set(exchange, { exchange, limits, reservationNanos, callbacks, timeout, arrival: this.#arrivals });
    this.#laneOf.set(exchange, lane);
    this.#peek(lane);
  }

  /**
   * The dial has failed, the limits were asked to count the call, or the call has ended. No effect for a call that
   * neither dials nor waits.
   */
  release(exchange: Exchange): void {
    const lane = this.#laneOf.get(exchange);
    if (lane === undefined) return;
    this.#laneOf.delete(exchange);
    const waited = lane.waiting.get(exchange);
    if (waited !== undefined) {
      clearTimeout(waited.timeout);
      lane.waiting.delete(exchange);
    } else {
      lane.dialing--;
      this.#peek(lane);
    }
    this.#deleteIfUnused(lane);
  }

  /** Reads the limits and decides about the calls that wait now. One read at a time. */
  #peek(lane: Lane): void {
    lane.mustPeekAgain = lane.isPeeking;
    const [first] = lane.waiting.values();
    if (lane.isPeeking || first === undefined) return;
    lane.isPeeking = true;
    const { context, upstream } = first.exchange.routed;
    const lastArrival = this.#arrivals;
    this.#counters.peek({ limits: context.agentLimits, providerSlugs: [upstream.providerSlug] }, (snapshot) => {
      lane.isPeeking = false;
      this.#decide(lane, lastArrival, snapshot);
      if (lane.mustPeekAgain) this.#peek(lane);
      this.#deleteIfUnused(lane);
    });
  }

  /** `snapshot`: null where the store is unavailable, which bounds nothing for calls that may pass unchecked. */
  #decide(lane: Lane, lastArrival: number, snapshot: LimitSnapshot | null): void {
    for (const { exchange, limits, reservationNanos, callbacks, timeout, arrival } of lane.waiting.values()) {
      if (arrival > lastArrival) return;
      let rejection: Rejection | null = null;
      if (snapshot !== null) rejection = precheckLimits(snapshot, limits, reservationNanos);
      else if (limits.rejectsUnchecked) rejection = REJECTIONS.limitsUnavailable;
      if (rejection !== null) {
        exchange.reject(rejection);
        continue;
      }
      if (snapshot !== null && lane.dialing >= countAdmissibleCalls(snapshot, limits, reservationNanos)) return;
      clearTimeout(timeout);
      lane.waiting.delete(exchange);
      lane.dialing++;
      callbacks.onMayDial(exchange);
    }
  }

  #deleteIfUnused(lane: Lane): void {
    const isUnused = lane.dialing === 0 && lane.waiting.size === 0 && !lane.isPeeking;
    if (isUnused && this.#lanes.get(lane.key) === lane) this.#lanes.delete(lane.key);
  }
}
