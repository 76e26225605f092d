import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import type { BodyMeter, UsageMeter, UsageReading } from '../reading/response-usage-meter-interface.js';

/** Maximum compressed bytes that wait for the decoder. */
const WAITING_BYTES_MAX = 1_048_576;
/** Beyond this a body is not decoded: 40 compressed bytes can expand to as many MiB. */
const DECODED_BYTES_MAX = 8_388_608;
const DECODED_RATIO_MAX = 100;
/** Decoder output per tick, bytes. Less than this is always read, whatever its ratio. */
const PIECE_BYTES = 65_536;

type Decoder = Transform & { readonly bytesWritten: number };

/** A truncated body has no end mark; the flush mode decodes what has arrived. */
const ZLIB_OPTIONS = { chunkSize: PIECE_BYTES, finishFlush: zlib.constants.Z_SYNC_FLUSH };
const BROTLI_OPTIONS = { chunkSize: PIECE_BYTES, finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH };
/** Node ≥ 22.15 has zstd. On older versions such a body is estimated. */
const zstd = (zlib as { createZstdDecompress?: (options: object) => Decoder }).createZstdDecompress;

/** Decoder by content coding; created when the first byte has arrived. */
const DECODERS: Readonly<Record<string, ((firstByte: number) => Decoder) | undefined>> = {
  gzip: () => zlib.createGunzip(ZLIB_OPTIONS),
  'x-gzip': () => zlib.createGunzip(ZLIB_OPTIONS),
  // Some servers send raw deflate data, others the zlib format of the RFC. The first byte of a zlib header tells them
  // apart.
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
 * Meter of a body that is compressed although the request asked for `identity`. Decodes off the event loop and reads
 * piece by piece, so that one tenant's provider cannot block other calls. Beyond a bound, or after a decode error, the
 * inner meter estimates from the compressed size.
 */
export class CompressedBodyMeter implements UsageMeter {
  readonly #createDecoder: ((firstByte: number) => Decoder) | undefined;
  readonly #inner: BodyMeter;
  #decoder: Decoder | null = null;
  #encodedBytes = 0;
  #decodedBytes = 0;
  #isAbandoned: boolean;
  #onDrained: (() => void) | null = null;

  constructor(contentEncoding: string, inner: BodyMeter) {
    this.#createDecoder = DECODERS[contentEncoding.trim().toLowerCase()];
    this.#inner = inner;
    this.#isAbandoned = this.#createDecoder === undefined;
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

  finish(isComplete: boolean): UsageReading {
    this.#decoder?.destroy();
    if (this.#isAbandoned) this.#inner.skipUndecodable(this.#encodedBytes);
    return this.#inner.finish(isComplete && !this.#isAbandoned);
  }

  #startDecoder(firstByte: number): Decoder {
    const decoder = this.#createDecoder!(firstByte);
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
