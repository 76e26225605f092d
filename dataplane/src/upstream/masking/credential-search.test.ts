import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteRangeList, CredentialPattern, CredentialSearch } from './credential-search.js';

/** Marks every byte that an occurrence covers, by a comparison at every position. */
function markReference(text: string, form: string): boolean[] {
  const bytes = new Array<boolean>(text.length).fill(false);
  for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + 1)) bytes.fill(true, at, at + form.length);
  return bytes;
}

function markFound(text: string, form: string, sizes: readonly number[]): boolean[] {
  const bytes = new Array<boolean>(text.length).fill(false);
  const search = new CredentialSearch(new CredentialPattern(form));
  const whole = Buffer.from(text);
  let at = 0;
  for (const size of [...sizes, text.length]) {
    const ranges = new ByteRangeList();
    const piece = whole.subarray(at, at + size);
    search.findInto(piece, ranges);
    for (let r = 0; r < ranges.count; r++) {
      expect(ranges.end(r)).toBeLessThanOrEqual(piece.length);
      expect(r === 0 || ranges.start(r) > ranges.end(r - 1)).toBe(true);
      bytes.fill(true, at + ranges.start(r), at + ranges.end(r));
    }
    at += piece.length;
  }
  return bytes;
}

const sizesOf = fc.array(fc.nat(90), { maxLength: 12 });
const word = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 5 });

test('finds every occurrence in any text of few letters and any chunking', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 120 });
  const form = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(text, form, sizesOf, (some, one, sizes) => {
      const whole = `${some}${one}${some}`;
      expect(markFound(whole, one, sizes)).toEqual(markReference(whole, one));
    }),
  );
});

test('finds periodic forms, with and without one different byte, among their own prefixes', () => {
  fc.assert(
    fc.property(
      word,
      fc.integer({ min: 8, max: 120 }),
      fc.option(fc.nat(119)),
      fc.array(fc.tuple(fc.nat(130), fc.constantFrom('', 'a', 'b', 'c')), { maxLength: 12 }),
      sizesOf,
      (period, length, change, parts, sizes) => {
        const letters = [...period.repeat(length).slice(0, length)];
        if (change !== null && change < length) letters[change] = 'c';
        const form = letters.join('');
        const text = parts.map(([end, between]) => form.slice(0, end) + between).join('') + period.repeat(30);
        expect(markFound(text, form, sizes)).toEqual(markReference(text, form));
      },
    ),
  );
});

test('reset starts a new text without the partial match of the previous one', () => {
  const search = new CredentialSearch(new CredentialPattern('secret-key-of-more-than-24-bytes'));
  const ranges = new ByteRangeList();
  search.findInto(Buffer.from('secret-key-of-more-than-24-'), ranges);
  search.reset();
  search.findInto(Buffer.from('bytes'), ranges);
  expect(ranges.count).toBe(0);
});
