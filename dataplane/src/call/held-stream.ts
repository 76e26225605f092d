/**
 * Stands between the upstream and the relay of a call that has reserved what it may cost. A stream that has used what is
 * held asks for more, and nothing passes meanwhile:
 *
 *   passing ── used up ──▶ asking ── granted ──▶ passing
 *                             └───── refused ──▶ cut: the provider's own kind of error event, then the end
 *
 * The bytes of one read can hold more than the hold carries, so near its end they pass piece by piece. What is not passed
 * on is not booked: like what a provider has made when it hears of any call's end, it is the provider's.
 */
import type { Counters } from '../counters/counters.js';
import type { UpstreamHandler } from '../http1/upstream-call.js';
import { budgetCutEvent } from './budget-cut.js';
import type { CallMetering } from './call-metering.js';
import type { RoutedExchange } from './exchange.js';
import { outputRate } from './hold-bound.js';
import { HoldWatch } from './hold-watch.js';
import type { Relay } from './relay.js';
import { releaseGrowth } from './settle.js';

export class HeldStream implements UpstreamHandler {
  readonly #x: RoutedExchange;
  readonly #relay: Relay;
  readonly #counters: Pick<Counters, 'grow' | 'settle'>;
  readonly #metering: Pick<CallMetering, 'bound'>;
  /** Null: the answer is no stream, or its output is free. */
  #watch: HoldWatch | null = null;
  #resumeUpstream: (() => void) | null = null;
  /** The store has not answered yet. */
  #asking = false;
  /** Came behind the last byte that could pass. */
  #rest: Buffer[] = [];
  /** The upstream has ended behind it. */
  #complete = false;
  /** Nothing of it passes any more. */
  #over = false;

  constructor(
    x: RoutedExchange,
    relay: Relay,
    counters: Pick<Counters, 'grow' | 'settle'>,
    metering: Pick<CallMetering, 'bound'>,
  ) {
    this.#x = x;
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
    const { meter, heldOutput, holdNanos, streamed } = this.#x;
    if (meter !== null && heldOutput !== null && holdNanos > 0 && meter.tokensOutSeen >= 0) {
      const nanosPerToken = outputRate(this.#x, heldOutput, this.#metering);
      if (nanosPerToken > 0) this.#watch = new HoldWatch(meter, heldOutput, nanosPerToken, streamed);
    }
  }

  onData(chunk: Buffer): boolean {
    if (this.#watch === null) return this.#relay.onData(chunk);
    if (this.#over) return false;
    if (!this.#asking && this.#rest.length === 0) return this.#pass(this.#watch, chunk);
    this.#rest.push(chunk);
    return false;
  }

  onComplete(): void {
    if (this.#asking && !this.#over) this.#complete = true;
    else this.#relay.onComplete();
  }

  onError(error: Error): void {
    this.#over = true;
    this.#rest = [];
    this.#relay.onError(error);
  }

  /** What the relay calls when its agent takes bytes again. */
  readonly #resume = (): void => {
    if (!this.#asking && !this.#over) this.#resumeUpstream!();
  };

  /** Whether more may come. */
  #pass(watch: HoldWatch, chunk: Buffer): boolean {
    let goOn = true;
    for (let at = 0; at < chunk.length; ) {
      const end = watch.pieceEnd(chunk, at);
      goOn = this.#relay.onData(at === 0 && end === chunk.length ? chunk : chunk.subarray(at, end));
      at = end;
      if (!watch.reached || this.#x.finished) continue;
      if (at < chunk.length) this.#rest.unshift(chunk.subarray(at));
      this.#ask(watch);
      return false;
    }
    return goOn;
  }

  #ask(watch: HoldWatch): void {
    const x = this.#x;
    const nanos = watch.growth(x.holdNanos);
    this.#asking = true;
    this.#counters.grow(x.routed.context.terms, nanos, (granted) => {
      // In a turn of its own: the reader that has brought these bytes may still be in the middle of them.
      setImmediate(() => this.#answered(watch, nanos, granted));
    });
  }

  #answered(watch: HoldWatch, nanos: number, granted: boolean): void {
    const x = this.#x;
    this.#asking = false;
    if (x.settled) {
      if (granted) releaseGrowth(this.#counters, x, nanos);
      if (this.#complete) this.#relay.onComplete(); // frees the connection
      return;
    }
    if (!granted) {
      this.#over = true;
      this.#rest = [];
      x.errorClass = 'budget_cut';
      this.#relay.cutOff(budgetCutEvent(x));
      return;
    }
    x.holdNanos += nanos;
    watch.grown(nanos);
    this.#goOn(watch);
  }

  #goOn(watch: HoldWatch): void {
    let goOn = true;
    for (let chunk = this.#rest.shift(); chunk !== undefined; chunk = this.#rest.shift()) {
      goOn = this.#pass(watch, chunk);
      if (this.#asking) return;
    }
    if (this.#complete) this.#relay.onComplete();
    else if (goOn) this.#resumeUpstream!();
  }
}
