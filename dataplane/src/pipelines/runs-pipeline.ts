/** The stages of `/v1/runs`. */
import { Pipeline } from '../call/pipeline.js';
import { createAuthenticateStage } from '../call/stages/authenticate.js';
import { type CallRuns, createCallRunsStage } from '../call/stages/call-runs.js';
import type { PipelineDeps } from './proxy-pipeline.js';

export function createRunsPipeline(deps: PipelineDeps & { readonly callRuns: CallRuns }): Pipeline {
  const { contexts, unauthenticatedLimiter, onAuthenticated, failures, callRuns } = deps;
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
        createCallRunsStage(callRuns),
      ],
      routed: [],
      sending: [],
    }),
    failures.onInternalError,
  );
}
