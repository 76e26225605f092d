import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  BodyMasker,
  compileMaskPatterns,
  cutPartialCredential,
  maskBuffer,
  maskHeaderValue,
} from './credential-mask.js';

const maskValue = (value: string, forms: readonly string[]): string =>
  maskHeaderValue(value, compileMaskPatterns(forms));

const splitIntoChunks = (text: Buffer, sizes: readonly number[]): Buffer[] => {
  const chunks: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    chunks.push(Buffer.from(text.subarray(at, at + size)));
    at += size;
  }
  chunks.push(Buffer.from(text.subarray(at)));
  return chunks;
};

/** What the masker releases with each chunk, and at the end. */
const maskChunks = (chunks: readonly Buffer[], forms: readonly string[]): string[] => {
  const mask = new BodyMasker(compileMaskPatterns(forms));
  const out = chunks.map((chunk) => {
    const rest = mask.push(chunk);
    return Buffer.concat([mask.released, rest]).toString('latin1');
  });
  return [...out, mask.flush().toString('latin1')];
};

const maskStream = (chunks: readonly Buffer[], forms: readonly string[]): string => maskChunks(chunks, forms).join('');

/** Masks every byte of every occurrence, also overlapping ones, on the whole text at once. */
const maskReference = (text: Buffer, forms: readonly string[]): string => {
  const out = Buffer.from(text);
  for (const form of forms) {
    for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + 1)) out.fill('*', at, at + form.length);
  }
  return out.toString('latin1');
};

test('masks a secret that is split at any two positions, without a change of length', () => {
  const text = Buffer.from('{"echo":"sk-live-secret-1","again":"sk-live-sk-live-secret-1"}');
  for (let at = 0; at <= text.length; at++) {
    for (let more = 0; more <= 20; more++) {
      expect(maskStream(splitIntoChunks(text, [at, more]), ['sk-live-secret-1'])).toBe(
        '{"echo":"****************","again":"sk-live-****************"}',
      );
    }
  }
});

test('masks any chunking of any text as it masks the whole text', () => {
  const form = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' '), maxLength: 80 }),
      fc.array(form, { minLength: 1, maxLength: 3 }),
      fc.array(fc.nat(9), { maxLength: 20 }),
      (text, forms, sizes) => {
        const bytes = Buffer.from(text);
        expect(maskStream(splitIntoChunks(bytes, sizes), forms)).toBe(maskReference(bytes, forms));
      },
    ),
  );
});

test('holds nothing back after the last chunk and masks the same', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' '), maxLength: 80 });
  const form = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(text, form, fc.array(fc.nat(9), { maxLength: 20 }), (whole, secret, sizes) => {
      const bytes = Buffer.from(whole);
      const chunks = splitIntoChunks(bytes, sizes);
      const mask = new BodyMasker(compileMaskPatterns([secret]));
      const out = chunks.map((chunk, i) => {
        const rest = mask.push(chunk, i === chunks.length - 1);
        return mask.released.toString('latin1') + rest.toString('latin1');
      });
      expect(out.join('')).toBe(maskReference(bytes, [secret]));
      expect(mask.hasHeldBytes).toBe(false);
    }),
  );
});

test('masks a long secret in any chunking, also in runs longer than the held bytes', () => {
  const secret = `sk-proj-${'Ab1-'.repeat(30)}`;
  const filler = fc.string({ unit: fc.constantFrom('s', 'k', '-', 'A', ' '), maxLength: 300 });
  fc.assert(
    fc.property(filler, filler, fc.array(fc.nat(150), { maxLength: 12 }), (before, between, sizes) => {
      const bytes = Buffer.from(`${before}${secret}${between}${secret}`);
      expect(maskStream(splitIntoChunks(bytes, sizes), [secret])).toBe(maskReference(bytes, [secret]));
    }),
  );
});

test('the released length of each chunk does not depend on the secret', () => {
  const secret = fc.string({ unit: fc.constantFrom('s', 'k', '-', 'a', 'b', '1'), minLength: 8, maxLength: 63 });
  fc.assert(
    fc.property(secret, secret, fc.array(fc.nat(70), { maxLength: 12 }), fc.nat(20), (one, other, sizes, blanks) => {
      // A caller lets the provider echo guesses of the secret: its prefixes, each one byte longer.
      const guesses = Array.from(one, (_, i) => one.slice(0, i + 1)).join(blanks > 15 ? ' ' : '');
      const text = Buffer.from(`{"echo":"${guesses}"}\n${one}`);
      const lengths = (form: string) => maskChunks(splitIntoChunks(text, sizes), [form]).map((piece) => piece.length);
      expect(lengths(one)).toEqual(lengths(other));
    }),
  );
});

test('holds back only the printable run at the end of a chunk, up to heldBytesMax', () => {
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

test('releases a chunk that ends with a line break without a copy', () => {
  const mask = new BodyMasker(compileMaskPatterns(['secret-key']));
  const chunk = Buffer.from('plain text\n');
  expect(mask.push(chunk)).toBe(chunk);
  expect(mask.released).toHaveLength(0);
});

test('masks header values', () => {
  expect(maskValue('Bearer abcabc', ['abc', 'bca'])).toBe('Bearer ******');
  expect(maskValue('nothing', ['abc', ''])).toBe('nothing');
  const value = 'untouched';
  expect(maskValue(value, ['zzz'])).toBe(value);
  // The provider's bytes are UTF-8, and a header's text is latin1.
  const echoed = Buffer.from('key: sécret-ü1').toString('latin1');
  expect(maskValue(echoed, ['sécret-ü1'])).toBe(`key: ${'*'.repeat(11)}`);
});

test('discardHeld drops the held bytes and the search state', () => {
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

// Work that grows with text × form (1.7e13 steps here) exceeds the test timeout. bench/src/credential-masking-cost.ts measures the time.
describe.each(Object.keys(ways))('masking takes time linear in the text: %s', (way) => {
  test.each(hostilePairs)('%s', (_name, form, text) => ways[way]!(text, form));
});

test('maskBuffer masks every form, also overlapping occurrences', () => {
  const message = Buffer.from('abcabc and xyz');
  maskBuffer(message, compileMaskPatterns(['abca', 'cabc', 'xyz']));
  expect(message.toString()).toBe('****** and ***');
});

test('cutPartialCredential removes the trailing run that may contain a part of the secret', () => {
  expect(cutPartialCredential('error: secret-k', compileMaskPatterns(['secret-key']))).toBe('error: ');
  expect(cutPartialCredential('error: done ', compileMaskPatterns(['secret-key']))).toBe('error: done ');
  expect(cutPartialCredential('no credential', compileMaskPatterns([]))).toBe('no credential');
});

test('masks occurrences that overlap across a chunk border', () => {
  for (let first = 1; first <= 14; first++) {
    expect(maskStream(splitIntoChunks(Buffer.from(`${'a'.repeat(14)} `), [first, 1]), ['a'.repeat(8)])).toBe(
      `${'*'.repeat(14)} `,
    );
  }
});
