/**
 * The wire form of a usage record, written straight into the buffer that goes to disk. The generated encoder looks up
 * every field by name, twice, and makes a buffer per record: 9 % of what a request took (2026-11, bench/RESULTS.md).
 * `encode-record.test.ts` holds the two to each other.
 */
import type { IUsageRecord } from '@acg/proto/messages';

/** Longest varint that a record holds: numbers are below 2^53. */
const VARINT_BYTES_MAX = 8;
/** Tags (at most two bytes) and numbers of all fields together, and the lengths of the strings. */
const FIXED_BYTES_MAX = 31 * (2 + VARINT_BYTES_MAX);
/** UTF-8 bytes per UTF-16 unit. */
const BYTES_PER_UNIT_MAX = 3;
/** Most strings of a record are ids: up to here a loop beats the call into native code. */
const LOOP_CHARS_MAX = 48;

/** An upper bound for what {@link encodeRecord} writes. */
export function recordBytesMax(record: IUsageRecord): number {
  const units =
    lengthOf(record.id) +
    lengthOf(record.keyId) +
    lengthOf(record.agentId) +
    lengthOf(record.orgId) +
    lengthOf(record.providerSlug) +
    lengthOf(record.accountId) +
    lengthOf(record.method) +
    lengthOf(record.path) +
    lengthOf(record.error) +
    lengthOf(record.model) +
    lengthOf(record.usageSource) +
    lengthOf(record.priceSource) +
    lengthOf(record.circuitKey) +
    lengthOf(record.probeLease);
  return FIXED_BYTES_MAX + units * BYTES_PER_UNIT_MAX;
}

/**
 * Writes the record at `at` and returns where it ends. There must be room for {@link recordBytesMax}. Fields in the
 * order of gateway.proto; those at their default are left out, as proto3 has it, but for the optional `ttfb_ms`. A number
 * that is none or negative counts as 0.
 */
export function encodeRecord(record: IUsageRecord, buffer: Buffer, at: number): number {
  let end = text(buffer, at, 1, record.id);
  end = text(buffer, end, 2, record.keyId);
  end = text(buffer, end, 3, record.agentId);
  end = text(buffer, end, 4, record.orgId);
  end = text(buffer, end, 5, record.providerSlug);
  end = text(buffer, end, 6, record.accountId);
  end = whole(buffer, end, 7, record.startedAtMs);
  end = text(buffer, end, 8, record.method);
  end = text(buffer, end, 9, record.path);
  end = whole(buffer, end, 10, record.status);
  end = text(buffer, end, 11, record.error);
  end = text(buffer, end, 12, record.model);
  end = whole(buffer, end, 13, record.tokensInUncached);
  end = whole(buffer, end, 14, record.tokensCacheRead);
  end = whole(buffer, end, 15, record.tokensCacheWrite);
  end = whole(buffer, end, 16, record.tokensOut);
  end = whole(buffer, end, 17, record.tokensReasoning);
  end = whole(buffer, end, 18, record.costNanos);
  end = text(buffer, end, 19, record.usageSource);
  end = text(buffer, end, 20, record.priceSource);
  end = whole(buffer, end, 21, record.durationMs);
  if (record.ttfbMs === 0) end = varint(buffer, tag(buffer, end, 22, VARINT), 0);
  else end = whole(buffer, end, 22, record.ttfbMs);
  end = whole(buffer, end, 23, record.bytesIn);
  end = whole(buffer, end, 24, record.bytesOut);
  end = flag(buffer, end, 25, record.streamed);
  end = text(buffer, end, 26, record.circuitKey);
  end = whole(buffer, end, 27, record.circuitEpoch);
  end = whole(buffer, end, 28, record.circuitOutcome);
  end = text(buffer, end, 29, record.probeLease);
  end = whole(buffer, end, 30, record.responseStatus);
  return flag(buffer, end, 31, record.websocket);
}

/** Called as a function: looking the method up on strings of many internal kinds took 5 % of a request (2026-11). */
const { charCodeAt } = String.prototype;
const VARINT = 0;
const DELIMITED = 2;
type Text = string | null | undefined;
type Whole = number | null | undefined;

const lengthOf = (value: Text): number => (value == null ? 0 : value.length);

function tag(buffer: Buffer, at: number, field: number, wireType: number): number {
  return varint(buffer, at, (field << 3) | wireType);
}

/** The value as it is, default or not. */
function varint(buffer: Buffer, at: number, value: number): number {
  let rest = value;
  while (rest > 0x7fff_ffff) {
    buffer[at++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  while (rest > 0x7f) {
    buffer[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  buffer[at++] = rest;
  return at;
}

function whole(buffer: Buffer, at: number, field: number, value: Whole): number {
  if (value == null || !(value > 0)) return at;
  return varint(buffer, tag(buffer, at, field, VARINT), Math.min(value, Number.MAX_SAFE_INTEGER));
}

function flag(buffer: Buffer, at: number, field: number, value: boolean | null | undefined): number {
  return value === true ? varint(buffer, tag(buffer, at, field, VARINT), 1) : at;
}

function text(buffer: Buffer, at: number, field: number, value: Text): number {
  if (value == null || value === '') return at;
  const start = tag(buffer, at, field, DELIMITED);
  const { length } = value;
  if (length <= LOOP_CHARS_MAX) {
    let i = 0;
    for (; i < length; i++) {
      const unit = charCodeAt.call(value, i);
      if (unit > 0x7f) break;
      buffer[start + 1 + i] = unit;
    }
    if (i === length) {
      buffer[start] = length;
      return start + 1 + length;
    }
  }
  const bytes = varint(buffer, start, Buffer.byteLength(value, 'utf8'));
  return bytes + buffer.write(value, bytes, 'utf8');
}
