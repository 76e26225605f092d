/**
 * Real SDKs through the data plane's real server with its real metering: checks each field of the usage record of each
 * call. Expected costs are calculated by hand from the vendors' price lists beside each case.
 */

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ProviderMetering } from '@acg/dataplane/call/provider-metering';
import { CallCostCalculator } from '@acg/dataplane/pricing/call-cost-calculator';
import { type ILineUsage, type IUsageRecord, LineUsage } from '@acg/proto/messages';
import { OpenAiStandIn } from '@acg/stand-in-provider/openai';
import { CHAT_USAGE, chatCompletionEvents } from '@acg/stand-in-provider/openai-chat-bodies';
import { jsonResponse } from '@acg/stand-in-provider/stand-in-response';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { toFile } from 'openai';
import OpenAIv4 from 'openai-v4';
import { Resend } from 'resend';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { waitUntil } from '../fixtures/wait-until.js';
import { InProcessGateway } from '../sdk/in-process-gateway.js';
import { AnthropicStandIn } from '../stand-in-providers/anthropic.js';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';
import { ResendStandIn } from '../stand-in-providers/resend.js';

let openaiProvider: OpenAiStandIn;
let anthropicProvider: AnthropicStandIn;
let resendProvider: ResendStandIn;
/** A custom provider with OpenAI's format; each test sets its response. */
const compatible = createServer();
let gateway: InProcessGateway;

/** Deferred usage that was sent to the ledger. */
const deferredUsageBatches: ILineUsage[] = [];

beforeAll(async () => {
  openaiProvider = await new OpenAiStandIn().start();
  anthropicProvider = await new AnthropicStandIn().start();
  resendProvider = await new ResendStandIn().start();
  await new Promise<void>((done) => compatible.listen(0, '127.0.0.1', done));
  const compatibleOrigin = `http://127.0.0.1:${(compatible.address() as AddressInfo).port}`;
  const prices = new CallCostCalculator(() => Date.parse('2026-11-20T00:00:00Z'));
  prices.replaceOverrides({ overrides: [{ provider: 'resend', model: '', perRequestNanos: 400_000 }] });
  gateway = await InProcessGateway.start(
    [
      { slug: 'openai', origin: openaiProvider.origin, credentials: { apiKey: PROVIDER_CREDENTIALS.openai } },
      { slug: 'anthropic', origin: anthropicProvider.origin, credentials: { apiKey: PROVIDER_CREDENTIALS.anthropic } },
      { slug: 'compatible', origin: compatibleOrigin, credentials: {}, usageFormat: 'openai' },
      { slug: 'resend', origin: resendProvider.origin, credentials: { apiKey: PROVIDER_CREDENTIALS.resend } },
    ],
    new ProviderMetering(prices, { appendDeferredUsage: (lines) => void deferredUsageBatches.push(lines) }, 10_485_760),
  );
});
afterAll(async () => {
  await gateway.stop();
  compatible.closeAllConnections();
  compatible.close();
  await Promise.all([openaiProvider.close(), anthropicProvider.close(), resendProvider.close()]);
});
beforeEach(() => {
  gateway.fixture.records.length = 0;
  gateway.fixture.spend.length = 0;
});

const openai = (): OpenAI => {
  const { baseUrl, key } = gateway.route('openai');
  return new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey: key, maxRetries: 0 });
};
const anthropic = (): Anthropic => {
  const { baseUrl, key } = gateway.route('anthropic');
  return new Anthropic({ baseURL: baseUrl, apiKey: key, maxRetries: 0 });
};
const messages = [{ role: 'user' as const, content: 'hi' }];

/** Waits for the record of the only call so far. */
async function onlyRecord(): Promise<IUsageRecord> {
  await waitUntil('the record is there', () => gateway.fixture.records.length > 0);
  expect(gateway.fixture.records).toHaveLength(1);
  return gateway.fixture.records[0]!;
}

const countEvents = async (stream: AsyncIterable<unknown>): Promise<number> => {
  let chunks = 0;
  for await (const _ of stream) chunks++;
  return chunks;
};

