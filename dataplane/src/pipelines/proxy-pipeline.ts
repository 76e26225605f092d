/**
 * The stages of a call (`/v1/proxy/…`) in their order.
 *
 *   accept → target → authenticate → route → tags → policy → MCP head → reservation plan → org slot → circuit precheck
 *     → buffer body → body models → MCP message → circuit → recheck access → connect → recheck access → admit → forward
 *     → relay → settle → last byte
 *
 * A rejection in any stage up to `admit` sends its response and ends the call. Admission is the last step before the
 * first byte goes upstream, so neither a delayed body nor a slow connect outlives a limit or a revocation.
 */

import type { Breakers } from '../breaker/breakers-interface.js';
import type { CallMetering } from '../call/call-metering-interface.js';
import type { CallMetrics } from '../call/call-metrics-interface.js';
import type { FailureHandler } from '../call/failure-handler.js';
import { Pipeline, type RoutedStage } from '../call/pipeline.js';
import { createResend, type Resend } from '../call/resend.js';
import type { Settle } from '../call/settle.js';
import { type AcquireSlot, createAcquireSlotStage } from '../call/stages/acquire-slot.js';
import { createAdmitStage } from '../call/stages/admit.js';
import { type AuthenticateDeps, createAuthenticateStage } from '../call/stages/authenticate.js';
import { createBufferBodyStage } from '../call/stages/buffer-body.js';
import { createBreakerPrecheckStage, createBreakerStage } from '../call/stages/check-breaker.js';
import { checkBodyModels, checkCallPolicy } from '../call/stages/check-call-policy.js';
import { createMcpHeadStage, createMcpMessageStage } from '../call/stages/check-mcp-call.js';
import { type ConnectDeps, createDialStage, createTakeConnectionStage } from '../call/stages/connect.js';
import { createForwardStage } from '../call/stages/forward.js';
import { readTags } from '../call/stages/read-tags.js';
import { createRecheckAccessStage } from '../call/stages/recheck-access.js';
import { precheckCostBoundStage } from '../call/stages/reject-unbounded-cost.js';
import { RejectedCredentials } from '../call/stages/rejected-credentials.js';
import { parseRequestTarget, route } from '../call/stages/route.js';
import { createWaitForCredentialStage } from '../call/stages/wait-for-credential.js';
import { createBufferedBodyShare } from '../concurrency/buffered-body-memory.js';
import type { Counters } from '../limits/counters-interface.js';
import { GatewayUrlResolver } from '../response/gateway-url.js';
import { IdleFlushTimer } from '../response/idle-flush-timer.js';
import { planResponse } from '../response/plan-response.js';
import type { RelayDeps } from '../response/relay.js';

/** Dependencies of every pipeline. */
export interface PipelineDeps
  extends Pick<AuthenticateDeps, 'contexts' | 'unauthenticatedLimiter' | 'onAuthenticated'>,
    Pick<ConnectDeps, 'pools' | 'dialLimiter'> {
  readonly counters: Pick<Counters, 'admit' | 'growReservation' | 'settle' | 'peek'>;
  readonly breakers: Breakers;
  readonly acquireOrgSlot: AcquireSlot;
  readonly metering: CallMetering;
  readonly failures: FailureHandler;
}

interface ProxyPipelineDeps extends PipelineDeps {
  readonly options: {
    /** Bytes; a longer body streams. */
    readonly bufferedBodyBytesMax: number;
    /** Bytes; a longer body is not edited, and is rejected when its model must be checked. */
    readonly editedBodyBytesMax: number;
    /** DATAPLANE_PUBLIC_URL; null = not set. */
    readonly publicUrl: string | null;
    /** Peers whose `X-Forwarded-…` headers are trusted. */
    readonly trustedProxyCidrs: readonly string[];
    /** Bytes of all bodies together that are buffered whole to be edited. */
    readonly editedBodiesBytesMax: number;
  };
  readonly metering: CallMetering;
  readonly acquireListeningSlot: AcquireSlot;
  readonly metrics: Pick<CallMetrics, 'onStreamOpened'>;
  readonly settle: Settle;
  readonly gcPacer: RelayDeps['gcPacer'];
}

