import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RequestedOutput, scanRequest } from '../scan/request-scanner.js';
import { createMeter } from './create-meter.js';
import type { DeferredUsageReading, MeterOptions, UsageReading } from './reading/response-usage-meter-interface.js';
import {
  backgroundBody,
  chatBody,
  chatStream,
  messagesBody,
  messagesStream,
  RESPONSES_USAGE,
  responsesBody,
  responsesStream,
} from './testing/provider-responses-fixture.js';

const JSON_TYPE = 'application/json';
const SSE_TYPE = 'text/event-stream; charset=utf-8';

const base: MeterOptions = {
  usageFormat: 'openai',
  method: 'POST',
  path: '/v1/chat/completions',
  requestBytes: 400,
  requestBlobBytes: 0,
  requestModel: 'gpt-5-mini',
  requestItemCount: 0,
  requestedOutput: null,
  status: 200,
  contentType: JSON_TYPE,
  contentEncoding: null,
  responseHeaders: [],
  tokensOutMax: null,
  onDeferredUsage: null,
};

function read(
  options: Partial<MeterOptions>,
  body: Buffer,
  cuts: readonly number[] = [],
  complete = true,
): UsageReading {
  const meter = createMeter({ ...base, ...options });
  const edges = [0, ...cuts.map((cut) => cut % (body.length + 1)).sort((a, b) => a - b), body.length];
  for (let i = 1; i < edges.length; i++) {
    const chunk = Buffer.from(body.subarray(edges[i - 1], edges[i])); // a copy, wiped afterwards: the meter must not keep the buffer
    meter.observe(chunk);
    chunk.fill(0x22);
  }
  return meter.finish(complete);
}

/** The same for a body that is decoded off the event loop. */
async function readEncoded(options: Partial<MeterOptions>, body: Buffer, complete = true): Promise<UsageReading> {
  const meter = createMeter({ ...base, ...options });
  for (let at = 0; at < body.length; at += 50) {
    const chunk = Buffer.from(body.subarray(at, at + 50));
    meter.observe(chunk);
    chunk.fill(0x22);
  }
  await new Promise<void>((resolve) => {
    if (!meter.drain!(resolve)) resolve();
  });
  return meter.finish(complete);
}

const cutsArb = fc.array(fc.nat(100_000), { maxLength: 40 });
const texts = ['Hello', ' "usage": {"prompt_tokens":9}', '\\"usage\\":', 'usage', '…é😀', '\n\n'];

const openaiFigures = {
  tokensInUncached: 86,
  tokensCacheRead: 1920,
  tokensCacheWrite: 0,
  tokensOut: 300,
  tokensReasoning: 128,
  model: 'gpt-5-mini-2025-08-07',
  source: 'reported',
  streamError: null,
};
const anthropicFigures = {
  tokensInUncached: 25,
  tokensCacheRead: 3000,
  tokensCacheWrite: 400,
  tokensOut: 503,
  tokensReasoning: 200,
  model: 'claude-haiku-4-5-20251001',
  source: 'reported',
  streamError: null,
};

describe('meter: usage figures', () => {
  const usage = (text: string, options: Partial<MeterOptions> = {}): UsageReading =>
    read(options, Buffer.from(`{"model":"m","usage":${text}}`));
  const anthropic = { usageFormat: 'anthropic', path: '/v1/messages' } as const;

  it('excludes cached and newly cached input from uncached input', () => {
    const details = '{"cached_tokens":30,"cache_write_tokens":20}';
    const reading = usage(`{"prompt_tokens":100,"completion_tokens":1,"prompt_tokens_details":${details}}`);
    expect(reading).toMatchObject({ tokensInUncached: 50, tokensCacheRead: 30, tokensCacheWrite: 20 });
  });

  it('adds the steps that the totals of Anthropic leave out, in a stream once', () => {
    const step = (type: string): string =>
      `{"type":"${type}","input_tokens":180000,"output_tokens":3500,"cache_read_input_tokens":7,"cache_creation_input_tokens":0}`;
    const iterations = `[${step('compaction')},{"type":"message","input_tokens":23,"output_tokens":10},${step('advisor_message')},null]`;
    const added = { tokensInUncached: 360_023, tokensCacheRead: 14, tokensOut: 7_010, source: 'reported' };
    expect(usage(`{"input_tokens":23,"output_tokens":10,"iterations":${iterations}}`, anthropic)).toMatchObject(added);
    const invoke = { usageFormat: 'bedrock', path: '/model/m/invoke' } as const;
    expect(usage(`{"input_tokens":23,"output_tokens":10,"iterations":${iterations}}`, invoke)).toMatchObject(added);
    const delta = (out: number, more: string): string =>
      `event: message_delta\ndata: {"type":"message_delta","delta":{},"usage":{"output_tokens":${out}${more}}}\n\n`;
    const start =
      'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":23,"output_tokens":1}}}\n\n';
    const stream =
      start + delta(5, `,"iterations":${iterations}`) + delta(9, `,"iterations":${iterations}`) + delta(10, '');
    expect(read({ ...anthropic, contentType: SSE_TYPE }, Buffer.from(stream))).toMatchObject(added);
  });

  it('limits parts to their whole', () => {
    const details = '{"cached_tokens":70,"cache_write_tokens":70}';
    const reading = usage(`{"prompt_tokens":100,"completion_tokens":1,"prompt_tokens_details":${details}}`);
    expect(reading).toMatchObject({ tokensInUncached: 0, tokensCacheRead: 70, tokensCacheWrite: 30 });
    const lifetimes = '{"ephemeral_1h_input_tokens":50}';
    const written = usage(
      `{"input_tokens":1,"output_tokens":1,"cache_creation_input_tokens":4,"cache_creation":${lifetimes}}`,
      anthropic,
    );
    expect(written.tokensCacheWrite).toBe(4);
    expect(written.extras.cacheWrite1h).toBe(4);
  });

  it('counts no output for an event without data', () => {
    const body = Buffer.from('data:{"model":"m"}\n\ndata:');
    expect(read({ contentType: SSE_TYPE }, body, [5, 25])).toMatchObject({ tokensOut: 0, source: 'estimated' });
  });

  it('reads the last event of a stream without a blank line after it', () => {
    const body = chatStream({ texts: ['Hello'], includeUsage: true }).toString();
    const cut = body.slice(0, body.indexOf('data: [DONE]')).trimEnd();
    expect(read({ contentType: SSE_TYPE }, Buffer.from(cut))).toMatchObject({ source: 'reported', tokensOut: 300 });
  });

  it('meters all spellings of a path', () => {
    for (const path of ['/V1/Chat/Completions', '/v1//chat/completions/', '/v1/chat%2Fcompletions']) {
      const reading = read({ path, contentType: 'text/plain' }, Buffer.from('x'.repeat(400)));
      expect({ path, source: reading.source }).toEqual({ path, source: 'estimated' });
    }
  });
});

