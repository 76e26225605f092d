/** Streams of Google, Amazon Bedrock and Cohere that fail, are cut, are malformed or report no usage. */
import { describe, expect, test } from 'vitest';
import type { UsageFormat } from '../context/agent-context.js';
import { estimateAbortedCall } from './aborted-call-usage.js';
import { createMeter } from './create-meter.js';
import type { MeterOptions, UsageMeter, UsageReading } from './reading/response-usage-meter-interface.js';
import {
  awsEvent,
  awsException,
  claudeOnBedrockStream,
  cohereBody,
  cohereLineStream,
  cohereStream,
  converseBody,
  converseStream,
  geminiArray,
  geminiBody,
  geminiStream,
  modelEvent,
} from './testing/vendor-responses-fixture.js';

const SSE = 'text/event-stream';
const AWS_STREAM = 'application/vnd.amazon.eventstream';
const GENERATE = '/v1beta/models/gemini-2.5-flash:generateContent';
const STREAM = '/v1beta/models/gemini-2.5-flash:streamGenerateContent';
const CONVERSE = '/model/amazon.nova-pro-v1%3A0/converse';
const CONVERSE_STREAM = `${CONVERSE}-stream`;
const INVOKE_STREAM = '/model/amazon.nova-pro-v1%3A0/invoke-with-response-stream';

const optionsOf = (usageFormat: UsageFormat, path: string, more: Partial<MeterOptions> = {}): MeterOptions => ({
  usageFormat,
  method: 'POST',
  path,
  requestBytes: 400,
  requestBlobBytes: 0,
  requestModel: 'm',
  requestItemCount: 0,
  requestedOutput: null,
  status: 200,
  contentType: 'application/json',
  contentEncoding: null,
  responseHeaders: [],
  tokensOutMax: null,
  onDeferredUsage: null,
  ...more,
});
const gemini = (path = STREAM, contentType = SSE): MeterOptions => optionsOf('gemini', path, { contentType });
const bedrock = (path = CONVERSE_STREAM, contentType = AWS_STREAM): MeterOptions =>
  optionsOf('bedrock', path, { contentType });
const cohere = (contentType = SSE): MeterOptions => optionsOf('cohere', '/v2/chat', { contentType });

function read(options: MeterOptions, body: Buffer, isComplete = true): UsageReading {
  const meter = createMeter(options);
  meter.observe(Buffer.from(body));
  return meter.finish(isComplete);
}

function follow(meter: UsageMeter, body: Buffer, separator: string): number[] {
  const seen: number[] = [];
  for (let at = 0; at < body.length; ) {
    const end = body.indexOf(separator, at);
    const to = end < 0 ? body.length : end + separator.length;
    meter.observe(body.subarray(at, to));
    seen.push(meter.tokensOutSeen);
    at = to;
  }
  return seen;
}

const words = (count: number): string[] => Array.from({ length: count }, (_, i) => ` w${i}`);
const totals = { promptTokenCount: 10, candidatesTokenCount: 300, totalTokenCount: 310 };
const usage = { inputTokens: 10, outputTokens: 300, totalTokens: 310 };
const billed = { billed_units: { input_tokens: 10, output_tokens: 300 } };

describe('errors in a stream', () => {
  const googleError = (status: string): string =>
    `data: ${JSON.stringify({ error: { code: 1, message: 'x', status } })}\r\n\r\n`;

  test.each([
    ['UNAVAILABLE', 'server_error'],
    ['INTERNAL', 'server_error'],
    ['RESOURCE_EXHAUSTED', 'RESOURCE_EXHAUSTED'],
  ])('Gemini: %s is %s; without output it costs nothing', (status, streamError) => {
    expect(read(gemini(), Buffer.from(googleError(status)))).toMatchObject({
      streamError,
      source: 'none',
      tokensInUncached: 0,
    });
    const later = Buffer.concat([geminiStream(words(3), totals), Buffer.from(googleError(status))]);
    expect(read(gemini(), later)).toMatchObject({ streamError, tokensOut: 300 });
  });

  test.each([
    ['internalServerException', 'server_error'],
    ['modelStreamErrorException', 'server_error'],
    ['throttlingException', 'throttlingException'],
  ])('Bedrock: %s is %s', (name, streamError) => {
    const exception = awsException(name, 'x');
    expect(read(bedrock(), exception)).toMatchObject({ streamError, source: 'none' });
    const first = read(bedrock(), Buffer.concat([awsEvent('contentBlockDelta', { delta: { text: 'Hi' } }), exception]));
    expect(first).toMatchObject({ streamError, source: 'estimated', tokensInUncached: 100, tokensOut: 1 });
  });

  test('Cohere: a message that ends with ERROR', () => {
    expect(read(cohere(), cohereStream(words(3), billed, 'ERROR'))).toMatchObject({
      streamError: 'server_error',
      tokensOut: 300,
    });
    expect(read(cohere(), cohereStream(words(3), billed)).streamError).toBeNull();
  });
});

