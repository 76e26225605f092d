import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BodyMask, maskPatterns, maskValue } from './mask.js';

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

const stream = (chunks: readonly Buffer[], forms: readonly string[]): Buffer => {
  const mask = new BodyMask(maskPatterns(forms));
  const out = chunks.map((chunk) => Buffer.from(mask.push(chunk)));
  return Buffer.concat([...out, mask.flush()]);
};

/** Every byte of every occurrence, overlapping ones too, found on the whole text at once. */
const reference = (text: Buffer, forms: readonly string[]): Buffer => {
  const out = Buffer.from(text);
  for (const form of forms) {
    for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + 1)) out.fill('*', at, at + form.length);
  }
  return out;
};

test('mask: a secret cut at every place is masked with the same length', () => {
  const text = Buffer.from('{"echo":"sk-live-secret-1","again":"sk-live-sk-live-secret-1"}');
  for (let at = 0; at <= text.length; at++) {
    expect(stream(cut(text, [at]), ['sk-live-secret-1']).toString()).toBe(
      '{"echo":"****************","again":"sk-live-****************"}',
    );
  }
});

test('mask: any text, forms and chunking give what masking the whole text gives', () => {
  const form = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 80 }),
      fc.array(form, { minLength: 1, maxLength: 3 }),
      fc.array(fc.nat(9), { maxLength: 20 }),
      (text, forms, sizes) => {
        const bytes = Buffer.from(text);
        expect(stream(cut(bytes, sizes), forms).toString()).toBe(reference(bytes, forms).toString());
      },
    ),
    { numRuns: 5000 },
  );
});

test('mask: bytes wait only while they are the beginning of a form', () => {
  const mask = new BodyMask(maskPatterns(['secret-key', 'other-form']));
  expect(mask.push(Buffer.from('data: nothing like it\n\n')).toString()).toBe('data: nothing like it\n\n');
  expect(mask.push(Buffer.from('data: secre')).toString()).toBe('data: ');
  expect(mask.push(Buffer.from('tary')).toString()).toBe('secretary');
  expect(mask.push(Buffer.from('ends in secret')).toString()).toBe('ends in ');
  expect(mask.flush().toString()).toBe('secret');
  expect(mask.flush()).toHaveLength(0);
});

test('mask: a chunk without a secret is passed on without a copy', () => {
  const mask = new BodyMask(maskPatterns(['secret-key']));
  const chunk = Buffer.from('plain text');
  expect(mask.push(chunk)).toBe(chunk);
});

test('mask: header values', () => {
  expect(maskValue('Bearer abcabc', ['abc', 'bca'])).toBe('Bearer ******');
  expect(maskValue('nothing', ['abc', ''])).toBe('nothing');
  const value = 'untouched';
  expect(maskValue(value, ['zzz'])).toBe(value);
});
