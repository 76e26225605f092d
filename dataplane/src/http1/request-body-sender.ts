/**
 * Sends a streamed request body at the pace of the slower side. Frames it by its declared length, which it must match,
 * or chunked when there is none (RFC 9112 §7.1).
 */
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';

/** The body is shorter or longer than its declared length. */
class LengthMismatch extends Error {}

/** The body stream closed before its end. */
class BodyAborted extends Error {}

export interface BodySenderOwner {
  /** All bytes were passed to the socket. */
  onBodySent(): void;
  /** The body cannot be completed, so the connection must not be reused. */
  onBodyFailed(error: Error): void;
}

export class RequestBodySender {
  readonly #socket: Socket;
  readonly #body: Readable;
  readonly #owner: BodySenderOwner;
  readonly #chunked: boolean;
  /** Bytes of a declared length that are still to send. */
  #left: number;
  #isFinished = false;

  /** `length`: declared length in bytes, or -1 for chunked. */
  constructor(socket: Socket, body: Readable, length: number, owner: BodySenderOwner) {
    this.#socket = socket;
    this.#body = body;
    this.#owner = owner;
    this.#chunked = length === -1;
    this.#left = length;
  }

  /** Whether the upstream accepts more bytes and the agent has not sent them. */
  get isWaitingForAgent(): boolean {
    return !this.#isFinished && !this.#socket.writableNeedDrain;
  }

  start(): void {
    this.#socket.on('drain', this.#onDrain);
    this.#body.on('data', this.#onData);
    this.#body.on('end', this.#onEnd);
    this.#body.on('error', this.#onError);
    this.#body.on('close', this.#onClose);
    if (this.#body.readableEnded) this.#onEnd();
    else if (this.#body.destroyed) this.#onClose();
  }

  /** Stops sending and destroys the rest of the body. */
  stop(): void {
    if (this.#isFinished) return;
    this.#detach();
    this.#body.destroy();
  }

  readonly #onData = (piece: Buffer): void => {
    if (piece.length === 0) return;
    const socket = this.#socket;
    let goesOn: boolean;
    if (this.#chunked) {
      socket.cork();
      socket.write(`${piece.length.toString(16)}\r\n`, 'latin1');
      socket.write(piece);
      goesOn = socket.write('\r\n', 'latin1');
      socket.uncork();
    } else {
      this.#left -= piece.length;
      if (this.#left < 0) {
        this.#fail(new LengthMismatch('the body is longer than its content-length'));
        return;
      }
      goesOn = socket.write(piece);
    }
    if (!goesOn) this.#body.pause();
  };

  readonly #onDrain = (): void => {
    this.#body.resume();
  };

  readonly #onEnd = (): void => {
    if (this.#left > 0) {
      this.#fail(new LengthMismatch('the body is shorter than its content-length'));
      return;
    }
    this.#detach();
    if (this.#chunked) this.#socket.write('0\r\n\r\n', 'latin1');
    this.#owner.onBodySent();
  };

  readonly #onError = (error: Error): void => this.#fail(error);

  readonly #onClose = (): void => this.#fail(new BodyAborted('the request body ended early'));

  #fail(error: Error): void {
    this.#detach();
    this.#body.destroy();
    this.#owner.onBodyFailed(error);
  }

  #detach(): void {
    this.#isFinished = true;
    this.#socket.off('drain', this.#onDrain);
    this.#body.off('data', this.#onData);
    this.#body.off('end', this.#onEnd);
    this.#body.off('error', this.#onError);
    this.#body.off('close', this.#onClose);
  }
}
