/**
 * The stage runner: synchronous stages run in one stack; a stage that has to wait returns WAIT and calls
 * {@link Pipeline.advance} itself later, which goes on with the stage after it.
 */
import type { Exchange, RoutedExchange } from './exchange.js';

/** Go on with the next stage. */
export const NEXT = 0;
/** The stage will call `advance(x)` itself. */
export const WAIT = 1;
/** The agent has its answer, or is about to get it. */
export const DONE = 2;

export type StageResult = typeof NEXT | typeof WAIT | typeof DONE;
export type Stage = (x: Exchange) => StageResult;
/** A stage after `route`. */
export type RoutedStage = (x: RoutedExchange) => StageResult;
/** Goes on with the stage after the one that returned WAIT. */
export type Advance = (x: Exchange) => void;

interface Stages {
  /** Up to and with `route`, where there is one. */
  readonly unrouted: readonly Stage[];
  readonly routed: readonly RoutedStage[];
}

export class Pipeline {
  readonly #stages: readonly Stage[];
  readonly #onError: (x: Exchange, error: unknown) => void;

  /** `onBug` hears of exceptions, which cost one request and never the process. */
  constructor(build: (advance: Advance) => Stages, onBug: (x: Exchange, error: unknown) => void) {
    const { unrouted, routed } = build((x) => this.advance(x));
    this.#stages = [...unrouted, ...(routed as readonly Stage[])];
    this.#onError = onBug;
  }

  advance(x: Exchange): void {
    try {
      while (!x.hasEnded) {
        const stage = this.#stages[x.nextStageIndex++];
        if (stage === undefined || stage(x) !== NEXT) return;
      }
    } catch (error) {
      this.#onError(x, error);
    }
  }
}
