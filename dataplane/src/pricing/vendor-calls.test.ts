/**
 * Calls of each vendor in its wire format, priced to the nano-dollar. The expected sums are calculated by hand: tokens
 * times USD per million tokens times 1000.
 */
import type { PricedUpstream } from '@acg/base/pricing/price-list';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { UsageFormat } from '../context/agent-context.js';
import { createMeter } from '../metering/create-meter.js';
import type { MeterOptions, UsageReading } from '../metering/reading/response-usage-meter-interface.js';
import {
  chatBodyOf,
  chatStreamOf,
  claudeOnBedrockStream,
  cohereBody,
  cohereStream,
  converseBody,
  converseStream,
  geminiArray,
  geminiBody,
  geminiStream,
  modelEvent,
} from '../metering/testing/vendor-responses-fixture.js';
import { CallCostCalculator } from './call-cost-calculator.js';

const AT = Date.parse('2026-11-20T12:00:00Z');
const prices = new CallCostCalculator(() => AT);
const SSE = 'text/event-stream';
const AWS_STREAM = 'application/vnd.amazon.eventstream';
const texts = ['Hello', ' "usageMetadata": {"promptTokenCount":9}', '…é😀', '\n\n', ' [{"usage":{}}]'];

interface Call {
  readonly name: string;
  /** Provider id in the price library. */
  readonly from: string;
  readonly format: UsageFormat;
  readonly path: string;
  readonly model?: string;
  readonly type?: string;
  readonly headers?: readonly string[];
  readonly body: Buffer | object;
  /** Nano-dollars. */
  readonly cost: number;
  readonly reading?: Partial<UsageReading>;
}

const gemini = (name: string, body: Buffer | object, cost: number, more: Partial<Call> = {}): Call => ({
  name: `Gemini: ${name}`,
  from: 'google',
  format: 'gemini',
  path: '/v1beta/models/gemini-2.5-flash:generateContent',
  model: 'gemini-2.5-flash',
  body,
  cost,
  ...more,
});
const STREAM = '/v1beta/models/gemini-2.5-flash:streamGenerateContent';
const bedrock = (name: string, model: string, operation: string, body: Buffer | object, cost: number): Call => ({
  name: `Bedrock: ${name}`,
  from: 'aws',
  format: 'bedrock',
  path: `/model/${encodeURIComponent(model)}/${operation}`,
  model,
  type: operation.includes('stream') ? AWS_STREAM : 'application/json',
  body,
  cost,
});
const cohere = (name: string, path: string, model: string, body: Buffer | object, cost: number): Call => ({
  name: `Cohere: ${name}`,
  from: 'cohere',
  format: 'cohere',
  path,
  model,
  body,
  cost,
});
const chat = (from: string, model: string, usage: object, cost: number, more: Partial<Call> = {}): Call => ({
  name: `${from}: ${model}`,
  from,
  format: 'openai',
  path: '/v1/chat/completions',
  model,
  body: chatBodyOf(model, usage),
  cost,
  ...more,
});

const flash = { promptTokenCount: 1_000, candidatesTokenCount: 200, totalTokenCount: 1_200 };
const modality = (name: string, tokenCount: number) => ({ modality: name, tokenCount });
const SONNET = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const claudeInput = {
  input_tokens: 100,
  cache_creation_input_tokens: 400,
  cache_read_input_tokens: 3_000,
  cache_creation: { ephemeral_5m_input_tokens: 300, ephemeral_1h_input_tokens: 100 },
  output_tokens: 1,
};