export function createProxyPipeline(deps: ProxyPipelineDeps): Pipeline {
  const {
    contexts,
    unauthenticatedLimiter,
    acquireOrgSlot,
    breakers,
    counters,
    metering,
    dialLimiter,
    options,
    onAuthenticated,
    failures,
  } = deps;
  const bodyMemory = createBufferedBodyShare(options.editedBodiesBytesMax, options.editedBodyBytesMax);
  const gatewayUrl = new GatewayUrlResolver(options.publicUrl, options.trustedProxyCidrs);
  return new Pipeline(
    (advance, connectAgain) => ({
      unrouted: [
        parseRequestTarget,
        createAuthenticateStage({
          contexts,
          unauthenticatedLimiter,
          advance,
          onAuthenticated,
          allowsInactiveAgents: false,
        }),
        route,
      ],
      routed: [
        readTags,
        checkCallPolicy,
        createMcpHeadStage({ answerMemory: bodyMemory, gatewayUrl }),
        precheckCostBoundStage,
        createAcquireSlotStage(acquireOrgSlot),
        createBreakerPrecheckStage(breakers),
        createBufferBodyStage({
          metering,
          counters,
          bodyMemory,
          bufferedBodyBytesMax: options.bufferedBodyBytesMax,
          readBodyBytesMax: options.editedBodyBytesMax,
          advance,
        }),
        checkBodyModels,
        createMcpMessageStage(deps.acquireListeningSlot),
        createWaitForCredentialStage(contexts, advance),
        createBreakerStage(breakers, advance),
        createRecheckAccessStage(contexts, advance),
      ],
      sending: [
        createTakeConnectionStage(deps, advance),
        createDialStage(deps, advance),
        createRecheckAccessStage(contexts, advance),
        createAdmitStage(counters, metering, dialLimiter, advance),
        createSendStage(deps, createResend(connectAgain), gatewayUrl),
      ],
    }),
    failures.onInternalError,
  );
}

function createSendStage(deps: ProxyPipelineDeps, resend: Resend, gatewayUrl: GatewayUrlResolver): RoutedStage {
  const { contexts, counters, metering, failures } = deps;
  const rejectedCredentials = new RejectedCredentials(contexts, resend, failures);
  const relayDeps = createRelayDeps(deps, resend, rejectedCredentials, gatewayUrl);
  return createForwardStage(metering, counters, relayDeps, failures, rejectedCredentials);
}

function createRelayDeps(
  { breakers, metering, metrics, settle, failures, gcPacer }: ProxyPipelineDeps,
  resend: Resend,
  rejectedCredentials: RejectedCredentials,
  gatewayUrl: GatewayUrlResolver,
): RelayDeps {
  return {
    planResponse: (exchange, status, rawHeaders) => {
      if (status === 401) rejectedCredentials.report(exchange);
      breakers.onUpstreamAnswered(exchange.routed.upstream);
      const plan = planResponse(exchange, status, rawHeaders, metering, gatewayUrl);
      if (exchange.response.streamed) metrics.onStreamOpened();
      return plan;
    },
    settle,
    onFailureBeforeHead: (exchange, error) => {
      const { connection, repeatable } = exchange.upstreamCall;
      if (repeatable !== null && connection!.wasStale)
        resend(exchange, (rejection) => failures.settleAndRespondToFailedRetry(exchange, rejection));
      else failures.settleAndRespondToFailure(exchange, error);
    },
    onFailureAfterHead: (exchange, error) => failures.setErrorClassAfterHead(exchange, error),
    releaseConnection: (exchange) => exchange.upstreamCall.connection?.release(),
    gcPacer,
    idleFlushTimer: new IdleFlushTimer(),
  };
}
