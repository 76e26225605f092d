/**
 * What a hard budget reserves for calls of Google, Amazon Bedrock, Cohere and vendors with OpenAI's format. Prices are in
 * nano-dollars per token.
 */
import { expect, test } from 'vitest';
import { computeReservationFor, type ReservationRequest } from '../call/testing/compute-reservation-fixture.js';
import { createTestPdf } from '../scan/media/testing/pdf-fixture.js';

/** Tokens for what vendors add to a request of these formats. */
const ADDED = 1_000;
const PER_TOOL = 64;

const FLASH = '/v1beta/models/gemini-2.5-flash:generateContent';
const IMAGEN = '/v1beta/models/imagen-4.0-generate-001:predict';
const google = (body: object | string, path = FLASH): ReservationRequest => ({ provider: 'google', path, body });
const ask = (more: object = {}) => ({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], ...more });
const asked = (part: object, more: object = {}) =>
  google({ contents: [{ role: 'user', parts: [part] }], generationConfig: { maxOutputTokens: 10 }, ...more });

const NOVA = 'amazon.nova-pro-v1:0';
const CLAUDE = 'global.anthropic.claude-sonnet-4-5-20250929-v1:0';
const LLAMA = 'us.meta.llama3-3-70b-instruct-v1:0';
const TITAN = 'amazon.titan-text-express-v1';
const MISTRAL = 'mistral.mistral-large-2402-v1:0';
const aws = (body: object | string, operation = 'converse', model = NOVA): ReservationRequest => ({
  provider: 'aws',
  path: `/model/${encodeURIComponent(model)}/${operation}`,
  body,
});
const CONVERSE = { messages: [{ role: 'user', content: [{ text: 'Hi' }] }], inferenceConfig: { maxTokens: 50 } };
const conversed = (block: object, model = CLAUDE): ReservationRequest =>
  aws({ messages: [{ role: 'user', content: [block] }], inferenceConfig: { maxTokens: 50 } }, 'converse', model);
const CACHED = { type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '1h' } };

const cohere = (body: object, path = '/v2/chat'): ReservationRequest => ({ provider: 'cohere', path, body });
const chat = (provider: string, body: object): ReservationRequest => ({ provider, path: '/v1/chat/completions', body });

test.each([
  ['Bedrock', aws(CONVERSE, 'invoke'), 'x-amzn-bedrock-service-tier', 'priority', 'flex'],
  ['Bedrock, latency', aws(CONVERSE, 'invoke'), 'x-amzn-bedrock-performanceconfig-latency', 'optimized', 'standard'],
  ['Vertex AI', google(ask()), 'x-vertex-ai-llm-shared-request-type', 'Priority', 'flex'],
])('reservation: %s, a fast tier that a header asks for', (_what, call, name, fast, slow) => {
  const held = (...headers: string[]): number => Number(computeReservationFor({ ...call, headers }));
  expect(held(name, fast)).toBeGreaterThan(1.2 * held());
  expect(held(name, slow, name, fast)).toBe(held(name, fast));
  expect(held(name, slow)).toBe(held());
  expect(held(name, 'unknown')).toBeGreaterThanOrEqual(held(name, fast));
});

