/**
 * The body of one agent request. It is buffered up to `bytesMax`. A longer body overflows and waits, paused, until
 * {@link toStream} forwards it with backpressure, so memory stays bounded for any length.
 *
 *   buffering ──last chunk──▶ complete
 *       ├──first chunk, known to be longer (streamFromFirstByte)──▶ ready: it may stream
 *       └──more than bytesMax──▶ overflow (socket paused) ──toStream()──▶ streaming ──last chunk──▶ complete
 */

import { Readable } from 'node:stream';
import { noop } from '@acg/base/noop';

/** The methods of the server's response object that reading a body needs. */
interface BodySource {
  pause(): void;
  resume(): void;
}

interface BodyObserver {
  /** Must not keep the buffer. */
  observe(bytes: Buffer): void;
}

/** Reads the bytes of a body that is buffered whole. */
interface BufferedBodyReader extends BodyObserver {
  /** Memory of the reader besides the body, bytes. */
  readonly heldBytes: number;
}

/** Memory shared by all bodies that must be buffered whole. */
export interface BodyMemory {
  /** Returns false when fewer than `bytes` are left. */
  reserve(bytes: number): boolean;
  release(bytes: number): void;
}

export class RequestBody {
  /** Bytes received so far. */
  bytes = 0;
  isComplete = false;
  hasOverflowed = false;
  /** Called once per change to complete or overflowed. */
  onReady: (() => void) | null = null;
  /** Reads the bytes of a streamed body as they pass. Set before {@link toStream}. */
  observer: BodyObserver | null = null;
  readonly #source: BodySource;
  readonly #bytesMax: number;
  /** Set for a body that must be buffered whole; it may exceed `bytesMax` as far as this memory allows. */
  #memory: BodyMemory | null = null;
  #bufferedBytesMax = 0;
  /** Bytes that this body has reserved. */
  #reservedBytes = 0;
  #chunks: Buffer[] = [];
  #stream: BodyStream | null = null;
  /** Reads the bytes of a body that is buffered whole, as they arrive. */
  #reader: BufferedBodyReader | null = null;
  /** The body is longer than can be buffered. */
  #isLong = false;
  #isPaused = false;
  #isDiscarded = false;

  constructor(source: BodySource, bytesMax: number) {
    this.#source = source;
    this.#bytesMax = bytesMax;
  }

  /** True once it is known whether the body fits (complete, or too long to buffer) and its first bytes have arrived. */
  get isReady(): boolean {
    return this.isComplete || this.hasOverflowed || (this.#isLong && this.bytes > 0);
  }

  /** The whole body was received, and the upstream connection has read it. */
  get isFullySent(): boolean {
    return this.isComplete && (this.#stream === null || this.#stream.readableEnded);
  }

  /** Takes the next bytes and copies them, because the server reuses its buffer after this returns. */
  push(chunk: ArrayBuffer, last: boolean): void {
    if (this.#isDiscarded) return;
    this.bytes += chunk.byteLength;
    if (last) {
      this.isComplete = true;
      // The server may have read on after the pause. A connection left paused would report neither the agent's
      // disconnect nor its next request.
      this.#resume();
    }
    const stream = this.#stream;
    if (stream !== null) {
      if (chunk.byteLength > 0 && !this.#pushToStream(stream, copyToBuffer(chunk)) && !last) this.#pause();
      if (last) stream.push(null);
      return;
    }
    if (chunk.byteLength > 0) this.#appendPart(copyToBuffer(chunk));
    const fits = this.#bufferedBytes <= this.#bytesMax || this.#reserveMemory();
    if (last || (this.#isLong && this.bytes > 0)) this.onReady?.();
    else if (!fits && !this.hasOverflowed) this.#markOverflowed();
    if (this.#isLong && !fits && !last) this.#pause();
  }

  #appendPart(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.#reader?.observe(bytes);
  }

  /** The body is known to be longer than can be buffered: it is ready with its first bytes. */
  streamFromFirstByte(): void {
    this.#isLong = true;
  }

  /** Like {@link bufferWhole}, for a body that must be read before the call is decided: each byte goes to `reader`. */
  bufferAndScan(bytesMax: number, room: BodyMemory, reader: BufferedBodyReader): void {
    for (const part of this.#chunks) reader.observe(part);
    this.#reader = reader;
    this.bufferWhole(bytesMax, room);
  }

  /** Returns the whole body and keeps it; only when complete and not streamed. */
  peekWhole(): Buffer {
    if (this.#chunks.length !== 1) this.#chunks = [Buffer.concat(this.#chunks, this.bytes)];
    return this.#chunks[0]!;
  }

  /**
   * Buffers the body whole up to `bytesMax`, as far as `room` allows, because it must be edited. Memory is reserved as
   * bytes arrive, so a slow agent reserves no more than it has sent.
   */
  bufferWhole(bytesMax: number, room: BodyMemory): void {
    this.#memory = room;
    this.#bufferedBytesMax = bytesMax;
    if (!this.hasOverflowed || this.isComplete || !this.#reserveMemory()) return;
    this.hasOverflowed = false;
    this.#resume();
  }

  /** Returns and drops the whole body; only when complete and not streamed. */
  takeWhole(): Buffer {
    const parts = this.#chunks;
    this.#chunks = [];
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts, this.bytes);
  }

  /** Returns the body as a stream: the buffered bytes, then the rest as it arrives, at the pace of the reader. */
  toStream(): Readable {
    const stream = new BodyStream(this.#resumeSource);
    this.#stream = stream;
    for (const part of this.#chunks) this.#pushToStream(stream, part);
    this.#chunks = [];
    if (this.isComplete) stream.push(null);
    return stream;
  }

  #pushToStream(stream: BodyStream, bytes: Buffer): boolean {
    this.observer?.observe(bytes);
    return stream.push(bytes);
  }

  /** Drops the remaining body: the agent has disconnected or received its response. */
  discard(): void {
    this.#isDiscarded = true;
    this.#chunks = [];
    this.#reader = null;
    this.onReady = null;
    this.#stream?.destroy();
    this.#releaseMemory();
  }

  /** Called when the stream's reader has taken all buffered bytes. */
  readonly #resumeSource = (): void => {
    this.#releaseMemory();
    if (!this.isComplete && !this.#isDiscarded) this.#resume();
  };

  /** Bytes of the body received so far, plus the memory of its reader. */
  get #bufferedBytes(): number {
    return this.bytes + (this.#reader?.heldBytes ?? 0);
  }

  /** Reserves memory for every buffered byte. */
  #reserveMemory(): boolean {
    if (this.#memory === null || this.bytes > this.#bufferedBytesMax) return false;
    const more = this.#bufferedBytes - this.#reservedBytes;
    if (more <= 0) return true;
    if (!this.#memory.reserve(more)) return false;
    this.#reservedBytes += more;
    return true;
  }

  #releaseMemory(): void {
    this.#memory?.release(this.#reservedBytes);
    this.#memory = null;
    this.#reservedBytes = 0;
  }

  #markOverflowed(): void {
    this.hasOverflowed = true;
    this.#pause();
    this.onReady?.();
  }

  #pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#source.pause();
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#source.resume();
  }
}

const copyToBuffer = (chunk: ArrayBuffer): Buffer => Buffer.from(new Uint8Array(chunk));

class BodyStream extends Readable {
  readonly #onRead: () => void;

  constructor(wanted: () => void) {
    super({ highWaterMark: 256 * 1024 });
    this.#onRead = wanted;
    this.on('error', noop); // destroyed with an error by the HTTP client, which reports it to the exchange
  }

  override _read(): void {
    this.#onRead();
  }
}
