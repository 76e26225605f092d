import { OPENAI_RATE_LIMITED_RESPONSE, OpenAiStandIn, SPEECH_BYTES } from '@acg/stand-in-provider/openai';
import { CHAT_USAGE } from '@acg/stand-in-provider/openai-chat-bodies';
import OpenAI, { APIError, toFile } from 'openai';
import OpenAIv4 from 'openai-v4';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';
import { InProcessGateway, type ProviderRoute } from './in-process-gateway.js';

let provider: OpenAiStandIn;
let gateway: InProcessGateway;

beforeAll(async () => {
  provider = await new OpenAiStandIn().start();
  gateway = await InProcessGateway.start([
    { slug: 'openai', origin: provider.origin, credentials: { apiKey: PROVIDER_CREDENTIALS.openai } },
  ]);
});
afterAll(async () => {
  await gateway.stop();
  await provider.close();
});
beforeEach(() => {
  provider.requests.length = 0;
});

const MESSAGES = [{ role: 'user' as const, content: 'hi – ✓' }];
const SAID = 'Hello from the provider – ✓.';
const route = (way: string): ProviderRoute =>
  way === 'direct' ? { baseUrl: provider.origin, key: PROVIDER_CREDENTIALS.openai } : gateway.route('openai');

describe.each(['direct', 'gateway'])('openai SDK, %s', (way) => {
  const client = (): OpenAI =>
    new OpenAI({ baseURL: `${route(way).baseUrl}/v1`, apiKey: route(way).key, maxRetries: 0 });

  test('chat completion', async () => {
    const answer = await client().chat.completions.create({ model: 'gpt-5-mini', messages: MESSAGES });
    expect(answer.choices[0]?.message.content).toBe(SAID);
    expect(answer.usage).toEqual(CHAT_USAGE);
    expect(provider.lastRequest.target).toBe('/v1/chat/completions');
  });

  test('streamed chat completion, chunk by chunk', async () => {
    const stream = await client().chat.completions.create({ model: 'gpt-5-mini', messages: MESSAGES, stream: true });
    const words: string[] = [];
    for await (const chunk of stream) words.push(chunk.choices[0]?.delta.content ?? '');
    expect(words.join('')).toBe(SAID);
    expect(words.length).toBe(provider.answerWords.length + 2);
  });

  test('streamed chat completion with usage', async () => {
    const stream = await client().chat.completions.create({
      model: 'gpt-5-mini',
      messages: MESSAGES,
      stream: true,
      stream_options: { include_usage: true },
    });
    let usage: unknown = null;
    for await (const chunk of stream) usage = chunk.usage ?? usage;
    expect(usage).toEqual(CHAT_USAGE);
  });

  test('stream helper', async () => {
    const stream = client().chat.completions.stream({ model: 'gpt-5-mini', messages: MESSAGES });
    expect((await stream.finalMessage()).content).toBe(SAID);
  });

  test('responses, whole and streamed', async () => {
    const answer = await client().responses.create({ model: 'gpt-5-mini', input: 'hi' });
    expect(answer.output_text).toBe(SAID);
    const types: string[] = [];
    for await (const event of await client().responses.create({ model: 'gpt-5-mini', input: 'hi', stream: true })) {
      types.push(event.type);
    }
    expect(types.at(-1)).toBe('response.completed');
    expect(types.filter((type) => type === 'response.output_text.delta')).toHaveLength(provider.answerWords.length);
  });

  test('embeddings', async () => {
    const answer = await client().embeddings.create({ model: 'text-embedding-3-small', input: ['a', 'b'] });
    expect(answer.data.map(({ embedding }) => embedding)).toEqual([
      [0.25, -0.5, 0.125],
      [0.25, -0.5, 0.125],
    ]);
  });

  test('models', async () => {
    const ids: string[] = [];
    for await (const model of client().models.list()) ids.push(model.id);
    expect(ids).toEqual(['gpt-5-mini']);
  });

  test('multipart file upload', async () => {
    const bytes = Buffer.alloc(300_000, 'line of a file\n');
    const file = await client().files.create({ purpose: 'batch', file: await toFile(bytes, 'ünï cödé.jsonl') });
    expect(file.bytes).toBe(bytes.length);
    expect(provider.lastRequest.body.includes(bytes)).toBe(true);
  });

  test('binary response', async () => {
    const answer = await client().audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'hi' });
    expect(Buffer.from(await answer.arrayBuffer()).equals(SPEECH_BYTES)).toBe(true);
  });

  test("the provider's own errors arrive as errors of the SDK", async () => {
    const missing = client().chat.completions.create({ model: 'no-such-model', messages: MESSAGES });
    await expect(missing).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
    provider.failNext({ answer: OPENAI_RATE_LIMITED_RESPONSE });
    const limited = client().chat.completions.create({ model: 'gpt-5-mini', messages: MESSAGES });
    const error = await limited.catch((thrown: unknown) => thrown as APIError);
    expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    expect((error as APIError).headers?.get('retry-after')).toBe('7');
  });

  test('retries of the SDK reach the provider', async () => {
    provider.failNext({ answer: { ...OPENAI_RATE_LIMITED_RESPONSE, status: 500, headers: [['retry-after-ms', '1']] } });
    const retrying = new OpenAI({ baseURL: `${route(way).baseUrl}/v1`, apiKey: route(way).key, maxRetries: 1 });
    const answer = await retrying.chat.completions.create({ model: 'gpt-5-mini', messages: MESSAGES });
    expect(answer.choices[0]?.message.content).toBe(SAID);
    expect(provider.requests).toHaveLength(2);
  });

  test('a stream that the provider aborts ends in an error and never looks complete', async () => {
    provider.failNext({ cutAfterBytes: 700 });
    const read = async (): Promise<void> => {
      const stream = await client().chat.completions.create({ model: 'gpt-5-mini', messages: MESSAGES, stream: true });
      for await (const _chunk of stream);
    };
    await expect(read()).rejects.toThrow();
  });

  test('aborting a stream aborts the call at the provider', async () => {
    const before = provider.aborted;
    provider.failNext({ stallAfterBytes: 700 });
    const stream = await client().chat.completions.create({ model: 'gpt-5-mini', messages: MESSAGES, stream: true });
    const chunks = stream[Symbol.asyncIterator]();
    await chunks.next(); // the first chunk arrives before the provider has finished
    stream.controller.abort();
    await provider.until(() => provider.aborted > before);
  });

  test('the old major version', async () => {
    const old = new OpenAIv4({ baseURL: `${route(way).baseUrl}/v1`, apiKey: route(way).key, maxRetries: 0 });
    const answer = await old.chat.completions.create({ model: 'gpt-5-mini', messages: MESSAGES });
    expect(answer.choices[0]?.message.content).toBe(SAID);
    let said = '';
    for await (const chunk of await old.chat.completions.create({
      model: 'gpt-5-mini',
      messages: MESSAGES,
      stream: true,
    })) {
      said += chunk.choices[0]?.delta.content ?? '';
    }
    expect(said).toBe(SAID);
  });
});

test("openai SDK: the gateway's own rejection is a typed error with its text", async () => {
  const { baseUrl } = gateway.route('openai');
  const client = new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey: `acg_${'0'.repeat(64)}`, maxRetries: 0 });
  const error = await client.models.list().catch((thrown: unknown) => thrown as APIError);
  expect(error).toBeInstanceOf(APIError);
  expect(error).toMatchObject({ status: 401 });
  expect(provider.requests).toHaveLength(0);
});

test('openai: the provider receives the real credential once and nothing of the agent', async () => {
  const { baseUrl, key } = gateway.route('openai');
  const client = new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey: key, organization: 'org-x', maxRetries: 0 });
  await client.models.list();
  const { headers, rawHeaders } = provider.lastRequest;
  expect(rawHeaders.filter((name) => name.toLowerCase() === 'authorization')).toHaveLength(1);
  expect(headers.authorization).toBe(`Bearer ${PROVIDER_CREDENTIALS.openai}`);
  expect(headers.host).toBe(new URL(provider.origin).host);
  expect(headers['openai-organization']).toBeUndefined();
  expect(headers['accept-encoding']).toBe('identity');
  expect(rawHeaders.join('\n')).not.toContain('acg_');
});
