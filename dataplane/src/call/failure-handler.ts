/**
 * Errors become answers here and nowhere else. Which answer depends on how far the call had come: not begun (refused,
 * nothing is booked), begun but without a response head (booked, then answered), or with a head that has left already
 * (nothing can be said any more; the connection breaks). A refusal is no error: see `rejections.ts`.
 */
import type { Logger } from '@acg/base/log';
import { REJECTIONS, type Rejection } from '../rejection/rejections.js';
import {
  classifyFailure,
  isInvalidRequest,
  isLocalError,
  type TransportFailure,
} from '../upstream/connections/connection-pools.js';
import { MalformedBodyError, UnsignableTargetError } from './build-upstream-request.js';
import type { Exchange, RoutedExchange } from './exchange.js';
import type { Settle } from './settle.js';

interface FailureHandlerDeps {
  readonly settle: Settle;
  /** Ends a call that is under way without another byte. */
  readonly abortCall: (exchange: Exchange) => void;
  readonly countInternalError: () => void;
  readonly log: Logger;
}

const REJECTION_BY_FAILURE: Readonly<Record<TransportFailure, Rejection>> = {
  connect: REJECTIONS.upstreamUnreachable,
  reset: REJECTIONS.upstreamUnreachable,
  timeout: REJECTIONS.upstreamTimeout,
  egress_refused: REJECTIONS.egressBlocked,
  lookups_busy: REJECTIONS.upstreamUnreachable,
};

/** The agent's fault, never the provider's: a request that cannot be sent, or a body that breaks its own framing. */
const isClientError = (error: unknown): boolean => error instanceof MalformedBodyError || isInvalidRequest(error);

export class FailureHandler {
  readonly #deps: FailureHandlerDeps;

  constructor(deps: FailureHandlerDeps) {
    this.#deps = deps;
  }

  /** The call could not be begun. An error that is not the agent's fault is a bug and is thrown on. */
  onDispatchFailed(exchange: Exchange, error: unknown): void {
    if (error instanceof UnsignableTargetError) exchange.reject(REJECTIONS.malformedTarget);
    else if (isClientError(error)) exchange.reject(REJECTIONS.requestNotForwardable);
    else throw error;
  }

  /** The upstream failed before its response head. */
  onFailureBeforeHead(exchange: RoutedExchange, error: Error): void {
    this.#deps.log.debug({ err: error, requestId: exchange.request.id }, 'the upstream call failed');
    const answer = isClientError(error)
      ? REJECTIONS.requestNotForwardable
      : REJECTION_BY_FAILURE[classifyFailure(error, exchange.upstreamCall.requestSent)];
    exchange.errorClass = isClientError(error)
      ? 'client_aborted'
      : classifyFailure(error, exchange.upstreamCall.requestSent);
    exchange.upstreamCall.failedLocally = isLocalError(error);
    this.settleAndRespond(exchange, answer);
  }

  /** Books the call and answers it with `answer`, in this order. */
  settleAndRespond(exchange: RoutedExchange, answer: Rejection): void {
    exchange.response.status = answer.status;
    this.#deps.settle(exchange, () => exchange.respondWithFailure(answer));
  }

  /** The upstream failed after its response head. */
  onFailureAfterHead(exchange: RoutedExchange, error: Error): void {
    exchange.errorClass = classifyFailure(error, true) === 'timeout' ? 'timeout' : 'upstream_cut';
  }

  /** A stage threw: costs this one request, never the process. */
  readonly onInternalError = (exchange: Exchange, error: unknown): void => {
    this.#deps.log.error({ err: error, requestId: exchange.request.id }, 'a stage failed');
    this.#deps.countInternalError();
    if (exchange.wasForwarded) this.#deps.abortCall(exchange);
    else exchange.reject(REJECTIONS.internal);
  };
}
