/**
 * Connects to the first of several addresses that answers: the next is tried when one fails, and beside it when it has
 * not answered for a moment. None is given up for being slow, and the first that is connected ends the others.
 */
import type { Socket } from 'node:net';
import type { ResolvedAddress } from '../egress/check-url.js';

interface RaceOptions {
  /** In the order in which they are tried; at least one. */
  readonly addresses: readonly ResolvedAddress[];
  /** Begins a connection; may throw. */
  readonly open: (address: string) => Socket;
  /** TLS: connected means that the handshake is over. */
  readonly secure: boolean;
  /** Looks at the peer once it is there; an error ends the race. */
  readonly check: (socket: Socket) => Error | null;
}

/** How long an address is alone. */
const STAGGER_MS = 250;

/** Calls back exactly once, unless it is stopped before. */
export class AddressRace {
  readonly #options: RaceOptions;
  readonly #done: (error: Error | null, socket: Socket | null) => void;
  readonly #live = new Set<Socket>();
  /** Index of the next address to try. */
  #next = 0;
  #stagger: NodeJS.Timeout | null = null;
  #over = false;

  constructor(options: RaceOptions, done: (error: Error | null, socket: Socket | null) => void) {
    this.#options = options;
    this.#done = done;
    this.#tryNext();
  }

  stop(): void {
    this.#end();
  }

  #tryNext(): void {
    this.#clearStagger();
    const { addresses, open, secure } = this.#options;
    let socket: Socket;
    try {
      socket = open(addresses[this.#next++]!.address);
    } catch (error) {
      this.#lose(error as Error); // arguments that net or tls refuse, such as a port above 65535
      return;
    }
    this.#live.add(socket);
    socket.once('connect', () => this.#reached(socket));
    if (secure) socket.once('secureConnect', () => this.#win(socket));
    socket.on('error', (error) => this.#failed(socket, error));
    socket.once('close', () => this.#failed(socket, new Error('the connection was closed at once')));
    if (this.#next < addresses.length) this.#stagger = setTimeout(() => this.#tryNext(), STAGGER_MS);
  }

  /** The other side is there; a TLS handshake may still fail. */
  #reached(socket: Socket): void {
    if (!this.#live.has(socket)) return;
    const problem = this.#options.check(socket);
    if (problem !== null) {
      this.#lose(problem);
      return;
    }
    this.#clearStagger();
    for (const other of this.#live) if (other !== socket) this.#drop(other);
    if (!this.#options.secure) this.#win(socket);
  }

  #failed(socket: Socket, error: Error): void {
    if (!this.#live.delete(socket)) return;
    socket.destroy();
    if (this.#next < this.#options.addresses.length) this.#tryNext();
    else if (this.#live.size === 0) this.#lose(error);
  }

  #win(socket: Socket): void {
    if (!this.#live.delete(socket)) return;
    this.#end();
    this.#done(null, socket);
  }

  #lose(error: Error): void {
    if (this.#over) return;
    this.#end();
    this.#done(error, null);
  }

  #end(): void {
    this.#over = true;
    this.#clearStagger();
    for (const socket of this.#live) this.#drop(socket);
  }

  #drop(socket: Socket): void {
    this.#live.delete(socket);
    socket.destroy();
  }

  #clearStagger(): void {
    if (this.#stagger !== null) clearTimeout(this.#stagger);
    this.#stagger = null;
  }
}
