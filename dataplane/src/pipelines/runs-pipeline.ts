/** The stages of `/v1/runs`. */

import type { Exchange } from '../call/exchange.js';
import { Pipeline } from '../call/pipeline.js';
import { type AcquireSlot, createAcquireSlotStage } from '../call/stages/acquire-slot.js';
import { createAuthenticateStage } from '../call/stages/authenticate.js';
import { type CallRuns, createCallRunsStage } from '../call/stages/call-runs.js';
import type { PipelineDeps } from './proxy-pipeline.js';

interface RunsDeps extends PipelineDeps {
  readonly callRuns: CallRuns;
  readonly acquireRunCallSlot: AcquireSlot<Exchange>;
}

export function createRunsPipeline(deps: RunsDeps): Pipeline {
  const { contexts, unauthenticatedLimiter, onAuthenticated, failures, callRuns, acquireRunCallSlot } = deps;
  return new Pipeline(
    (advance) => ({
      unrouted: [
        createAuthenticateStage({
          contexts,
          unauthenticatedLimiter,
          advance,
          onAuthenticated,
          allowsInactiveAgents: false,
        }),
        createAcquireSlotStage(acquireRunCallSlot),
        createCallRunsStage(callRuns),
      ],
      routed: [],
      sending: [],
    }),
    failures.onInternalError,
  );
}
