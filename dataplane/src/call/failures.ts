/**
 * Errors become answers here and nowhere else. Which answer depends on how far the call had come: not begun (refused,
 * nothing is booked), begun but without a response head (booked, then answered), or with a head that has left already
 * (nothing can be said any more; the connection breaks). A refusal is no error: see `rejections.ts`.
 */
import type { Logger } from '@acg/base/log';
import { classifyFailure, isInvalidRequest, isLocalFailure, type TransportFailure } from '../upstream/pools.js';
import { DamagedBody, UnsignableTarget } from './build-call.js';
import type { Exchange, RoutedExchange } from './exchange.js';
import { REJECTIONS, type Rejection } from './rejections.js';
import type { Settle } from './settle.js';

interface FailureDeps {
  readonly settle: Settle;
  /** Ends a call that is under way without another byte. */
  readonly breakOff: (x: Exchange) => void;
  readonly onBug: () => void;
  readonly log: Logger;
}

const ANSWERS: Readonly<Record<TransportFailure, Rejection>> = {
  connect: REJECTIONS.upstreamUnreachable,
  reset: REJECTIONS.upstreamUnreachable,
  timeout: REJECTIONS.upstreamTimeout,
  egress_refused: REJECTIONS.egressRefused,
  lookups_busy: REJECTIONS.upstreamUnreachable,
};

/** The agent's fault, never the provider's: a request that cannot be sent, or a body that breaks its own framing. */
const isAgentsFault = (error: unknown): boolean => error instanceof DamagedBody || isInvalidRequest(error);

export class Failures {
  readonly #deps: FailureDeps;

  constructor(deps: FailureDeps) {
    this.#deps = deps;
  }

  /** The call could not be begun. An error that is not the agent's fault is a bug and is thrown on. */
  notBegun(x: Exchange, error: unknown): void {
    if (error instanceof UnsignableTarget) x.reject(REJECTIONS.malformedTarget);
    else if (isAgentsFault(error)) x.reject(REJECTIONS.requestRefused);
    else throw error;
  }

  /** The upstream failed before its response head. */
  beforeHead(x: RoutedExchange, error: Error): void {
    this.#deps.log.debug({ err: error, requestId: x.request.id }, 'the upstream call failed');
    const answer = isAgentsFault(error) ? REJECTIONS.requestRefused : ANSWERS[classifyFailure(error, x.sent)];
    x.errorClass = isAgentsFault(error) ? 'client_aborted' : classifyFailure(error, x.sent);
    x.failedLocally = isLocalFailure(error);
    this.answer(x, answer);
  }

  /** Books the call and answers it with `answer`, in this order. */
  answer(x: RoutedExchange, answer: Rejection): void {
    x.responseStatus = answer.status;
    this.#deps.settle(x, () => x.answerFailure(answer));
  }

  /** The upstream failed after its response head. */
  afterHead(x: RoutedExchange, error: Error): void {
    x.errorClass = classifyFailure(error, true) === 'timeout' ? 'timeout' : 'upstream_cut';
  }

  /** A stage threw: costs this one request, never the process. */
  readonly bug = (x: Exchange, error: unknown): void => {
    this.#deps.log.error({ err: error, requestId: x.request.id }, 'a stage failed');
    this.#deps.onBug();
    if (x.forwarded) this.#deps.breakOff(x);
    else x.reject(REJECTIONS.internal);
  };
}