describe('a stream that is cut', () => {
  test('Gemini: costs the last totals', () => {
    const stream = geminiStream(words(50), totals);
    const reading = read(gemini(), stream.subarray(0, stream.length / 2), false);
    expect(reading).toMatchObject({ source: 'partial', tokensInUncached: 10 });
    expect(reading.tokensOut).toBeGreaterThan(20);
    expect(reading.tokensOut).toBeLessThan(30);
  });

  test('Gemini: an event that states the prompt only costs the output seen, and ends no output', () => {
    const event = (text: string, usageMetadata: object): string =>
      `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text }] } }], usageMetadata })}\r\n\r\n`;
    const prompt = { promptTokenCount: 10, totalTokenCount: 10 };
    const pieces = event('aaaa', prompt).repeat(5);
    expect(follow(createMeter(gemini()), Buffer.from(pieces), '\r\n\r\n')).toEqual([1, 2, 3, 4, 5]);
    expect(read(gemini(), Buffer.from(pieces), false)).toMatchObject({
      source: 'partial',
      tokensInUncached: 10,
      tokensOut: 5,
    });
    const whole = Buffer.from(pieces + event('', totals) + event('', prompt));
    expect(read(gemini(), whole)).toMatchObject({ source: 'reported', tokensInUncached: 10, tokensOut: 300 });
    expect(read(gemini(), Buffer.from(event('', prompt)))).toMatchObject({ source: 'reported', tokensOut: 0 });
  });

  test('ConverseStream: costs the pieces seen and the estimated input', () => {
    const stream = converseStream(words(50), usage);
    const reading = read(bedrock(), stream.subarray(0, stream.length / 2), false);
    expect(reading).toMatchObject({ source: 'estimated', tokensInUncached: 100, isMalformed: false });
    expect(reading.tokensOut).toBeGreaterThan(15);
    expect(reading.tokensOut).toBeLessThan(30);
  });

  test('Claude on Bedrock: costs the reported input and the pieces seen', () => {
    const stream = claudeOnBedrockStream(words(50), { input_tokens: 70, output_tokens: 1 }, { output_tokens: 300 });
    const reading = read(bedrock(INVOKE_STREAM), stream.subarray(0, stream.length / 2), false);
    expect(reading).toMatchObject({ source: 'partial', tokensInUncached: 70 });
    expect(reading.tokensOut).toBeGreaterThan(15);
    expect(reading.tokensOut).toBeLessThan(30);
  });

  test('Cohere: costs the pieces seen, by their text', () => {
    const stream = cohereStream(['x'.repeat(400), ...words(5)], billed);
    const reading = read(cohere(), stream.subarray(0, stream.indexOf('event: content-end')), false);
    expect(reading).toMatchObject({ source: 'estimated', tokensInUncached: 100 });
    expect(reading.tokensOut).toBeGreaterThanOrEqual(100);
    expect(reading.tokensOut).toBeLessThan(115);
  });
});

