/**
 * The body of one agent request. It is collected up to `bytesMax`; a longer one overflows and waits, paused, until
 * {@link stream} hands it on with backpressure, so that memory stays flat whatever its length.
 *
 *   collecting ──last chunk──▶ complete
 *       ├──first chunk, known to be longer (expectLong)──▶ decided: it may stream
 *       └──more than bytesMax──▶ overflow (socket paused) ──stream()──▶ streaming ──last chunk──▶ complete
 */

import { Readable } from 'node:stream';
import { noop } from '@acg/base/noop';

/** The part of the server's response object that reading a body needs. */
interface BodySource {
  pause(): void;
  resume(): void;
}

interface BodyObserver {
  /** Must not keep the buffer. */
  observe(bytes: Buffer): void;
}

/** Reads a body that is collected whole. */
interface BufferedBodyReader extends BodyObserver {
  /** Memory that it takes besides the body, bytes. */
  readonly heldBytes: number;
}

/** Room that all bodies share which have to be held whole. */
export interface BodyMemory {
  /** False: there is no room for so many bytes more. */
  reserve(bytes: number): boolean;
  release(bytes: number): void;
}

export class RequestBody {
  /** Bytes received so far. */
  bytes = 0;
  isComplete = false;
  hasOverflowed = false;
  /** Set by whoever waits for completeness; called once per change to complete or overflow. */
  onReady: (() => void) | null = null;
  /** Reads the bytes of a body that streams, as they pass. Set before {@link toStream}. */
  observer: BodyObserver | null = null;
  readonly #source: BodySource;
  readonly #bytesMax: number;
  /** Set for a body that has to be there whole: it may be longer, as far as there is room. */
  #memory: BodyMemory | null = null;
  #bufferedBytesMax = 0;
  /** Bytes of the room that this body takes. */
  #reservedBytes = 0;
  #chunks: Buffer[] = [];
  #stream: BodyStream | null = null;
  /** Reads the bytes of a body that is collected whole, as they arrive. */
  #reader: BufferedBodyReader | null = null;
  /** It is longer than can be collected. */
  #isLong = false;
  #isPaused = false;
  #isDiscarded = false;

  constructor(source: BodySource, bytesMax: number) {
    this.#source = source;
    this.#bytesMax = bytesMax;
  }

  /** True once it is known whether the body fits (complete, or too long to be collected) and its first bytes are here. */
  get isReady(): boolean {
    return this.isComplete || this.hasOverflowed || (this.#isLong && this.bytes > 0);
  }

  /** The whole body was received, and the upstream connection has read it. */
  get isFullySent(): boolean {
    return this.isComplete && (this.#stream === null || this.#stream.readableEnded);
  }

  /** Takes the next bytes; the server takes its buffer back when this returns, so they are copied. */
  push(chunk: ArrayBuffer, last: boolean): void {
    if (this.#isDiscarded) return;
    this.bytes += chunk.byteLength;
    if (last) {
      this.isComplete = true;
      // The server may have read on after the pause. Left paused, the connection would hear neither of the agent's end nor
      // of its next request.
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

  /** It says that it is longer than can be collected: it is decided with its first bytes. */
  streamFromFirstByte(): void {
    this.#isLong = true;
  }

  /** Like {@link bufferWhole}, for a body that must be read before anything is decided: each byte goes to `reader`. */
  bufferAndScan(bytesMax: number, room: BodyMemory, reader: BufferedBodyReader): void {
    for (const part of this.#chunks) reader.observe(part);
    this.#reader = reader;
    this.bufferWhole(bytesMax, room);
  }

  /** The whole body, which stays; only when complete and not streamed. */
  peekWhole(): Buffer {
    if (this.#chunks.length !== 1) this.#chunks = [Buffer.concat(this.#chunks, this.bytes)];
    return this.#chunks[0]!;
  }

  /**
   * A body that has to be edited must be there whole: it is collected up to `bytesMax`, as far as `room` allows. Room is
   * taken as bytes arrive, so that an agent that sends slowly holds no more of it than it has sent.
   */
  bufferWhole(bytesMax: number, room: BodyMemory): void {
    this.#memory = room;
    this.#bufferedBytesMax = bytesMax;
    if (!this.hasOverflowed || this.isComplete || !this.#reserveMemory()) return;
    this.hasOverflowed = false;
    this.#resume();
  }

  /** The whole body; only when complete and not streamed. */
  takeWhole(): Buffer {
    const parts = this.#chunks;
    this.#chunks = [];
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts, this.bytes);
  }

  /** The body as a stream: what was collected, then what arrives, at the pace of its reader. */
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

  /** The agent is gone or has its answer: what still arrives is thrown away. */
  discard(): void {
    this.#isDiscarded = true;
    this.#chunks = [];
    this.#reader = null;
    this.onReady = null;
    this.#stream?.destroy();
    this.#releaseMemory();
  }

  /** The reader of the stream has taken all that was collected. */
  readonly #resumeSource = (): void => {
    this.#releaseMemory();
    if (!this.isComplete && !this.#isDiscarded) this.#resume();
  };

  /** What is here of the body, with what its reader keeps of it. */
  get #bufferedBytes(): number {
    return this.bytes + (this.#reader?.heldBytes ?? 0);
  }

  /** Room for every byte that is held. */
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
    this.on('error', noop); // destroyed with a reason by the HTTP client: the exchange hears of it there
  }

  override _read(): void {
    this.#onRead();
  }
}