const CALLS: readonly Call[] = [
  // gemini-2.5-flash: $0.30 in, $2.50 out, $0.03 cached, $1 audio in, $0.10 cached audio
  gemini('generateContent', geminiBody('Hi', flash), 1_000 * 300 + 200 * 2_500),
  gemini('stream', geminiStream(texts, flash), 1_000 * 300 + 200 * 2_500, { path: STREAM, type: SSE }),
  gemini('stream as an array', geminiArray(texts, flash), 1_000 * 300 + 200 * 2_500, { path: STREAM }),
  gemini(
    'thoughts and cached tokens',
    geminiStream(texts, {
      promptTokenCount: 5_000,
      cachedContentTokenCount: 4_000,
      candidatesTokenCount: 300,
      thoughtsTokenCount: 700,
      totalTokenCount: 6_000,
    }),
    1_000 * 300 + 4_000 * 30 + 1_000 * 2_500,
    {
      path: STREAM,
      type: SSE,
      reading: { tokensInUncached: 1_000, tokensCacheRead: 4_000, tokensOut: 1_000, tokensReasoning: 700 },
    },
  ),
  gemini(
    'results of tools',
    geminiBody('Hi', {
      promptTokenCount: 100,
      toolUsePromptTokenCount: 2_000,
      candidatesTokenCount: 50,
      totalTokenCount: 2_150,
    }),
    2_100 * 300 + 50 * 2_500,
  ),
  gemini(
    'audio, partly cached',
    geminiBody('Hi', {
      promptTokenCount: 3_000,
      cachedContentTokenCount: 1_000,
      candidatesTokenCount: 10,
      totalTokenCount: 3_010,
      promptTokensDetails: [modality('TEXT', 500), modality('AUDIO', 2_500)],
      cacheTokensDetails: [modality('AUDIO', 900), modality('TEXT', 100)],
    }),
    400 * 300 + 1_600 * 1_000 + 900 * 100 + 100 * 30 + 10 * 2_500,
  ),
  gemini(
    'tokens that only the total has',
    geminiBody('Hi', { promptTokenCount: 100, candidatesTokenCount: 50, totalTokenCount: 400 }),
    100 * 300 + 300 * 2_500,
  ),
  gemini('priority tier', geminiBody('Hi', { ...flash, serviceTier: 'PRIORITY' }), 2 * 800_000),
  gemini('flex tier on Vertex', geminiBody('Hi', { ...flash, trafficType: 'ON_DEMAND_FLEX' }), 400_000),
  gemini(
    'a search of Gemini 2: one fee for all queries, $35 per 1000',
    geminiBody('Hi', flash, 'gemini-2.5-flash', { groundingMetadata: { webSearchQueries: ['a', 'b', ''] } }),
    800_000 + 35_000_000,
  ),
  // gemini-2.5-pro above 200 000 tokens: $2.50, $15, $0.25 cached
  gemini(
    'a long prompt',
    geminiBody(
      'Hi',
      { promptTokenCount: 200_001, cachedContentTokenCount: 1, candidatesTokenCount: 10, totalTokenCount: 200_011 },
      'gemini-2.5-pro',
    ),
    200_000 * 2_500 + 250 + 10 * 15_000,
  ),
  // gemini-3-pro-image: $2 in, $12 out, $120 for images
  gemini(
    'an image as output',
    geminiBody(
      'Hi',
      {
        promptTokenCount: 300,
        candidatesTokenCount: 1_200,
        thoughtsTokenCount: 100,
        totalTokenCount: 1_600,
        promptTokensDetails: [modality('TEXT', 42), modality('IMAGE', 258)],
        candidatesTokensDetails: [modality('IMAGE', 1_120)],
      },
      'gemini-3-pro-image-preview',
    ),
    300 * 2_000 + 180 * 12_000 + 1_120 * 120_000,
  ),
  // gemini-3.8-flash: $0.75, $3.75; queries $14 per 1000, equal and empty ones once
  gemini(
    'searches of Gemini 3 in a stream',
    geminiStream(texts, flash, 'gemini-3.8-flash', { groundingMetadata: { webSearchQueries: ['a', 'b', 'a', ''] } }),
    1_000 * 750 + 200 * 3_750 + 2 * 14_000_000,
    { path: STREAM, type: SSE },
  ),
  gemini('counting tokens is free', Buffer.from('{"totalTokens":31}'), 0, {
    path: '/v1beta/models/gemini-2.5-flash:countTokens',
  }),
  // gemini-embedding-2: $0.20, images $0.45
  gemini(
    'an embedding of text and an image',
    {
      embedding: { values: [0.1, 0.2] },
      usageMetadata: { promptTokenCount: 300, promptTokensDetails: [modality('TEXT', 42), modality('IMAGE', 258)] },
    },
    42 * 200 + 258 * 450,
    { path: '/v1beta/models/gemini-embedding-2:embedContent', model: 'gemini-embedding-2' },
  ),
  // gemini-embedding-001: $0.15
  gemini(
    'embeddings by Vertex AI',
    {
      predictions: [
        { embeddings: { statistics: { token_count: 6, truncated: false }, values: [0.1] } },
        { embeddings: { statistics: { token_count: 5, truncated: false }, values: [0.2] } },
      ],
    },
    11 * 150,
    {
      path: '/v1/projects/p/locations/us-central1/publishers/google/models/gemini-embedding-001:predict',
      model: 'gemini-embedding-001',
    },
  ),
  gemini(
    'two images by Imagen, $0.04 each',
    { predictions: [{ bytesBase64Encoded: 'iVBO', mimeType: 'image/png' }, { bytesBase64Encoded: 'iVBO' }] },
    80_000_000,
    { path: '/v1beta/models/imagen-4.0-generate-001:predict', model: 'imagen-4.0-generate-001' },
  ),
  // Claude Sonnet 4.5 on Vertex AI: $3, $15, cache $0.30 / $3.75 / $6 for 1 h
  {
    name: 'Vertex AI: Claude',
    from: 'google',
    format: 'anthropic',
    path: '/v1/projects/p/locations/global/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict',
    model: 'claude-sonnet-4-5@20250929',
    body: { model: 'claude-sonnet-4-5-20250929', content: [], usage: { ...claudeInput, output_tokens: 500 } },
    cost: 100 * 3_000 + 300 * 3_750 + 100 * 6_000 + 3_000 * 300 + 500 * 15_000,
  },

  // Nova Pro: $0.80, $3.20, $0.20 cached
  bedrock(
    'Converse with Nova',
    'amazon.nova-pro-v1:0',
    'converse',
    converseBody('Hi', { inputTokens: 1_000, outputTokens: 100, totalTokens: 1_100 }),
    1_000 * 800 + 100 * 3_200,
  ),
  bedrock(
    'ConverseStream with Nova, cached and for a priority tier (175 %)',
    'us.amazon.nova-pro-v1:0',
    'converse-stream',
    converseStream(
      texts,
      {
        inputTokens: 200,
        outputTokens: 100,
        totalTokens: 5_300,
        cacheReadInputTokens: 5_000,
        cacheWriteInputTokens: 0,
      },
      { serviceTier: { type: 'priority' } },
    ),
    (200 * 800 + 5_000 * 200 + 100 * 3_200) * 1.75,
  ),
  bedrock(
    'Converse, optimized for latency (125 %)',
    'us.amazon.nova-pro-v1:0',
    'converse',
    converseBody('Hi', { inputTokens: 1_000, outputTokens: 100 }, { performanceConfig: { latency: 'optimized' } }),
    (1_000 * 800 + 100 * 3_200) * 1.25,
  ),
  // Claude Sonnet 4.5 in a region group: $3.30, $16.50, cache $0.33 / $4.125 / $6.60 for 1 h
  bedrock(
    'ConverseStream with Claude, cache writes of both lifetimes',
    SONNET,
    'converse-stream',
    converseStream(texts, {
      inputTokens: 100,
      outputTokens: 500,
      totalTokens: 4_000,
      cacheReadInputTokens: 3_000,
      cacheWriteInputTokens: 400,
      cacheDetails: [
        { inputTokens: 100, ttl: '1h' },
        { inputTokens: 300, ttl: '5m' },
      ],
    }),
    100 * 3_300 + 300 * 4_125 + 100 * 6_600 + 3_000 * 330 + 500 * 16_500,
  ),
  bedrock(
    'InvokeModel with Claude: the region group of the request decides the price',
    SONNET,
    'invoke',
    { model: 'claude-sonnet-4-5-20250929', content: [], usage: { ...claudeInput, output_tokens: 500 } },
    100 * 3_300 + 300 * 4_125 + 100 * 6_600 + 3_000 * 330 + 500 * 16_500,
  ),
  bedrock(
    'InvokeModelWithResponseStream with Claude',
    SONNET,
    'invoke-with-response-stream',
    claudeOnBedrockStream(texts, claudeInput, { output_tokens: 500 }),
    100 * 3_300 + 300 * 4_125 + 100 * 6_600 + 3_000 * 330 + 500 * 16_500,
  ),
  // claude-3-opus, the dearest model of Bedrock: $15, $75
  bedrock(
    'an application profile without a known model costs the dearest one',
    'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc',
    'converse',
    converseBody('Hi', { inputTokens: 1_000, outputTokens: 100 }),
    1_000 * 15_000 + 100 * 75_000,
  ),
  bedrock(
    'InvokeModel with Nova',
    'amazon.nova-pro-v1:0',
    'invoke',
    { output: {}, usage: { inputTokens: 300, outputTokens: 40, cacheReadInputTokenCount: 100, totalTokens: 440 } },
    300 * 800 + 100 * 200 + 40 * 3_200,
  ),
  bedrock(
    'InvokeModelWithResponseStream with Nova',
    'amazon.nova-pro-v1:0',
    'invoke-with-response-stream',
    Buffer.concat([
      modelEvent({ messageStart: { role: 'assistant' } }),
      ...texts.map((text) => modelEvent({ contentBlockDelta: { delta: { text }, contentBlockIndex: 0 } })),
      modelEvent({ metadata: { usage: { inputTokens: 300, outputTokens: 40 }, metrics: {} } }),
    ]),
    300 * 800 + 40 * 3_200,
  ),
  // Titan Text Express: $0.20, $0.60
  bedrock(
    'InvokeModel with Titan',
    'amazon.titan-text-express-v1',
    'invoke',
    {
      inputTextTokenCount: 50,
      results: [
        { tokenCount: 60, outputText: 'a' },
        { tokenCount: 4, outputText: 'b' },
      ],
    },
    50 * 200 + 64 * 600,
  ),
  bedrock(
    'InvokeModelWithResponseStream with Titan',
    'amazon.titan-text-express-v1',
    'invoke-with-response-stream',
    Buffer.concat([
      modelEvent({ outputText: 'a', index: 0, totalOutputTextTokenCount: null, inputTextTokenCount: 50 }),
      modelEvent({
        outputText: 'b',
        totalOutputTextTokenCount: 64,
        'amazon-bedrock-invocationMetrics': { inputTokenCount: 50, outputTokenCount: 64, invocationLatency: 9 },
      }),
    ]),
    50 * 200 + 64 * 600,
  ),
  // Titan Embeddings v2: $0.02
  bedrock(
    'InvokeModel with Titan embeddings',
    'amazon.titan-embed-text-v2:0',
    'invoke',
    { embedding: [0.1], inputTextTokenCount: 700 },
    700 * 20,
  ),
  // Llama 3.3 70B: $0.72 both
  bedrock(
    'InvokeModel with Llama',
    'us.meta.llama3-3-70b-instruct-v1:0',
    'invoke',
    { generation: 'Hi', prompt_token_count: 25, generation_token_count: 300, stop_reason: 'stop' },
    325 * 720,
  ),
  bedrock(
    'InvokeModelWithResponseStream with Llama',
    'us.meta.llama3-3-70b-instruct-v1:0',
    'invoke-with-response-stream',
    Buffer.concat([
      modelEvent({ generation: 'a', prompt_token_count: 25, generation_token_count: 1, stop_reason: null }),
      modelEvent({
        generation: '',
        prompt_token_count: null,
        generation_token_count: 300,
        'amazon-bedrock-invocationMetrics': { inputTokenCount: 25, outputTokenCount: 300 },
      }),
    ]),
    325 * 720,
  ),
  // Mistral Large 2402: $4, $12; the body has no usage
  {
    ...bedrock(
      'InvokeModel with Mistral',
      'mistral.mistral-large-2402-v1:0',
      'invoke',
      { outputs: [{ text: 'Hi' }] },
      0,
    ),
    headers: ['x-amzn-bedrock-input-token-count', '40', 'x-amzn-bedrock-output-token-count', '7'],
    cost: 40 * 4_000 + 7 * 12_000,
  },
  bedrock(
    'InvokeModelWithResponseStream with Mistral',
    'mistral.mistral-large-2402-v1:0',
    'invoke-with-response-stream',
    Buffer.concat([
      modelEvent({ outputs: [{ text: 'Hi', stop_reason: null }] }),
      modelEvent({
        outputs: [{ text: '', stop_reason: 'stop' }],
        'amazon-bedrock-invocationMetrics': { inputTokenCount: 40, outputTokenCount: 7 },
      }),
    ]),
    40 * 4_000 + 7 * 12_000,
  ),
  // gpt-oss-120b: $0.15, $0.60
  bedrock(
    'InvokeModel with a model of OpenAI',
    'openai.gpt-oss-120b-1:0',
    'invoke',
    chatBodyOf('openai.gpt-oss-120b-1:0', { prompt_tokens: 80, completion_tokens: 90, total_tokens: 170 }),
    80 * 150 + 90 * 600,
  ),
  bedrock('an image by Nova Canvas', 'amazon.nova-canvas-v1:0', 'invoke', { images: ['iVBO', 'iVBO'] }, 160_000_000),
  bedrock('a ranking: $2 per 1000 queries', 'cohere.rerank-v3-5:0', 'invoke', { results: [{ index: 0 }] }, 2_000_000),

  // command-a: $2.50, $10
  cohere(
    'chat bills fewer tokens than the model reads',
    '/v2/chat',
    'command-a-03-2025',
    cohereBody('Hi', {
      billed_units: { input_tokens: 20, output_tokens: 124 },
      tokens: { input_tokens: 500, output_tokens: 130 },
      cached_tokens: 16,
    }),
    20 * 2_500 + 124 * 10_000,
  ),
  {
    ...cohere(
      'chat as a stream',
      '/v2/chat',
      'command-a-03-2025',
      cohereStream(texts, { billed_units: { input_tokens: 20, output_tokens: 124 }, tokens: { input_tokens: 500 } }),
      20 * 2_500 + 124 * 10_000,
    ),
    type: SSE,
  },
  // embed-v4.0: $0.12, images $0.47
  cohere(
    'embeddings of text and images',
    '/v2/embed',
    'embed-v4.0',
    { embeddings: { float: [[0.1]] }, meta: { billed_units: { input_tokens: 30, image_tokens: 1_000, images: 1 } } },
    30 * 120 + 1_000 * 470,
  ),
  cohere(
    'rankings: $2 per 1000 search units',
    '/v2/rerank',
    'rerank-v3.5',
    { results: [], meta: { billed_units: { search_units: 3 } } },
    6_000_000,
  ),
  cohere('tokenizing is free', '/v1/tokenize', 'command-a-03-2025', { tokens: [1, 2] }, 0),

  // gpt-5-mini on Azure: $0.25, $2, $0.025 cached; the path names the deployment, the response the model
  chat(
    'azure',
    'gpt-5-mini-2025-08-07',
    { prompt_tokens: 2_006, completion_tokens: 300, prompt_tokens_details: { cached_tokens: 1_920 } },
    86 * 250 + 1_920 * 25 + 300 * 2_000,
    { path: '/openai/deployments/chat/chat/completions', model: 'chat' },
  ),
  // OpenRouter: the same prices; states what it charges
  {
    ...chat('openrouter', 'openai/gpt-5-mini', {}, 86 * 250 + 1_920 * 25 + 300 * 2_000),
    type: SSE,
    body: chatStreamOf('openai/gpt-5-mini', texts, {
      usage: {
        prompt_tokens: 2_006,
        completion_tokens: 300,
        total_tokens: 2_306,
        cost: 0.00067,
        cost_details: { upstream_inference_cost: 0.00066 },
        prompt_tokens_details: { cached_tokens: 1_920, cache_write_tokens: 0 },
      },
    }),
  },
  // Groq: llama-3.3-70b $0.59, $0.79; usage under x_groq where it was not requested
  chat(
    'groq',
    'llama-3.3-70b-versatile',
    { prompt_tokens: 100, completion_tokens: 40, queue_time: 0.1 },
    59_000 + 31_600,
  ),
  {
    ...chat('groq', 'llama-3.3-70b-versatile', {}, 59_000 + 31_600),
    name: 'groq: a stream without stream_options',
    type: SSE,
    body: chatStreamOf('llama-3.3-70b-versatile', texts, {
      x_groq: { id: 'req_1', usage: { prompt_tokens: 100, completion_tokens: 40, total_tokens: 140 } },
    }),
  },
  // mistral-large-2512: $0.50, $1.50, $0.05 cached; connectors: tokens as input, $10 per 1000 calls
  chat(
    'mistral',
    'mistral-large-2512',
    {
      prompt_tokens: 100,
      completion_tokens: 10,
      total_tokens: 610,
      num_cached_tokens: 64,
      connector_tokens: 500,
      connectors: { web_search: 2 },
    },
    536 * 500 + 64 * 50 + 10 * 1_500 + 2 * 10_000_000,
  ),
  // mistral-ocr-4-1: $5 per 1000 annotated pages
  chat('mistral', 'mistral-ocr-4-1', {}, 3 * 5_000_000, {
    path: '/v1/ocr',
    body: { pages: [{ index: 0, markdown: 'x' }], model: 'mistral-ocr-4-1', usage_info: { pages_processed: 3 } },
  }),
  // deepseek-v4-pro at noon UTC: $0.66, $1.98, $0.022 cached
  chat(
    'deepseek',
    'deepseek-v4-pro',
    {
      prompt_tokens: 1_000,
      completion_tokens: 100,
      prompt_cache_hit_tokens: 900,
      prompt_cache_miss_tokens: 100,
      completion_tokens_details: { reasoning_tokens: 60 },
    },
    100 * 660 + 900 * 22 + 100 * 1_980,
    { reading: { tokensCacheRead: 900, tokensReasoning: 60 } },
  ),
  // grok-4: $3, $15, $0.75 cached; reasoning only in the total
  chat(
    'x-ai',
    'grok-4-0709',
    {
      prompt_tokens: 100,
      completion_tokens: 10,
      total_tokens: 410,
      prompt_tokens_details: { cached_tokens: 60 },
      completion_tokens_details: { reasoning_tokens: 300 },
      num_sources_used: 0,
    },
    40 * 3_000 + 60 * 750 + 310 * 15_000,
    { reading: { tokensOut: 310, tokensReasoning: 300 } },
  ),
  // its own tools: $5 per 1000 calls
  chat(
    'x-ai',
    'grok-4-0709',
    { input_tokens: 100, output_tokens: 10, total_tokens: 110, num_server_side_tools_used: 7 },
    100 * 3_000 + 10 * 15_000 + 7 * 5_000_000,
    { name: 'x-ai: tools that it runs', path: '/v1/responses' },
  ),
  // Llama 3.3 70B Turbo on Together: $0.88 both
  chat(
    'together',
    'meta-llama/Llama-3.3-70B-Instruct-Turbo',
    { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150, cached_tokens: 0 },
    150 * 880,
  ),
  // DeepSeek V3.2 on Fireworks: $0.56, $1.68, $0.28 cached
  chat(
    'fireworks',
    'accounts/fireworks/models/deepseek-v3p2',
    { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150, prompt_tokens_details: { cached_tokens: 40 } },
    60 * 560 + 40 * 280 + 50 * 1_680,
  ),
  // sonar: $1 both and $12 per 1000 requests
  chat(
    'perplexity',
    'sonar',
    { prompt_tokens: 20, completion_tokens: 400, total_tokens: 420, search_context_size: 'high' },
    420 * 1_000 + 12_000_000,
  ),
  // sonar-deep-research: $2, $8, citations $2, reasoning $3, $5 per 1000 searches. Perplexity's own figure is $0.59962.
  chat(
    'perplexity',
    'sonar-deep-research',
    {
      prompt_tokens: 1_188,
      completion_tokens: 4_240,
      total_tokens: 5_428,
      citation_tokens: 8_014,
      num_search_queries: 54,
      reasoning_tokens: 92_431,
      cost: { total_cost: 0.59962 },
    },
    1_188 * 2_000 + 4_240 * 8_000 + 8_014 * 2_000 + 92_431 * 3_000 + 54 * 5_000_000,
  ),
  // Llama 3.3 70B on Cerebras: $0.85, $1.20
  chat('cerebras', 'llama-3.3-70b', { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 }, 85_000 + 60_000),
  // kimi-k2-0905-preview: $0.60, $2.50, $0.15 cached
  chat(
    'moonshotai',
    'kimi-k2-0905-preview',
    { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150, cached_tokens: 64 },
    36 * 600 + 64 * 150 + 50 * 2_500,
  ),
  {
    ...chat('moonshotai', 'kimi-k2-0905-preview', {}, 36 * 600 + 64 * 150 + 50 * 2_500),
    name: 'moonshotai: a stream with usage in its last choice',
    type: SSE,
    body: chatStreamOf('kimi-k2-0905-preview', texts, {
      choices: [
        {
          index: 0,
          delta: {},
          finish_reason: 'stop',
          usage: { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150, cached_tokens: 64 },
        },
      ],
    }),
  },
];

