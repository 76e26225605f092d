import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileJsonPaths } from './json-paths.js';
import { JsonScanner, type JsonScanSink, VALUE_BYTES_MAX } from './json-scanner.js';

const USAGE = 0;
const NESTED = 1;
const ITEM = 2;
const PATHS = compileJsonPaths({ usage: USAGE, 'response.usage': NESTED, 'output[].type': ITEM });

class RecordingSink implements JsonScanSink {
  readonly texts: (string | null)[][] = [[], [], []];
  readonly spans: [number, number][] = [];
  scanner!: JsonScanner;
  onValue(slot: number, text: string | null): void {
    this.texts[slot]!.push(text);
    this.spans.push([this.scanner.valueStart, this.scanner.valueEnd]);
  }
}

function scan(document: Buffer, cuts: readonly number[] = []): RecordingSink & { scanner: JsonScanner } {
  const found = new RecordingSink();
  found.scanner = new JsonScanner(PATHS, found);
  const edges = [0, ...cuts.map((cut) => cut % (document.length + 1)).sort((a, b) => a - b), document.length];
  for (let i = 1; i < edges.length; i++) {
    const chunk = Buffer.concat([Buffer.from('xx'), document.subarray(edges[i - 1], edges[i]), Buffer.from('"{')]);
    found.scanner.push(chunk, 2, chunk.length - 2); // only the middle belongs to the document
    chunk.fill(0x7d);
  }
  return found;
}

/** Values that JSON.parse finds at the same paths. Object keys are unique in the output of JSON.stringify. */
function parseReference(value: unknown): unknown[][] {
  const member = (from: unknown, name: string): unknown[] =>
    typeof from === 'object' && from !== null && !Array.isArray(from) && Object.hasOwn(from, name)
      ? [(from as Record<string, unknown>)[name]]
      : [];
  const items = member(value, 'output').flatMap((output) => (Array.isArray(output) ? output : []));
  return [
    member(value, 'usage'),
    member(value, 'response').flatMap((response) => member(response, 'usage')),
    items.flatMap((item) => member(item, 'type')),
  ];
}

const key = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('usage', 'response', 'output', 'type') },
  fc.string({ unit: 'binary', maxLength: 6 }),
);
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    fc.constantFrom(
      null,
      true,
      false,
      0,
      -1.5e-7,
      'usage',
      '{"usage":1}',
      '\\',
      '\\"',
      '"'.repeat(60),
      '\\'.repeat(61),
    ),
    fc.string({ unit: 'binary', maxLength: 80 }),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(key, tie('tree'), { maxKeys: 6, noNullPrototype: true }),
  ),
}));
const documents = fc
  .tuple(fc.dictionary(key, tree, { maxKeys: 8, noNullPrototype: true }), fc.constantFrom(0, 1, '\r\n\t'))
  .map(([value, indent]) => ({ value: value as unknown, text: JSON.stringify(value, null, indent) }));
const cuts = fc.array(fc.nat(5000), { maxLength: 30 });

describe('JsonScanner', () => {
  it('ends a string of any length at a quote after an even number of backslashes', () => {
    for (let length = 0; length < 120; length++) {
      for (let slashes = 0; slashes <= 5; slashes++) {
        const text = `{"x":"${'a'.repeat(length)}${'\\\\'.repeat(slashes)}","usage":7}`;
        expect(scan(Buffer.from(text)).texts[USAGE]).toEqual(['7']);
        expect(scan(Buffer.from(text), [6 + length + slashes]).texts[USAGE]).toEqual(['7']);
      }
    }
  });

  it('finds the same values as JSON.parse, at any chunk boundaries', () => {
    fc.assert(
      fc.property(documents, cuts, ({ value, text }, at) => {
        const document = Buffer.from(text);
        const found = scan(document, at);
        const parsed = found.texts.map((texts) => texts.map((one) => JSON.parse(one!) as unknown));
        expect(parsed).toEqual(parseReference(JSON.parse(JSON.stringify(value))));
        expect(found.scanner.isDone).toBe(true);
        const texts = found.spans.map(([from, to]) => document.toString('utf8', from, to));
        expect(texts.sort()).toEqual(found.texts.flat().sort());
      }),
    );
  });

  it('finds the same values when fed byte by byte', () => {
    fc.assert(
      fc.property(documents, ({ text }) => {
        const document = Buffer.from(text);
        expect(scan(document, [...document.keys()]).texts).toEqual(scan(document).texts);
      }),
    );
  });

  it('is not done for a truncated document, and never throws', () => {
    fc.assert(
      fc.property(documents, fc.nat(5000), ({ text }, at) => {
        const document = Buffer.from(text);
        expect(scan(document.subarray(0, at % document.length)).scanner.isDone).toBe(false);
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), cuts, (bytes, at) => {
        expect(() => scan(Buffer.from(bytes), at)).not.toThrow();
      }),
    );
    const json = fc.array(fc.constantFrom('{', '}', '[', ']', '"', '\\', ':', ',', '"usage"', '"output"', '1', ' '));
    fc.assert(
      fc.property(json, cuts, (parts, at) => {
        expect(() => scan(Buffer.from(parts.join('')), at)).not.toThrow();
      }),
    );
  });

  it.each([
    '{"usage":1,}',
    '{"usage" 1}',
    '{usage:1}',
    '{"usage":1}}',
    '{"usage":1} {}',
    '{,}',
    '{"output":[1}}',
    "{'usage':1}",
    '{"usage":}',
    '\ufeff{}',
    '{"output":[,]}',
    '{"output":[1 2]}',
  ])('rejects the malformed document %s', (text) => {
    const { scanner } = scan(Buffer.from(text));
    expect(scanner.hasFailed || !scanner.isDone).toBe(true);
  });

  it('decodes an escaped name, and reports duplicate members in order', () => {
    expect(scan(Buffer.from('{"\\u0075sage":1,"usage":2}')).texts[USAGE]).toEqual(['1', '2']);
  });

  it('reports a value over VALUE_BYTES_MAX as null and continues', () => {
    const long = `"${'x'.repeat(VALUE_BYTES_MAX)}"`;
    const document = Buffer.from(`{"usage":${long},"response":{"usage":7}}`);
    expect(scan(document).texts).toEqual([[null], ['7'], []]);
    expect(scan(document, [10, 1000, 65_000]).texts).toEqual([[null], ['7'], []]);
  });
});
