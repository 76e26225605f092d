/**
 * Turns errors into responses, for all calls. The response depends on how far the call has come:
 *
 * - not forwarded: the gateway rejects the request, and nothing is booked;
 * - forwarded, without a response head: the call is booked, then the agent gets an error response;
 * - with a response head: the response is cut off by closing the connection.
 *
 * A rejection is not an error: see `rejections.ts`.
 */
import type { Logger } from '@acg/base/log';
import { toMcpFailure } from '../rejection/mcp-rejections.js';
import { REJECTIONS, type Rejection } from '../rejection/rejections.js';
import {
  classifyFailure,
  isInvalidRequest,
  isLocalError,
  type TransportFailure,
} from '../upstream/connections/connection-pools-per-origin-and-owner.js';
import { MalformedBodyError, UnsignableTargetError } from './build-upstream-request.js';
import { type Exchange, Phase, type RoutedExchange } from './exchange.js';
import type { Settle } from './settle.js';

interface FailureHandlerDeps {
  readonly settle: Settle;
  /** Ends a call without sending another byte. */
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

/**
 * True for the agent's fault, never the provider's: a request that cannot be sent, or a body that breaks its own
 * framing.
 */
const isClientError = (error: unknown): boolean => error instanceof MalformedBodyError || isInvalidRequest(error);

export class FailureHandler {
  readonly #deps: FailureHandlerDeps;

  constructor(deps: FailureHandlerDeps) {
    this.#deps = deps;
  }

  /** The call could not begin. Rethrows an error that is not the agent's fault, as it is a fault of this program. */
  rejectOrRethrowDispatchError(exchange: Exchange, error: unknown): void {
    if (error instanceof UnsignableTargetError) exchange.reject(REJECTIONS.malformedTarget);
    else if (isClientError(error)) exchange.reject(REJECTIONS.requestNotForwardable);
    else throw error;
  }

  /** The upstream failed before its response head. */
  settleAndRespondToFailure(exchange: RoutedExchange, error: Error): void {
    this.#deps.log.debug({ err: error, requestId: exchange.request.id }, 'the upstream call failed');
    const rejection = isClientError(error)
      ? REJECTIONS.requestNotForwardable
      : REJECTION_BY_FAILURE[classifyFailure(error, exchange.upstreamCall.requestSent)];
    exchange.errorClass = isClientError(error)
      ? 'client_aborted'
      : classifyFailure(error, exchange.upstreamCall.requestSent);
    exchange.upstreamCall.failedLocally = isLocalError(error);
    const waiting = exchange.admission.mcp?.message;
    const answer = waiting?.kind === 'request' ? toMcpFailure(rejection, waiting.idText) : rejection;
    if (exchange.upstreamCall.onResendRejected === null) this.settleAndRespond(exchange, answer);
    else exchange.reject(answer);
  }

  /** No connection could be made: booked all the same, because it counts for the circuit. It consumed no limit. */
  settleAndRespondToConnectFailure(exchange: RoutedExchange, error: Error): void {
    if (!exchange.wasForwarded) exchange.advanceTo(Phase.FORWARDED);
    exchange.upstreamCall.dispatchedAtPerfMs ||= performance.now() - exchange.upstreamCall.connectMs;
    this.settleAndRespondToFailure(exchange, error);
  }

  /** The kept connection of a call was stale, and the request may not be sent again or could not. */
  settleAndRespondToFailedRetry(exchange: RoutedExchange, rejection: Rejection): void {
    // Without an error of a connection, the call says nothing about the provider's health.
    if (exchange.errorClass === '') exchange.errorClass = 'retry_rejected';
    this.settleAndRespond(exchange, rejection);
  }

  /** Books the call, then sends the rejection. */
  settleAndRespond(exchange: RoutedExchange, rejection: Rejection): void {
    exchange.response.status = rejection.status;
    this.#deps.settle(exchange, () => exchange.sendRejectionNow(rejection));
  }

  /** The upstream failed after its response head. */
  setErrorClassAfterHead(exchange: RoutedExchange, error: Error): void {
    exchange.errorClass = classifyFailure(error, true) === 'timeout' ? 'timeout' : 'upstream_cut';
  }

  /** A stage threw. Fails this one request, never the process. */
  readonly onInternalError = (exchange: Exchange, error: unknown): void => {
    this.#deps.log.error({ err: error, requestId: exchange.request.id }, 'a stage failed');
    this.#deps.countInternalError();
    if (exchange.wasForwarded) this.#deps.abortCall(exchange);
    else exchange.reject(REJECTIONS.internal);
  };
}
