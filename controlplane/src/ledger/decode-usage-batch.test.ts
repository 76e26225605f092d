import { USAGE_RECORD_FIELDS } from '@acg/proto/generated/usage-record';
import { type IUsageRecord, ReportUsageRequest, UsageRecord } from '@acg/proto/messages';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeUsageBatch, InvalidUsageBatch, quarantineEntry } from './decode-usage-batch.js';
import { DIMENSION_COLUMNS, MEASURE_COLUMNS } from './usage-record-columns.js';

const ID = '0193a1b2-0000-7000-8000-000000000001';
const span = { fromMs: 0, toMs: 2 ** 50 };
const body = (request: Parameters<typeof ReportUsageRequest.encode>[0]): Buffer =>
  Buffer.from(ReportUsageRequest.encode(request).finish());

test('every field of a usage record has a column entry', () => {
  const names = (shared: boolean) => USAGE_RECORD_FIELDS.filter((f) => f.shared === shared).map((f) => f.name);
  const file = 'controlplane/src/ledger/usage-record-columns.ts';
  const measures = MEASURE_COLUMNS.map(({ field }) => field).sort();
  expect(measures, `MEASURE_COLUMNS in ${file}: a row for each field that is not shared`).toEqual(names(false).sort());
  const dimensions = DIMENSION_COLUMNS.map(({ field }) => field).sort();
  const shared = [...names(true), 'dataPlaneId'].sort();
  expect(dimensions, `DIMENSION_COLUMNS in ${file}: a row for each (shared) field`).toEqual(shared);
});

const record = (changes: IUsageRecord = {}): IUsageRecord => ({
  id: ID,
  keyId: ID,
  agentId: ID,
  orgId: ID,
  accountId: ID,
  providerSlug: 'openai',
  startedAtMs: 1_700_000_000_000,
  responseStatus: 200,
  ...changes,
});

test('keeps records apart that differ in any shared dimension', () => {
  const other = ID.replace('1', '2');
  const variants: IUsageRecord[] = [
    {},
    { keyId: other },
    { agentId: other },
    { orgId: other },
    { accountId: other },
    { providerSlug: 'resend' },
    { method: 'GET' },
    { status: 201 },
    { responseStatus: 500 },
    { error: 'timeout' },
    { model: 'm' },
    { usageSource: 'reported' },
    { priceSource: 'library' },
    { streamed: true },
    { websocket: true },
    { circuitKey: 'k' },
    { circuitEpoch: 7 },
    { circuitOutcome: 2 },
  ];
  const sent = [...variants, ...variants].map(record);
  const { entries, quarantined } = decodeUsageBatch(body({ dataPlaneId: 'd', records: sent }), span);
  expect(quarantined).toEqual([]);
  expect(new Set(entries.map(({ dimensions }) => dimensions)).size).toBeLessThan(sent.length); // some records share one object
  entries.forEach(({ dimensions }, i) => {
    const { usageSource = 'none', priceSource = 'none', ...rest } = record(variants[i % variants.length]);
    const { id: _id, startedAtMs: _at, ...shared } = rest;
    expect(dimensions).toMatchObject({ ...shared, usageSource, priceSource });
    expect(dimensions.dataPlaneId).toBe('d');
  });
});

test('skips fields of a later protocol version', () => {
  const extra = Buffer.from([
    0x98, 0x06, 0x05, 0xa2, 0x06, 0x02, 0x68, 0x69, 0xa9, 0x06, 1, 2, 3, 4, 5, 6, 7, 8, 0xad, 0x06, 1, 2, 3, 4,
  ]);
  const inner = Buffer.concat([extra, Buffer.from(UsageRecord.encode(record()).finish()), extra]);
  const framed = Buffer.concat([Buffer.from([0x12, 0x80 | (inner.length & 0x7f), inner.length >> 7]), inner, extra]);
  expect(decodeUsageBatch(framed, span).entries.map(({ id }) => id)).toEqual([ID]);
});

test('rejects a truncated or invalid report as a whole', () => {
  const whole = body({ dataPlaneId: 'd', records: [record(), record({ model: 'x'.repeat(200) })] });
  let read = 0;
  for (let length = 0; length < whole.length; length++) {
    try {
      decodeUsageBatch(whole.subarray(0, length), span);
      read++; // cut between two fields
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidUsageBatch);
    }
  }
  expect(read).toBeLessThanOrEqual(3);
  for (const bytes of [
    [0x0b],
    [0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    [0x12, 2, 0x0a, 9],
  ])
    expect(() => decodeUsageBatch(Buffer.from(bytes), span)).toThrow(InvalidUsageBatch);
});

test('random bytes are rejected or quarantined, and never booked', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
      try {
        expect(decodeUsageBatch(Buffer.from(bytes), span).entries).toEqual([]);
      } catch (error) {
        expect(error).toBeInstanceOf(InvalidUsageBatch);
      }
    }),
  );
});

test('rejects a report with too many items', () => {
  const rejections = Array.from({ length: 20_001 }, () => ({}));
  expect(() => decodeUsageBatch(body({ rejections }), span)).toThrow(InvalidUsageBatch);
  expect(decodeUsageBatch(body({ rejections: rejections.slice(1) }), span).rejections).toEqual([]);
});

test('quarantines a record that the database rejected with its dimensions under their stored name, kind', () => {
  const { entries } = decodeUsageBatch(body({ dataPlaneId: 'd', records: [record({ model: 'm' })] }), span);
  const quarantined = quarantineEntry(entries[0]!, 'the database rejects the record: out of range');
  expect(quarantined).toMatchObject({ id: ID, reportedId: ID, orgId: ID, dataPlaneId: 'd' });
  expect(quarantined.reason).toBe('the database rejects the record: out of range');
  const stored = JSON.parse(quarantined.record);
  expect(stored).toMatchObject({ id: ID, kind: { orgId: ID, model: 'm', dataPlaneId: 'd' } });
  expect(stored).not.toHaveProperty('dimensions');
});
