/** The stages of a request for a WebSocket: those of a call, with the two handshakes in place of body and relay. */
import { Pipeline } from '../call/pipeline.js';
import { createAdmit } from '../call/stages/admit.js';
import { createAuthenticate } from '../call/stages/authenticate.js';
import { checkCall } from '../call/stages/check-call.js';
import { createCircuit } from '../call/stages/circuit.js';
import { planHold } from '../call/stages/plan-hold.js';
import { createRecheck } from '../call/stages/recheck.js';
import { parseRequestTarget, route } from '../call/stages/route.js';
import { createShare, type TakeShare } from '../call/stages/share.js';
import { checkUpgrade, createUpgrade, type UpgradeDeps } from '../websocket/upgrade.js';
import type { PipelineDeps } from './pipeline-deps.js';

type UpgradePipelineDeps = PipelineDeps & UpgradeDeps & { readonly takeWebSocketPlace: TakeShare };

export function upgradePipeline(deps: UpgradePipelineDeps): Pipeline {
  const {
    contexts,
    unknownTokens,
    takeShare,
    takeWebSocketPlace,
    circuits,
    counters,
    metering,
    onAuthenticated,
    failures,
  } = deps;
  return new Pipeline(
    (advance) => ({
      unrouted: [
        parseRequestTarget,
        createAuthenticate({ contexts, unknownTokens, advance, onAuthenticated, anyStatus: false }),
        route,
      ],
      routed: [
        checkUpgrade,
        checkCall,
        planHold,
        createShare(takeShare),
        createShare(takeWebSocketPlace),
        createCircuit(circuits, advance),
        createRecheck(contexts, advance),
        createAdmit(counters, metering, advance),
        createUpgrade(deps),
      ],
    }),
    failures.bug,
  );
}