/** Price of input, number of output tokens, price of output. */
test.each<[string, ReservationRequest, number, number, number]>([
  // gemini-2.5-flash: $1 for audio is the highest input price, $2.50 out
  ['Gemini, a stated maximum', google(ask({ generationConfig: { maxOutputTokens: 200 } })), 1_000, 200, 2_500],
  ['Gemini, no maximum', google(ask()), 1_000, 4_096, 2_500],
  [
    'Gemini, several candidates',
    google(ask({ generationConfig: { maxOutputTokens: 200, candidateCount: 3 } })),
    1_000,
    600,
    2_500,
  ],
  [
    'Gemini, the other spelling of its names',
    google(ask({ generation_config: { max_output_tokens: 200 } })),
    1_000,
    200,
    2_500,
  ],
  [
    'Gemini, priority at twice the price',
    google(ask({ generationConfig: { maxOutputTokens: 200 }, serviceTier: 'SERVICE_TIER_PRIORITY' })),
    2_000,
    200,
    5_000,
  ],
  [
    'Gemini, tools that the agent runs',
    google(ask({ generationConfig: { maxOutputTokens: 5 }, tools: [{ functionDeclarations: [{ name: 'f' }] }] })),
    1_000,
    5,
    2_500,
  ],
  [
    'Vertex AI, a stream',
    google(
      ask({ generationConfig: { maxOutputTokens: 200 } }),
      '/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-flash:streamGenerateContent',
    ),
    1_000,
    200,
    2_500,
  ],
  // gemini-embedding-001: $0.15
  [
    'an embedding',
    google({ content: { parts: [{ text: 'Hi' }] } }, '/v1beta/models/gemini-embedding-001:embedContent'),
    150,
    0,
    0,
  ],
  // nova-pro: $0.80, $3.20
  ['Converse', aws(CONVERSE), 800, 50, 3_200],
  ['ConverseStream', aws(CONVERSE, 'converse-stream'), 800, 50, 3_200],
  [
    'Converse, tools that the agent runs',
    aws({ ...CONVERSE, toolConfig: { tools: [{ toolSpec: { name: 'f' } }] } }),
    800,
    50,
    3_200,
  ],
  ['Converse, priority at 175 %', aws({ ...CONVERSE, serviceTier: { type: 'priority' } }), 1_400, 50, 5_600],
  [
    'Converse, a latency that may cost as much as priority',
    aws({ ...CONVERSE, performanceConfig: { latency: 'optimized' } }),
    1_400,
    50,
    5_600,
  ],
  [
    'Converse, fields of the model',
    aws({ ...CONVERSE, additionalModelRequestFields: { inferenceConfig: { topK: 9 } } }),
    800,
    50,
    3_200,
  ],
  ['InvokeModel with Nova', aws({ inferenceConfig: { max_new_tokens: 50 } }, 'invoke'), 800, 50, 3_200],
  // Claude Sonnet 4.5: $3, $15, $6 for a cache write of an hour
  ['InvokeModel with Claude', aws({ max_tokens: 50, messages: [] }, 'invoke', CLAUDE), 3_000, 50, 15_000],
  [
    'InvokeModel with Claude and a cache',
    aws({ max_tokens: 50, system: [CACHED] }, 'invoke', CLAUDE),
    6_000,
    50,
    15_000,
  ],
  [
    'Converse with Claude and a cache',
    aws({ ...CONVERSE, system: [{ cachePoint: { type: 'default', ttl: '1h' } }] }, 'converse', CLAUDE),
    6_000,
    50,
    15_000,
  ],
  // Titan Text Express: $0.20, $0.60; Llama 3.3 70B: $0.72; Mistral Large 2402: $4, $12
  ['InvokeModel with Titan', aws({ textGenerationConfig: { maxTokenCount: 50 } }, 'invoke', TITAN), 200, 50, 600],
  ['InvokeModel with Llama', aws({ prompt: 'Hi', max_gen_len: 50 }, 'invoke', LLAMA), 720, 50, 720],
  ['InvokeModel with Mistral', aws({ prompt: 'Hi', max_tokens: 50 }, 'invoke', MISTRAL), 4_000, 50, 12_000],
  ['the maximum of another family', aws({ prompt: 'Hi', max_tokens: 50 }, 'invoke', LLAMA), 720, 4_096, 720],
  // command-a: $2.50, $10
  [
    'Cohere',
    cohere({ model: 'command-a-03-2025', max_tokens: 50, documents: [{ id: 'a', data: { text: 'x' } }] }),
    2_500,
    50,
    10_000,
  ],
])('reserves text and output: %s', (_what, request, inRate, tokensOut, outRate) => {
  const text = JSON.stringify(request.body);
  const tokensIn = Buffer.byteLength(text) + ADDED + (text.includes('"tools"') ? PER_TOOL : 0);
  expect(computeReservationFor(request)).toBe(Math.ceil(tokensIn * inRate + tokensOut * outRate));
});

