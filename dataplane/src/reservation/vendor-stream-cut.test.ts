/** A hard budget cuts the streams of Google, Amazon Bedrock and Cohere behind a whole event, with the vendor's own error. */
import { createServer, type IncomingMessage, type Server, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ProviderMetering } from '../call/provider-metering.js';
import { createContext, createUpstream, GATEWAY_TOKEN, ProxyFixture } from '../call/testing/proxy-fixture.js';
import type { UsageFormat } from '../context/agent-context.js';
import { createTestLimits } from '../limits/testing/agent-limits-fixture.js';
import {
  claudeOnBedrockStream,
  cohereStream,
  converseStream,
  geminiArray,
  geminiStream,
} from '../metering/testing/vendor-responses-fixture.js';
import { CallCostCalculator } from '../pricing/call-cost-calculator.js';
import { AwsEventStreamParser } from '../scan/aws-event-stream-parser.js';

const RESERVED_TOKENS = 40;
const words = (count: number): string[] => Array.from({ length: count }, (_, i) => ` w${i}`);
const totals = { promptTokenCount: 10, candidatesTokenCount: 500, totalTokenCount: 510 };

interface Format {
  readonly name: string;
  readonly format: UsageFormat;
  readonly prices: string;
  readonly at: string;
  readonly path: string;
  readonly type: string;
  readonly body: object;
  stream(count: number): Buffer;
  /** The words in whole events, and the error after them; throws when an event is not whole. */
  parse(body: Buffer): { words: number; error: unknown };
}

const sseEvents = (body: Buffer): { type?: string; error?: unknown; delta?: object }[] => {
  const events = body.toString().split(/\r?\n\r?\n/);
  expect(events.pop()).toBe('');
  return events.map((event) => JSON.parse(/^data: (.*)$/m.exec(event)![1]!));
};
const countWords = (text: string): number => text.split(/"[^"]*" w\d+/).length - 1;

function parseFrames(body: Buffer): { words: number; error: unknown } {
  let found = 0;
  let error: unknown = null;
  const parser = new AwsEventStreamParser({
    onFrame(isError, name, bytes, from, to) {
      const text = bytes.toString('utf8', from, to);
      const inner = /"bytes":"([^"]*)"/.exec(text)?.[1];
      found += countWords(inner === undefined ? text : Buffer.from(inner, 'base64').toString());
      if (isError) error = name;
    },
  });
  parser.push(body);
  expect([parser.isBroken, parser.isInFrame]).toEqual([false, false]);
  return { words: found, error };
}

const GEMINI = { format: 'gemini', prices: 'google', at: 'path_before_colon:models', body: { contents: [] } } as const;
const GEMINI_PATH = '/v1beta/models/gemini-2.5-flash:streamGenerateContent';
const BEDROCK = {
  format: 'bedrock',
  prices: 'aws',
  at: 'path:model',
  type: 'application/vnd.amazon.eventstream',
  parse: parseFrames,
} as const;

const FORMATS: readonly Format[] = [
  {
    ...GEMINI,
    name: 'Gemini, SSE',
    path: `${GEMINI_PATH}?alt=sse`,
    type: 'text/event-stream',
    stream: (count) => geminiStream(words(count), totals),
    parse: (body) => ({ words: countWords(body.toString()), error: sseEvents(body).at(-1)!.error }),
  },
  {
    ...GEMINI,
    name: 'Gemini, JSON array',
    path: GEMINI_PATH,
    type: 'application/json; charset=UTF-8',
    stream: (count) => geminiArray(words(count), totals),
    parse(body) {
      const items = JSON.parse(body.toString()) as { error?: unknown }[];
      return { words: countWords(JSON.stringify(items)), error: items.at(-1)!.error };
    },
  },
  {
    ...BEDROCK,
    name: 'ConverseStream',
    path: '/model/amazon.nova-pro-v1%3A0/converse-stream',
    body: { messages: [] },
    stream: (count) => converseStream(words(count), { inputTokens: 10, outputTokens: 500 }),
  },
  {
    ...BEDROCK,
    name: 'InvokeModelWithResponseStream',
    path: '/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream',
    body: { messages: [] },
    stream: (count) =>
      claudeOnBedrockStream(words(count), { input_tokens: 10, output_tokens: 1 }, { output_tokens: 500 }),
  },
  {
    name: 'Cohere',
    format: 'cohere',
    prices: 'cohere',
    at: 'json',
    path: '/v2/chat',
    type: 'text/event-stream',
    body: { model: 'command-a-03-2025', messages: [], stream: true },
    stream: (count) => cohereStream(words(count), { billed_units: { input_tokens: 10, output_tokens: 500 } }),
    parse(body) {
      const last = sseEvents(body).at(-1)!;
      return { words: countWords(body.toString()), error: last.type === 'message-end' ? last.delta : undefined };
    },
  },
];
const ERRORS: Readonly<Record<string, unknown>> = {
  gemini: { code: 429, message: expect.stringContaining('budget'), status: 'budget_cut' },
  bedrock: 'budget_cut',
  cohere: { finish_reason: 'ERROR', error: expect.stringContaining('budget') },
};

