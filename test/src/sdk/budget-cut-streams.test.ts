/** A stream stopped by its hard budget is an error in every SDK, never a response that looks complete. */

import { ProviderMetering } from '@acg/dataplane/call/provider-metering';
import { CallCostCalculator } from '@acg/dataplane/pricing/call-cost-calculator';
import { OpenAiStandIn } from '@acg/stand-in-provider/openai';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { type LanguageModel, streamText } from 'ai';
import AnthropicV0 from 'anthropic-sdk-v0';
import OpenAI from 'openai';
import OpenAIv4 from 'openai-v4';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AnthropicStandIn } from '../stand-in-providers/anthropic.js';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';
import { InProcessGateway } from './in-process-gateway.js';

let openai: OpenAiStandIn;
let anthropic: AnthropicStandIn;
let gateway: InProcessGateway;

const WORDS = Array.from({ length: 200 }, (_, i) => ` w${i}`);
const RESERVED_TOKENS = 16;

beforeAll(async () => {
  openai = await new OpenAiStandIn().start();
  anthropic = await new AnthropicStandIn().start();
  openai.answerWords = WORDS;
  anthropic.answerWords = WORDS;
  gateway = await InProcessGateway.start(
    [
      { slug: 'openai', origin: openai.origin, credentials: { apiKey: PROVIDER_CREDENTIALS.openai } },
      { slug: 'anthropic', origin: anthropic.origin, credentials: { apiKey: PROVIDER_CREDENTIALS.anthropic } },
    ],
    new ProviderMetering(new CallCostCalculator(Date.now), { appendDeferredUsage: () => {} }, 1_048_576),
    { hardBudget: true, budgetCents: 100, holdMaxOutputTokens: RESERVED_TOKENS },
  );
});
afterAll(async () => {
  await gateway.stop();
  await openai.close();
  await anthropic.close();
});
beforeEach(() => {
  gateway.fixture.records.length = 0;
});

const settings = (slug: 'openai' | 'anthropic', version = '') => {
  const { baseUrl, key } = gateway.route(slug);
  return { baseURL: baseUrl + version, apiKey: key, maxRetries: 0 };
};
const MESSAGES = [{ role: 'user' as const, content: 'hi' }];

/** Reads the stream to its end, which must be an error; counts the chunks before it. */
async function readUntilCut(stream: AsyncIterable<unknown>): Promise<{ chunks: number; error: Error }> {
  let chunks = 0;
  try {
    for await (const _ of stream) chunks++;
  } catch (error) {
    return { chunks, error: error as Error };
  }
  throw new Error('the stream looks complete');
}

function expectRecordedInLedger(): void {
  expect(gateway.fixture.records).toMatchObject([{ error: 'budget_cut', status: 200 }]);
  expect(gateway.fixture.records[0]!.tokensOut).toBeLessThanOrEqual(RESERVED_TOKENS + 5);
}

describe.each([
  ['6', () => new OpenAI(settings('openai', '/v1'))],
  ['4', () => new OpenAIv4(settings('openai', '/v1')) as unknown as OpenAI],
])('openai SDK %s', (_version, client) => {
  test('chat', async () => {
    const stream = await client().chat.completions.create({ model: 'gpt-5-mini', messages: MESSAGES, stream: true });
    const { error, chunks } = await readUntilCut(stream);
    expect(error).toMatchObject({ code: 'budget_cut', type: 'budget_cut' });
    expect(chunks).toBeGreaterThan(RESERVED_TOKENS / 2);
    expectRecordedInLedger();
  });

  test('responses', async () => {
    const stream = await client().responses.create({ model: 'gpt-5-mini', input: 'hi', stream: true });
    const { error, chunks } = await readUntilCut(stream);
    expect(error).toMatchObject({ code: 'budget_cut' });
    expect(chunks).toBeGreaterThan(RESERVED_TOKENS / 2);
    expectRecordedInLedger();
  });
});

test.each([
  ['1', () => new Anthropic(settings('anthropic'))],
  ['0', () => new AnthropicV0(settings('anthropic')) as unknown as Anthropic],
])('anthropic SDK %s', async (_version, client) => {
  const request = { model: 'claude-haiku-4-5', max_tokens: RESERVED_TOKENS, messages: MESSAGES, stream: true as const };
  const { error, chunks } = await readUntilCut(await client().messages.create(request));
  expect(error).toMatchObject({ error: { error: { type: 'budget_cut' } } });
  expect(chunks).toBeGreaterThan(RESERVED_TOKENS / 2);
  expectRecordedInLedger();
});

const MODELS: readonly [string, () => LanguageModel][] = [
  ['openai responses', () => createOpenAI(settings('openai', '/v1'))('gpt-5-mini')],
  ['openai chat', () => createOpenAI(settings('openai', '/v1')).chat('gpt-5-mini')],
  ['anthropic', () => createAnthropic(settings('anthropic', '/v1'))('claude-haiku-4-5')],
];

test.each(MODELS)('AI SDK, %s', async (_name, model) => {
  const errors: unknown[] = [];
  const stream = streamText({
    model: model(),
    prompt: 'hi',
    maxRetries: 0,
    onError: ({ error }) => void errors.push(error),
    ...(_name === 'anthropic' ? { maxOutputTokens: RESERVED_TOKENS } : {}),
  });
  for await (const _ of stream.textStream);
  expect(JSON.stringify(errors[0]) + String(errors[0])).toContain('budget');
  expectRecordedInLedger();
});
