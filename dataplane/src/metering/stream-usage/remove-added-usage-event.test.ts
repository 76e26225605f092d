import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chatStream } from '../testing/provider-responses-fixture.js';
import { StreamUsageFilter } from './remove-added-usage-event.js';

function filtered(stream: Buffer, cuts: readonly number[] = []): string {
  const filter = new StreamUsageFilter();
  const edges = [0, ...cuts.map((cut) => cut % (stream.length + 1)).sort((a, b) => a - b), stream.length];
  const out: Buffer[] = [];
  for (let i = 1; i < edges.length; i++) {
    const chunk = Buffer.from(stream.subarray(edges[i - 1], edges[i]));
    out.push(Buffer.from(filter.push(chunk)));
    chunk.fill(0x22); // the filter must not keep the buffer
  }
  out.push(Buffer.from(filter.flush()));
  return Buffer.concat(out).toString();
}

const everyByte = (stream: Buffer): number[] => [...stream.keys()];
const cutsArb = fc.array(fc.nat(100_000), { maxLength: 40 });

describe('usage filter: restores the stream without usage', () => {
  const texts = ['Hi', ',"usage":null}', '\\"usage\\":', 'usage', '\n\n', 'é😀'];
  const cases = ['\n', '\r\n', '\r'].flatMap((newline) =>
    [false, true].map((obfuscation) => ({ texts, newline, obfuscation })),
  );
  it.each(cases)('%j', (options) => {
    const withUsage = chatStream({ ...options, includeUsage: true });
    const plain = chatStream({ ...options, includeUsage: false });
    expect(filtered(withUsage)).toBe(plain.toString());
    expect(filtered(withUsage, everyByte(withUsage))).toBe(plain.toString());
    fc.assert(
      fc.property(cutsArb, (cuts) => {
        expect(filtered(withUsage, cuts)).toBe(plain.toString());
        expect(filtered(plain, cuts)).toBe(plain.toString());
      }),
    );
  });

  it('restores it for any texts, and with blanks around every colon', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { maxLength: 8 }), cutsArb, (anyTexts, cuts) => {
        const withUsage = chatStream({ texts: anyTexts, includeUsage: true });
        const plain = chatStream({ texts: anyTexts, includeUsage: false });
        expect(filtered(withUsage, cuts)).toBe(plain.toString());
        const loose = (stream: Buffer): Buffer =>
          Buffer.from(
            stream
              .toString()
              .split('\n\n')
              .map((event) => (event.startsWith('data: {') ? 'data: ' + spaced(event.slice(6)) : event))
              .join('\n\n'),
          );
        expect(filtered(loose(withUsage), cuts)).toBe(loose(plain).toString());
      }),
    );
  });

  const members: [string, string, string][] = [
    ['usage first', 'data: {"usage": null, "id":1}\n\n', 'data: {"id":1}\n\n'],
    ['usage alone', 'data: {"usage":null}\n\n', 'data: {}\n\n'],
    ['usage in the middle', 'data: {"a":1 , "usage" : null ,"b":2}\n\n', 'data: {"a":1  ,"b":2}\n\n'],
    ['usage beside content', 'data: {"choices":[{}],"usage":{"x":1},"b":2}\n\n', 'data: {"choices":[{}],"b":2}\n\n'],
    ['no space after data:', 'data:{"choices":[],"usage":{"x":1}}\n\nx', 'x'],
    ['nested usage stays', 'data: {"a":{"usage":null},"b":1}\n\n', 'data: {"a":{"usage":null},"b":1}\n\n'],
    ['choices empty without usage', 'data: {"choices":[],"usage":null,"p":1}\n\n', 'data: {"choices":[],"p":1}\n\n'],
    ['usage twice stays', 'data: {"usage":1,"usage":null,"b":1}\n\n', 'data: {"usage":1,"usage":null,"b":1}\n\n'],
    ['not JSON stays', 'data: {"a" "usage":1,}\n\n', 'data: {"a" "usage":1,}\n\n'],
    ['comments and other fields stay', ': ping\n\nevent: x\nid: 1\n\n', ': ping\n\nevent: x\nid: 1\n\n'],
    ['CR inside an event that ends in LF', 'data: {"a":1,"usage":null}\rid: 1\n\n', 'data: {"a":1}\rid: 1\n\n'],
    ['last event without a blank line', 'data: {"a":1,"usage":null}', 'data: {"a":1}'],
  ];
  it.each(members)('%s', (_name, stream, expected) => {
    expect(filtered(Buffer.from(stream))).toBe(expected);
    expect(filtered(Buffer.from(stream), everyByte(Buffer.from(stream)))).toBe(expected);
  });
});

describe('usage filter: forwarding', () => {
  it('forwards an event with the chunk that completes it, and unedited chunks unchanged', () => {
    const filter = new StreamUsageFilter();
    const event = Buffer.from('data: {"a":1}\n\n');
    expect(filter.push(event)).toEqual(event);
    expect(filter.push(Buffer.from('data: {"b"')).length).toBe(0);
    expect(filter.push(Buffer.from(':2,"usage":null}\n\ndata: ')).toString()).toBe('data: {"b":2}\n\n');
    expect(filter.push(Buffer.from('[DONE]\n\n')).toString()).toBe('data: [DONE]\n\n');
  });

  it('passes an endless event through beyond the bound, and filters the next event', () => {
    const filter = new StreamUsageFilter();
    const piece = Buffer.alloc(65_536, 0x61);
    let passed = filter.push(Buffer.from('data: ')).length;
    for (let i = 0; i < 20; i++) passed += filter.push(piece).length;
    expect(passed).toBe(6 + 20 * piece.length);
    expect(filter.push(Buffer.from('\n\ndata: {"b":2,"usage":null}\n\n')).toString()).toBe('\n\ndata: {"b":2}\n\n');
  });
});

/** JSON text with a blank after each colon and comma between members, as Python prints it. */
function spaced(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|[,:]/g, (part) => (part === ',' || part === ':' ? part + ' ' : part));
}
