/** Which answers of an MCP server cost the price of the tool, whatever their form, encoding and chunks. */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createMeter } from './create-meter.js';

const ID = '"a-1"';
const OTHER = { jsonrpc: '2.0', method: 'notifications/progress', params: { id: 'a-1', result: { isError: false } } };
const resultOf = (result: unknown, id: unknown = 'a-1') => ({ jsonrpc: '2.0', id, result });
const eventOf = (message: unknown, id?: string) =>
  `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`;

async function countUnits(
  body: string | Buffer,
  { contentType = 'application/json', contentEncoding = null as string | null, chargesErrors = false, cut = 4096 } = {},
): Promise<number> {
  const meter = createMeter({
    usageFormat: 'mcp',
    method: 'POST',
    path: '/mcp',
    requestBytes: 10,
    requestBlobBytes: 0,
    requestModel: null,
    requestItemCount: 0,
    requestedOutput: null,
    status: 200,
    contentType,
    contentEncoding,
    responseHeaders: [],
    tokensOutMax: null,
    toolCall: { idText: ID, chargesErrors },
    onDeferredUsage: null,
  });
  const bytes = Buffer.from(body);
  for (let at = 0; at < bytes.length; at += cut) meter.observe(bytes.subarray(at, at + cut));
  await new Promise<void>((done) => {
    if (meter.drain?.(done) !== true) done();
  });
  return meter.finish(true).extras.units;
}

const CASES: readonly (readonly [string, readonly unknown[], number])[] = [
  ['a result', [resultOf({ content: [] })], 1],
  ['a result of version 2026-07-28', [resultOf({ resultType: 'complete', content: [], isError: false })], 1],
  ['a structured result that names isError', [resultOf({ structuredContent: { isError: true } })], 1],
  ['a JSON-RPC error', [{ jsonrpc: '2.0', id: 'a-1', error: { code: -32602, message: 'no' } }], 0],
  ['an error of the tool', [resultOf({ content: [], isError: true })], 0],
  ['a question to the client', [resultOf({ resultType: 'input_required', inputRequests: {} })], 0],
  ['the handle of a task', [resultOf({ resultType: 'task', taskId: 't' })], 1],
  ['the answer to another request', [resultOf({ content: [] }, 'b')], 0],
];
const AS_EVENTS: typeof CASES = [
  ...CASES,
  ['no answer', [OTHER], 0],
  ['notifications and a result', [OTHER, resultOf({ content: [] })], 1],
  ['a request of the server with the same id', [{ jsonrpc: '2.0', id: 'a-1', method: 'ping' }, OTHER], 0],
  ['a request of the server and a result', [{ jsonrpc: '2.0', id: 'a-1', method: 'ping' }, resultOf({})], 1],
];

describe('price of a tool call', () => {
  for (const [what, messages, units] of CASES)
    it(`JSON: ${what} is ${units}`, async () => {
      const body = JSON.stringify(messages[0]);
      for (const cut of [1, 4096]) expect(await countUnits(body, { cut })).toBe(units);
      const contentEncoding = 'gzip';
      expect(await countUnits(gzipSync(body), { contentEncoding })).toBe(units);
    });

  for (const [what, messages, units] of AS_EVENTS)
    it(`events: ${what} is ${units}`, async () => {
      const contentType = 'text/event-stream; charset=utf-8';
      const body = messages.map((one) => eventOf(one)).join('');
      for (const cut of [1, 4096]) expect(await countUnits(body, { contentType, cut })).toBe(units);
    });

  it('an error of the tool costs the same where the operator says so', async () => {
    const body = JSON.stringify(resultOf({ isError: true, content: [] }));
    expect(await countUnits(body, { chargesErrors: true })).toBe(1);
  });

  it('a stream that ends early costs the call if the client can resume it, and nothing otherwise', async () => {
    const contentType = 'text/event-stream';
    for (const cut of [1, 4096]) {
      expect(await countUnits(eventOf(OTHER, '7'), { contentType, cut })).toBe(1);
      expect(await countUnits(eventOf({ ...OTHER, text: 'id: 7' }), { contentType, cut })).toBe(0);
    }
    const failed = eventOf({ jsonrpc: '2.0', id: 'a-1', error: { code: 1, message: '' } });
    expect(await countUnits(eventOf(OTHER, '7') + failed, { contentType })).toBe(0);
  });

  it('a result of many events’ length counts', async () => {
    const long = resultOf({ content: [{ type: 'text', text: 'x'.repeat(300_000) }] });
    expect(await countUnits(eventOf(long), { contentType: 'text/event-stream' })).toBe(1);
    expect(await countUnits(JSON.stringify(long))).toBe(1);
  });

  it('an answer in an unknown encoding counts', async () => {
    expect(await countUnits('?', { contentEncoding: 'rot13' })).toBe(1);
  });
});
