import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type JsonProblem, StrictJsonValidator } from './strict-json-validator.js';

function check(text: string | Buffer, sizes: readonly number[] = []): JsonProblem | null {
  const json = new StrictJsonValidator(['model'], 1);
  const bytes = Buffer.from(text as string);
  let at = 0;
  for (const size of sizes) {
    const piece = Buffer.from(bytes.subarray(at, at + size));
    json.push(piece);
    piece.fill(0); // the buffer belongs to the caller
    at += size;
  }
  json.push(Buffer.from(bytes.subarray(at)));
  return json.finish();
}

test.each([
  '{}',
  '{"model":"a"}',
  ' [1, -0.5e+10, true, false, null, "x", {}, []] ',
  '"\\u0041\\n\\/"',
  '{"a":{"b":1},"b":{"b":1},"é":1}',
  '1',
  '0',
  'null',
  '{"deep":{"Model":1}}',
  '{"text":"\\ud800"}',
])('accepts the unambiguous document %s', (text) => {
  expect(check(text)).toBeNull();
});

test.each([
  '',
  ' ',
  '\ufeff{}',
  '{} {}',
  '{"a":1,}',
  '{"a" 1}',
  '[1,]',
  "{'a':1}",
  '{a:1}',
  '// c\n{}',
  '{"a":01}',
  '{"a":+1}',
  '{"a":.5}',
  '{"a":1.}',
  '{"a":NaN}',
  '{"a":0x1}',
  '{"a":"\\x41"}',
  '{"a":"\\u00g0"}',
  '{"a":"\n"}',
  '{"a":"\u0001"}',
  '{"a":tru}',
  '{"a":1',
  '"abc',
  '[[]',
  '{]',
  '\f{}',
  '[1e]',
])('rejects %j as invalid JSON', (text) => {
  expect(check(text)).toBe('not_json');
});

test.each([
  Buffer.from('{"a":"\xff"}', 'latin1'),
  Buffer.from('{"a":"\xc0\xaf"}', 'latin1'), // overlong
  Buffer.from('{"a":"\xed\xa0\x80"}', 'latin1'), // a surrogate
  Buffer.from('{"model":"a"}', 'utf16le'),
  Buffer.from('"\xe2\x82', 'latin1'),
])('rejects %s as invalid UTF-8', (bytes) => {
  expect(check(bytes)).toBe('not_json');
});

test.each([
  '{"model":"a","model":"b"}',
  '{"model":"a","\\u006dodel":"b"}',
  '{"m\\u006Fdel":"a","model":"b"}',
  '{"a":{"b":1,"c":2,"b":3}}',
  '[{"x":[{"y":1,"y":1}]}]',
  '{"model\\u0000":"a"}',
  '{"mod\\ud800el":"a"}',
  '{"\\udc00":1}',
  '{"Model":"a"}',
  '{"MODEL":"a","model":"b"}',
  '{"ｍodel":"a"}',
  '{" model":"a"}',
  `{${Array.from({ length: 20 }, (_, i) => `"k${i}":1`).join()},"k3":1}`,
])('rejects %s as ambiguous', (text) => {
  expect(check(text)).toBe('ambiguous');
});

test('distinguishes names that differ in one surrogate', () => {
  expect(check('{"\\ud83d\\ude00":1,"😀":2}')).toBe('ambiguous');
  expect(check('{"\\ud83d\\ude00":1,"😁":2}')).toBeNull();
});

test('gives the same result at any chunk boundaries', () => {
  const texts = ['{"mödel":"é😀","x":[1.5e3,true]}', '{"a":1,"\\u0061":2}', '{"a":tru', '{"ab":-12}', '{"a":"\\'];
  for (const text of texts) {
    const whole = check(text);
    const bytes = Buffer.byteLength(text);
    for (let at = 0; at <= bytes; at++) {
      for (let more = 0; more <= 4; more++)
        expect([text, at, more, check(text, [at, more])]).toEqual([text, at, more, whole]);
    }
  }
});

test('accepts the same texts as JSON.parse', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(60), fc.constantFrom('', '"', '{', ',', '0', ' ', 'e'), (text, at, noise) => {
      const broken = text.slice(0, at) + noise + text.slice(at);
      let parsed = true;
      try {
        JSON.parse(broken);
      } catch {
        parsed = false;
      }
      // A duplicate name is valid JSON.
      expect(check(broken) !== 'not_json').toBe(parsed);
    }),
  );
});

test('bounds the names of open objects and releases them when their object ends', () => {
  const objectOf = (names: number, from = 0): string =>
    `{${Array.from({ length: names }, (_, i) => `"n${i + from}":1`).join(',')}}`;
  expect(check(objectOf(10_000))).toBeNull();
  expect(check(objectOf(10_001))).toBe('not_json');
  expect(check(`{"a":${objectOf(9_999)},"b":${objectOf(9_997)}}`)).toBeNull();
  expect(check(`{"a":${objectOf(9_999).slice(0, -1)},"b":${objectOf(2)}}}`)).toBe('not_json');
  expect(check(`{${Array.from({ length: 200 }, (_, i) => `"${`${i}`.padEnd(4_000, 'x')}":1`).join(',')}}`)).toBe(
    'not_json',
  );
  const strict = new StrictJsonValidator([], 1);
  strict.push(Buffer.from('{"abc":{"de":1,"fgh'));
  expect(strict.heldBytes).toBe(2 * 64 + 5);
  strict.push(Buffer.from('":2}'));
  expect(strict.heldBytes).toBe(64 + 3);
});

test('limits the length of a name and of a number at any chunk boundaries', () => {
  const named = (bytes: number): string => `{"${'n'.repeat(bytes)}":1}`;
  for (const sizes of [[], [1_000], [4_097, 1], [4_098, 2]]) {
    expect(check(named(4_096), sizes)).toBeNull();
    expect(check(named(4_097), sizes)).toBe('not_json');
    expect(check(`{"a":${'1'.repeat(512)}}`, sizes)).toBeNull();
    expect(check(`{"a":${'1'.repeat(513)}}`, sizes)).toBe('not_json');
  }
});

test('limits the nesting depth', () => {
  expect(check(`${'['.repeat(512)}${']'.repeat(512)}`)).toBeNull();
  expect(check(`${'['.repeat(513)}${']'.repeat(513)}`)).toBe('not_json');
});
