/**
 * Lists where calls of OpenAI and Anthropic name their model. A call with a body that is not listed is rejected for
 * agents with model rules, because it may use a model that it does not name (runs of assistants, batches from files).
 */
import type { ModelCall } from './built-in-provider.js';

const named = (at: ModelCall['at'], ...paths: string[]): ModelCall[] =>
  paths.map((path) => ({ call: `* ${path}`, at }));

export const OPENAI_CALLS: readonly ModelCall[] = [
  ...named(
    'json',
    '/v1/chat/completions',
    '/v1/responses',
    '/v1/responses/input_tokens',
    '/v1/responses/compact',
    '/v1/completions',
    '/v1/embeddings',
    '/v1/moderations',
    '/v1/images/generations',
    '/v1/audio/speech',
  ),
  ...named('json_or_form', '/v1/images/edits', '/v1/videos'),
  ...named('form', '/v1/images/variations', '/v1/audio/transcriptions', '/v1/audio/translations'),
  ...named(
    'free',
    '/v1/responses/*/cancel',
    '/v1/conversations/**',
    '/v1/files',
    '/v1/uploads/**',
    '/v1/vector_stores/**',
    '/v1/batches/*/cancel',
    '/v1/fine_tuning/jobs/*/cancel',
  ),
  // Runs of assistants and evaluations continue after their response, and training has separate prices.
  ...named(
    'unknown',
    '/v1/threads/runs',
    '/v1/threads/*/runs',
    '/v1/threads/*/runs/*/submit_tool_outputs',
    '/v1/evals/*/runs',
    '/v1/fine_tuning/jobs',
    '/v1/fine_tuning/jobs/*/resume',
    '/v1/fine_tuning/alpha/graders/run',
  ),
  ...named(
    'answer',
    '/v1/batches', // recorded when its results are fetched
    '/v1/videos/**',
    '/v1/chat/completions/*',
    '/v1/assistants/**',
    '/v1/threads',
    '/v1/threads/*',
    '/v1/threads/*/messages/**',
    '/v1/threads/*/runs/*',
    '/v1/threads/*/runs/*/cancel',
    '/v1/evals',
    '/v1/evals/*',
    '/v1/evals/*/runs/*',
    '/v1/fine_tuning/jobs/*/pause',
    '/v1/fine_tuning/checkpoints/**',
    '/v1/fine_tuning/alpha/graders/validate',
    '/v1/containers/**',
    '/v1/skills/**',
  ),
];

export const ANTHROPIC_CALLS: readonly ModelCall[] = [
  ...named('json', '/v1/messages', '/v1/messages/count_tokens', '/v1/complete'),
  ...named('batch', '/v1/messages/batches'),
  ...named('free', '/v1/messages/batches/*/cancel', '/v1/files'),
  ...named('unknown', '/v1/sessions/**'), // agents that continue after their response
  ...named('answer', '/v1/agents/**', '/v1/environments/**', '/v1/skills/**'),
];

/** Returns the same calls for a tenant's provider of one of the two formats; its paths may have another prefix. */
export function customModelCalls(usageFormat: 'openai' | 'anthropic' | null): readonly ModelCall[] {
  if (usageFormat === null) return named('json', '/**');
  const calls = usageFormat === 'openai' ? OPENAI_CALLS : ANTHROPIC_CALLS;
  const anywhere = calls.map(({ call, at }) => ({ call: call.replace('/v1/', '/**/'), at }));
  return usageFormat === 'openai' ? [...named('path:deployments', '/**/deployments/*/**'), ...anywhere] : anywhere;
}
