/** Chat completion bodies, whole and streamed. */

/** Usage of one response; cached tokens are part of the prompt, reasoning tokens part of the completion. */
export const CHAT_USAGE = {
  prompt_tokens: 19,
  completion_tokens: 10,
  total_tokens: 29,
  prompt_tokens_details: { cached_tokens: 4, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 3,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
} as const;

/** The dated model name in the response to a request with an alias. */
export const datedModelName = (model: string): string => (model === 'gpt-5-mini' ? 'gpt-5-mini-2025-08-07' : model);

const base = (model: string, object: string) => ({
  id: 'chatcmpl-stand-in',
  object,
  created: 1_767_225_600,
  model: datedModelName(model),
});

export function chatCompletion(model: string, content: string, usage: object = CHAT_USAGE): object {
  const message = { role: 'assistant', content, rejection: null, annotations: [] };
  return {
    ...base(model, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
    usage,
    service_tier: 'default',
    system_fingerprint: null,
  };
}

/** The frames of a stream. If usage was requested, every chunk has `usage: null` and one more chunk follows. */
export function chatCompletionEvents(
  model: string,
  words: readonly string[],
  includeUsage: boolean,
  answered: object = CHAT_USAGE,
): string[] {
  const chunk = (choices: object[], usage: object | null): string => {
    const common = {
      ...base(model, 'chat.completion.chunk'),
      service_tier: 'default',
      system_fingerprint: null,
      choices,
    };
    return `data: ${JSON.stringify(includeUsage ? { ...common, usage, obfuscation: 'x' } : { ...common, obfuscation: 'x' })}\n\n`;
  };
  const delta = (content: object, finish: string | null): object => ({
    index: 0,
    delta: content,
    logprobs: null,
    finish_reason: finish,
  });
  const frames = [chunk([delta({ role: 'assistant', content: '', rejection: null }, null)], null)];
  for (const word of words) frames.push(chunk([delta({ content: word }, null)], null));
  frames.push(chunk([delta({}, 'stop')], null));
  if (includeUsage) frames.push(chunk([], answered));
  frames.push('data: [DONE]\n\n');
  return frames;
}
