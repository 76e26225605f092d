import type { Cell } from '@acg/base/cells';
import { type IResolveTokenResponse, Outcome } from '@acg/proto/messages';
import type { Resolution } from './context-cache.js';
import { decodeContext } from './decode-context.js';

const LOOKUP_REJECTIONS = {
  [Outcome.UNKNOWN_TOKEN]: 'unknown_token',
  [Outcome.AGENT_REQUIRED]: 'agent_required',
  [Outcome.AGENT_AMBIGUOUS]: 'agent_ambiguous',
  [Outcome.AGENT_OUT_OF_SCOPE]: 'agent_out_of_scope',
} as const;

/** Throws when the answer cannot be used. */
export function decodeResolution(
  answer: IResolveTokenResponse,
  builtInProviders: ReadonlySet<string>,
  requestedAtMs: number,
  cell: Cell,
): Resolution {
  const revision = answer.revision ?? 0;
  const outcome = answer.outcome ?? Outcome.OUTCOME_UNSPECIFIED;
  if (outcome === Outcome.FOUND) {
    const context = decodeContext(answer.context ?? {}, builtInProviders, requestedAtMs, cell);
    return { context, rejection: null, revision };
  }
  const rejection = LOOKUP_REJECTIONS[outcome as keyof typeof LOOKUP_REJECTIONS];
  if (rejection === undefined) throw new Error(`unexpected outcome ${outcome}`);
  return { context: null, rejection, revision };
}
