import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVENT_BYTES_MAX, EVENT_DELTA, EVENT_ERROR, EVENT_PLAIN, SseParser, type SseSink } from './sse-parser.js';

class Events implements SseSink {
  readonly seen: [number, string][] = [];
  #long = '';
  onEvent(kind: number, bytes: Buffer, from: number, to: number): void {
    this.seen.push([kind, bytes.toString('utf8', from, to)]);
  }
  onLongData(bytes: Buffer, from: number, to: number): void {
    this.#long += bytes.toString('latin1', from, to);
  }
  onLongDataEnd(kind: number): void {
    this.seen.push([kind, this.#long]);
    this.#long = '';
  }
}

function parseStream(stream: Buffer, cuts: readonly number[] = []): [number, string][] {
  const events = new Events();
  const parser = new SseParser(events);
  const edges = [0, ...cuts.map((cut) => cut % (stream.length + 1)).sort((a, b) => a - b), stream.length];
  for (let i = 1; i < edges.length; i++) {
    const chunk = Buffer.from(stream.subarray(edges[i - 1], edges[i]));
    parser.push(chunk);
    chunk.fill(0x0a);
  }
  parser.end();
  return events.seen;
}

/** The algorithm of the standard, on the whole text. */
function parseReference(text: string): string[] {
  const events: string[] = [];
  let data: string[] = [];
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\r|\n/);
  for (const line of [...lines, '']) {
    if (line === '') {
      if (data.length > 0) events.push(data.join('\n'));
      data = [];
    } else if (line === 'data') data.push('');
    else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
  }
  return events;
}

/** A digest keeps the failure message short. */
const digest = (text: string): string => `${text.length} ${createHash('sha256').update(text).digest('hex')}`;

const newline = fc.constantFrom('\n', '\r\n', '\r');
const line = fc.oneof(
  fc.constantFrom(
    '',
    '',
    'data',
    'data:',
    'data: ',
    'data:  x',
    'data: {"a":1}',
    'datax: 1',
    ': ping',
    'event: x',
    'id: 7',
  ),
  fc.stringMatching(/^data: [^\r\n]{0,20}$/),
);
const streams = fc
  .array(fc.tuple(line, newline), { maxLength: 30 })
  .map((lines) => lines.map(([text, end]) => text + end).join(''));
const cutsArb = fc.array(fc.nat(2000), { maxLength: 30 });

describe('SseParser', () => {
  it('parses any stream as the standard requires, at any chunk boundaries', () => {
    fc.assert(
      fc.property(streams, fc.boolean(), cutsArb, (text, hasMark, cuts) => {
        const stream = Buffer.from((hasMark ? '\ufeff' : '') + text);
        const expected = parseReference(text);
        expect(parseStream(stream, cuts).map(([, data]) => data)).toEqual(expected);
        expect(parseStream(stream, [...stream.keys()]).map(([, data]) => data)).toEqual(expected);
      }),
    );
  });

  it('classifies events by name', () => {
    const stream = (name: string): Buffer => Buffer.from(`event: ${name}\ndata: 1\n\ndata: 2\n\n`);
    expect(parseStream(stream('content_block_delta'))).toEqual([
      [EVENT_DELTA, '1'],
      [EVENT_PLAIN, '2'],
    ]);
    expect(parseStream(stream('response.output_text.delta'))[0]![0]).toBe(EVENT_DELTA);
    expect(parseStream(stream('message_delta'))[0]![0]).toBe(EVENT_PLAIN);
    expect(parseStream(stream('error'))[0]![0]).toBe(EVENT_ERROR);
    expect(parseStream(stream('response.failed'))[0]![0]).toBe(EVENT_ERROR);
  });

  const long = 'a'.repeat(EVENT_BYTES_MAX);
  it.each([
    ['one long data line', `data: ${long}b\n\ndata: 2\n\n`],
    ['a long second line', `data: 1\ndata: ${long}b\n\ndata: 2\n\n`],
    ['many lines that are long together', `${`data: ${'c'.repeat(999)}\n`.repeat(100)}\ndata: 2\n\n`],
    ['a long comment', `: ${long}\ndata: 2\n\n`],
    ['a BOM before a long line', `\ufeffdata: ${long}b\n\ndata: 2\n\n`],
    ['a long comment before a name and data', `: ${long}\r\nevent: x.delta\r\ndata: 1\r\ndata: 2\r\n\r\ndata: 3\n\n`],
    ['more lines than are kept', `${'data:\n'.repeat(1_025)}data: 1\n\ndata: 2\n\n`],
    ['a long line after a long one', `data: ${long}\ndata: ${long}\ndata:x\n\ndata: 2\r\n\r\n`],
  ])('%s', (_name, text) => {
    const expected = parseReference(text).map(digest);
    for (const cuts of [[], [3], [70_000], [1, 2, 8, 9, 10, 11, 65_540, 65_541, 65_542, 65_550]]) {
      expect(parseStream(Buffer.from(text), cuts).map(([, data]) => digest(data))).toEqual(expected);
    }
    const steps = Array.from({ length: 200 }, (_, n) => n * 777);
    expect(parseStream(Buffer.from(text), steps).map(([, data]) => digest(data))).toEqual(expected);
  });
});
