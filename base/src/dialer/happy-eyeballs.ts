/**
 * Connects to the first of several addresses that answers, in the manner of Happy Eyeballs (RFC 8305). The next address
 * is dialled when one fails, or beside it after 250 ms without an answer. A slow attempt is not given up; the first
 * connected address aborts the others.
 */
import type { Socket } from 'node:net';
import type { ResolvedAddress } from '../egress/check-tenant-url.js';

interface HappyEyeballsOptions {
  /** In dialling order; at least one. */
  readonly addresses: readonly ResolvedAddress[];
  /** Starts a connection; may throw. */
  readonly open: (address: string) => Socket;
  /** With TLS, an attempt succeeds only after its handshake. */
  readonly isTls: boolean;
  /** Checks the peer once TCP is connected. An error fails the whole connect. */
  readonly checkPeer: (socket: Socket) => Error | null;
}

/** Delay before the next address is dialled beside the current one, ms. */
const ATTEMPT_DELAY_MS = 250;

/** Calls `done` exactly once, unless {@link abort} is called first. */
export class HappyEyeballsConnect {
  readonly #options: HappyEyeballsOptions;
  readonly #done: (error: Error | null, socket: Socket | null) => void;
  readonly #sockets = new Set<Socket>();
  /** Index of the next address to try. */
  #nextAddressIndex = 0;
  #nextAttemptTimer: NodeJS.Timeout | null = null;
  #isDone = false;

  constructor(options: HappyEyeballsOptions, done: (error: Error | null, socket: Socket | null) => void) {
    this.#options = options;
    this.#done = done;
    this.#tryNext();
  }

  abort(): void {
    this.#end();
  }

  #tryNext(): void {
    this.#clearNextAttempt();
    const { addresses, open, isTls: secure } = this.#options;
    let socket: Socket;
    try {
      socket = open(addresses[this.#nextAddressIndex++]!.address);
    } catch (error) {
      this.#fail(error as Error); // arguments that net or tls reject, such as a port above 65535
      return;
    }
    this.#sockets.add(socket);
    socket.once('connect', () => this.#onTcpConnected(socket));
    if (secure) socket.once('secureConnect', () => this.#succeed(socket));
    socket.on('error', (error) => this.#onAttemptFailed(socket, error));
    socket.once('close', () =>
      this.#onAttemptFailed(socket, new Error('the peer closed the connection before it was established')),
    );
    if (this.#nextAddressIndex < addresses.length)
      this.#nextAttemptTimer = setTimeout(() => this.#tryNext(), ATTEMPT_DELAY_MS);
  }

  /** TCP is connected; a TLS handshake may still fail. */
  #onTcpConnected(socket: Socket): void {
    if (!this.#sockets.has(socket)) return;
    const problem = this.#options.checkPeer(socket);
    if (problem !== null) {
      this.#fail(problem);
      return;
    }
    this.#clearNextAttempt();
    for (const other of this.#sockets) if (other !== socket) this.#destroySocket(other);
    if (!this.#options.isTls) this.#succeed(socket);
  }

  #onAttemptFailed(socket: Socket, error: Error): void {
    if (!this.#sockets.delete(socket)) return;
    socket.destroy();
    if (this.#nextAddressIndex < this.#options.addresses.length) this.#tryNext();
    else if (this.#sockets.size === 0) this.#fail(error);
  }

  #succeed(socket: Socket): void {
    if (!this.#sockets.delete(socket)) return;
    this.#end();
    this.#done(null, socket);
  }

  #fail(error: Error): void {
    if (this.#isDone) return;
    this.#end();
    this.#done(error, null);
  }

  #end(): void {
    this.#isDone = true;
    this.#clearNextAttempt();
    for (const socket of this.#sockets) this.#destroySocket(socket);
  }

  #destroySocket(socket: Socket): void {
    this.#sockets.delete(socket);
    socket.destroy();
  }

  #clearNextAttempt(): void {
    if (this.#nextAttemptTimer !== null) clearTimeout(this.#nextAttemptTimer);
    this.#nextAttemptTimer = null;
  }
}
