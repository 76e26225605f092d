import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  decodeUsageRecord,
  encodeUsageRecord,
  USAGE_RECORD_FIELDS,
  UsageRecordDimensions,
  UsageRecordMeasures,
  usageRecordBytesMax,
} from './generated/usage-record.js';
import { type IUsageRecord, UsageRecord } from './messages.js';
import { StringInterner, WireReader } from './wire-reader.js';

const uint64Values = fc.oneof(fc.constant(0), fc.nat(300), fc.maxSafeNat(), fc.constant(Number.MAX_SAFE_INTEGER));
const VALUES = {
  string: fc.oneof(
    fc.constant(''),
    fc.uuid(),
    fc.constantFrom('POST', 'GET', 'openai', 'gpt-4o'),
    fc.string({ unit: 'grapheme', maxLength: 60 }),
    fc.string({ unit: 'binary', maxLength: 300 }),
  ),
  uint64: uint64Values,
  uint32: fc.oneof(fc.constant(0), fc.nat(300), fc.integer({ min: 0, max: 0xffff_ffff })),
  bool: fc.boolean(),
  enum: fc.constantFrom(0, 1, 2),
};
const records = fc.record(Object.fromEntries(USAGE_RECORD_FIELDS.map(({ name, type }) => [name, VALUES[type]])), {
  requiredKeys: [],
}) as fc.Arbitrary<IUsageRecord>;

/** The decoder returns null for an absent optional field, which protobufjs omits. */
const ABSENT = Object.fromEntries(
  USAGE_RECORD_FIELDS.filter(({ optional }) => optional).map(({ name }) => [name, null]),
);

function encodeToBuffer(record: IUsageRecord): Buffer {
  const buffer = Buffer.alloc(usageRecordBytesMax(record) + 7);
  const end = encodeUsageRecord(record, buffer, 7);
  expect(end).toBeLessThanOrEqual(buffer.length);
  return buffer.subarray(7, end);
}

it('writes the same bytes as the generated protobufjs codec', () => {
  fc.assert(
    fc.property(records, (record) => {
      expect(encodeToBuffer(record).equals(UsageRecord.encode(record).finish())).toBe(true);
    }),
  );
});

it('reads the same values as the protobufjs codec, whatever was read before', () => {
  const strings = new StringInterner(); // shared: must never return another string
  const dimensions = new UsageRecordDimensions(); // reused: must keep nothing of an earlier record
  fc.assert(
    fc.property(records, (record) => {
      const bytes = Buffer.from(UsageRecord.encode(record).finish());
      const measures = new UsageRecordMeasures();
      dimensions.reset();
      decodeUsageRecord(new WireReader(bytes), bytes.length, strings, dimensions, measures);
      const expected = UsageRecord.toObject(UsageRecord.decode(bytes), { defaults: true });
      expect({ ...dimensions, ...measures }).toEqual({ ...ABSENT, ...expected });
    }),
  );
});

it('equals compares every shared field', () => {
  for (const { name, type, shared } of USAGE_RECORD_FIELDS) {
    if (!shared) continue;
    const one = new UsageRecordDimensions();
    const other = new UsageRecordDimensions();
    expect(one.equals(other)).toBe(true);
    Object.assign(other, { [name]: type === 'string' ? 'x' : type === 'bool' ? true : 1 });
    expect(one.equals(other)).toBe(false);
    other.copyTo(one);
    expect(one.equals(other)).toBe(true);
    one.reset();
    expect({ ...one }).toEqual({ ...new UsageRecordDimensions() });
  }
});

it.each([Number.NaN, Number.POSITIVE_INFINITY, -1, 0.5, 1e300])('writes a safe integer for %d', (costNanos) => {
  const { costNanos: read } = UsageRecord.decode(encodeToBuffer({ id: 'a', costNanos, model: 'm' }));
  expect(Number.isSafeInteger(read)).toBe(true);
});

it('replaces a lone surrogate, as Buffer does', () => {
  for (const model of ['\ud800', `${'x'.repeat(100)}\udc00`]) {
    expect(UsageRecord.decode(encodeToBuffer({ model })).model).toBe(model.replace(/[\ud800-\udfff]/, '\ufffd'));
  }
});