describe('meter: counts a response alike, streamed or not, with any chunking', () => {
  const cases: [string, Partial<MeterOptions>, Buffer, object][] = [
    ['chat', {}, chatBody(texts.join('')), openaiFigures],
    ['chat stream', { contentType: SSE_TYPE }, chatStream({ texts, includeUsage: true }), openaiFigures],
    [
      'chat stream, CRLF',
      { contentType: SSE_TYPE },
      chatStream({ texts, includeUsage: true, newline: '\r\n' }),
      openaiFigures,
    ],
    [
      'chat stream, CR',
      { contentType: SSE_TYPE },
      chatStream({ texts, includeUsage: true, newline: '\r' }),
      openaiFigures,
    ],
    ['responses', { path: '/v1/responses' }, responsesBody(texts.join('')), openaiFigures],
    ['responses stream', { path: '/v1/responses', contentType: SSE_TYPE }, responsesStream(texts), openaiFigures],
    ['messages', { usageFormat: 'anthropic', path: '/v1/messages' }, messagesBody(texts.join('')), anthropicFigures],
    [
      'messages stream',
      { usageFormat: 'anthropic', path: '/v1/messages', contentType: SSE_TYPE },
      messagesStream(texts),
      anthropicFigures,
    ],
    [
      'messages stream, CRLF',
      { usageFormat: 'anthropic', path: '/v1/messages', contentType: SSE_TYPE },
      messagesStream(texts, '\r\n'),
      anthropicFigures,
    ],
  ];
  it.each(cases)('%s', (_name, options, body, figures) => {
    expect(read(options, body)).toMatchObject(figures);
    expect(read(options, body, [...Array(body.length).keys()])).toMatchObject(figures);
    fc.assert(
      fc.property(cutsArb, (cuts) => {
        expect(read(options, body, cuts)).toMatchObject(figures);
      }),
    );
  });
});