describe('a response without usage is estimated, never free', () => {
  const without = (text: string): Buffer => Buffer.from(text.replaceAll(/"usage(Metadata)?":/g, '"nothing":'));
  const cases: readonly (readonly [string, MeterOptions, Buffer])[] = [
    ['Gemini', gemini(GENERATE, 'application/json'), without(geminiBody('Hello', totals).toString())],
    ['Gemini, stream', gemini(), without(geminiStream(words(9), totals).toString())],
    ['Gemini, array', gemini(STREAM, 'application/json'), without(geminiArray(words(9), totals).toString())],
    ['Gemini, without figures', gemini(GENERATE, 'application/json'), geminiBody('Hello', {})],
    ['Gemini, only the kind of traffic', gemini(), geminiStream(['Hello'], { trafficType: 'ON_DEMAND' })],
    ['Converse', bedrock(CONVERSE, 'application/json'), without(converseBody('Hello', usage).toString())],
    ['ConverseStream', bedrock(), converseStream(words(9), {})],
    ['an unknown model', bedrock(INVOKE_STREAM), modelEvent({ outputs: [{ text: 'Hello, it is me' }] })],
    ['Cohere', cohere('application/json'), without(cohereBody('Hello', billed).toString())],
    ['Cohere, stream', cohere(), cohereStream(words(9), {})],
    ['Cohere, unknown units', cohere('application/json'), cohereBody('Hello', { billed_units: { moons: 3 } })],
  ];

  test.each(cases)('%s', (_name, options, body) => {
    const reading = read(options, body);
    expect(reading).toMatchObject({ source: 'estimated', tokensInUncached: 100, streamError: null });
    expect(reading.tokensOut).toBeGreaterThan(0);
  });

  test('an embedding without usage costs its input', () => {
    const options = gemini('/v1beta/models/gemini-embedding-001:embedContent', 'application/json');
    expect(read(options, Buffer.from('{"embedding":{"values":[0.1]}}'))).toMatchObject({
      tokensInUncached: 100,
      tokensOut: 0,
    });
  });

  test('a film costs its longest length', () => {
    const reading = read(
      gemini('/v1beta/models/veo-3.0:predictLongRunning', 'application/json'),
      Buffer.from('{"name":"o"}'),
    );
    expect(reading.extras.videoSeconds).toBe(8);
  });

  test('a ranking without units costs one', () => {
    const reading = read(optionsOf('cohere', '/v2/rerank'), Buffer.from('{"results":[]}'));
    expect(reading).toMatchObject({ source: 'estimated', extras: { webSearches: 1 } });
  });

  test.each([
    ['GET', gemini(GENERATE, 'application/json')],
    ['a model list', optionsOf('gemini', '/v1beta/models')],
    ['a count of tokens', optionsOf('gemini', '/v1/projects/p/publishers/google/models/g:computeTokens')],
    ['a count of tokens by Bedrock', optionsOf('bedrock', '/model/x/count-tokens')],
    ['Claude’s count of tokens', optionsOf('anthropic', '/v1/projects/p/models/count-tokens:rawPredict')],
    ['a tokenizer', optionsOf('cohere', '/v1/tokenize')],
  ])('%s costs nothing', (what, options) => {
    const body = Buffer.from('{"input_tokens":9,"usage":{}}');
    expect(read({ ...options, method: what === 'GET' ? 'GET' : 'POST' }, body)).toMatchObject({
      source: 'none',
      tokensInUncached: 0,
    });
  });
});

describe('a malformed event stream', () => {
  const stream = converseStream(words(200), usage);
  const broken = (): Buffer => {
    const copy = Buffer.from(stream);
    copy[copy.length / 2]! ^= 1;
    return copy;
  };

  test('ends the reading; the rest is estimated', () => {
    const reading = read(bedrock(), broken());
    expect(reading).toMatchObject({ isMalformed: true, source: 'estimated', tokensInUncached: 100, streamError: null });
    expect(reading.tokensOut).toBeGreaterThan(200);
  });

  test('counts on against a reservation', () => {
    const meter = createMeter(bedrock());
    const body = broken();
    meter.observe(body.subarray(0, body.length - 5_000));
    const before = meter.tokensOutSeen;
    meter.observe(body.subarray(body.length - 5_000));
    expect(meter.tokensOutSeen).toBe(before + 200);
    expect(meter.isMalformed).toBe(true);
  });

  test('a stream that ends inside a frame is malformed only if the provider ended it', () => {
    const cut = stream.subarray(0, -3);
    expect(read(bedrock(), cut, true)).toMatchObject({ isMalformed: true, source: 'estimated' });
    expect(read(bedrock(), cut, false)).toMatchObject({ isMalformed: false, source: 'estimated' });
    expect(read(bedrock(), stream)).toMatchObject({ isMalformed: false, source: 'reported' });
  });

  test('usage before the broken frame counts', () => {
    const claude = claudeOnBedrockStream(words(9), { input_tokens: 70, output_tokens: 1 }, { output_tokens: 300 });
    const body = Buffer.concat([claude, Buffer.from('no frame at all')]);
    expect(read(bedrock(INVOKE_STREAM), body)).toMatchObject({
      isMalformed: true,
      source: 'partial',
      tokensInUncached: 70,
    });
  });
});

