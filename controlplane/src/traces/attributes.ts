/**
 * Names of span attributes, in one place: the GenAI conventions of OpenTelemetry are still in development and move.
 * What they have no name for begins with `acg.`.
 */
export const ATTRIBUTE = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  model: 'gen_ai.response.model',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWriteTokens: 'gen_ai.usage.cache_creation.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  method: 'http.request.method',
  status: 'http.response.status_code',
  requestBytes: 'http.request.body.size',
  responseBytes: 'http.response.body.size',
  path: 'url.path',
  errorType: 'error.type',
  requestId: 'acg.request.id',
  agentId: 'acg.agent.id',
  projectId: 'acg.project.id',
  orgId: 'acg.org.id',
  keyId: 'acg.key.id',
  providerSlug: 'acg.provider.slug',
  costUsd: 'acg.cost.usd',
  usageSource: 'acg.usage.source',
  streamed: 'acg.streamed',
  firstByteMs: 'acg.time_to_first_byte_ms',
} as const;

/** Ends of paths → the operation's name; the first that fits. */
export const OPERATIONS: readonly (readonly [end: string, operation: string])[] = [
  ['/chat/completions', 'chat'],
  ['/responses', 'chat'],
  ['/messages', 'chat'],
  ['/completions', 'text_completion'],
  ['/complete', 'text_completion'],
  ['/embeddings', 'embeddings'],
];
