import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FAILED, JsonTokenizer, MORE, NAME, OPEN_ARRAY, OPEN_OBJECT, VALUE } from './json-tokenizer.js';

/** The tokens of a document, with the texts of names and values. `skips`: skip every container inside the outermost. */
function tokensOf(text: string, isStrict: boolean, cuts: readonly number[] = [], skips = false): unknown[] {
  const document = Buffer.from(text);
  const tokens = new JsonTokenizer(isStrict);
  const seen: unknown[] = [];
  let opened = 0;
  const edges = [0, ...cuts.map((cut) => cut % (document.length + 1)).sort((a, b) => a - b), document.length];
  for (let i = 1; i < edges.length; i++) {
    const chunk = Buffer.concat([Buffer.from('["'), document.subarray(edges[i - 1], edges[i]), Buffer.from('"]')]);
    tokens.push(chunk, 2, chunk.length - 2);
    for (let token = tokens.next(); token !== MORE; token = tokens.next()) {
      if (token === FAILED) return [...seen, 'failed'];
      if ((token === OPEN_OBJECT || token === OPEN_ARRAY) && opened++ > 0 && skips) tokens.skipContainer();
      else if (token === NAME) seen.push(tokens.decodeName());
      else if (token === VALUE) seen.push([document.toString('utf8', tokens.valueStart, tokens.valueEnd)]);
      else seen.push(token);
    }
    chunk.fill(0x22);
  }
  return [...seen, tokens.end()];
}

const cuts = fc.array(fc.nat(1_000), { maxLength: 12 });

test('strict and lenient tokenizers give the same tokens of a valid document, at any chunk boundaries', () => {
  fc.assert(
    fc.property(fc.json({ stringUnit: 'binary' }), cuts, (value, at) => {
      const text = `[${value}]`;
      const whole = tokensOf(text, true);
      expect(whole.at(-1)).toBe(true);
      expect(tokensOf(text, true, at)).toEqual(whole);
      expect(tokensOf(text, false, at)).toEqual(whole);
    }),
    { numRuns: 1_000 },
  );
});

test('a skipped container is one value', () => {
  fc.assert(
    fc.property(fc.array(fc.json({ stringUnit: 'binary' }), { maxLength: 4 }), cuts, (items, at) => {
      const expected = [OPEN_ARRAY, ...items.map((item) => [item]), expect.any(Number), true];
      expect(tokensOf(`[${items.join()}]`, false, at, true)).toEqual(expected);
    }),
    { numRuns: 1_000 },
  );
});

test.each(['{"a":tru}', '"\\x"', '"\u0001"', '[01]', '{"a\\u00g0":1}', '[1e]'])(
  'only the strict tokenizer fails in %s',
  (text) => {
    expect(tokensOf(text, true)).toContain('failed');
    expect(tokensOf(text, false)).not.toContain('failed');
  },
);
