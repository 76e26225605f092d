import { usageRecordBytesMax } from '@acg/proto/generated/usage-record';
import { ReportUsageRequest } from '@acg/proto/messages';
import { expect, it } from 'vitest';
import { FrameBuffer } from './frame-buffer.js';
import { scanFrames } from './segment-format.js';

it('encodes records with a length prefix of one, two or three bytes', () => {
  const frames = new FrameBuffer();
  const lengths = [0, 100, 123, 124, 125, 126, 127, 128, 300, 16_370, 16_380, 16_381, 16_382, 16_383, 16_390, 20_000];
  const models = lengths.map((length) => 'm'.repeat(length));
  for (const model of models) {
    const record = { model };
    expect(frames.addRecord(0x12, record, usageRecordBytesMax(record))).toBe(true);
  }
  const { payloads, records, damaged } = scanFrames(frames.takeFrames(), true, { recordsMax: 1_000, framesMax: 1_000 });
  expect(records).toBe(models.length);
  expect(damaged).toEqual([]);
  const read = ReportUsageRequest.decode(Buffer.concat(payloads)).records;
  expect(read.map(({ model }) => model)).toEqual(models);
});

it('reports when the buffer has no capacity for a record', () => {
  const frames = new FrameBuffer();
  const record = { model: 'm'.repeat(20_000) };
  let added = 0;
  while (frames.addRecord(0x12, record, usageRecordBytesMax(record))) added++;
  expect(added).toBeGreaterThan(5);
  expect(scanFrames(frames.takeFrames(), true, { recordsMax: 1_000, framesMax: 1_000 }).records).toBe(added);
  expect(frames.addRecord(0x12, record, usageRecordBytesMax(record))).toBe(true);
});
