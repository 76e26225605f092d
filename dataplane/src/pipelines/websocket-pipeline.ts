/** The stages of a WebSocket request: those of a call, with the two handshakes in place of body and relay. */
import { Pipeline } from '../call/pipeline.js';
import { createResend } from '../call/resend.js';
import { type AcquireSlot, createAcquireSlotStage } from '../call/stages/acquire-slot.js';
import { createAdmitStage } from '../call/stages/admit.js';
import { createAuthenticateStage } from '../call/stages/authenticate.js';
import { createBreakerStage } from '../call/stages/check-breaker.js';
import { checkCallPolicy } from '../call/stages/check-call-policy.js';
import { createDialStage, createTakeConnectionStage } from '../call/stages/connect.js';
import { createRecheckAccessStage } from '../call/stages/recheck-access.js';
import { precheckCostBoundStage } from '../call/stages/reject-unbounded-cost.js';
import { parseRequestTarget, route } from '../call/stages/route.js';
import { createWaitForCredentialStage } from '../call/stages/wait-for-credential.js';
import {
  checkWebSocketAllowed,
  createUpgradeStage,
  type UpgradeDeps,
} from '../websocket/upstream-then-agent-handshake-stages.js';
import type { PipelineDeps } from './proxy-pipeline.js';

type WebSocketPipelineDeps = PipelineDeps & UpgradeDeps & { readonly acquireWebSocketSlot: AcquireSlot };

export function createWebSocketPipeline(deps: WebSocketPipelineDeps): Pipeline {
  const {
    contexts,
    unauthenticatedLimiter,
    acquireOrgSlot,
    acquireWebSocketSlot,
    breakers,
    counters,
    dialLimiter,
    metering,
    onAuthenticated,
    failures,
  } = deps;
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
        checkWebSocketAllowed,
        checkCallPolicy,
        precheckCostBoundStage,
        createAcquireSlotStage(acquireOrgSlot),
        createAcquireSlotStage(acquireWebSocketSlot),
        createWaitForCredentialStage(contexts, advance),
        createBreakerStage(breakers, advance),
        createRecheckAccessStage(contexts, advance),
      ],
      sending: [
        createTakeConnectionStage(deps, advance),
        createDialStage(deps, advance),
        createRecheckAccessStage(contexts, advance),
        createAdmitStage(counters, metering, dialLimiter, advance),
        createUpgradeStage(deps, createResend(connectAgain)),
      ],
    }),
    failures.onInternalError,
  );
}
