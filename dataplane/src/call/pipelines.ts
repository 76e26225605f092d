/**
 * The stages of a call in their order.
 *
 *   accept → target → authenticate → route → circuit → admit → collect → forward ┐
 *                        any refusal answers and ends here                       ├─▶ relay → settle → last byte
 */
import type { Counters } from '../counters/counters.js';
import type { UpstreamPools } from '../upstream/pools.js';
import type { CallMetering } from './call-metering.js';
import type { CallMetrics } from './call-metrics.js';
import type { Failures } from './failures.js';
import { Pipeline } from './pipeline.js';
import type { RelaySupport } from './relay.js';
import { planResponse } from './respond.js';
import { SilenceWatch } from './silence.js';
import { createAdmit } from './stages/admit.js';
import { type AuthenticateDeps, createAuthenticate } from './stages/authenticate.js';
import { type Circuits, createCircuit } from './stages/circuit.js';
import { createCollect, EditedBodyBudget } from './stages/collect.js';
import { createForward } from './stages/forward.js';
import { parseRequestTarget, route } from './stages/route.js';
import { createSelf } from './stages/self.js';
import type { Settle } from './stages/settle.js';

/** What every pipeline asks of the parts around the calls. */
export interface PipelineDeps extends Pick<AuthenticateDeps, 'contexts' | 'onAuthenticated'> {
  readonly counters: Pick<Counters, 'admit' | 'standing'>;
  readonly circuits: Circuits;
  readonly failures: Failures;
}

export interface ProxyPipelineDeps extends PipelineDeps {
  readonly options: {
    /** A longer body is not waited for. */
    readonly bufferedBodyBytesMax: number;
    /** Bytes of all bodies together that are held whole to be edited. */
    readonly editedBodiesBytesMax: number;
  };
  readonly metering: CallMetering;
  readonly pools: Pick<UpstreamPools, 'acquire'>;
  readonly metrics: Pick<CallMetrics, 'onStreamOpened'>;
  readonly settle: Settle;
  readonly garbage: RelaySupport['garbage'];
}

/** Of `/v1/proxy/…`. */
export function proxyPipeline(deps: ProxyPipelineDeps): Pipeline {
  const { contexts, circuits, counters, metering, pools, options, onAuthenticated, failures } = deps;
  const budget = new EditedBodyBudget(options.editedBodiesBytesMax);
  return new Pipeline(
    (advance) => ({
      unrouted: [
        parseRequestTarget,
        createAuthenticate({ contexts, advance, onAuthenticated, anyStatus: false }),
        route,
      ],
      routed: [
        createCircuit(circuits, advance),
        createAdmit(counters, advance),
        createCollect(metering, budget, options.bufferedBodyBytesMax, advance),
        createForward(pools, metering, relaySupport(deps), failures),
      ],
    }),
    failures.bug,
  );
}

/** Of `/v1/self`. */
export function selfPipeline(deps: PipelineDeps): Pipeline {
  const { contexts, circuits, counters, onAuthenticated, failures } = deps;
  return new Pipeline(
    (advance) => ({
      unrouted: [
        createAuthenticate({ contexts, advance, onAuthenticated, anyStatus: true }),
        createSelf(counters, circuits),
      ],
      routed: [],
    }),
    failures.bug,
  );
}

function relaySupport({ metering, metrics, settle, failures, garbage }: ProxyPipelineDeps): RelaySupport {
  return {
    plan: (x, status, rawHeaders) => {
      const plan = planResponse(x, status, rawHeaders, metering);
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
