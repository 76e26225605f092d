import * as zlib from 'node:zlib';
import { ByteStore } from '../scan/byte-store.js';
import type { BodyMeter, UsageMeter, UsageReading } from './meter.js';

/** Compressed bytes kept, and bytes that they may unfold to: the bounds of memory and of the time of one finish(). */
const ENCODED_BYTES_MAX = 1_048_576;
const DECODED_BYTES_MAX = 8_388_608;
const PIECE_BYTES = 65_536;

type Decode = (bytes: Buffer, truncated: boolean) => Buffer;

const BOUND = { maxOutputLength: DECODED_BYTES_MAX };
/** A body that was cut off has no end mark: what is there is decoded all the same. */
const BOUND_CUT = { ...BOUND, finishFlush: zlib.constants.Z_SYNC_FLUSH };
const BOUND_CUT_BROTLI = { ...BOUND, finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH };
/** Node ≥ 22.15 has zstd; on older ones such a body is estimated. */
const zstd = (zlib as { zstdDecompressSync?: (bytes: Buffer, options: object) => Buffer }).zstdDecompressSync;

const DECODERS: Readonly<Record<string, Decode | undefined>> = {
  gzip: (bytes, cut) => zlib.gunzipSync(bytes, cut ? BOUND_CUT : BOUND),
  'x-gzip': (bytes, cut) => zlib.gunzipSync(bytes, cut ? BOUND_CUT : BOUND),
  deflate: (bytes, cut) => inflate(bytes, cut ? BOUND_CUT : BOUND),
  br: (bytes, cut) => zlib.brotliDecompressSync(bytes, cut ? BOUND_CUT_BROTLI : BOUND),
  zstd: zstd && ((bytes) => zstd(bytes, BOUND)),
};

/** Some servers send raw deflate data, some wrap it as the RFC says: the first byte of a zlib header tells. */
function inflate(bytes: Buffer, options: zlib.ZlibOptions): Buffer {
  return ((bytes[0] ?? 0) & 0x0f) === 8 ? zlib.inflateSync(bytes, options) : zlib.inflateRawSync(bytes, options);
}

/** Whether the body must be decoded before it can be read. */
export function isEncoded(contentEncoding: string | null): boolean {
  if (contentEncoding === null) return false;
  const name = contentEncoding.trim().toLowerCase();
  return name !== '' && name !== 'identity';
}

/**
 * A body that came compressed although `identity` was asked for. The compressed bytes are kept up to a cap and decoded
 * in one go at the end, because finish() must be synchronous (it runs before the last byte leaves). What is over a
 * bound, or does not decode, is estimated from the compressed size by the meter inside.
 */
export class EncodedMeter implements UsageMeter {
  readonly #decode: Decode | undefined;
  readonly #inner: BodyMeter;
  readonly #held = new ByteStore(ENCODED_BYTES_MAX);
  #lost: boolean;
  #encodedBytes = 0;

  constructor(contentEncoding: string, inner: BodyMeter) {
    this.#decode = DECODERS[contentEncoding.trim().toLowerCase()];
    this.#inner = inner;
    this.#lost = this.#decode === undefined;
  }

  observe(chunk: Buffer): void {
    this.#encodedBytes += chunk.length;
    if (!this.#lost && !this.#held.append(chunk, 0, chunk.length)) this.#lost = true;
  }

  finish(complete: boolean): UsageReading {
    const body = this.#lost ? null : this.#decoded(!complete);
    if (body === null) this.#inner.unreadable(this.#encodedBytes);
    for (let at = 0; body !== null && at < body.length; at += PIECE_BYTES) {
      this.#inner.observe(body.subarray(at, at + PIECE_BYTES));
    }
    return this.#inner.finish(complete && body !== null);
  }

  #decoded(truncated: boolean): Buffer | null {
    try {
      return this.#decode!(this.#held.bytes.subarray(0, this.#held.length), truncated);
    } catch {
      return null;
    }
  }
}
