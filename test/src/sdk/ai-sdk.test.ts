import { OpenAiStandIn } from '@acg/stand-in-provider/openai';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { embed, generateText, type LanguageModel, streamText } from 'ai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AnthropicStandIn } from '../stand-in-providers/anthropic.js';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';
import { InProcessGateway, type ProviderRoute } from './in-process-gateway.js';

let openai: OpenAiStandIn;
let anthropic: AnthropicStandIn;
let gateway: InProcessGateway;

beforeAll(async () => {
  openai = await new OpenAiStandIn().start();
  anthropic = await new AnthropicStandIn().start();
  gateway = await InProcessGateway.start([
    { slug: 'openai', origin: openai.origin, credentials: { apiKey: PROVIDER_CREDENTIALS.openai } },
    { slug: 'anthropic', origin: anthropic.origin, credentials: { apiKey: PROVIDER_CREDENTIALS.anthropic } },
  ]);
});
afterAll(async () => {
  await gateway.stop();
  await openai.close();
  await anthropic.close();
});

const SAID = 'Hello from the provider – ✓.';

function route(way: string, slug: 'openai' | 'anthropic'): ProviderRoute {
  if (way === 'gateway') return gateway.route(slug);
  return { baseUrl: slug === 'openai' ? openai.origin : anthropic.origin, key: PROVIDER_CREDENTIALS[slug] };
}

function settings(way: string, slug: 'openai' | 'anthropic'): { baseURL: string; apiKey: string } {
  const { baseUrl, key } = route(way, slug);
  return { baseURL: `${baseUrl}/v1`, apiKey: key };
}

const MODELS: Readonly<Record<string, (way: string) => LanguageModel>> = {
  'openai responses': (way) => createOpenAI(settings(way, 'openai'))('gpt-5-mini'),
  'openai chat': (way) => createOpenAI(settings(way, 'openai')).chat('gpt-5-mini'),
  'openai-compatible': (way) =>
    createOpenAICompatible({ name: 'compatible', includeUsage: true, ...settings(way, 'openai') })('gpt-5-mini'),
  anthropic: (way) => createAnthropic(settings(way, 'anthropic'))('claude-haiku-4-5'),
};

describe.each(['direct', 'gateway'])('AI SDK, %s', (way) => {
  test.each(Object.keys(MODELS))('%s: text', async (name) => {
    const answer = await generateText({ model: MODELS[name]!(way), prompt: 'hi', maxRetries: 0, maxOutputTokens: 64 });
    expect(answer.text).toBe(SAID);
    expect(answer.usage.inputTokens).toBe(19);
  });

  test.each(Object.keys(MODELS))('%s: streamed text', async (name) => {
    const answer = streamText({ model: MODELS[name]!(way), prompt: 'hi', maxRetries: 0, maxOutputTokens: 64 });
    const words: string[] = [];
    for await (const word of answer.textStream) words.push(word);
    expect(words.join('')).toBe(SAID);
    expect((await answer.usage).inputTokens).toBe(19);
  });

  test('embedding', async () => {
    const model = createOpenAI(settings(way, 'openai')).embedding('text-embedding-3-small');
    expect((await embed({ model, value: 'a', maxRetries: 0 })).embedding).toEqual([0.25, -0.5, 0.125]);
  });
});
