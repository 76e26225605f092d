/** The stages of `/v1/self`. */
import { Pipeline } from '../call/pipeline.js';
import { createAuthenticate } from '../call/stages/authenticate.js';
import { createSelf } from '../call/stages/self.js';
import type { PipelineDeps } from './pipeline-deps.js';

export function selfPipeline(deps: PipelineDeps): Pipeline {
  const { contexts, unknownTokens, circuits, counters, onAuthenticated, failures } = deps;
  return new Pipeline(
    (advance) => ({
      unrouted: [
        createAuthenticate({ contexts, unknownTokens, advance, onAuthenticated, anyStatus: true }),
        createSelf(counters, circuits),
      ],
      routed: [],
    }),
    failures.bug,
  );
}
