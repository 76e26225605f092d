/** The stages of `/v1/self`. */
import { Pipeline } from '../call/pipeline.js';
import { createAuthenticateStage } from '../call/stages/authenticate.js';
import { createSelfStatusStage } from '../call/stages/self-status.js';
import type { PipelineDeps } from './proxy-pipeline.js';

export function createSelfPipeline(deps: PipelineDeps): Pipeline {
  const { contexts, unauthenticatedLimiter, breakers, counters, onAuthenticated, failures } = deps;
  return new Pipeline(
    (advance) => ({
      unrouted: [
        createAuthenticateStage({
          contexts,
          unauthenticatedLimiter,
          advance,
          onAuthenticated,
          allowsInactiveAgents: true,
        }),
        createSelfStatusStage(counters, breakers),
      ],
      routed: [],
      sending: [],
    }),
    failures.onInternalError,
  );
}