describe('meter: billing details', () => {
  it('anthropic: reads web searches, 1 h cache writes and tier from both halves of the stream', () => {
    const options = { usageFormat: 'anthropic', path: '/v1/messages', contentType: SSE_TYPE } as const;
    expect(read(options, messagesStream(texts)).extras).toMatchObject({
      webSearches: 2,
      cacheWrite1h: 100,
      serviceTier: 'standard',
      units: 1,
    });
    expect(read({ ...options, contentType: JSON_TYPE }, messagesBody('x')).extras).toEqual(
      read(options, messagesStream(texts)).extras,
    );
  });

  it('responses: counts web searches from the output items', () => {
    expect(read({ path: '/v1/responses' }, responsesBody('x')).extras.webSearches).toBe(1);
    expect(read({ path: '/v1/responses', contentType: SSE_TYPE }, responsesStream(['x'])).extras.webSearches).toBe(1);
  });

  it('reads embeddings, images, transcription and duration-billed transcription', () => {
    const embeddings =
      '{"object":"list","data":[{"object":"embedding","index":0,"embedding":"AAAA"}],"model":"text-embedding-3-small",' +
      '"usage":{"prompt_tokens":8,"total_tokens":8}}';
    expect(read({ path: '/v1/embeddings' }, Buffer.from(embeddings))).toMatchObject({
      tokensInUncached: 8,
      tokensOut: 0,
      model: 'text-embedding-3-small',
    });
    const image =
      '{"created":1,"data":[{"b64_json":"AAAA"}],"usage":{"input_tokens":50,"output_tokens":4160,"total_tokens":4210,' +
      '"input_tokens_details":{"text_tokens":10,"image_tokens":40}}}';
    expect(read({ path: '/v1/images/generations', requestModel: 'gpt-image-1' }, Buffer.from(image))).toMatchObject({
      tokensInUncached: 50,
      tokensOut: 4160,
      model: 'gpt-image-1',
      extras: { imageTokensIn: 40 },
    });
    const heard = '{"text":"hi","usage":{"type":"duration","seconds":59.2}}';
    expect(read({ path: '/v1/audio/transcriptions' }, Buffer.from(heard)).extras.audioSeconds).toBe(60);
  });

  it('counts no tokens for a rejected call, s3 and count_tokens', () => {
    expect(read({ status: 429 }, chatBody('x'))).toMatchObject({ source: 'none', tokensOut: 0, extras: { units: 0 } });
    expect(read({ usageFormat: 's3' }, Buffer.from('x'))).toMatchObject({ source: 'none', extras: { units: 1 } });
    const counted = read(
      { usageFormat: 'anthropic', path: '/v1/messages/count_tokens' },
      Buffer.from('{"input_tokens":2095}'),
    );
    expect(counted).toMatchObject({ source: 'none', tokensInUncached: 0 });
  });

  it('resend: counts one e-mail per call, the accepted ones of a batch, the requested ones of a truncated response', () => {
    const one = Buffer.from('{"id":"49a3999c"}');
    const batch = Buffer.from('{"data":[{"id":"a"},{"id":"b"},{"id":"c"}]}');
    const options = { usageFormat: 'resend', path: '/emails/batch', requestItemCount: 4 } as const;
    expect(read({ ...options, path: '/emails' }, one).extras.units).toBe(1);
    expect(read(options, batch, [3, 17]).extras.units).toBe(3);
    expect(read(options, batch.subarray(0, 20), [], false).extras.units).toBe(4);
    expect(read({ ...options, method: 'GET', path: '/domains' }, one).extras.units).toBe(0);
  });
});

describe('meter: estimates truncated responses and responses without usage', () => {
  it('truncated chat stream: input from the request, output from the chunks seen', () => {
    const whole = chatStream({ texts: Array(50).fill('word '), includeUsage: false });
    const cut = whole.subarray(0, whole.length / 2);
    const reading = read({ contentType: SSE_TYPE }, cut, [], false);
    expect(reading).toMatchObject({ source: 'estimated', tokensInUncached: 100, model: 'gpt-5-mini-2025-08-07' });
    expect(reading.tokensOut).toBeGreaterThan(20);
    expect(reading.tokensOut).toBeLessThan(30);
  });

  it('truncated messages stream: exact input of message_start, output from the deltas', () => {
    const options = { usageFormat: 'anthropic', path: '/v1/messages', contentType: SSE_TYPE } as const;
    const whole = messagesStream(Array(30).fill('eight by'));
    const cut = whole.subarray(0, whole.indexOf('event: content_block_stop'));
    expect(read(options, cut, [], false)).toMatchObject({
      source: 'partial',
      tokensInUncached: 25,
      tokensCacheRead: 3000,
      tokensCacheWrite: 400,
      tokensOut: 60, // 30 × 8 bytes / 4
    });
  });

  it('chat stream truncated after its usage: the usage alone, whatever content came before it', () => {
    const whole = chatStream({ texts: Array(50).fill('word '), includeUsage: true });
    const cut = whole.subarray(0, whole.indexOf('data: [DONE]'));
    expect(read({ contentType: SSE_TYPE }, cut, [], false)).toMatchObject(openaiFigures);
  });

  it('adds content after a usage only when the stream was truncated', () => {
    const streamed = chatStream({ texts: Array(50).fill('word '), includeUsage: true }).toString();
    const usage = streamed.slice(streamed.lastIndexOf('data: {'), streamed.indexOf('data: [DONE]'));
    const content = 'data: {"choices":[{"index":0,"delta":{"content":"word "}}]}\n\n';
    const body = Buffer.from(`${usage}${content.repeat(7)}data: [DONE]\n\n`);
    expect(read({ contentType: SSE_TYPE }, body)).toMatchObject(openaiFigures);
    const cut = read({ contentType: SSE_TYPE }, body, [], false);
    expect(cut).toMatchObject({ ...openaiFigures, tokensOut: 307, source: 'partial' });
  });

  it('estimates an empty response and a response without usage', () => {
    expect(read({}, Buffer.alloc(0), [], false)).toMatchObject({
      source: 'estimated',
      tokensInUncached: 100,
      tokensOut: 0,
      model: 'gpt-5-mini',
    });
    expect(read({}, Buffer.from('{"choices":[]}'))).toMatchObject({ source: 'estimated', tokensOut: 4 });
    expect(read({ path: '/v1/files' }, Buffer.from('{"id":"file-1"}'))).toMatchObject({ source: 'none' });
  });

  it('counts packed request data as fewer tokens than text', () => {
    const cut = { requestBytes: 1_000_400, requestBlobBytes: 1_000_000 };
    expect(read(cut, Buffer.alloc(0), [], false).tokensInUncached).toBe(100 + 10_000);
  });

  it('ignores impossible figures', () => {
    for (const bad of ['-1', '1e308', '"7"', 'null', '[]', '{}', '1e999']) {
      const body = Buffer.from(`{"model":"m","usage":{"prompt_tokens":${bad},"completion_tokens":${bad}}}`);
      expect(read({}, body)).toMatchObject({ source: 'estimated', tokensInUncached: 100 });
    }
    // Beside a figure that is possible, too: 0 in its place would be free.
    for (const bad of ['-1', '1e12', '"7"', '[]', '{}']) {
      for (const figures of [
        `"prompt_tokens":${bad},"completion_tokens":20`,
        `"prompt_tokens":5,"output_tokens":${bad}`,
      ]) {
        const body = Buffer.from(`{"model":"m","usage":{${figures}}}`);
        expect(read({}, body)).toMatchObject({ source: 'estimated', tokensInUncached: 100 });
      }
      const message = Buffer.from(`{"usage":{"input_tokens":7,"output_tokens":${bad}}}`);
      const reading = read({ usageFormat: 'anthropic', path: '/v1/messages' }, message);
      expect(reading).toMatchObject({ source: 'estimated', tokensInUncached: 100 });
    }
    const mixed = Buffer.from(
      '{"usage":{"prompt_tokens":10.9,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":99},' +
        '"completion_tokens_details":{"reasoning_tokens":-3}}}',
    );
    expect(read({}, mixed)).toMatchObject({
      tokensInUncached: 0,
      tokensCacheRead: 10,
      tokensOut: 5,
      tokensReasoning: 0,
    });
  });
});