const bytesOf = (call: Call): Buffer =>
  Buffer.isBuffer(call.body) ? call.body : Buffer.from(JSON.stringify(call.body));

function read(call: Call, cuts: readonly number[] = []): UsageReading {
  const options: MeterOptions = {
    usageFormat: call.format,
    method: 'POST',
    path: call.path,
    requestBytes: 400,
    requestBlobBytes: 0,
    requestModel: call.model ?? null,
    requestItemCount: 0,
    requestedOutput: null,
    status: 200,
    contentType: call.type ?? 'application/json',
    contentEncoding: null,
    responseHeaders: call.headers ?? [],
    tokensOutMax: null,
    onDeferredUsage: null,
  };
  const meter = createMeter(options);
  const body = bytesOf(call);
  const edges = [0, ...cuts.map((cut) => cut % (body.length + 1)).sort((a, b) => a - b), body.length];
  for (let i = 1; i < edges.length; i++) {
    const chunk = Buffer.from(body.subarray(edges[i - 1], edges[i])); // wiped afterwards: the meter must not keep it
    meter.observe(chunk);
    chunk.fill(0x22);
  }
  return meter.finish(true);
}

function upstreamOf({ from, format }: Call): PricedUpstream {
  return { providerSlug: from, priceProvider: from, usageFormat: format, origin: 'https://vendor.example' };
}

