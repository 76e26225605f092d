/**
 * The body of one agent request. It is collected up to `bytesMax`; a longer one overflows and waits, paused, until
 * {@link stream} hands it on with backpressure, so that memory stays flat whatever its length.
 *
 *   collecting ──last chunk──▶ complete
 *       ├──first chunk, known to be longer (expectLong)──▶ decided: it may stream
 *       └──more than bytesMax──▶ overflow (socket paused) ──stream()──▶ streaming ──last chunk──▶ complete
 */

import { Readable } from 'node:stream';
import { ignore } from '@acg/base/ignore';

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
interface WholeBodyReader extends BodyObserver {
  /** Memory that it takes besides the body, bytes. */
  readonly heldBytes: number;
}

/** Room that all bodies share which have to be held whole. */
export interface BodyRoom {
  /** False: there is no room for so many bytes more. */
  reserve(bytes: number): boolean;
  release(bytes: number): void;
}

export class RequestBody {
  /** Bytes received so far. */
  bytes = 0;
  complete = false;
  overflow = false;
  /** Set by whoever waits for completeness; called once per change to complete or overflow. */
  onChange: (() => void) | null = null;
  /** Reads the bytes of a body that streams, as they pass. Set before {@link stream}. */
  observer: BodyObserver | null = null;
  readonly #source: BodySource;
  readonly #bytesMax: number;
  /** Set for a body that has to be there whole: it may be longer, as far as there is room. */
  #room: BodyRoom | null = null;
  #wholeBytesMax = 0;
  /** Bytes of the room that this body takes. */
  #reservedBytes = 0;
  #parts: Buffer[] = [];
  #stream: BodyStream | null = null;
  /** Reads the bytes of a body that is collected whole, as they arrive. */
  #reader: WholeBodyReader | null = null;
  /** It is longer than can be collected. */
  #long = false;
  #paused = false;
  #gone = false;

  constructor(source: BodySource, bytesMax: number) {
    this.#source = source;
    this.#bytesMax = bytesMax;
  }

  /** True once it is known whether the body fits (complete, or too long to be collected) and its first bytes are here. */
  get decided(): boolean {
    return this.complete || this.overflow || (this.#long && this.bytes > 0);
  }

  /** The whole body was received, and the upstream connection has read it. */
  get sent(): boolean {
    return this.complete && (this.#stream === null || this.#stream.readableEnded);
  }

  /** Takes the next bytes; the server takes its buffer back when this returns, so they are copied. */
  push(chunk: ArrayBuffer, last: boolean): void {
    if (this.#gone) return;
    this.bytes += chunk.byteLength;
    if (last) {
      this.complete = true;
      // The server may have read on after the pause. Left paused, the connection would hear neither of the agent's end nor
      // of its next request.
      this.#resume();
    }
    const stream = this.#stream;
    if (stream !== null) {
      if (chunk.byteLength > 0 && !this.#pass(stream, copy(chunk)) && !last) this.#pause();
      if (last) stream.push(null);
      return;
    }
    if (chunk.byteLength > 0) this.#collect(copy(chunk));
    const fits = this.#heldBytes <= this.#bytesMax || this.#reserve();
    if (last || (this.#long && this.bytes > 0)) this.onChange?.();
    else if (!fits && !this.overflow) this.#overflow();
    if (this.#long && !fits && !last) this.#pause();
  }

  #collect(bytes: Buffer): void {
    this.#parts.push(bytes);
    this.#reader?.observe(bytes);
  }

  /** It says that it is longer than can be collected: it is decided with its first bytes. */
  expectLong(): void {
    this.#long = true;
  }

  /** Like {@link collectWhole}, for a body that must be read before anything is decided: each byte goes to `reader`. */
  readWhole(bytesMax: number, room: BodyRoom, reader: WholeBodyReader): void {
    for (const part of this.#parts) reader.observe(part);
    this.#reader = reader;
    this.collectWhole(bytesMax, room);
  }

  /** The whole body, which stays; only when complete and not streamed. */
  whole(): Buffer {
    if (this.#parts.length !== 1) this.#parts = [Buffer.concat(this.#parts, this.bytes)];
    return this.#parts[0]!;
  }

  /**
   * A body that has to be edited must be there whole: it is collected up to `bytesMax`, as far as `room` allows. Room is
   * taken as bytes arrive, so that an agent that sends slowly holds no more of it than it has sent.
   */
  collectWhole(bytesMax: number, room: BodyRoom): void {
    this.#room = room;
    this.#wholeBytesMax = bytesMax;
    if (!this.overflow || this.complete || !this.#reserve()) return;
    this.overflow = false;
    this.#resume();
  }

  /** The whole body; only when complete and not streamed. */
  take(): Buffer {
    const parts = this.#parts;
    this.#parts = [];
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts, this.bytes);
  }

  /** The body as a stream: what was collected, then what arrives, at the pace of its reader. */
  stream(): Readable {
    const stream = new BodyStream(this.#resumeSource);
    this.#stream = stream;
    for (const part of this.#parts) this.#pass(stream, part);
    this.#parts = [];
    if (this.complete) stream.push(null);
    return stream;
  }

  #pass(stream: BodyStream, bytes: Buffer): boolean {
    this.observer?.observe(bytes);
    return stream.push(bytes);
  }

  /** The agent is gone or has its answer: what still arrives is thrown away. */
  discard(): void {
    this.#gone = true;
    this.#parts = [];
    this.#reader = null;
    this.onChange = null;
    this.#stream?.destroy();
    this.#release();
  }

  /** The reader of the stream has taken all that was collected. */
  readonly #resumeSource = (): void => {
    this.#release();
    if (!this.complete && !this.#gone) this.#resume();
  };

  /** What is here of the body, with what its reader keeps of it. */
  get #heldBytes(): number {
    return this.bytes + (this.#reader?.heldBytes ?? 0);
  }

  /** Room for every byte that is held. */
  #reserve(): boolean {
    if (this.#room === null || this.bytes > this.#wholeBytesMax) return false;
    const more = this.#heldBytes - this.#reservedBytes;
    if (more <= 0) return true;
    if (!this.#room.reserve(more)) return false;
    this.#reservedBytes += more;
    return true;
  }

  #release(): void {
    this.#room?.release(this.#reservedBytes);
    this.#room = null;
    this.#reservedBytes = 0;
  }

  #overflow(): void {
    this.overflow = true;
    this.#pause();
    this.onChange?.();
  }

  #pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#source.pause();
  }

  #resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#source.resume();
  }
}

const copy = (chunk: ArrayBuffer): Buffer => Buffer.from(new Uint8Array(chunk));

class BodyStream extends Readable {
  readonly #wanted: () => void;

  constructor(wanted: () => void) {
    super({ highWaterMark: 256 * 1024 });
    this.#wanted = wanted;
    this.on('error', ignore); // destroyed with a reason by the HTTP client: the exchange hears of it there
  }

  override _read(): void {
    this.#wanted();
  }
}