it('meter: usage of 0 after real usage does not count', () => {
  const usage = (count: number): string =>
    `data: {"choices":[],"usage":{"prompt_tokens":${count},"completion_tokens":${count}}}\n\n`;
  expect(read({ contentType: SSE_TYPE }, Buffer.from(usage(9) + usage(0)))).toMatchObject({ tokensOut: 9 });
  expect(read({ contentType: SSE_TYPE }, Buffer.from(usage(9) + usage(8)))).toMatchObject({ tokensOut: 8 });
  expect(read({ contentType: SSE_TYPE }, Buffer.from(usage(0)))).toMatchObject({ source: 'reported', tokensOut: 0 });
});

describe('meter: errors inside a 200 stream', () => {
  it('are named, and cost nothing without output', () => {
    const openai = 'data: {"error":{"message":"The server had an error","type":"server_error","code":null}}\n\n';
    expect(read({ contentType: SSE_TYPE }, Buffer.from(openai))).toMatchObject({
      streamError: 'server_error',
      source: 'none',
    });
    const responses =
      'event: response.failed\ndata: {"type":"response.failed","response":{"id":"r","status":"failed",' +
      '"error":{"code":"rate_limit_exceeded","message":"x"},"usage":null}}\n\n';
    expect(read({ contentType: SSE_TYPE, path: '/v1/responses' }, Buffer.from(responses)).streamError).toBe(
      'rate_limit_exceeded',
    );
    const anthropic =
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';
    const options = { usageFormat: 'anthropic', path: '/v1/messages', contentType: SSE_TYPE } as const;
    expect(read(options, Buffer.from(anthropic))).toMatchObject({ streamError: 'overloaded_error', source: 'none' });
    const start = messagesStream(['abcd']);
    const late = Buffer.concat([start.subarray(0, start.indexOf('event: content_block_stop')), Buffer.from(anthropic)]);
    expect(read(options, late)).toMatchObject({ streamError: 'overloaded_error', source: 'partial', tokensOut: 1 });
  });
});