/** 15 × $0.25 + 4 × $0.025 + 10 × $2 per million tokens. */
const CHAT = {
  model: 'gpt-5-mini-2025-08-07',
  tokensInUncached: 15,
  tokensCacheRead: 4,
  tokensCacheWrite: 0,
  tokensOut: 10,
  tokensReasoning: 3,
  costNanos: 3_750 + 100 + 20_000,
  usageSource: 'reported',
  priceSource: 'library',
  error: '',
};
/** 11 × $1 + 3 × $0.10 + 5 × $1.25 + 9 × $5 per million tokens. */
const MESSAGE = {
  model: 'claude-haiku-4-5-20251001',
  tokensInUncached: 11,
  tokensCacheRead: 3,
  tokensCacheWrite: 5,
  tokensOut: 9,
  costNanos: 11_000 + 300 + 6_250 + 45_000,
  usageSource: 'reported',
  priceSource: 'library',
  error: '',
};

describe('openai', () => {
  test('chat and responses, whole and streamed, with or without requested usage: the same usage', async () => {
    const calls: (() => Promise<unknown>)[] = [
      () => openai().chat.completions.create({ model: 'gpt-5-mini', messages }),
      async () => countEvents(await openai().chat.completions.create({ model: 'gpt-5-mini', messages, stream: true })),
      async () =>
        countEvents(
          await openai().chat.completions.create({
            model: 'gpt-5-mini',
            messages,
            stream: true,
            stream_options: { include_usage: true },
          }),
        ),
      () => openai().responses.create({ model: 'gpt-5-mini', input: 'hi' }),
      async () => countEvents(await openai().responses.create({ model: 'gpt-5-mini', input: 'hi', stream: true })),
      async () => {
        const { baseUrl, key } = gateway.route('openai');
        const old = new OpenAIv4({ baseURL: `${baseUrl}/v1`, apiKey: key, maxRetries: 0 });
        await countEvents(await old.chat.completions.create({ model: 'gpt-5-mini', messages, stream: true }));
      },
    ];
    for (const call of calls) {
      gateway.fixture.records.length = 0;
      gateway.fixture.spend.length = 0;
      await call();
      expect(await onlyRecord()).toMatchObject(CHAT);
      expect(gateway.fixture.spend.map(([, nanos]) => nanos)).toEqual([CHAT.costNanos]);
    }
  });

  test('a caller that did not request usage receives unchanged bytes', async () => {
    const ask = async (origin: string, key: string): Promise<string> => {
      const response = await fetch(`${origin}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-5-mini', messages, stream: true }),
      });
      return response.text();
    };
    const { baseUrl, key } = gateway.route('openai');
    const direct = await ask(openaiProvider.origin, PROVIDER_CREDENTIALS.openai);
    expect(await ask(baseUrl, key)).toBe(direct);
    expect(direct).not.toContain('usage');
    expect(openaiProvider.lastRequest.body.toString()).toContain('"stream_options":{"include_usage":true}');
    expect(await onlyRecord()).toMatchObject(CHAT);
  });

  test('embeddings', async () => {
    await openai().embeddings.create({ model: 'text-embedding-3-small', input: ['a', 'b'] });
    // 8 × $0.02
    expect(await onlyRecord()).toMatchObject({
      tokensInUncached: 8,
      tokensOut: 0,
      costNanos: 160,
      usageSource: 'reported',
    });
  });

  test('speech and an audio form larger than the buffer: the model comes from the request', async () => {
    const speech = await openai().audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'x'.repeat(400) });
    await speech.arrayBuffer();
    const spoken = await onlyRecord();
    expect(spoken).toMatchObject({ model: 'tts-1', usageSource: 'estimated', priceSource: 'library' });
    expect(spoken.costNanos).toBe(6_000_000); // 400 characters at $15 per million
    gateway.fixture.records.length = 0;
    const transcription = { text: 'hi', usage: { type: 'duration', seconds: 59.2 } };
    openaiProvider.failNext({ answer: jsonResponse(200, transcription) });
    const file = await toFile(Buffer.alloc(300_000, 1), 'a.mp3');
    await openai().audio.transcriptions.create({ model: 'whisper-1', file });
    // $0.006 per minute, started seconds included
    expect(await onlyRecord()).toMatchObject({ model: 'whisper-1', costNanos: 6_000_000, usageSource: 'reported' });
  });

  test('reads a compressed response; a rejected call and a list are free', async () => {
    openaiProvider.failNext({ gzip: true });
    await openai().chat.completions.create({ model: 'gpt-5-mini', messages });
    expect(await onlyRecord()).toMatchObject(CHAT);
    gateway.fixture.records.length = 0;
    await expect(openai().chat.completions.create({ model: 'no-such-model', messages })).rejects.toThrow();
    expect(await onlyRecord()).toMatchObject({ status: 404, costNanos: 0, usageSource: 'none', priceSource: 'none' });
    gateway.fixture.records.length = 0;
    await openai().models.list();
    expect(await onlyRecord()).toMatchObject({ status: 200, costNanos: 0, usageSource: 'none' });
  });

  test('an unknown model costs as much as the most expensive one', async () => {
    await openai().chat.completions.create({ model: 'gpt-99-secret', messages });
    // 19 × $30 (no price for cache hits) + 10 × $180
    expect(await onlyRecord()).toMatchObject({ costNanos: 570_000 + 1_800_000, priceSource: 'fallback' });
  });

  test('absurd usage from the provider is not recorded', async () => {
    for (const bad of [-5, 1e308, 'many', null]) {
      gateway.fixture.records.length = 0;
      const usage = { ...CHAT_USAGE, prompt_tokens: bad, completion_tokens: bad, total_tokens: bad };
      openaiProvider.failNext({ answer: jsonResponse(200, { model: 'gpt-5-mini', choices: [], usage }) });
      await openai().chat.completions.create({ model: 'gpt-5-mini', messages });
      const { usageSource, tokensInUncached, bytesIn } = await onlyRecord();
      expect(usageSource).toBe('estimated');
      expect(tokensInUncached).toBe(Math.ceil(Number(bytesIn) / 4));
    }
  });
});

test('an endless event passes byte for byte, and the next one is still filtered and read', async () => {
  const end = chatCompletionEvents('gpt-5-mini', ['x'], true);
  const shown = chatCompletionEvents('gpt-5-mini', ['x'], false);
  const piece = Buffer.alloc(65_536, 0x61);
  const long = [Buffer.from('data: "'), ...Array<Buffer>(128).fill(piece), Buffer.from('"\n\n')];
  openaiProvider.failNext({
    answer: {
      status: 200,
      headers: [['content-type', 'text/event-stream']],
      body: [...long, ...end.map((frame) => Buffer.from(frame))],
    },
  });
  const { baseUrl, key } = gateway.route('openai');
  const response = await fetch(`${baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-5-mini', messages, stream: true }),
  });
  const seen = Buffer.from(await response.arrayBuffer());
  expect(seen.equals(Buffer.concat([...long, Buffer.from(shown.join(''))]))).toBe(true);
  expect(await onlyRecord()).toMatchObject(CHAT);
});

describe('aborted streams', () => {
  test('aborted by a custom provider: charges the received output', async () => {
    const frames = chatCompletionEvents('gpt-5-mini', ['a', 'b', 'c', 'd'], false).slice(0, 4).join('');
    compatible.once('request', (_request, response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(frames, () => response.socket?.destroy());
    });
    const { baseUrl, key } = gateway.route('compatible');
    const client = new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey: key, maxRetries: 0 });
    const call = async () =>
      countEvents(await client.chat.completions.create({ model: 'gpt-5-mini', messages, stream: true }));
    await expect(call()).rejects.toThrow();
    const cut = await onlyRecord();
    expect(cut).toMatchObject({
      usageSource: 'estimated',
      error: 'upstream_cut',
      model: 'gpt-5-mini-2025-08-07',
      bytesOut: frames.length,
      tokensOut: 3, // the first of the four chunks contains only the role
      tokensInUncached: Math.ceil(Number(cut.bytesIn) / 4),
      priceSource: 'library',
    });
    expect(cut.costNanos).toBe(cut.tokensInUncached! * 250 + 3 * 2_000);
  });

  test('aborted by the client: charges the exact input and the received output', async () => {
    anthropicProvider.failNext({ stallAfterBytes: 1_000 });
    const stream = await anthropic().messages.create({
      model: 'claude-haiku-4-5',
      max_tokens: 64,
      messages,
      stream: true,
    });
    let deltas = 0;
    for await (const event of stream) if (event.type === 'content_block_delta' && ++deltas === 2) break;
    stream.controller.abort();
    const aborted = await onlyRecord();
    anthropicProvider.releaseHangingResponses();
    expect(aborted).toMatchObject({
      usageSource: 'partial',
      error: 'client_aborted',
      tokensInUncached: 11,
      tokensCacheRead: 3,
      tokensCacheWrite: 5,
    });
    expect(aborted.tokensOut).toBeGreaterThanOrEqual(2);
    expect(aborted.costNanos).toBe(11_000 + 300 + 6_250 + aborted.tokensOut! * 5_000);
  });
});

describe('anthropic', () => {
  test('messages, whole and streamed: the same usage', async () => {
    await anthropic().messages.create({ model: 'claude-haiku-4-5', max_tokens: 64, messages });
    expect(await onlyRecord()).toMatchObject(MESSAGE);
    gateway.fixture.records.length = 0;
    await anthropic().messages.stream({ model: 'claude-haiku-4-5', max_tokens: 64, messages }).finalMessage();
    expect(await onlyRecord()).toMatchObject(MESSAGE);
  });

  test('counting tokens is free', async () => {
    await anthropic().messages.countTokens({ model: 'claude-haiku-4-5', messages });
    expect(await onlyRecord()).toMatchObject({ status: 200, costNanos: 0, usageSource: 'none' });
  });
});

describe('resend', () => {
  test('charges per e-mail', async () => {
    const { baseUrl, key } = gateway.route('resend');
    const resend = new Resend(key, { baseUrl });
    const mail = { from: 'a@example.com', to: 'b@example.com', subject: 's', text: 't' };
    await resend.emails.send(mail);
    expect(await onlyRecord()).toMatchObject({ costNanos: 400_000, priceSource: 'per_request', usageSource: 'none' });
    gateway.fixture.records.length = 0;
    await resend.batch.send([mail, mail, mail]);
    expect(await onlyRecord()).toMatchObject({ costNanos: 1_200_000, priceSource: 'per_request' });
    gateway.fixture.records.length = 0;
    await resend.domains.list();
    expect(await onlyRecord()).toMatchObject({ costNanos: 0, priceSource: 'none' });
  });
});

test('batch results: sends deferred usage in groups, each line priced by its own model, before a record without cost', async () => {
  const LINES = 450;
  const line = (n: number): string =>
    JSON.stringify({
      id: `batch_req_${n}`,
      custom_id: `c${n}`,
      response: {
        status_code: 200,
        body: {
          model: n % 2 === 0 ? 'gpt-5-mini' : 'gpt-4o',
          usage: { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 },
        },
      },
    });
  compatible.once('request', (_request, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    for (let n = 0; n < LINES; n++) response.write(`${line(n)}\n`);
    response.end();
  });
  deferredUsageBatches.length = 0;
  const { baseUrl, key } = gateway.route('compatible');
  const answer = await fetch(`${baseUrl}/v1/files/file-abc/content`, { headers: { authorization: `Bearer ${key}` } });
  expect((await answer.text()).trim().split('\n')).toHaveLength(LINES);
  const record = await onlyRecord();
  expect(record).toMatchObject({ costNanos: 0, tokensOut: 0, usageSource: 'reported', model: '', lined: true });
  const lines = deferredUsageBatches.flatMap((group) => group.lines!);
  expect(new Set(lines.map(({ id }) => id)).size).toBe(LINES);
  expect(deferredUsageBatches.length).toBeGreaterThan(1);
  for (const group of deferredUsageBatches) {
    const { id, orgId, agentId, keyId, startedAtMs } = record;
    expect(group).toMatchObject({ recordId: id, orgId, agentId, keyId, startedAtMs, sourceId: 'file-abc' });
    expect(LineUsage.encode(group).finish().length).toBeLessThan(64 * 1024);
  }
  // Half of $0.25 / $2 and of $2.50 / $10 per million: a batch costs half.
  const cost = { 'gpt-5-mini': (1_000 * 250 + 100 * 2_000) / 2, 'gpt-4o': (1_000 * 2_500 + 100 * 10_000) / 2 };
  for (const { id, model, costNanos } of lines) {
    expect([id, costNanos]).toEqual([id, cost[model as keyof typeof cost]]);
  }
});