test.each(['global.anthropic.claude-sonnet-4-5-20250929-v1:0', 'global.anthropic.claude-sonnet-4-20250514-v1:0'])(
  'the window that a beta of Claude extends: %s',
  (model) => {
    const body = {
      max_tokens: 10,
      anthropic_beta: ['context-1m-2025-08-07'],
      messages: [{ role: 'user', content: 'x'.repeat(700_000) }],
    };
    expect(computeReservationFor(aws(body, 'invoke', model))).toBeGreaterThan(700_000 * 3_000);
  },
);

test('the window that a beta of Claude extends: Vertex AI', () => {
  const body = { max_tokens: 10, messages: [{ role: 'user', content: 'x'.repeat(700_000) }] };
  const path = '/v1/projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4@20250514:rawPredict';
  expect(computeReservationFor({ ...google(body, path), format: 'anthropic' })).toBeGreaterThan(700_000 * 3_000);
});

const pixels = Buffer.alloc(30_000, 1).toString('base64');
const pdf = createTestPdf({ pages: 2, charsPerPage: 100 }).toString('base64');
const MILLION = 1_048_576 * 1.05;

/** Least and most nano-dollars. */
test.each<[string, ReservationRequest, number, number]>([
  [
    'an image of Gemini: 5 000 tokens',
    asked({ inlineData: { mimeType: 'image/png', data: pixels } }),
    5_000_000,
    6_500_000,
  ],
  ['the other spelling', asked({ inline_data: { mime_type: 'image/png', data: pixels } }), 5_000_000, 6_500_000],
  ['a PDF of Gemini', asked({ inlineData: { mimeType: 'application/pdf', data: pdf } }), 16_000_000, 40_000_000],
  [
    'sound of Gemini: the window',
    asked({ inlineData: { mimeType: 'audio/wav', data: pixels } }),
    MILLION * 1_000,
    MILLION * 1_001,
  ],
  ['a file of Gemini: the window', asked({ fileData: { fileUri: 'gs://b/o' } }), MILLION * 1_000, MILLION * 1_001],
  [
    'results of a tool',
    asked({ functionResponse: { id: 'f', name: 'f', response: { url: 'https://x', data: 'y' } } }),
    1_000_000,
    1_500_000,
  ],
  [
    'an image of Claude on Bedrock',
    conversed({ image: { format: 'png', source: { bytes: pixels } } }),
    15_000_000,
    20_000_000,
  ],
  [
    'an image of Nova: the window',
    conversed({ image: { format: 'png', source: { bytes: pixels } } }, NOVA),
    240_000_000,
    241_000_000,
  ],
  [
    'a PDF of Claude on Bedrock',
    conversed({ document: { format: 'pdf', name: 'a', source: { bytes: pdf } } }),
    48_000_000,
    100_000_000,
  ],
  [
    'a text document',
    conversed({ document: { format: 'txt', name: 'a', source: { bytes: 'aGk=' } } }),
    3_000_000,
    5_000_000,
  ],
  [
    'a spreadsheet: the window',
    conversed({ document: { format: 'xlsx', name: 'a', source: { bytes: 'aGk=' } } }),
    1_050_000 * 3_000,
    1_051_000 * 3_000,
  ],
  [
    'a document in a bucket: the window',
    conversed({ document: { format: 'pdf', name: 'a', source: { s3Location: { uri: 's3://b/o' } } } }),
    1_050_000 * 3_000,
    1_051_000 * 3_000,
  ],
  [
    'a film: the window',
    conversed({ video: { format: 'mp4', source: { bytes: pixels } } }),
    1_050_000 * 3_000,
    1_051_000 * 3_000,
  ],
  [
    'a result of a tool',
    conversed({ toolResult: { toolUseId: 't', content: [{ json: { url: 'https://x' } }] } }),
    3_000_000,
    5_000_000,
  ],
  [
    'two images by Nova Canvas',
    aws({ imageGenerationConfig: { numberOfImages: 2 } }, 'invoke', 'amazon.nova-canvas-v1:0'),
    160_000_000,
    160_000_000,
  ],
  [
    'two images by Stable Diffusion',
    aws({ prompt: 'x', n: 2 }, 'invoke', 'us.stability.sd3-5-large-v1:0'),
    2 * 24_000 * 75_000,
    2 * 24_000 * 75_000 + 200_000_000,
  ],
  ['images by Imagen, at least four', google({ instances: [{ prompt: 'x' }] }, IMAGEN), 160_000_000, 160_000_000],
  [
    'more images by Imagen',
    google({ instances: [{ prompt: 'x' }], parameters: { sampleCount: 8 } }, IMAGEN),
    320_000_000,
    320_000_000,
  ],
  [
    'a ranking of 250 documents',
    cohere({ model: 'rerank-v3.5', query: 'q', documents: Array(250).fill('d') }, '/v2/rerank'),
    6_000_000,
    6_000_000,
  ],
  [
    'a ranking on Bedrock',
    aws({ query: 'q', documents: ['d'] }, 'invoke', 'cohere.rerank-v3-5:0'),
    2_000_000,
    2_000_000,
  ],
  [
    'the dearest model for an unknown profile',
    aws(CONVERSE, 'converse', 'arn:aws:bedrock:us-east-1:1:application-inference-profile/x'),
    36_000_000,
    37_000_000,
  ],
  [
    'a request to Perplexity: its fee',
    chat('perplexity', { model: 'sonar', max_tokens: 10, messages: [] }),
    12_000_000,
    12_100_000,
  ],
  [
    'research without a bound',
    chat('perplexity', { model: 'sonar-deep-research', messages: [] }),
    Number.MAX_SAFE_INTEGER,
    Number.MAX_SAFE_INTEGER,
  ],
  [
    'images to embed: the window',
    cohere({ model: 'embed-v4.0', images: ['data:image/png;base64,aa'] }, '/v2/embed'),
    2_000_000 * 470,
    2_100_000 * 470,
  ],
  [
    'images beside the prompt of Llama: the window',
    aws({ prompt: 'Hi', max_gen_len: 9, images: ['aGk='] }, 'invoke', LLAMA),
    128_000 * 720,
    128_000 * 720 + 9 * 720,
  ],
  ...['document_url', 'input_audio', 'audio_url', 'video_url'].map<[string, ReservationRequest, number, number]>(
    (type) => [
      `an address in ${type}: the window`,
      chat('mistral', {
        model: 'mistral-large-2411',
        max_tokens: 9,
        messages: [{ role: 'user', content: [{ type, [type]: 'https://example.com/a' }] }],
      }),
      2_100_000 * 2_000,
      2_100_000 * 2_000 + 100_000,
    ],
  ),
  [
    'a maximum that another call knows',
    { provider: 'perplexity', path: '/v1/sonar', body: { model: 'sonar', max_output_tokens: 1, messages: [] } },
    12_000_000 + 4_096 * 1_000,
    20_000_000,
  ],
  [
    'a maximum that no summary knows',
    cohere({ model: 'command-a-03-2025', max_tokens: 1, text: 'x' }, '/v1/summarize'),
    4_096 * 10_000,
    50_000_000,
  ],
  [
    'an image by OpenRouter',
    {
      provider: 'openrouter',
      path: '/api/v1/images',
      body: { model: 'google/gemini-2.5-flash-image', prompt: 'x', n: 2 },
    },
    2 * 24_000 * 2_500,
    2 * 24_000 * 2_500 * 13,
  ],
  ['Groq', chat('groq', { model: 'llama-3.3-70b-versatile', max_tokens: 1_000, messages: [] }), 790_000, 900_000],
  [
    'a deployment of Azure with an unknown name',
    { provider: 'azure', path: '/openai/deployments/mine/chat/completions', body: { max_tokens: 1_000, messages: [] } },
    180_000_000,
    290_000_000,
  ],
])('reserves what is no text: %s', (_what, request, least, most) => {
  const nanos = computeReservationFor(request);
  expect(nanos).toBeGreaterThanOrEqual(least);
  expect(nanos).toBeLessThanOrEqual(most);
});