describe('meter: streams of compatible providers', () => {
  it('reads events without names, and blanks around every token', () => {
    const unnamed = (stream: Buffer): Buffer => Buffer.from(stream.toString().replace(/^event: .*\n/gm, ''));
    const cut = (stream: Buffer, mark: string): Buffer => stream.subarray(0, stream.indexOf(mark));
    const anthropic = { usageFormat: 'anthropic', path: '/v1/messages', contentType: SSE_TYPE } as const;
    expect(read(anthropic, unnamed(messagesStream(texts)))).toMatchObject(anthropicFigures);
    const started = cut(unnamed(messagesStream(Array(30).fill('eight by'))), 'data: {"type":"content_block_stop"');
    expect(read(anthropic, started, [], false).tokensOut).toBe(60);
    const responses = { path: '/v1/responses', contentType: SSE_TYPE };
    expect(read(responses, unnamed(responsesStream(texts)))).toMatchObject(openaiFigures);
    const half = cut(unnamed(responsesStream(Array(30).fill('x'))), 'data: {"type":"response.output_text.done"');
    expect(read(responses, half, [], false)).toMatchObject({ source: 'estimated', tokensOut: 30 });
    const loose =
      'data: { "model" : "m" , "choices" : [] , "usage" : { "prompt_tokens" : 3 , "completion_tokens" : 4 } }\n\n';
    expect(read({ contentType: SSE_TYPE }, Buffer.from(`data: {}\n\n${loose}`))).toMatchObject({
      tokensInUncached: 3,
      tokensOut: 4,
      source: 'reported',
    });
  });

  it('usage in every chunk: counts the last one, plus the output after it when truncated', () => {
    const chunk = (n: number): string =>
      `data: {"choices":[{"delta":{"content":"x"}}],"usage":{"prompt_tokens":7,"completion_tokens":${n}}}\n\n`;
    const plain = 'data: {"choices":[{"delta":{"content":"x"}}],"usage":null}\n\n';
    const stream = Buffer.from(chunk(1) + chunk(2) + chunk(3));
    expect(read({ contentType: SSE_TYPE }, stream)).toMatchObject({ tokensOut: 3, source: 'reported' });
    const cut = Buffer.concat([stream, Buffer.from(plain + plain)]);
    expect(read({ contentType: SSE_TYPE }, cut, [], false)).toMatchObject({ tokensOut: 5, source: 'partial' });
  });

  it('reads a last event beyond the buffer size', () => {
    const long = 'word "usage" '.repeat(20_000);
    expect(read({ path: '/v1/responses', contentType: SSE_TYPE }, responsesStream([long]))).toMatchObject(
      openaiFigures,
    );
    const cuts = Array.from({ length: 300 }, (_, n) => n * 2_003);
    expect(read({ path: '/v1/responses', contentType: SSE_TYPE }, responsesStream([long]), cuts)).toMatchObject(
      openaiFigures,
    );
  });
});

/** Deferred usage of the response, which is not part of its reading. */
function readLines(
  options: Partial<MeterOptions>,
  body: Buffer,
  cuts: readonly number[] = [],
  complete = true,
): { lines: DeferredUsageReading[]; reading: UsageReading } {
  const lines: DeferredUsageReading[] = [];
  const reading = read({ ...options, onDeferredUsage: (line) => void lines.push(line) }, body, cuts, complete);
  return { lines, reading };
}
const FREE = { tokensInUncached: 0, tokensCacheRead: 0, tokensOut: 0 };

describe('meter: hosted tools', () => {
  const output = [
    { type: 'file_search_call', id: 'fs_1', status: 'completed' },
    { type: 'code_interpreter_call', id: 'ci_1', container_id: 'cntr_1' },
    { type: 'file_search_call', id: 'fs_2', status: 'completed' },
    { type: 'code_interpreter_call', id: 'ci_2', container_id: 'cntr_1' },
    { type: 'code_interpreter_call', id: 'ci_3', container_id: 'cntr_2' },
    { type: 'message', container_id: null },
  ];
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
  const body = JSON.stringify({ id: 'resp_1', model: 'gpt-5-mini', status: 'completed', output, usage });

  it('counts searches by call and interpreters by container, streamed or not, with any chunking', () => {
    const stream = `event: response.completed\ndata: {"type":"response.completed","response":${body}}\n\n`;
    fc.assert(
      fc.property(cutsArb, (cuts) => {
        const path = '/v1/responses';
        const whole = read({ path }, Buffer.from(body), cuts);
        const streamed = read({ path, contentType: SSE_TYPE }, Buffer.from(stream), cuts);
        for (const { extras } of [whole, streamed]) expect(extras).toMatchObject({ fileSearches: 2, containers: 2 });
      }),
    );
  });

  it('counts images as the provider reports them, else per image, at the rates of the image model', () => {
    const tools = [{ type: 'web_search' }, { type: 'image_generation', model: 'gpt-image-1.5' }];
    const drew = [
      { type: 'image_generation_call', result: 'AAAA' },
      { type: 'image_generation_call', result: 'AAAA' },
    ];
    const drawn = (more: object) => {
      const response = JSON.stringify({ model: 'gpt-5', output: drew, usage, ...more });
      const whole = read({ path: '/v1/responses' }, Buffer.from(response));
      const event = `event: response.completed\ndata: {"type":"response.completed","response":${response}}\n\n`;
      const streamed = read({ path: '/v1/responses', contentType: SSE_TYPE }, Buffer.from(event));
      expect(streamed.extras).toEqual(whole.extras);
      return whole.extras.generatedImages;
    };
    const piece = { model: 'gpt-image-1', tokensIn: 0, imageTokensIn: 0, tokensOut: 2 * 4_160 };
    expect(drawn({})).toEqual(piece);
    expect(drawn({ tools })).toEqual({ ...piece, model: 'gpt-image-1.5' });
    const image_gen = {
      input_tokens: 50,
      output_tokens: 300,
      input_tokens_details: { image_tokens: 40, text_tokens: 10 },
    };
    expect(drawn({ tools, tool_usage: { image_gen } })).toEqual({
      model: 'gpt-image-1.5',
      tokensIn: 50,
      imageTokensIn: 40,
      tokensOut: 300,
    });
    const none = { input_tokens: 0, output_tokens: 0 };
    expect(drawn({ output: [], tool_usage: { image_gen: none, web_search: { num_requests: 0 } } })).toBeNull();
  });

  it('counts searches as the provider reports them, and containers by their memory', () => {
    const more = { tool_usage: { web_search: { num_requests: 3 } }, tools: [{ container: { memory_limit: '4g' } }] };
    const response = JSON.stringify({ ...JSON.parse(body), output: [...output, { type: 'web_search_call' }], ...more });
    expect(read({ path: '/v1/responses' }, Buffer.from(response)).extras).toMatchObject({
      webSearches: 3,
      containers: 8,
    });
  });

  it('Anthropic: counts code execution per response, except with searches, where it is free', () => {
    const ran = (server_tool_use: object) => {
      const text = JSON.stringify({
        type: 'message',
        model: 'm',
        usage: { input_tokens: 1, output_tokens: 1, server_tool_use },
      });
      return read({ usageFormat: 'anthropic', path: '/v1/messages' }, Buffer.from(text)).extras.codeSessions;
    };
    expect(ran({ code_execution_requests: 3 })).toBe(1);
    expect(ran({ code_execution_requests: 3, web_search_requests: 1 })).toBe(0);
    expect(ran({ code_execution_requests: 3, web_fetch_requests: 1 })).toBe(0);
    expect(ran({ code_execution_requests: 0 })).toBe(0);
  });

  it('counts none in a call without hosted tools', () => {
    expect(read({}, chatBody('x')).extras).toMatchObject({ fileSearches: 0, containers: 0, webSearches: 0 });
  });
});

