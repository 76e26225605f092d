/**
 * The cost of reading usage: µs per call and per chunk, and the behaviour for hostile responses (CPU linear in bytes,
 * memory flat). Run: `node bench/dist/metering-cost.js`.
 */
import { cpus } from 'node:os';
import { createMeter } from '@acg/dataplane/metering/create-meter';
import type { MeterOptions } from '@acg/dataplane/metering/reading/response-usage-meter-interface';
import { StreamUsageFilter } from '@acg/dataplane/metering/stream-usage/remove-added-usage-event';
import { addIncludeUsage } from '@acg/dataplane/metering/stream-usage/request-stream-usage';
import {
  chatBody,
  chatStream,
  messagesBody,
  messagesStream,
  responsesStream,
} from '@acg/dataplane/metering/testing/provider-responses-fixture';
import { CallCostCalculator } from '@acg/dataplane/pricing/call-cost-calculator';
import { scanRequest } from '@acg/dataplane/scan/request-scanner';

const words = Array.from({ length: 200 }, (_, n) => ` word${n % 10}`);

const options = (usageFormat: MeterOptions['usageFormat'], path: string, contentType: string): MeterOptions => ({
  usageFormat,
  method: 'POST',
  path,
  requestBytes: 4000,
  requestBlobBytes: 0,
  requestModel: 'gpt-5-mini',
  requestItemCount: 0,
  requestedOutput: null,
  status: 200,
  contentType,
  contentEncoding: null,
  responseHeaders: [],
  tokensOutMax: null,
  onDeferredUsage: null,
});

/** Best of five rounds, in µs per run of `work`. */
function microsecondsOf(runs: number, work: () => void): number {
  for (let i = 0; i < runs / 2; i++) work();
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5; round++) {
    const start = process.hrtime.bigint();
    for (let i = 0; i < runs; i++) work();
    best = Math.min(best, Number(process.hrtime.bigint() - start) / 1000 / runs);
  }
  return best;
}

function eventsOf(stream: Buffer): Buffer[] {
  const parts = stream.toString('latin1').split('\n\n');
  return parts.slice(0, -1).map((part) => Buffer.from(`${part}\n\n`, 'latin1'));
}

function report(name: string, value: number, unit: string): void {
  console.log(`${name.padEnd(58)} ${value.toFixed(value < 10 ? 3 : 1).padStart(10)} ${unit}`);
}

function streamed(name: string, opts: MeterOptions, stream: Buffer): void {
  const chunks = eventsOf(stream);
  const micros = microsecondsOf(200, () => {
    const meter = createMeter(opts);
    for (const chunk of chunks) meter.observe(chunk);
    meter.finish(true);
  });
  report(
    `${name}: one event a chunk, per chunk of ${Math.round(stream.length / chunks.length)} B`,
    micros / chunks.length,
    'µs',
  );
}

function whole(name: string, opts: MeterOptions, body: Buffer): void {
  const micros = microsecondsOf(2000, () => {
    const meter = createMeter(opts);
    for (let at = 0; at < body.length; at += 16_384) meter.observe(body.subarray(at, at + 16_384));
    meter.finish(true);
  });
  report(`${name}: whole answer of ${body.length} B`, micros, 'µs');
}

function hostile(name: string, opts: MeterOptions, chunk: Buffer, times: number, head = ''): void {
  const meter = createMeter(opts);
  meter.observe(Buffer.from(head));
  global.gc?.();
  const rssBefore = process.memoryUsage().rss;
  const start = process.hrtime.bigint();
  for (let i = 0; i < times; i++) meter.observe(chunk);
  meter.finish(false);
  const millis = Number(process.hrtime.bigint() - start) / 1e6;
  const mib = (chunk.length * times) / 1_048_576;
  const grown = (process.memoryUsage().rss - rssBefore) / 1_048_576;
  console.log(
    `${name.padEnd(58)} ${millis.toFixed(0).padStart(7)} ms  ${mib.toFixed(1).padStart(7)} MiB  ` +
      `${((millis * 1e6) / (chunk.length * times)).toFixed(2).padStart(6)} ns/B  RSS ${grown >= 0 ? '+' : ''}${grown.toFixed(1)} MiB`,
  );
}

const JSON_TYPE = 'application/json';
const SSE = 'text/event-stream';
const chat = options('openai', '/v1/chat/completions', JSON_TYPE);
const chatSse = options('openai', '/v1/chat/completions', SSE);
const messages = options('anthropic', '/v1/messages', JSON_TYPE);
const messagesSse = options('anthropic', '/v1/messages', SSE);

