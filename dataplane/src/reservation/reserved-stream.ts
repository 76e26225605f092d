/**
 * Sits between the upstream and the relay of a call with a reservation. A stream that has used its reservation requests
 * growth, and nothing is forwarded meanwhile:
 *
 *   forwarding ── exhausted ──▶ growing ── granted ──▶ forwarding
 *                                  └───── rejected ──▶ cut: an error event in the provider's format, then the end
 *
 * One read can contain more than the reservation covers, so near its end bytes are forwarded chunk by chunk. Output
 * that was not forwarded is not billed: its cost remains with the provider, like that of output generated after any
 * aborted call.
 */

import type { CallMetering } from '../call/call-metering-interface.js';
import type { RoutedExchange } from '../call/exchange.js';
import { findAdmittedLimits, releaseLateReservation } from '../call/settle.js';
import type { UpstreamResponseHandler } from '../http1/upstream-request-interface.js';
import type { Counters } from '../limits/counters-interface.js';
import type { Relay } from '../response/relay.js';
import { createBudgetCutEvent } from './budget-cut-event.js';
import { computeOutputNanosPerToken } from './compute-reservation.js';
import { ReservationMeter } from './reservation-meter.js';

export class ReservedStream implements UpstreamResponseHandler {
  readonly #exchange: RoutedExchange;
  readonly #relay: Relay;
  readonly #counters: Pick<Counters, 'growReservation' | 'settle'>;
  readonly #metering: Pick<CallMetering, 'maxCostNanos'>;
  /** Null: the response is not a stream, or its output is free. */
  #reservation: ReservationMeter | null = null;
  #resumeUpstream: (() => void) | null = null;
  /** A growth request is pending. */
  #isGrowing = false;
  /** Bytes that arrived after the last byte that could be forwarded. */
  #pending: Buffer[] = [];
  /** The upstream has completed while growth was pending. */
  #isUpstreamComplete = false;
  /** Nothing more is forwarded. */
  #isCut = false;

  constructor(
    exchange: RoutedExchange,
    relay: Relay,
    counters: Pick<Counters, 'growReservation' | 'settle'>,
    metering: Pick<CallMetering, 'maxCostNanos'>,
  ) {
    this.#exchange = exchange;
    this.#relay = relay;
    this.#counters = counters;
    this.#metering = metering;
  }

  onConnect(abort: (error?: Error) => void): void {
    this.#relay.onConnect(abort);
  }

  onHeaders(status: number, rawHeaders: string[], resume: () => void): void {
    this.#resumeUpstream = resume;
    this.#relay.onHeaders(status, rawHeaders, this.#resume);
    const { meter } = this.#exchange.metering;
    const { reservedOutput: heldOutput, reservedNanos: holdNanos } = this.#exchange.admission;
    const { streamed } = this.#exchange.response;
    if (meter !== null && heldOutput !== null && holdNanos > 0 && meter.tokensOutSeen >= 0) {
      const nanosPerToken = computeOutputNanosPerToken(this.#exchange, heldOutput, this.#metering);
      if (nanosPerToken > 0) this.#reservation = new ReservationMeter(meter, heldOutput, nanosPerToken, streamed);
    }
  }

  onData(chunk: Buffer): boolean {
    if (this.#reservation === null) return this.#relay.onData(chunk);
    if (this.#isCut) return false;
    if (!this.#isGrowing && this.#pending.length === 0) return this.#relayWithinReservation(this.#reservation, chunk);
    this.#pending.push(chunk);
    return false;
  }

  onComplete(): void {
    if (this.#isGrowing && !this.#isCut) this.#isUpstreamComplete = true;
    else this.#relay.onComplete();
  }

  onError(error: Error): void {
    this.#isCut = true;
    this.#pending = [];
    this.#relay.onError(error);
  }

  /** Called by the relay when its agent takes bytes again. */
  readonly #resume = (): void => {
    if (!this.#isGrowing && !this.#isCut) this.#resumeUpstream!();
  };

  /** Forwards a chunk as far as the reservation covers it. Returns whether the upstream may send more. */
  #relayWithinReservation(watch: ReservationMeter, chunk: Buffer): boolean {
    let goOn = true;
    for (let at = 0; at < chunk.length; ) {
      const end = watch.nextCheckOffset(chunk, at);
      goOn = this.#relay.onData(at === 0 && end === chunk.length ? chunk : chunk.subarray(at, end));
      at = end;
      if (!watch.isExhausted || this.#exchange.isFinished) continue;
      if (at < chunk.length) this.#pending.unshift(chunk.subarray(at));
      this.#requestGrowth(watch);
      return false;
    }
    return goOn;
  }

  #requestGrowth(watch: ReservationMeter): void {
    const exchange = this.#exchange;
    const nanos = watch.computeGrowthNanos(exchange.admission.reservedNanos);
    this.#isGrowing = true;
    const { admittedAtSec } = exchange.admission.result!;
    this.#counters.growReservation(findAdmittedLimits(exchange), admittedAtSec, nanos, (granted) => {
      // In a later turn of the event loop: the parser that delivered these bytes may still be processing them.
      setImmediate(() => this.#onGrowthDecided(watch, nanos, granted));
    });
  }

  #onGrowthDecided(watch: ReservationMeter, nanos: number, granted: boolean): void {
    const exchange = this.#exchange;
    this.#isGrowing = false;
    if (exchange.settled) {
      const { admittedAtSec } = exchange.admission.result!;
      if (granted) releaseLateReservation(this.#counters, exchange, findAdmittedLimits(exchange), admittedAtSec, nanos);
      if (this.#isUpstreamComplete) this.#relay.onComplete(); // frees the connection
      return;
    }
    if (!granted) {
      this.#isCut = true;
      this.#pending = [];
      exchange.errorClass = 'budget_cut';
      this.#relay.endEarly((mediaType) => createBudgetCutEvent(exchange, mediaType));
      return;
    }
    exchange.admission.reservedNanos += nanos;
    watch.addGrowth(nanos);
    this.#relayPending(watch);
  }

  #relayPending(watch: ReservationMeter): void {
    let goOn = true;
    for (let chunk = this.#pending.shift(); chunk !== undefined; chunk = this.#pending.shift()) {
      goOn = this.#relayWithinReservation(watch, chunk);
      if (this.#isGrowing) return;
    }
    if (this.#isUpstreamComplete) this.#relay.onComplete();
    else if (goOn) this.#resumeUpstream!();
  }
}
