/**
 * Runs the stages of a call. Synchronous stages run in one stack. A stage that has to wait returns WAIT and later calls
 * {@link Pipeline.advance}, which continues with the next stage.
 */
import type { Exchange, RoutedExchange } from './exchange.js';

/** Continue with the next stage. */
export const NEXT = 0;
/** The stage will call `advance(exchange)` itself. */
export const WAIT = 1;
/** The agent has its response, or is about to get it. */
export const DONE = 2;
/** Continue with the first of the sending stages. */
export const CONNECT_AGAIN = 3;

export type StageResult = typeof NEXT | typeof WAIT | typeof DONE | typeof CONNECT_AGAIN;
export type Stage = (exchange: Exchange) => StageResult;
/** A stage after `route`. */
export type RoutedStage = (exchange: RoutedExchange) => StageResult;
/** Continues with the stage after the one that returned WAIT. */
export type Advance = (exchange: Exchange) => void;

interface Stages {
  /** Stages up to and including `route`, where there is one. */
  readonly unrouted: readonly Stage[];
  readonly routed: readonly RoutedStage[];
  /** From the upstream connection to the request: every send runs all of them. */
  readonly sending: readonly RoutedStage[];
}

export class Pipeline {
  readonly #stages: readonly Stage[];
  readonly #sendingIndex: number;
  readonly #onError: (exchange: Exchange, error: unknown) => void;

  /**
   * `connectAgain` continues with the first of the sending stages. `onError` receives exceptions of stages, which fail
   * one request and never the process.
   */
  constructor(
    build: (advance: Advance, connectAgain: Advance) => Stages,
    onError: (exchange: Exchange, error: unknown) => void,
  ) {
    const { unrouted, routed, sending } = build(
      (exchange) => this.advance(exchange),
      (exchange) => {
        exchange.nextStageIndex = this.#sendingIndex;
        this.advance(exchange);
      },
    );
    this.#sendingIndex = unrouted.length + routed.length;
    this.#stages = [...unrouted, ...(routed as readonly Stage[]), ...(sending as readonly Stage[])];
    this.#onError = onError;
  }

  advance(exchange: Exchange): void {
    try {
      while (!exchange.hasEnded) {
        const stage = this.#stages[exchange.nextStageIndex++];
        const result = stage === undefined ? DONE : stage(exchange);
        if (result === CONNECT_AGAIN) exchange.nextStageIndex = this.#sendingIndex;
        else if (result !== NEXT) return;
      }
    } catch (error) {
      this.#onError(exchange, error);
    }
  }
}
