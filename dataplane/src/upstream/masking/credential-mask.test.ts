import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  BodyMasker,
  compileMaskPatterns,
  cutPartialCredential,
  maskBuffer,
  maskHeaderValue as maskWith,
} from './credential-mask.js';

const maskValue = (value: string, forms: readonly string[]): string => maskWith(value, compileMaskPatterns(forms));

const cut = (text: Buffer, sizes: readonly number[]): Buffer[] => {
  const chunks: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    chunks.push(Buffer.from(text.subarray(at, at + size)));
    at += size;
  }
  chunks.push(Buffer.from(text.subarray(at)));
  return chunks;
};

/** What leaves with each chunk, and at the end. */
const pieces = (chunks: readonly Buffer[], forms: readonly string[]): string[] => {
  const mask = new BodyMasker(compileMaskPatterns(forms));
  const out = chunks.map((chunk) => {
    const rest = mask.push(chunk);
    return Buffer.concat([mask.released, rest]).toString('latin1');
  });
  return [...out, mask.flush().toString('latin1')];
};

const stream = (chunks: readonly Buffer[], forms: readonly string[]): string => pieces(chunks, forms).join('');

/** Every byte of every occurrence, overlapping ones too, found on the whole text at once. */
const reference = (text: Buffer, forms: readonly string[]): string => {
  const out = Buffer.from(text);
  for (const form of forms) {
    for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + 1)) out.fill('*', at, at + form.length);
  }
  return out.toString('latin1');
};

test('mask: a secret cut at every two places is masked with the same length', () => {
  const text = Buffer.from('{"echo":"sk-live-secret-1","again":"sk-live-sk-live-secret-1"}');
  for (let at = 0; at <= text.length; at++) {
    for (let more = 0; more <= 20; more++) {
      expect(stream(cut(text, [at, more]), ['sk-live-secret-1'])).toBe(
        '{"echo":"****************","again":"sk-live-****************"}',
      );
    }
  }
});

test('mask: any text, forms and chunking give what masking the whole text gives', () => {
  const form = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' '), maxLength: 80 }),
      fc.array(form, { minLength: 1, maxLength: 3 }),
      fc.array(fc.nat(9), { maxLength: 20 }),
      (text, forms, sizes) => {
        const bytes = Buffer.from(text);
        expect(stream(cut(bytes, sizes), forms)).toBe(reference(bytes, forms));
      },
    ),
    { numRuns: 5000 },
  );
});

test('mask: where the last chunk is known for it, nothing waits and nothing else changes', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' '), maxLength: 80 });
  const form = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(text, form, fc.array(fc.nat(9), { maxLength: 20 }), (whole, secret, sizes) => {
      const bytes = Buffer.from(whole);
      const chunks = cut(bytes, sizes);
      const mask = new BodyMasker(compileMaskPatterns([secret]));
      const out = chunks.map((chunk, i) => {
        const rest = mask.push(chunk, i === chunks.length - 1);
        return mask.released.toString('latin1') + rest.toString('latin1');
      });
      expect(out.join('')).toBe(reference(bytes, [secret]));
      expect(mask.hasHeldBytes).toBe(false);
    }),
    { numRuns: 2000 },
  );
});

test('mask: a long secret in any chunking, among runs longer than what is held', () => {
  const secret = `sk-proj-${'Ab1-'.repeat(30)}`;
  const filler = fc.string({ unit: fc.constantFrom('s', 'k', '-', 'A', ' '), maxLength: 300 });
  fc.assert(
    fc.property(filler, filler, fc.array(fc.nat(150), { maxLength: 12 }), (before, between, sizes) => {
      const bytes = Buffer.from(`${before}${secret}${between}${secret}`);
      expect(stream(cut(bytes, sizes), [secret])).toBe(reference(bytes, [secret]));
    }),
    { numRuns: 2000 },
  );
});

test('mask: what leaves with which chunk does not depend on the secret', () => {
  const secret = fc.string({ unit: fc.constantFrom('s', 'k', '-', 'a', 'b', '1'), minLength: 8, maxLength: 63 });
  fc.assert(
    fc.property(secret, secret, fc.array(fc.nat(70), { maxLength: 12 }), fc.nat(20), (one, other, sizes, blanks) => {
      // Guesses of the one secret, as a caller would have them echoed: its beginnings, longer and longer.
      const guesses = Array.from(one, (_, i) => one.slice(0, i + 1)).join(blanks > 15 ? ' ' : '');
      const text = Buffer.from(`{"echo":"${guesses}"}\n${one}`);
      const lengths = (form: string) => pieces(cut(text, sizes), [form]).map((piece) => piece.length);
      expect(lengths(one)).toEqual(lengths(other));
    }),
    { numRuns: 2000 },
  );
});