describe('meter: background responses', () => {
  const get = { method: 'GET', path: '/v1/responses/resp_67c9' };
  const done = backgroundBody('completed', RESPONSES_USAGE);

  it('count once by their id, whichever call brings their usage', () => {
    for (const options of [get, { path: '/v1/responses' }]) {
      const { lines, reading } = readLines(options, done);
      expect(lines).toMatchObject([
        { sourceId: expect.stringMatching(/^resp_67c9/), lineId: '', reading: openaiFigures },
      ]);
      expect(reading).toMatchObject({ ...FREE, source: 'reported' });
    }
  });

  it('truncated before their usage, count what was seen, which the ledger deducts from the later usage', () => {
    const stream = responsesStream(['a', 'b', 'c', 'd'])
      .toString()
      .replaceAll('"background":false', '"background":true');
    const cut = Buffer.from(stream.slice(0, stream.indexOf('event: response.output_text.done')));
    for (const options of [{ path: '/v1/responses' }, get]) {
      const { lines, reading } = readLines({ ...options, contentType: SSE_TYPE }, cut, [], false);
      expect(lines).toMatchObject([
        {
          sourceId: expect.stringMatching(/^resp_67c9/),
          lineId: '',
          isPartial: true,
          reading: { tokensOut: 4, source: 'estimated', model: openaiFigures.model },
        },
      ]);
      expect(reading).toMatchObject({ ...FREE, source: 'estimated' });
    }
    const { lines } = readLines({ path: '/v1/responses', contentType: SSE_TYPE }, Buffer.from(stream));
    expect(lines).toMatchObject([{ isPartial: false, reading: openaiFigures }]);
    const begun = Buffer.from(stream.slice(0, stream.indexOf('event: response.output_text.delta')));
    expect(readLines({ path: '/v1/responses', contentType: SSE_TYPE }, begun, [], false)).toMatchObject({
      lines: [],
      reading: { source: 'none' },
    });
  });

  it('are free while queued, and fetching a completed response again is free', () => {
    for (const status of ['queued', 'in_progress']) {
      for (const options of [get, { path: '/v1/responses' }]) {
        const { lines, reading } = readLines(options, backgroundBody(status, 'null'));
        expect([lines, reading.source]).toEqual([[], 'none']);
      }
    }
    const { lines, reading } = readLines(get, responsesBody('x'));
    expect([lines, reading.source]).toEqual([[], 'none']);
    const { lines: none, reading: made } = readLines({ path: '/v1/responses' }, responsesBody('x'));
    expect(none).toEqual([]);
    expect(made).toMatchObject(openaiFigures);
  });
});

describe('meter: deferred completions of xAI', () => {
  const ID = 'f15c114e-f47d-40ca-8d5c-8c23d656eeb6';
  const get = { method: 'GET', path: `/v1/chat/deferred-completion/${ID}` };

  it('count as an estimate when they are requested, which the ledger deducts from the usage of the fetch', () => {
    const queued = readLines({ requestBytes: 4_000 }, Buffer.from(`{"request_id":"${ID}"}`));
    const estimated = { source: 'estimated', model: 'gpt-5-mini' };
    expect(queued.lines).toMatchObject([{ sourceId: ID, lineId: '', isPartial: true, reading: estimated }]);
    expect(queued.lines[0]!.reading.tokensInUncached).toBeGreaterThan(0);
    expect(queued.reading).toMatchObject({ ...FREE, source: 'estimated' });
    const fetched = readLines(get, chatBody('x'));
    expect(fetched.lines).toMatchObject([
      {
        sourceId: ID,
        lineId: '',
        isPartial: false,
        reading: { source: 'reported', tokensOut: read({}, chatBody('x')).tokensOut },
      },
    ]);
    expect(fetched.reading).toMatchObject({ ...FREE, source: 'reported' });
  });

  it('count nothing while they are not ready', () => {
    const { lines, reading } = readLines({ ...get, status: 202 }, Buffer.from(''));
    expect([lines, reading.source]).toEqual([[], 'none']);
  });

  it('are no completions that answer at once, whatever else the response names', () => {
    const body = Buffer.from(chatBody('x').toString().replace('{', `{"request_id":"${ID}",`));
    const { lines, reading } = readLines({}, body);
    expect([lines, reading.source]).toEqual([[], 'reported']);
  });
});

