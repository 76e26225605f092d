/**
 * Names of span attributes. The GenAI conventions of OpenTelemetry are in development and change, so the names are
 * defined in one place. Attributes without a convention start with `acg.`.
 */
export const ATTRIBUTE = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  model: 'gen_ai.response.model',
  outputType: 'gen_ai.output.type',
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

export interface Operation {
  /** Suffix of the path in lower case; the first matching row applies. */
  readonly end: string;
  readonly name: string;
  /** Set when the operation's name does not imply it; null: not stated. */
  readonly outputType: 'image' | 'speech' | 'text' | null;
}

/**
 * Operations and output types use the well-known values of the conventions, in which images and audio are
 * `generate_content`:
 * https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-spans.md
 */
export const OPERATIONS: readonly Operation[] = [
  { end: '/chat/completions', name: 'chat', outputType: null },
  { end: '/responses', name: 'chat', outputType: null },
  { end: '/messages', name: 'chat', outputType: null },
  { end: '/completions', name: 'text_completion', outputType: null },
  { end: '/complete', name: 'text_completion', outputType: null },
  { end: '/embeddings', name: 'embeddings', outputType: null },
  { end: '/images/generations', name: 'generate_content', outputType: 'image' },
  { end: '/images/edits', name: 'generate_content', outputType: 'image' },
  { end: '/images/variations', name: 'generate_content', outputType: 'image' },
  { end: '/audio/speech', name: 'generate_content', outputType: 'speech' },
  { end: '/audio/transcriptions', name: 'generate_content', outputType: 'text' },
  { end: '/audio/translations', name: 'generate_content', outputType: 'text' },
];
