import { type IUsageRecord, ReportUsageRequest, UsageRecord } from '@acg/proto/messages';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { encodeRecord, recordBytesMax } from './encode-record.js';
import { FrameBuffer } from './frame-buffer.js';
import { scanFrames } from './segment-format.js';

const text = fc.oneof(
  fc.constant(''),
  fc.uuid(),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 300 }),
);
const wide = fc.oneof(fc.constant(0), fc.nat(300), fc.maxSafeNat(), fc.constant(Number.MAX_SAFE_INTEGER));
const narrow = fc.oneof(fc.constant(0), fc.nat(300), fc.integer({ min: 0, max: 0xffff_ffff }));

/** A generator for every field of the message: a field that is added to the contract must be added here to compile. */
const FIELDS: { readonly [Field in keyof Required<Omit<IUsageRecord, '$unknowns'>>]: fc.Arbitrary<unknown> } = {
  id: text,
  keyId: text,
  agentId: text,
  orgId: text,
  providerSlug: text,
  accountId: text,
  startedAtMs: wide,
  method: text,
  path: text,
  status: narrow,
  error: text,
  model: text,
  tokensInUncached: wide,
  tokensCacheRead: wide,
  tokensCacheWrite: wide,
  tokensOut: wide,
  tokensReasoning: wide,
  costNanos: wide,
  usageSource: text,
  priceSource: text,
  durationMs: narrow,
  ttfbMs: narrow,
  bytesIn: wide,
  bytesOut: wide,
  streamed: fc.boolean(),
  circuitKey: text,
  circuitEpoch: wide,
  circuitOutcome: fc.constantFrom(0, 1, 2),
  probeLease: text,
  responseStatus: narrow,
  websocket: fc.boolean(),
};
const records = fc.record(FIELDS, { requiredKeys: [] }) as fc.Arbitrary<IUsageRecord>;

function encoded(record: IUsageRecord): Buffer {
  const buffer = Buffer.alloc(recordBytesMax(record) + 7);
  const end = encodeRecord(record, buffer, 7);
  expect(end).toBeLessThanOrEqual(buffer.length);
  return buffer.subarray(7, end);
}

it('writes what the generated encoder writes', () => {
  fc.assert(
    fc.property(records, (record) => {
      expect(encoded(record).equals(UsageRecord.encode(record).finish())).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

it('is read by the generated decoder', () => {
  fc.assert(
    fc.property(records, (record) => {
      const read = UsageRecord.toObject(UsageRecord.decode(encoded(record)), { defaults: true });
      for (const [field, value] of Object.entries(record)) expect(read[field]).toStrictEqual(value);
    }),
  );
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

it('stands in a frame behind a length of one, two or three bytes', () => {
  const frames = new FrameBuffer();
  const lengths = [0, 100, 123, 124, 125, 126, 127, 128, 300, 16_370, 16_380, 16_381, 16_382, 16_383, 16_390, 20_000];
  const models = lengths.map((length) => 'm'.repeat(length));
  for (const model of models) {
    const record = { model };
    expect(frames.addRecord(0x12, record, recordBytesMax(record))).toBe(true);
  }
  const { payloads, records, damaged } = scanFrames(frames.take(), true, { recordsMax: 1_000, framesMax: 1_000 });
  expect(records).toBe(models.length);
  expect(damaged).toEqual([]);
  const read = ReportUsageRequest.decode(Buffer.concat(payloads)).records;
  expect(read.map(({ model }) => model)).toEqual(models);
});

it('says when a record has no room', () => {
  const frames = new FrameBuffer();
  const record = { model: 'm'.repeat(20_000) };
  let added = 0;
  while (frames.addRecord(0x12, record, recordBytesMax(record))) added++;
  expect(added).toBeGreaterThan(5);
  expect(scanFrames(frames.take(), true, { recordsMax: 1_000, framesMax: 1_000 }).records).toBe(added);
  expect(frames.addRecord(0x12, record, recordBytesMax(record))).toBe(true);
});
