import fc from 'fast-check';
import { expect, test } from 'vitest';
import { uuidv7 } from './uuidv7.js';

test('uuidv7: carries the time, version 7 and variant 2, and is unique', () => {
  const seen = new Set<string>();
  for (let i = 0; i < 5000; i++) {
    const id = uuidv7(1_700_000_000_123);
    expect(id).toMatch(/^018bcfe5-687b-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    seen.add(id);
  }
  expect(seen.size).toBe(5000);
});

test('uuidv7: encodes any 48-bit time', () => {
  const time = fc.oneof(
    fc.integer({ min: 0, max: 2 ** 48 - 1 }),
    fc.constantFrom(0, 1, 2 ** 32 - 1, 2 ** 32, 2 ** 48 - 1),
  );
  fc.assert(
    fc.property(time, fc.double({ min: 0, max: 0.99, noNaN: true }), (ms, part) => {
      const id = uuidv7(ms + part < ms + 1 ? ms + part : ms);
      expect(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toBe(ms);
    }),
  );
});

test('uuidv7: later milliseconds sort later', () => {
  expect(uuidv7(1_700_000_000_124) > uuidv7(1_700_000_000_123)).toBe(true);
});
