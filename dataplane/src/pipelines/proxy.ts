/**
 * The stages of a call (`/v1/proxy/…`) in their order.
 *
 *   accept → target → authenticate → route → policy → look → collect → models → circuit → once more → admit → forward ┐
 *                        any refusal answers and ends here                                                            ├─▶ relay → settle → last byte
 *
 * Admission is the last step before the first byte goes upstream: neither a limit nor a revocation can be outlived by
 * holding back a piece of the body.
 */

import type { CallMetering } from '../call/call-metering.js';
import type { CallMetrics } from '../call/call-metrics.js';
import { EditedBodyBudget } from '../call/edited-body-budget.js';
import { GatewayUrl } from '../call/gateway-url.js';
import { Pipeline } from '../call/pipeline.js';
import type { RelaySupport } from '../call/relay.js';
import { planResponse } from '../call/respond.js';
import type { Settle } from '../call/settle.js';
import { SilenceWatch } from '../call/silence.js';
import { createAdmit } from '../call/stages/admit.js';
import { createAuthenticate } from '../call/stages/authenticate.js';
import { checkCall } from '../call/stages/check-call.js';
import { checkModels } from '../call/stages/check-models.js';
import { createCircuit, createCircuitLook } from '../call/stages/circuit.js';
import { createCollect } from '../call/stages/collect.js';
import { createForward } from '../call/stages/forward.js';
import { planHold } from '../call/stages/plan-hold.js';
import { createRecheck } from '../call/stages/recheck.js';
import { parseRequestTarget, route } from '../call/stages/route.js';
import { createShare } from '../call/stages/share.js';
import type { UpstreamPools } from '../upstream/pools.js';
import type { PipelineDeps } from './pipeline-deps.js';

interface ProxyPipelineDeps extends PipelineDeps {
  readonly options: {
    /** A longer body is not waited for. */
    readonly bufferedBodyBytesMax: number;
    /** A longer body is not edited; one whose model must be checked is refused. */
    readonly editedBodyBytesMax: number;
    /** DATAPLANE_PUBLIC_URL; null = not set. */
    readonly publicUrl: string | null;
    /** Peers whose `X-Forwarded-…` is believed. */
    readonly trustedProxyCidrs: readonly string[];
    /** Bytes of all bodies together that are held whole to be edited. */
    readonly editedBodiesBytesMax: number;
  };
  readonly metering: CallMetering;
  readonly pools: Pick<UpstreamPools, 'acquire'>;
  readonly metrics: Pick<CallMetrics, 'onStreamOpened'>;
  readonly settle: Settle;
  readonly garbage: RelaySupport['garbage'];
}

export function proxyPipeline(deps: ProxyPipelineDeps): Pipeline {
  const {
    contexts,
    unknownTokens,
    takeShare,
    circuits,
    counters,
    metering,
    pools,
    options,
    onAuthenticated,
    failures,
  } = deps;
  const budget = new EditedBodyBudget(options.editedBodiesBytesMax, options.editedBodyBytesMax);
  return new Pipeline(
    (advance) => ({
      unrouted: [
        parseRequestTarget,
        createAuthenticate({ contexts, unknownTokens, advance, onAuthenticated, anyStatus: false }),
        route,
      ],
      routed: [
        checkCall,
        planHold,
        createShare(takeShare),
        createCircuitLook(circuits),
        createCollect({
          metering,
          counters,
          budget,
          bufferedBodyBytesMax: options.bufferedBodyBytesMax,
          readBodyBytesMax: options.editedBodyBytesMax,
          advance,
        }),
        checkModels,
        createCircuit(circuits, advance),
        createRecheck(contexts, advance),
        createAdmit(counters, metering, advance),
        createForward(pools, metering, counters, relaySupport(deps), failures),
      ],
    }),
    failures.bug,
  );
}

function relaySupport({
  circuits,
  metering,
  metrics,
  settle,
  failures,
  garbage,
  options,
}: ProxyPipelineDeps): RelaySupport {
  const gatewayUrl = new GatewayUrl(options.publicUrl, options.trustedProxyCidrs);
  return {
    plan: (x, status, rawHeaders) => {
      circuits.answered(x.routed.upstream);
      const plan = planResponse(x, status, rawHeaders, metering, gatewayUrl);
      if (x.streamed) metrics.onStreamOpened();
      return plan;
    },
    settle,
    failed: (x, error) => failures.beforeHead(x, error),
    cut: (x, error) => failures.afterHead(x, error),
    release: (x) => x.connection?.release(),
    garbage,
    silence: new SilenceWatch(),
  };
}
