/** For tests: both ends of the wire, byte by byte. */

import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

/** One TCP connection that keeps what it received. */
export class RawPeer {
  received: Buffer = Buffer.alloc(0);
  closed = false;
  #changed: (() => void)[] = [];

  constructor(readonly socket: Socket) {
    socket.on('data', (chunk) => {
      this.received = Buffer.concat([this.received, chunk]);
      this.#notify();
    });
    socket.on('close', () => {
      this.closed = true;
      this.#notify();
    });
    socket.on('error', () => {});
  }

  get text(): string {
    return this.received.toString('latin1');
  }

  send(text: string | Buffer): void {
    this.socket.write(text);
  }

  /** Resolves when the condition holds; it is checked whenever bytes arrive. */
  async waitUntil(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#changed.push(resolve));
  }

  /** Resolves when the text has arrived. */
  async waitForText(text: string): Promise<void> {
    await this.waitUntil(() => this.text.includes(text));
  }

  async waitForClose(): Promise<void> {
    await this.waitUntil(() => this.closed);
  }

  #notify(): void {
    for (const resolve of this.#changed.splice(0)) resolve();
  }
}

export function connectRaw(port: number): Promise<RawPeer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(new RawPeer(socket)));
    socket.once('error', reject);
  });
}

/** An upstream that sends only what the test writes to each connection. */
export class RawUpstream {
  readonly connections: RawPeer[] = [];
  readonly #server: Server;
  #waiting: (() => void)[] = [];

  private constructor(tls: TlsOptions | null) {
    const accept = (socket: Socket): void => {
      this.connections.push(new RawPeer(socket));
      for (const resolve of this.#waiting.splice(0)) resolve();
    };
    this.#server = tls === null ? createServer(accept) : createTlsServer(tls, accept);
  }

  /** `tls`: null speaks plain TCP. */
  static start(tls: TlsOptions | null = null, host = '127.0.0.1'): Promise<RawUpstream> {
    const upstream = new RawUpstream(tls);
    return new Promise((resolve) => upstream.#server.listen(0, host, () => resolve(upstream)));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Resolves with the n-th connection once it is open. */
  async connection(index = 0): Promise<RawPeer> {
    while (this.connections.length <= index) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.connections[index]!;
  }

  /** What all connections have received. */
  get text(): string {
    return this.connections.map(({ text }) => text).join('');
  }

  stop(): void {
    for (const { socket } of this.connections) socket.destroy();
    this.#server.close();
  }
}

/** Resolves when the condition holds; it is checked once per turn of the event loop. */
export async function waitUntil(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
