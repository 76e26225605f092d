/**
 * Binary format of a spool segment: frames back to back, each written by one write call.
 *
 *   magic u32 │ payload bytes u32 │ records u32 │ crc32 u32 │ payload            (little endian; the CRC covers
 *                                                                               lengths, records and payload)
 *
 * A payload is a run of length-delimited fields of ReportUsageRequest (2 records, 3 rejections, 4 sightings). Protobuf
 * messages concatenate, so a batch of frames is the body of a ReportUsage call without decoding.
 *
 * Reading never fails. An incomplete last frame is a torn write: its records were never confirmed to a caller, so it is
 * skipped silently. Other invalid bytes are damage: they are reported, and reading resumes at the next valid frame.
 */
import { crc32 } from 'node:zlib';

export const FRAME_HEADER_BYTES = 16;
/** Maximum payload of a frame; a larger length field is damage. */
export const FRAME_PAYLOAD_BYTES_MAX = 128 * 1024;
const MAGIC = 0xf1_a9_e6_5c;
const MAGIC_BYTES = Buffer.from([0x5c, 0xe6, 0xa9, 0xf1]);

/** Fills the header at `at`. The payload must already follow it. */
export function sealFrame(buffer: Buffer, at: number, payloadBytes: number, records: number): void {
  buffer.writeUInt32LE(MAGIC, at);
  buffer.writeUInt32LE(payloadBytes, at + 4);
  buffer.writeUInt32LE(records, at + 8);
  buffer.writeUInt32LE(frameChecksum(buffer, at, payloadBytes), at + 12);
}

function frameChecksum(buffer: Buffer, at: number, payloadBytes: number): number {
  const lengths = crc32(buffer.subarray(at + 4, at + 12));
  const body = at + FRAME_HEADER_BYTES;
  return crc32(buffer.subarray(body, body + payloadBytes), lengths);
}

/** Offsets within the scanned chunk. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

interface FrameScan {
  /** Views into the chunk, in order. */
  readonly payloads: readonly Buffer[];
  readonly records: number;
  /** Processed bytes of the chunk; the next scan starts after them. */
  readonly consumed: number;
  readonly damaged: readonly ByteRange[];
  /** Bytes of an incomplete frame at the end of the segment; part of `consumed`. */
  readonly tornBytes: number;
}

export interface FrameScanLimits {
  /** Stops before a frame that would exceed this, but always takes one frame. */
  readonly recordsMax: number;
  readonly framesMax: number;
}

/** Reads frames from a chunk of a segment. `final`: the chunk is the segment's last one. */
export function scanFrames(chunk: Buffer, final: boolean, limit: FrameScanLimits): FrameScan {
  const payloads: Buffer[] = [];
  const damaged: ByteRange[] = [];
  let records = 0;
  let at = 0;
  while (at < chunk.length && payloads.length < limit.framesMax) {
    const payloadBytes = validateFrame(chunk, at);
    if (payloadBytes >= 0) {
      const frameRecords = chunk.readUInt32LE(at + 8);
      if (payloads.length > 0 && records + frameRecords > limit.recordsMax) break;
      const body = at + FRAME_HEADER_BYTES;
      payloads.push(chunk.subarray(body, body + payloadBytes));
      records += frameRecords;
      at = body + payloadBytes;
      continue;
    }
    if (payloadBytes === INCOMPLETE && !final) break;
    const next = chunk.indexOf(MAGIC_BYTES, at + 1);
    if (next >= 0) {
      appendRange(damaged, at, next);
      at = next;
    } else if (!final) {
      // The last three bytes may start a magic that the next chunk completes.
      const stop = Math.max(at + 1, chunk.length - 3);
      appendRange(damaged, at, stop);
      at = stop;
      break;
    } else if (payloadBytes === INCOMPLETE) {
      return { payloads, records, consumed: chunk.length, damaged, tornBytes: chunk.length - at };
    } else {
      appendRange(damaged, at, chunk.length);
      at = chunk.length;
    }
  }
  return { payloads, records, consumed: at, damaged, tornBytes: 0 };
}

const DAMAGED = -1;
const INCOMPLETE = -2;

/**
 * Payload bytes of the frame at `at`, or {@link DAMAGED}, or {@link INCOMPLETE} when the frame extends past the chunk.
 */
function validateFrame(chunk: Buffer, at: number): number {
  const left = chunk.length - at;
  if (left < FRAME_HEADER_BYTES) {
    const prefix = Math.min(left, MAGIC_BYTES.length);
    return chunk.compare(MAGIC_BYTES, 0, prefix, at, at + prefix) === 0 ? INCOMPLETE : DAMAGED;
  }
  if (chunk.readUInt32LE(at) !== MAGIC) return DAMAGED;
  const payloadBytes = chunk.readUInt32LE(at + 4);
  if (payloadBytes > FRAME_PAYLOAD_BYTES_MAX) return DAMAGED;
  if (payloadBytes > left - FRAME_HEADER_BYTES) return INCOMPLETE;
  return frameChecksum(chunk, at, payloadBytes) === chunk.readUInt32LE(at + 12) ? payloadBytes : DAMAGED;
}

/** Appends a range; merges it with the last one if they touch. */
function appendRange(ranges: ByteRange[], from: number, to: number): void {
  const last = ranges.at(-1);
  if (last !== undefined && last.to === from) ranges[ranges.length - 1] = { from: last.from, to };
  else ranges.push({ from, to });
}