describe('vendor calls: usage and price', () => {
  test.each(CALLS)('$name', (call) => {
    const reading = read(call);
    expect(prices.calculateCost({ upstream: upstreamOf(call), reading }).costNanos).toBe(call.cost);
    if (call.reading !== undefined) expect(reading).toMatchObject(call.reading);
    expect(reading.isMalformed).toBe(false);
  });

  test('covers at least 40 kinds of calls, and every usage format', () => {
    expect(CALLS.length).toBeGreaterThanOrEqual(40);
    expect(new Set(CALLS.map(({ format }) => format))).toEqual(
      new Set(['gemini', 'anthropic', 'bedrock', 'cohere', 'openai']),
    );
  });

  test.each(CALLS)('reads the same with any chunking: $name', (call) => {
    const whole = read(call);
    expect(read(call, [...Array(bytesOf(call).length).keys()])).toEqual(whole);
    fc.assert(
      fc.property(fc.array(fc.nat(100_000), { maxLength: 20 }), (cuts) => {
        expect(read(call, cuts)).toEqual(whole);
      }),
      { numRuns: 20 },
    );
  });

  test('a call that is cut at any byte costs at least its input, and never more than 10 times its price', () => {
    for (const call of CALLS.filter(({ type }) => type === SSE || type === AWS_STREAM)) {
      const body = bytesOf(call);
      for (let end = 1; end < body.length; end += 37) {
        const meter = createMeter({
          usageFormat: call.format,
          method: 'POST',
          path: call.path,
          requestBytes: 400,
          requestBlobBytes: 0,
          requestModel: call.model ?? null,
          requestItemCount: 0,
          requestedOutput: null,
          status: 200,
          contentType: call.type!,
          contentEncoding: null,
          responseHeaders: [],
          tokensOutMax: null,
          onDeferredUsage: null,
        });
        meter.observe(body.subarray(0, end));
        const { costNanos } = prices.calculateCost({ upstream: upstreamOf(call), reading: meter.finish(false) });
        expect(costNanos, `${call.name} at ${end}`).toBeGreaterThan(0);
        expect(costNanos, `${call.name} at ${end}`).toBeLessThanOrEqual(10 * call.cost);
      }
    }
  });
});

test('keeps the cost that the provider states', () => {
  const stated = (name: string): number | null =>
    read(CALLS.find((call) => call.name === name)!).extras.statedCostNanos;
  expect(stated('openrouter: openai/gpt-5-mini')).toBe(670_000);
  expect(stated('perplexity: sonar-deep-research')).toBe(599_620_000);
  expect(stated('groq: llama-3.3-70b-versatile')).toBeNull();
  const xai = chat('x-ai', 'grok-4-0709', { prompt_tokens: 1, completion_tokens: 1, cost_in_usd_ticks: 37_756_000 }, 0);
  expect(read(xai).extras.statedCostNanos).toBe(3_775_600);
  for (const cost of [-1, 1e9, '0.1', null, { total_cost: 'x' }]) {
    const odd = chat('openrouter', 'openai/gpt-5-mini', { prompt_tokens: 1, completion_tokens: 1, cost }, 0);
    expect(read(odd).extras.statedCostNanos).toBeNull();
  }
});