console.log(`node ${process.version}, ${cpus()[0]?.model ?? ''} × ${cpus().length}\n`);
streamed('chat', chatSse, chatStream({ texts: words, includeUsage: true }));
streamed('chat, obfuscated', chatSse, chatStream({ texts: words, includeUsage: true, obfuscation: true }));
streamed('responses', options('openai', '/v1/responses', SSE), responsesStream(words));
streamed('messages', messagesSse, messagesStream(words));
whole('chat', chat, chatBody(words.slice(0, 50).join('')));
whole('chat', chat, chatBody('long "quoted" text\n'.repeat(50_000)));
whole('messages', messages, messagesBody(words.slice(0, 50).join('')));

for (const obfuscation of [false, true]) {
  const chunks = eventsOf(chatStream({ texts: words, includeUsage: true, obfuscation }));
  const micros = microsecondsOf(200, () => {
    const filter = new StreamUsageFilter();
    for (const chunk of chunks) filter.push(chunk);
    filter.flush();
  });
  report(`usage filter${obfuscation ? ', obfuscated' : ''}: per chunk`, micros / chunks.length, 'µs');
}
for (const bytes of [4_000, 4_000_000]) {
  const text = 'All work and no play makes "Jack" a dull boy.\n'.repeat(bytes / 46);
  const body = Buffer.from(
    JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: text }], stream: true }),
  );
  report(
    `edit of a chat request of ${body.length} B`,
    microsecondsOf(bytes > 10_000 ? 5 : 2000, () => void addIncludeUsage(body)),
    'µs',
  );
  report(
    `scan of a request of ${body.length} B`,
    microsecondsOf(bytes > 10_000 ? 5 : 2000, () => void scanRequest(body, JSON_TYPE)),
    'µs',
  );
}
const prices = new CallCostCalculator(Date.now);
const meter = createMeter(chat);
meter.observe(chatBody('hi'));
const reading = meter.finish(true);
const upstream = {
  providerSlug: 'openai',
  priceProvider: 'openai',
  usageFormat: 'openai',
  origin: 'https://api.openai.com',
};
report(
  'price of a reading, plan known',
  microsecondsOf(20_000, () => void prices.calculateCost({ upstream, reading })),
  'µs',
);

console.log('\nhostile answers');
const filler = Buffer.alloc(65_536, 0x61);
hostile('events: 1 GiB without a line end', chatSse, filler, 16_384);
hostile('events: 1 GiB of one data line, no JSON', chatSse, filler, 16_384, 'data: ');
hostile('events: 256 MiB in one JSON string', chatSse, filler, 4_096, 'data: {"x":"');
hostile('events: 256 MiB in one usage value', chatSse, filler, 4_096, 'data: {"usage":{"x":"');
hostile('events: 10^6 chunks of one byte', chatSse, Buffer.from('{'), 1_000_000);
hostile('events: 64 MiB of blank lines', chatSse, Buffer.alloc(65_536, 0x0a), 1_024);
hostile('events: 64 MiB of CR', chatSse, Buffer.alloc(65_536, 0x0d), 1_024);
hostile('events: 64 MiB of "data:" lines without end', chatSse, Buffer.from('data:\n'.repeat(10_000)), 1_118);
hostile('events: 64 MiB of tiny events', chatSse, Buffer.from('data:{}\n\n'.repeat(7_000)), 1_065);
hostile(
  'events: 64 MiB of events with the word "usage"',
  chatSse,
  Buffer.from('data:{"usage":1}\n\n'.repeat(3_600)),
  1_035,
);
hostile('document: 256 MiB of opening brackets', chat, Buffer.alloc(65_536, 0x5b), 4_096, '{"x":');
hostile('document: 256 MiB {"a":{"a":…', chat, Buffer.from('{"a":'.repeat(13_107)), 4_096);
hostile('document: 256 MiB of backslashes in a string', chat, Buffer.alloc(65_536, 0x5c), 4_096, '{"x":"');
hostile('document: 64 MiB of escaped quotes', chat, Buffer.from('\\"'.repeat(32_768)), 1_024, '{"x":"');
hostile('document: 64 MiB of numbers', chat, Buffer.from('-0.0123456789,'.repeat(4_681)), 1_024, '{"x":[');
hostile('document: 64 MiB of short strings', chat, Buffer.from('"ab",'.repeat(13_107)), 1_024, '{"x":[');
hostile('document: 64 MiB of members', chat, Buffer.from('"ab":1,'.repeat(9_362)), 1_024, '{');
hostile('document: 64 MiB of models', chat, Buffer.from('"model":"m",'.repeat(5_461)), 1_024, '{');
hostile('document: 10^6 chunks of one byte', chat, Buffer.from('['), 1_000_000, '{"x":');
hostile('document: a usage object without end', chat, filler, 1_024, '{"usage":{"x":"');
