import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import type { BodyMeter, UsageMeter, UsageReading } from '../reading/usage-meter.js';

/** Compressed bytes that wait for the decoder. */
const WAITING_BYTES_MAX = 1_048_576;
/** Past these an answer is not worth what reading it costs: 40 compressed bytes can unfold to as many MiB. */
const DECODED_BYTES_MAX = 8_388_608;
const DECODED_RATIO_MAX = 100;
/** The decoder hands on so much at a time, in a turn of its own; less than this is read whatever its ratio. */
const PIECE_BYTES = 65_536;

type Decoder = Transform & { readonly bytesWritten: number };

/** A body that was cut off has no end mark: what is there is decoded all the same. */
const ZLIB_OPTIONS = { chunkSize: PIECE_BYTES, finishFlush: zlib.constants.Z_SYNC_FLUSH };
const BROTLI_OPTIONS = { chunkSize: PIECE_BYTES, finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH };
/** Node ≥ 22.15 has zstd; on older ones such a body is estimated. */
const zstd = (zlib as { createZstdDecompress?: (options: object) => Decoder }).createZstdDecompress;

/** Made when the first byte is here. */
const DECODERS: Readonly<Record<string, ((firstByte: number) => Decoder) | undefined>> = {
  gzip: () => zlib.createGunzip(ZLIB_OPTIONS),
  'x-gzip': () => zlib.createGunzip(ZLIB_OPTIONS),
  // Some servers send raw deflate data, some wrap it as the RFC says: the first byte of a zlib header tells.
  deflate: (firstByte) =>
    (firstByte & 0x0f) === 8 ? zlib.createInflate(ZLIB_OPTIONS) : zlib.createInflateRaw(ZLIB_OPTIONS),
  br: () => zlib.createBrotliDecompress(BROTLI_OPTIONS),
  zstd: zstd && (() => zstd({ chunkSize: PIECE_BYTES })),
};

/** Whether the body must be decoded before it can be read. */
export function isCompressed(contentEncoding: string | null): boolean {
  if (contentEncoding === null) return false;
  const name = contentEncoding.trim().toLowerCase();
  return name !== '' && name !== 'identity';
}

/**
 * A body that came compressed although `identity` was asked for. It is decoded beside the event loop and read bit by
 * bit, so that what a tenant's provider sends never holds up the others. What is over a bound, or does not decode, is
 * estimated from the compressed size by the meter inside.
 */
export class CompressedBodyMeter implements UsageMeter {
  readonly #create: ((firstByte: number) => Decoder) | undefined;
  readonly #inner: BodyMeter;
  #decoder: Decoder | null = null;
  #encodedBytes = 0;
  #decodedBytes = 0;
  #isAbandoned: boolean;
  #onDrained: (() => void) | null = null;

  constructor(contentEncoding: string, inner: BodyMeter) {
    this.#create = DECODERS[contentEncoding.trim().toLowerCase()];
    this.#inner = inner;
    this.#isAbandoned = this.#create === undefined;
  }

  observe(chunk: Buffer): void {
    this.#encodedBytes += chunk.length;
    if (this.#isAbandoned || chunk.length === 0) return;
    this.#decoder ??= this.#startDecoder(chunk[0]!);
    if (this.#decoder.writableLength + chunk.length > WAITING_BYTES_MAX) this.#abandon();
    else this.#decoder.write(Buffer.from(chunk));
  }

  get tokensOutSeen(): number {
    return this.#inner.tokensOutSeen;
  }

  drain(done: () => void): boolean {
    if (this.#isAbandoned || this.#decoder === null) return false;
    this.#onDrained = done;
    this.#decoder.end();
    return true;
  }

  finish(complete: boolean): UsageReading {
    this.#decoder?.destroy();
    if (this.#isAbandoned) this.#inner.skipUndecodable(this.#encodedBytes);
    return this.#inner.finish(complete && !this.#isAbandoned);
  }

  #startDecoder(firstByte: number): Decoder {
    const decoder = this.#create!(firstByte);
    decoder.on('data', (piece: Buffer) => this.#onPiece(piece));
    decoder.on('error', () => this.#abandon());
    decoder.once('end', () => this.#finishDrain());
    return decoder;
  }

  #onPiece(piece: Buffer): void {
    if (this.#isAbandoned) return;
    this.#decodedBytes += piece.length;
    const byRatio = Math.max(PIECE_BYTES, this.#encodedBytes * DECODED_RATIO_MAX);
    if (this.#decodedBytes > Math.min(DECODED_BYTES_MAX, byRatio)) this.#abandon();
    else this.#inner.observe(piece);
  }

  #abandon(): void {
    this.#isAbandoned = true;
    this.#decoder?.destroy();
    this.#finishDrain();
  }

  #finishDrain(): void {
    const done = this.#onDrained;
    this.#onDrained = null;
    done?.();
  }
}