test.each<[string, ReservationRequest]>([
  ['a search of Google', google(ask({ tools: [{ googleSearch: {} }] }))],
  ['a search beside own functions', google(ask({ tools: [{ functionDeclarations: [], googleSearch: {} }] }))],
  ['its other spelling', google(ask({ tools: [{ google_search: {} }] }))],
  ['a tool that is null', google(ask({ tools: [{ functionDeclarations: [], codeExecution: null }] }))],
  ['a cache, which can contain tools', google(ask({ cachedContent: 'cachedContents/1' }))],
  ...[{ extra_body: { google: { cached_content: 'cachedContents/1' } } }, { google: { cached_content: 'x' } }].map<
    [string, ReservationRequest]
  >((more) => [
    `a cache in ${Object.keys(more)[0]}`,
    {
      provider: 'google',
      format: 'openai',
      path: '/v1beta/openai/chat/completions',
      body: { model: 'gemini-2.5-flash', max_tokens: 9, messages: [], ...more },
    },
  ]),
  ['a film', google({ instances: [] }, '/v1beta/models/veo-3.0:predictLongRunning')],
  ['a batch', google({}, '/v1beta/models/gemini-2.5-flash:batchGenerateContent')],
  ['a tool of Amazon', aws({ ...CONVERSE, toolConfig: { tools: [{ systemTool: { name: 'nova_grounding' } }] } })],
  ['two tools in one', aws({ ...CONVERSE, toolConfig: { tools: [{ toolSpec: {}, systemTool: {} }] } })],
  [
    'another maximum among the fields of the model',
    aws({ ...CONVERSE, additionalModelRequestFields: { max_tokens: 9_000 } }),
  ],
  ['a nested one', aws({ ...CONVERSE, additionalModelRequestFields: { inferenceConfig: { maxTokens: 9_000 } } })],
  ['a stored prompt', aws(CONVERSE, 'converse', 'arn:aws:bedrock:us-east-1:1:prompt/P:1')],
  ['variables of one', aws({ ...CONVERSE, promptVariables: { a: { text: 'x' } } })],
  ['work that continues', aws({}, 'async-invoke')],
  ['a search of Claude', aws({ max_tokens: 9, tools: [{ type: 'web_search_20250305' }] }, 'invoke', CLAUDE)],
  ['connectors of Cohere', cohere({ model: 'command-a-03-2025', connectors: [{ id: 'web-search' }] })],
  ['live search of xAI', chat('x-ai', { model: 'grok-4-0709', search_parameters: { mode: 'on' } })],
  ['a system that searches', chat('groq', { model: 'groq/compound', messages: [] })],
  ['a variant that searches', chat('openrouter', { model: 'openai/gpt-5:online', messages: [] })],
  ['pages of a document', { provider: 'mistral', path: '/v1/ocr', body: { model: 'mistral-ocr-latest' } }],
])('rejects what has no bound: %s', (_what, request) => {
  expect(computeReservationFor(request)).toBe('unmetered');
});

test.each<[string, ReservationRequest]>([
  ['a maximum in two spellings', google(ask({ generationConfig: { maxOutputTokens: 1, max_output_tokens: 9 } }))],
  ['settings in two spellings', google(ask({ generationConfig: { maxOutputTokens: 1 }, generation_config: {} }))],
  ['a maximum that is a string', google(ask({ generationConfig: { maxOutputTokens: '200' } }))],
  ['a maximum in a spelling that is not read', google(ask({ generationConfig: { MaxOutputTokens: 200 } }))],
  ['settings in a spelling that is not read', aws({ messages: [], InferenceConfig: { maxTokens: 5 } })],
  ['two maxima', aws({ inferenceConfig: { maxTokens: 5, max_new_tokens: 6 } }, 'invoke')],
  ['a number of candidates that is none', google(ask({ generationConfig: { candidateCount: 1.5 } }))],
])('rejects what is ambiguous: %s', (_what, request) => {
  expect(computeReservationFor(request)).toBe('bad_request');
});

test('rejects a name that is given twice', () => {
  expect(computeReservationFor(google('{"generationConfig":{"maxOutputTokens":1,"maxOutputTokens":9}}'))).toBe(
    'ambiguous',
  );
});