test('mask: only the printable run at a chunk’s end waits, and not longer than any form can be', () => {
  const mask = new BodyMasker(compileMaskPatterns(['secret-key']));
  expect(mask.push(Buffer.from('data: nothing like it\n\n')).toString()).toBe('data: nothing like it\n\n');
  expect(mask.hasHeldBytes).toBe(false);
  expect(mask.push(Buffer.from('data: any word')).toString()).toBe('data: any ');
  expect(mask.hasHeldBytes).toBe(true);
  const rest = mask.push(Buffer.from('s are held\n'));
  expect([mask.released.toString(), rest.toString()]).toEqual(['word', 's are held\n']);
  const long = 'x'.repeat(100);
  expect(mask.push(Buffer.from(long)).length).toBe(100 - 63);
  expect(mask.flush().toString()).toBe('x'.repeat(63));
  expect(mask.flush()).toHaveLength(0);
});

test('mask: a chunk that ends a line is passed on without a copy, and nothing is held', () => {
  const mask = new BodyMasker(compileMaskPatterns(['secret-key']));
  const chunk = Buffer.from('plain text\n');
  expect(mask.push(chunk)).toBe(chunk);
  expect(mask.released).toHaveLength(0);
});

test('mask: header values', () => {
  expect(maskValue('Bearer abcabc', ['abc', 'bca'])).toBe('Bearer ******');
  expect(maskValue('nothing', ['abc', ''])).toBe('nothing');
  const value = 'untouched';
  expect(maskValue(value, ['zzz'])).toBe(value);
  // The provider's bytes are UTF-8, and a header's text is latin1.
  const echoed = Buffer.from('key: sécret-ü1').toString('latin1');
  expect(maskValue(echoed, ['sécret-ü1'])).toBe(`key: ${'*'.repeat(11)}`);
});

test('mask: what waited is forgotten where the body is cut off, with what it might have begun', () => {
  const mask = new BodyMasker(compileMaskPatterns(['secret-key']));
  mask.push(Buffer.from('data: secret-'));
  mask.discardHeld();
  expect(mask.hasHeldBytes).toBe(false);
  expect(mask.push(Buffer.from('key\n')).toString()).toBe('key\n');
});

const LONG_BYTES = 16 << 20;
const HOSTILE_BYTES = 1 << 20;
const repeated = (unit: string): Buffer => Buffer.alloc(LONG_BYTES, unit);
const half = 'a'.repeat(HOSTILE_BYTES / 2);
const hostilePairs: readonly [name: string, form: string, text: Buffer][] = [
  ['a short periodic form', 'a'.repeat(8), repeated('a')],
  ['a long periodic form', half + half, repeated('a')],
  ['a form that differs in its middle', `${half}b${half}`, repeated('a')],
  ['a form that differs at its end', `${half}${half}b`, repeated('a')],
  ['a form that differs where the text does', `${half}b`, repeated(`${half}c`)],
];
const ways: Record<string, (text: Buffer, form: string) => void> = {
  'header value': (text, form) => void maskValue(text.toString('latin1'), [form]),
  message: (text, form) => void maskBuffer(Buffer.from(text), compileMaskPatterns([form])),
  'body in pieces': (text, form) => {
    const mask = new BodyMasker(compileMaskPatterns([form]));
    for (let at = 0; at < LONG_BYTES; at += 65_536) mask.push(Buffer.from(text.subarray(at, at + 65_536)));
  },
};

// Work that grows with text × form (1.7e13 steps here) does not end within the test timeout; bench/src/mask.ts measures.
describe.each(Object.keys(ways))('mask: the cost grows with the text alone: %s', (way) => {
  test.each(hostilePairs)('%s', (_name, form, text) => ways[way]!(text, form));
});

test('mask: a whole message, every form, overlapping ones too', () => {
  const message = Buffer.from('abcabc and xyz');
  maskBuffer(message, compileMaskPatterns(['abca', 'cabc', 'xyz']));
  expect(message.toString()).toBe('****** and ***');
});

test('mask: a text that was cut off loses the run in which a piece of the secret may stand', () => {
  expect(cutPartialCredential('error: secret-k', compileMaskPatterns(['secret-key']))).toBe('error: ');
  expect(cutPartialCredential('error: done ', compileMaskPatterns(['secret-key']))).toBe('error: done ');
  expect(cutPartialCredential('no credential', compileMaskPatterns([]))).toBe('no credential');
});

test('mask: every one of several occurrences that overlap across a border', () => {
  for (let first = 1; first <= 14; first++) {
    expect(stream(cut(Buffer.from(`${'a'.repeat(14)} `), [first, 1]), ['a'.repeat(8)])).toBe(`${'*'.repeat(14)} `);
  }
});