describe('output that counts against a reservation', () => {
  /** Output seen after each chunk. */
  test('Gemini: the totals of an event count when another event follows', () => {
    const body = geminiStream(words(4), totals);
    expect(follow(createMeter(gemini()), body, '\r\n\r\n')).toEqual([0, 1, 2, 3]);
  });

  test('Gemini: likewise in an array', () => {
    const seen = follow(createMeter(gemini(STREAM, 'application/json')), geminiArray(words(4), totals), '\n,\r\n');
    expect(seen).toEqual([0, 1, 2, 3]);
  });

  test('Cohere: pieces count, the final total does not', () => {
    expect(follow(createMeter(cohere()), cohereStream(words(3), billed), '\n\n')).toEqual([0, 0, 1, 2, 3, 3, 3]);
  });

  test('a request’s maximum bounds the estimate of a long piece', () => {
    const options = { ...cohere(), tokensOutMax: 20 };
    const seen = follow(createMeter(options), cohereStream(['x'.repeat(4_000)], billed), '\n\n');
    expect(seen.at(-2)).toBe(20);
  });

  test('a document is known at its end', () => {
    expect(createMeter(gemini(GENERATE, 'application/json')).tokensOutSeen).toBe(-1);
  });
});

test.each([
  ['gemini', GENERATE, 100],
  ['gemini', '/v1beta/models/g:countTokens', null],
  ['bedrock', CONVERSE, 100],
  ['bedrock', '/model/x/count-tokens', null],
  ['cohere', '/v2/chat', 100],
  ['cohere', '/v1/tokenize', null],
  ['anthropic', '/v1/projects/p/publishers/anthropic/models/claude:streamRawPredict', 100],
  ['openai', '/v1/projects/p/publishers/mistralai/models/mistral:rawPredict', 100],
  ['openai', '/v1/sonar', 100],
  ['openai', '/v1/agent', 100],
  ['openai', '/api/v1/images', 100],
  ['resend', '/emails', null],
] as const)('an unanswered call of %s to %s costs its input: %s', (usageFormat, path, tokens) => {
  const reading = estimateAbortedCall(optionsOf(usageFormat, path));
  expect(reading?.tokensInUncached ?? null).toBe(tokens);
});

describe('a stream with an event on each line', () => {
  const options = optionsOf('cohere', '/v1/chat', { contentType: 'application/stream+json' });

  test('has the usage of its last event, at any chunk boundaries', () => {
    const stream = cohereLineStream(words(3), billed);
    for (const size of [1, 7, stream.length]) {
      const meter = createMeter(options);
      for (let at = 0; at < stream.length; at += size) meter.observe(Buffer.from(stream.subarray(at, at + size)));
      expect(meter.finish(true)).toMatchObject({ source: 'reported', tokensInUncached: 10, tokensOut: 300 });
    }
  });

  test('is checked and estimated event by event', () => {
    const stream = cohereLineStream(['x'.repeat(400), ...words(5)], billed);
    expect(follow(createMeter(options), stream, '\n').slice(0, 4)).toEqual([0, 100, 101, 102]);
    const cut = read(options, stream.subarray(0, stream.indexOf('{"is_finished":true')), false);
    expect(cut).toMatchObject({ source: 'estimated', tokensInUncached: 100, tokensOut: 104 });
  });
});

test.each<[string, MeterOptions, Buffer]>([
  [
    'gemini',
    gemini(GENERATE, 'application/json'),
    Buffer.from('{"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":-1}}'),
  ],
  ['bedrock', bedrock(CONVERSE, 'application/json'), converseBody('Hi', { inputTokens: 9, outputTokens: 1e12 })],
  ['cohere', cohere('application/json'), cohereBody('Hi', { billed_units: { input_tokens: 9, output_tokens: '5' } })],
])('an impossible figure of %s makes its usage unknown', (_format, options, body) => {
  expect(read(options, body)).toMatchObject({ source: 'estimated', tokensInUncached: 100 });
});
