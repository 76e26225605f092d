/**
 * Sends a request's body that streams, at the pace of whoever is slower: framed by its declared length, which it must
 * match, or chunked where there is none (RFC 9112 §7.1).
 */
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';

/** What was sent is no request: shorter or longer than its head said. */
class LengthMismatch extends Error {}

/** The body went away before its end. */
class BodyAborted extends Error {}

export interface BodySenderOwner {
  /** All of it was handed to the socket. */
  onBodySent(): void;
  /** It cannot be sent to its end; the connection is of no use any more. */
  onBodyFailed(error: Error): void;
}

export class RequestBodySender {
  readonly #socket: Socket;
  readonly #body: Readable;
  readonly #owner: BodySenderOwner;
  readonly #chunked: boolean;
  /** Bytes that are still to come of a declared length. */
  #left: number;
  #over = false;

  /** `length`: declared, bytes; -1: chunked. */
  constructor(socket: Socket, body: Readable, length: number, owner: BodySenderOwner) {
    this.#socket = socket;
    this.#body = body;
    this.#owner = owner;
    this.#chunked = length === -1;
    this.#left = length;
  }

  /** The upstream has room for more, so it is the agent that is awaited. */
  get isWaitingForAgent(): boolean {
    return !this.#over && !this.#socket.writableNeedDrain;
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

  /** Nothing more is sent; what is left of the body is thrown away. */
  stop(): void {
    if (this.#over) return;
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

  readonly #onClose = (): void => this.#fail(new BodyAborted('the body ended early'));

  #fail(error: Error): void {
    this.#detach();
    this.#body.destroy();
    this.#owner.onBodyFailed(error);
  }

  #detach(): void {
    this.#over = true;
    this.#socket.off('drain', this.#onDrain);
    this.#body.off('data', this.#onData);
    this.#body.off('end', this.#onEnd);
    this.#body.off('error', this.#onError);
    this.#body.off('close', this.#onClose);
  }
}