describe('meter: results of a message batch', () => {
  const line = (n: number, model: string): string =>
    `{"custom_id":"r${n}","result":{"type":"succeeded","message":${messagesBody('"usage"')
      .toString()
      .replace(/"model":\s*"[^"]*"/, `"model":"${model}"`)}}}\n`;
  const expired = '{"custom_id":"r3","result":{"type":"expired"}}\n';
  const body = Buffer.from(line(1, 'claude-haiku-4-5') + expired + line(2, 'claude-opus-5-5'));
  const options = {
    usageFormat: 'anthropic',
    method: 'GET',
    path: '/v1/messages/batches/msgbatch_1/results',
    contentType: 'application/x-jsonl',
  } as const;
  const counted = (n: number, model: string) => ({
    sourceId: 'msgbatch_1',
    lineId: `r${n}`,
    reading: { model, tokensInUncached: 25, tokensCacheRead: 3000, tokensOut: 503, extras: { serviceTier: 'batch' } },
  });
  const both = [counted(1, 'claude-haiku-4-5'), counted(2, 'claude-opus-5-5')];

  it('count line by line, each by its own model, with any chunking', () => {
    fc.assert(
      fc.property(cutsArb, (cuts) => {
        const { lines, reading } = readLines(options, body, cuts);
        expect(lines).toMatchObject(both);
        expect(reading).toMatchObject({ ...FREE, source: 'reported' });
      }),
    );
  });

  it('count only complete lines of a truncated fetch', () => {
    for (let length = 0; length <= body.length; length += 7) {
      const { lines, reading } = readLines(options, body.subarray(0, length), [], false);
      const whole = body.subarray(0, length).toString().split('\n').length - 1;
      expect(lines).toMatchObject(both.slice(0, whole === 0 ? 0 : whole < 3 ? 1 : 2));
      expect(reading.source).toBe(lines.length === 0 ? 'none' : 'partial');
    }
  });

  it('OpenAI: count at the fetch of the result file, whatever its content type', () => {
    const row = (n: number, model: string): string =>
      `{"id":"batch_req_${n}","custom_id":"r","response":{"status_code":200,"request_id":"q","body":${chatBody('x')
        .toString()
        .replace(/\n */g, ' ')
        .replace(/"model":\s*"[^"]*"/, `"model":"${model}"`)}},"error":null}\n`;
    const file = {
      method: 'GET',
      path: '/v1/files/file-Abc/content',
      contentType: 'application/octet-stream',
      requestModel: null,
    };
    const failed =
      '{"id":"batch_req_9","custom_id":"r","response":{"status_code":400,"body":{"error":{}}},"error":null}\n';
    const { lines } = readLines(file, Buffer.from(row(1, 'gpt-5-mini') + failed + row(2, 'gpt-4o')), [70, 900]);
    expect(lines).toMatchObject([
      { sourceId: 'file-abc', lineId: 'batch_req_1', reading: { ...openaiFigures, model: 'gpt-5-mini' } },
      { sourceId: 'file-abc', lineId: 'batch_req_2', reading: { ...openaiFigures, model: 'gpt-4o' } },
    ]);
    expect(lines[0]!.reading.extras.serviceTier).toBe('batch');
    const { lines: none, reading } = readLines(file, Buffer.from('%PDF-1.7\n{"a":1}\n'));
    expect([none, reading.source]).toEqual([[], 'none']);
  });
});

describe('meter: compressed bodies', () => {
  const body = chatBody(texts.join(''));
  it.each([
    ['gzip', gzipSync(body)],
    ['br', brotliCompressSync(body)],
    ['deflate', deflateSync(body)],
    ['deflate', deflateRawSync(body)],
  ])('%s is decoded on the tee', async (contentEncoding, encoded) => {
    expect(await readEncoded({ contentEncoding }, encoded)).toMatchObject(openaiFigures);
  });

  it('reads the available part of a truncated gzip stream', async () => {
    const stream = chatStream({ texts: Array.from({ length: 200 }, (_, n) => `${n * 7919} `), includeUsage: false });
    const encoded = gzipSync(stream);
    const cut = encoded.subarray(0, encoded.length - 200);
    const reading = await readEncoded({ contentEncoding: 'gzip', contentType: SSE_TYPE }, cut, false);
    expect(reading.source).toBe('estimated');
    expect(reading.tokensOut).toBeGreaterThan(100);
  });

  it('estimates a compression bomb, invalid data and an unknown coding', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    expect((await readEncoded({ contentEncoding: 'gzip' }, bomb)).source).toBe('estimated');
    expect(await readEncoded({ contentEncoding: 'gzip' }, Buffer.from('rubbish'))).toMatchObject({
      source: 'estimated',
      tokensOut: 6,
    });
    expect((await readEncoded({ contentEncoding: 'rot13' }, Buffer.from('rubbish'))).source).toBe('estimated');
  });
});

