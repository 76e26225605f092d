/**
 * Decodes the `aws-chunked` framing of S3 uploads at any chunk boundaries:
 *
 *   <hex size>[;chunk-signature=…]\r\n <data> \r\n  …  0[;chunk-signature=…]\r\n [trailer: value\r\n …] \r\n
 *
 * Drops the chunk signatures, which the client made with the gateway token. Holds back the last data byte until the
 * trailing checksum is verified. So a damaged body stays incomplete upstream and the object is not stored. Size lines
 * and trailers are bounded.
 */
import { createChecksum, type StreamingChecksum } from './s3-checksum.js';

const LINE_BYTES_MAX = 256;
const TRAILER_BYTES_MAX = 2048;
const CHUNK_BYTES_MAX = 2 ** 40;
const CR = 0x0d;
const LF = 0x0a;
const EMPTY = Buffer.alloc(0);

type State = 'size' | 'data' | 'data_end' | 'trailer' | 'done' | 'failed';

export class AwsChunkedDecoder {
  readonly #decodedBytes: number;
  readonly #trailer: string;
  readonly #checksum: StreamingChecksum | null;
  #state: State = 'size';
  /** The incomplete line of the framing (latin1). */
  #line = '';
  #trailerBytes = 0;
  /** Data bytes that remain in the open chunk. */
  #chunkBytesLeft = 0;
  #dataBytes = 0;
  #problem: string | null = null;
  #isVerified = false;
  #heldByte: Buffer = EMPTY;

  /** `decodedBytes`: announced length of the object. `trailer`: announced checksum header or `""`. */
  constructor(decodedBytes: number, trailer: string) {
    this.#decodedBytes = decodedBytes;
    this.#trailer = trailer;
    this.#checksum = createChecksum(trailer);
  }

  /** Why the body was rejected; null while it is valid. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Passes the data of `chunk` to `emit` as views (no copies). Returns false once the body is invalid. */
  push(chunk: Buffer, emit: (data: Buffer) => void): boolean {
    let at = 0;
    while (at < chunk.length) {
      switch (this.#state) {
        case 'data':
          at = this.#readData(chunk, at, emit);
          break;
        case 'done': // some signers send an empty line between the checksum and its signature
          this.#state = 'trailer';
          break;
        case 'failed':
          return false;
        default:
          at = this.#readLine(chunk, at);
      }
    }
    return this.#state !== 'failed';
  }

  /** Ends the body. Emits the held-back byte and returns true, or sets {@link problem} and returns false. */
  finish(emit: (data: Buffer) => void): boolean {
    if (this.#state === 'failed') return false;
    if (this.#state !== 'done') return this.#fail('the aws-chunked body is incomplete');
    if (this.#dataBytes !== this.#decodedBytes)
      return this.#fail('the body is shorter than x-amz-decoded-content-length');
    if (this.#checksum !== null && !this.#isVerified) return this.#fail(`the trailer ${this.#trailer} is missing`);
    if (this.#heldByte.length > 0) emit(this.#heldByte);
    this.#heldByte = EMPTY;
    return true;
  }

  #readData(chunk: Buffer, from: number, emit: (data: Buffer) => void): number {
    const end = Math.min(chunk.length, from + this.#chunkBytesLeft);
    const data = chunk.subarray(from, end);
    this.#chunkBytesLeft -= data.length;
    this.#dataBytes += data.length;
    if (this.#chunkBytesLeft === 0) this.#state = 'data_end';
    if (this.#dataBytes > this.#decodedBytes) {
      this.#fail('the body is longer than x-amz-decoded-content-length');
      return chunk.length;
    }
    this.#checksum?.update(data);
    if (this.#dataBytes < this.#decodedBytes) {
      emit(data);
    } else {
      if (data.length > 1) emit(data.subarray(0, -1));
      this.#heldByte = Buffer.from(data.subarray(-1)); // a copy: the server reuses the chunk
    }
    return end;
  }

  /** Collects one line of the framing. Returns the index after the bytes read. */
  #readLine(chunk: Buffer, from: number): number {
    const lineEnd = chunk.indexOf(LF, from);
    const end = lineEnd === -1 ? chunk.length : lineEnd;
    if (this.#line.length + end - from > LINE_BYTES_MAX) {
      this.#fail('a line of the aws-chunked framing is too long');
      return chunk.length;
    }
    this.#line += chunk.toString('latin1', from, end);
    if (lineEnd === -1) return end;
    const line = this.#line;
    this.#line = '';
    const ended = line.charCodeAt(line.length - 1) === CR;
    if (ended) this.#onLine(line.slice(0, -1));
    else if (this.#state === 'trailer') this.#onLine(line);
    else this.#fail('a line of the aws-chunked framing has no CR LF');
    return lineEnd + 1;
  }

  #onLine(line: string): void {
    switch (this.#state) {
      case 'size':
        this.#onSize(line);
        break;
      case 'data_end':
        if (line === '') this.#state = 'size';
        else this.#fail('a chunk is longer than its announced size');
        break;
      case 'trailer':
        this.#onTrailer(line);
        break;
      default:
        break;
    }
  }

  #onSize(line: string): void {
    const semicolon = line.indexOf(';');
    const hex = semicolon === -1 ? line : line.slice(0, semicolon);
    if (!/^[0-9a-fA-F]{1,12}$/.test(hex)) {
      this.#fail('a chunk size of the aws-chunked framing is malformed');
      return;
    }
    const size = Number.parseInt(hex, 16);
    if (size > CHUNK_BYTES_MAX) this.#fail('a chunk of the aws-chunked framing is too large');
    else if (size === 0) this.#state = 'trailer';
    else {
      this.#chunkBytesLeft = size;
      this.#state = 'data';
    }
  }

  #onTrailer(line: string): void {
    if (line === '') {
      this.#state = 'done';
      return;
    }
    this.#trailerBytes += line.length;
    if (this.#trailerBytes > TRAILER_BYTES_MAX) {
      this.#fail('the trailers of the aws-chunked body are too long');
      return;
    }
    const colon = line.indexOf(':');
    if (colon === -1) {
      this.#fail('bytes after the end of the aws-chunked body');
      return;
    }
    if (line.slice(0, colon).trim().toLowerCase() !== this.#trailer || this.#checksum === null) return;
    if (line.slice(colon + 1).trim() === this.#checksum.digest()) this.#isVerified = true;
    else this.#fail(`${this.#trailer} does not match the body`);
  }

  #fail(problem: string): false {
    this.#state = 'failed';
    this.#problem ??= problem;
    return false;
  }
}
