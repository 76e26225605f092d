import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  encodeUsageRecord,
  readUsageRecord,
  USAGE_RECORD_FIELDS,
  UsageRecordFigures,
  UsageRecordKind,
  usageRecordBytesMax,
} from './generated/usage-record.js';
import { type IUsageRecord, UsageRecord } from './messages.js';
import { StringMemo, WireReader } from './wire-reader.js';

const wide = fc.oneof(fc.constant(0), fc.nat(300), fc.maxSafeNat(), fc.constant(Number.MAX_SAFE_INTEGER));
const VALUES = {
  string: fc.oneof(
    fc.constant(''),
    fc.uuid(),
    fc.constantFrom('POST', 'GET', 'openai', 'gpt-4o'),
    fc.string({ unit: 'grapheme', maxLength: 60 }),
    fc.string({ unit: 'binary', maxLength: 300 }),
  ),
  uint64: wide,
  uint32: fc.oneof(fc.constant(0), fc.nat(300), fc.integer({ min: 0, max: 0xffff_ffff })),
  bool: fc.boolean(),
  enum: fc.constantFrom(0, 1, 2),
};
const records = fc.record(Object.fromEntries(USAGE_RECORD_FIELDS.map(({ name, type }) => [name, VALUES[type]])), {
  requiredKeys: [],
}) as fc.Arbitrary<IUsageRecord>;

function encoded(record: IUsageRecord): Buffer {
  const buffer = Buffer.alloc(usageRecordBytesMax(record) + 7);
  const end = encodeUsageRecord(record, buffer, 7);
  expect(end).toBeLessThanOrEqual(buffer.length);
  return buffer.subarray(7, end);
}

it('writes what the ordinary codec writes', () => {
  fc.assert(
    fc.property(records, (record) => {
      expect(encoded(record).equals(UsageRecord.encode(record).finish())).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

it('reads what the ordinary codec reads, whatever was read before', () => {
  const strings = new StringMemo(); // shared: a string must never be taken for another
  const kind = new UsageRecordKind(); // used again: nothing of an earlier record may stay
  fc.assert(
    fc.property(records, (record) => {
      const bytes = Buffer.from(UsageRecord.encode(record).finish());
      const figures = new UsageRecordFigures();
      kind.reset();
      readUsageRecord(new WireReader(bytes), bytes.length, strings, kind, figures);
      const expected = UsageRecord.toObject(UsageRecord.decode(bytes), { defaults: true });
      expect({ ...kind, ...figures }).toEqual({ ...expected, ttfbMs: record.ttfbMs ?? null });
    }),
    { numRuns: 2_000 },
  );
});

it('knows kinds apart by each of their fields', () => {
  for (const { name, type, shared } of USAGE_RECORD_FIELDS) {
    if (!shared) continue;
    const one = new UsageRecordKind();
    const other = new UsageRecordKind();
    expect(one.sameAs(other)).toBe(true);
    Object.assign(other, { [name]: type === 'string' ? 'x' : type === 'bool' ? true : 1 });
    expect(one.sameAs(other)).toBe(false);
    other.copyTo(one);
    expect(one.sameAs(other)).toBe(true);
    one.reset();
    expect({ ...one }).toEqual({ ...new UsageRecordKind() });
  }
});

it.each([Number.NaN, Number.POSITIVE_INFINITY, -1, 0.5, 1e300])('ends with the number %d', (costNanos) => {
  const { costNanos: read } = UsageRecord.decode(encoded({ id: 'a', costNanos, model: 'm' }));
  expect(Number.isSafeInteger(read)).toBe(true);
});

it('replaces half a surrogate pair, as Buffer does', () => {
  for (const model of ['\ud800', `${'x'.repeat(100)}\udc00`]) {
    expect(UsageRecord.decode(encoded({ model })).model).toBe(model.replace(/[\ud800-\udfff]/, '\ufffd'));
  }
});