describe('meter: usage priced per second or per item', () => {
  it('counts the seconds of a video that its response names, and the maximum for a truncated one', () => {
    const video = (size: string) =>
      Buffer.from(JSON.stringify({ id: 'video_1', object: 'video', model: 'sora-2-pro', seconds: '8', size }));
    const reading = read({ path: '/v1/videos', requestModel: null }, video('1280x720'));
    expect(reading).toMatchObject({ model: 'sora-2-pro', source: 'reported', tokensOut: 0 });
    expect(reading.extras).toMatchObject({ videoSeconds: 8, largeVideo: false });
    expect(read({ path: '/v1/videos' }, video('1024x1792')).extras).toMatchObject({
      videoSeconds: 8,
      largeVideo: true,
    });
    expect(read({ path: '/v1/videos/video_1/remix' }, video('1280x720')).extras.videoSeconds).toBe(8);
    const cut = read({ path: '/v1/videos', requestModel: 'sora-2' }, video('1280x720').subarray(0, 20), [], false);
    expect(cut).toMatchObject({ source: 'estimated', extras: { videoSeconds: 20, largeVideo: true } });
    const looked = read({ method: 'GET', path: '/v1/videos/video_1' }, video('1280x720'));
    expect(looked).toMatchObject({ source: 'none', extras: { videoSeconds: 0 } });
  });

  it('counts audio input by the duration in the response', () => {
    const heard = Buffer.from('{"task":"transcribe","duration":61.2,"text":"hi"}');
    const reading = read({ path: '/v1/audio/transcriptions', requestBytes: 9_999_999 }, heard);
    expect(reading).toMatchObject({ source: 'reported', extras: { audioSeconds: 62 } });
  });

  it('counts each image of a response without usage', () => {
    const images = Buffer.from('{"created":1,"data":[{"url":"https://a"},{"url":"https://b"},{"b64_json":"AA"}]}');
    expect(read({ path: '/v1/images/generations' }, images)).toMatchObject({
      source: 'estimated',
      tokensOut: 3 * 4_160,
    });
  });

  it('counts speech by input characters, or by generated seconds', () => {
    const path = '/v1/audio/speech';
    const order = scanRequest(
      Buffer.from(JSON.stringify({ model: 'tts-1', input: '你好 "😀"\n', voice: 'nova' })),
      JSON_TYPE,
      true,
    ).requestedOutput!;
    expect(order).toMatchObject({ characters: 7, textBytes: 14 });
    const spoken = (contentType: string, bytes: number, requestOrder: RequestedOutput | null = order) =>
      read({ path, contentType, requestedOutput: requestOrder, requestBytes: 90 }, Buffer.alloc(bytes));
    // 14 bytes are 4 text tokens with 6 audio tokens each, whatever the format
    for (const bytes of [100, 50_000]) {
      expect(spoken('audio/mpeg', bytes)).toMatchObject({ source: 'estimated', tokensInUncached: 4, tokensOut: 24 });
    }
    expect(spoken('audio/mpeg', 2_304_000).tokensOut).toBe(1_000); // far longer than the text: the PCM estimate
    // One minute of 24 kHz with 16 bits is 1 250 tokens
    expect(spoken('audio/wav', 60 * 48_000).tokensOut).toBe(1_250);
    expect(spoken('audio/pcm', 60 * 48_000).extras.characters).toBe(7);
    // Request not read: at most as many characters as bytes; tokens from the response bytes
    const unread = spoken('audio/mpeg', 500_000, null);
    expect([unread.extras.characters, unread.tokensOut]).toEqual([90, 1_250]);
  });

  it('counts images without usage as the requested kind', () => {
    const path = '/v1/images/generations';
    const images = Buffer.from('{"created":1,"data":[{"url":"https://a"},{"url":"https://b"}]}');
    const kind = (request: object): unknown => {
      const { requestedOutput: order } = scanRequest(
        Buffer.from(JSON.stringify({ model: 'dall-e-3', ...request })),
        JSON_TYPE,
        true,
      );
      const { extras } = read({ path, requestedOutput: order }, images);
      return [extras.images, extras.imageKind];
    };
    expect(kind({})).toEqual([2, '1024x1024']);
    expect(kind({ size: '1024x1792', quality: 'standard' })).toEqual([2, '1024x1792']);
    expect(kind({ size: '1024x1792', quality: 'hd' })).toEqual([2, 'hd 1024x1792']);
    const reported = '{"data":[{"b64_json":"A"}],"usage":{"input_tokens":5,"output_tokens":272,"total_tokens":277}}';
    expect(read({ path }, Buffer.from(reported)).extras.images).toBe(0);
  });
});
