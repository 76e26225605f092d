import Anthropic from '@anthropic-ai/sdk';
import AnthropicV0 from 'anthropic-sdk-v0';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ANTHROPIC_OVERLOADED_RESPONSE, AnthropicStandIn } from '../stand-in-providers/anthropic.js';
import { MESSAGE_USAGE } from '../stand-in-providers/anthropic-message-bodies.js';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';
import { InProcessGateway, type ProviderRoute } from './in-process-gateway.js';

let provider: AnthropicStandIn;
let gateway: InProcessGateway;

beforeAll(async () => {
  provider = await new AnthropicStandIn().start();
  gateway = await InProcessGateway.start([
    { slug: 'anthropic', origin: provider.origin, credentials: { apiKey: PROVIDER_CREDENTIALS.anthropic } },
  ]);
});
afterAll(async () => {
  await gateway.stop();
  await provider.close();
});

test('a federated account: the beta of its token is added to those of the agent', async () => {
  const federated = await InProcessGateway.start([
    {
      slug: 'anthropic',
      origin: provider.origin,
      credentials: { method: 'federation', accessToken: PROVIDER_CREDENTIALS.anthropic },
    },
  ]);
  try {
    const { baseUrl, key } = federated.route('anthropic');
    for (const client of [
      new Anthropic({ baseURL: baseUrl, apiKey: key, maxRetries: 0 }),
      new AnthropicV0({ baseURL: baseUrl, apiKey: key, maxRetries: 0 }) as unknown as Anthropic,
    ]) {
      await client.messages.create(REQUEST);
      expect(provider.lastRequest.headers).toMatchObject({
        authorization: `Bearer ${PROVIDER_CREDENTIALS.anthropic}`,
        'anthropic-beta': 'oauth-2025-04-20',
      });
      expect(provider.lastRequest.headers['x-api-key']).toBeUndefined();
      await client.beta.messages.create({ ...REQUEST, betas: ['files-api-2025-04-14', 'context-1m-2025-08-07'] });
      expect(provider.lastRequest.headers['anthropic-beta']).toBe(
        'files-api-2025-04-14,context-1m-2025-08-07,oauth-2025-04-20',
      );
    }
  } finally {
    await federated.stop();
  }
});

beforeEach(() => {
  provider.requests.length = 0;
});

const REQUEST = {
  model: 'claude-haiku-4-5',
  max_tokens: 64,
  messages: [{ role: 'user' as const, content: 'hi' }],
};
const SAID = 'Hello from the provider – ✓.';
const route = (way: string): ProviderRoute =>
  way === 'direct' ? { baseUrl: provider.origin, key: PROVIDER_CREDENTIALS.anthropic } : gateway.route('anthropic');
/** Both major versions have the same calls; they send the key in different headers. */
const SDKS = {
  'v1 (bearer)': (way: string) => new Anthropic({ baseURL: route(way).baseUrl, apiKey: route(way).key, maxRetries: 0 }),
  'v0 (x-api-key)': (way: string) =>
    new AnthropicV0({ baseURL: route(way).baseUrl, apiKey: route(way).key, maxRetries: 0 }) as unknown as Anthropic,
};

describe.each(['direct', 'gateway'])('anthropic SDK, %s', (way) => {
  describe.each(Object.keys(SDKS) as (keyof typeof SDKS)[])('%s', (major) => {
    const client = (): Anthropic => SDKS[major](way);

    test('message', async () => {
      const message = await client().messages.create(REQUEST);
      expect(message.content).toEqual([{ type: 'text', text: SAID }]);
      expect(message.usage).toEqual(MESSAGE_USAGE);
      const form = major.startsWith('v1') ? 'authorization' : 'x-api-key';
      const other = major.startsWith('v1') ? 'x-api-key' : 'authorization';
      expect(provider.lastRequest.headers[form]).toContain(PROVIDER_CREDENTIALS.anthropic);
      expect(provider.lastRequest.headers[other]).toBeUndefined();
    });

    test('streamed message, event by event', async () => {
      const types: string[] = [];
      for await (const event of await client().messages.create({ ...REQUEST, stream: true })) types.push(event.type);
      expect(types[0]).toBe('message_start');
      expect(types.filter((type) => type === 'content_block_delta')).toHaveLength(provider.answerWords.length);
      expect(types.at(-1)).toBe('message_stop');
    });

    test('stream helper', async () => {
      expect(await client().messages.stream(REQUEST).finalText()).toBe(SAID);
    });

    test('token count and models', async () => {
      const { model, messages } = REQUEST;
      expect(await client().messages.countTokens({ model, messages })).toEqual({ input_tokens: 14 });
      const models = await client().models.list();
      expect(models.data[0]?.id).toBe('claude-haiku-4-5-20251001');
    });

    test('batches: results are fetched from the URL in the response', async () => {
      const batch = await client().messages.batches.create({
        requests: [{ custom_id: 'a', params: REQUEST }],
      });
      expect(batch.results_url).toBeNull();
      const ended = await client().messages.batches.retrieve(batch.id);
      expect(ended.results_url).toBe(`${route(way).baseUrl}/v1/messages/batches/msgbatch_one/results`);
      const ids: string[] = [];
      for await (const result of await client().messages.batches.results(batch.id)) ids.push(result.custom_id);
      expect(ids).toEqual(['a', 'b']);
      const listed = await client().messages.batches.list();
      expect(listed.data.map(({ results_url: url }) => url)).toEqual([
        `${route(way).baseUrl}/v1/messages/batches/msgbatch_one/results`,
        `${route(way).baseUrl}/v1/messages/batches/msgbatch_two/results`,
      ]);
    });

    test('529 overloaded arrives as such', async () => {
      provider.failNext({ answer: ANTHROPIC_OVERLOADED_RESPONSE });
      await expect(client().messages.create(REQUEST)).rejects.toMatchObject({ status: 529 });
    });

    test('a stream that the provider aborts ends in an error', async () => {
      provider.failNext({ cutAfterBytes: 900 });
      await expect(client().messages.stream(REQUEST).finalText()).rejects.toThrow();
    });
  });

  test('beta headers and query pass', async () => {
    const client = SDKS['v0 (x-api-key)'](way);
    await client.beta.messages.create({ ...REQUEST, betas: ['files-api-2025-04-14'] });
    expect(provider.lastRequest.target).toBe('/v1/messages?beta=true');
    expect(provider.lastRequest.headers['anthropic-beta']).toContain('files-api-2025-04-14');
  });

  test('authToken', async () => {
    const client = new Anthropic({ baseURL: route(way).baseUrl, authToken: route(way).key, apiKey: null });
    expect((await client.messages.create(REQUEST)).content).toEqual([{ type: 'text', text: SAID }]);
  });
});