let provider: Server;
let gateway: ProxyFixture;
let chunks: readonly Buffer[];
let type: string;

beforeEach(async () => {
  provider = createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('content-type', type).flushHeaders();
      const next = (i: number): void => {
        if (i === chunks.length) response.end();
        else response.write(chunks[i]!, () => setImmediate(next, i + 1));
      };
      next(0);
    });
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  await gateway.stop();
  provider.closeAllConnections();
  provider.close();
});

async function start({ format, prices, at }: Format): Promise<void> {
  const upstream = createUpstream(`http://127.0.0.1:${(provider.address() as AddressInfo).port}`, {
    usageFormat: format,
    priceProvider: prices,
    modelCalls: [{ call: 'POST /**', at }],
  });
  const limits = { agentId: 'agent-1', budgetCents: 100, hardBudget: true, defaultMaxOutputTokens: RESERVED_TOKENS };
  const calculator = new CallCostCalculator(() => Date.parse('2026-11-20'));
  const metering = new ProviderMetering(calculator, { appendDeferredUsage: () => {} }, 1e6);
  gateway = await ProxyFixture.start(
    createContext([upstream], { agentLimits: createTestLimits(limits) }),
    {},
    metering,
  );
}

function call(
  { path, body, type: contentType }: Format,
  stream: readonly Buffer[],
): Promise<{ body: Buffer; broken: boolean }> {
  chunks = stream;
  type = contentType;
  const headers = { authorization: `Bearer ${GATEWAY_TOKEN}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const options = { port: gateway.port, path: `/v1/proxy/openai${path}`, method: 'POST', headers };
    send(options, (response: IncomingMessage) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece) => pieces.push(piece));
      response.on('error', () => {});
      response.on('close', () => resolve({ body: Buffer.concat(pieces), broken: !response.complete }));
    })
      .on('error', reject)
      .end(JSON.stringify(body));
  });
}

test.each(FORMATS)('$name: ends behind a whole event with an error, and bills what was forwarded', async (format) => {
  await start(format);
  const { body, broken } = await call(format, [format.stream(400)]);
  expect(broken).toBe(false);
  const parsed = format.parse(body);
  expect(parsed.error).toEqual(ERRORS[format.format]);
  expect(parsed.words).toBeGreaterThanOrEqual(RESERVED_TOKENS / 2);
  expect(parsed.words).toBeLessThanOrEqual(RESERVED_TOKENS);
  const [record] = gateway.records;
  expect(record).toMatchObject({ error: 'budget_cut', status: 200 });
  expect(record!.tokensOut).toBeGreaterThanOrEqual(parsed.words);
  expect(gateway.settlements[0]!.costNanos).toBeGreaterThan(0);
  expect(gateway.settlements[0]!.costNanos).toBeLessThanOrEqual(gateway.admissions[0]!.reservationNanos);
  expect(gateway.exceeded).toEqual([]);
});

test.each(FORMATS)(
  '$name: with any chunks and grants, loses nothing and cuts only between events',
  async (format) => {
    await start(format);
    const stream = format.stream(200);
    await fc.assert(
      fc.asyncProperty(fc.nat(14), fc.array(fc.nat(stream.length), { maxLength: 12 }), async (growthsMax, cuts) => {
        for (const list of [gateway.growths, gateway.admissions, gateway.settlements]) list.length = 0;
        gateway.growthsMax = growthsMax;
        const edges = [0, ...cuts.sort((a, b) => a - b), stream.length];
        const { body, broken } = await call(
          format,
          edges.slice(1).map((end, i) => stream.subarray(edges[i]!, end)),
        );
        expect(broken).toBe(false);
        if (body.equals(stream)) return;
        expect(format.parse(body).error).toEqual(ERRORS[format.format]);
        const { costNanos, reservationNanos } = gateway.settlements[0]!;
        expect(costNanos).toBeLessThanOrEqual(reservationNanos);
      }),
      { numRuns: 25 },
    );
  },
  60_000,
);

test('a total that jumps is noticed at the next event', async () => {
  const format = FORMATS[0]!;
  await start(format);
  const thought = { promptTokenCount: 10, thoughtsTokenCount: 5_000, totalTokenCount: 5_010 };
  const stream = Buffer.concat([geminiStream([' w0'], thought), geminiStream(words(50), totals)]);
  const { body } = await call(format, [stream]);
  expect(format.parse(body)).toEqual({ words: 2, error: ERRORS.gemini });
});
