/** A TCP proxy in front of a real server that makes the network misbehave on command. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

export class TcpProxy {
  /** Answers are held back so long. */
  delayMs = 0;
  /** The next answer is thrown away and its connection cut: the request was served, but nobody learns. */
  cutNextAnswer = false;
  /** The next request is thrown away and its connection cut. */
  cutNextRequest = false;
  /** A connection on which this is asked is reset instead; null: none. */
  resetOn: string | null = null;
  /** The next connection on which this is asked is silent from then on, either way, and stays open; null: none. */
  muteOn: string | null = null;
  /** So many answers later one is thrown away and its connection reset; null: none. */
  resetAfter: number | null = null;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  connections = 0;
  #severed = false;
  /** Whatever stands between here and the server hands nothing on, either way, and answers nobody. */
  frozen = false;

  private constructor(
    /** Where connections made from now on lead. */
    public targetPort: number,
  ) {
    this.#server = createServer((client) => {
      if (this.#severed) client.destroy();
      else this.#serve(client, connect(this.targetPort, '127.0.0.1'));
    });
  }

  /** `port`: where it listens; 0 for any. */
  static async start(targetPort: number, port = 0): Promise<TcpProxy> {
    const proxy = new TcpProxy(targetPort);
    proxy.#server.listen(port, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy is not listening');
    return address.port;
  }

  /** Breaks all connections, and each new one at once, until `mend()`. */
  sever(): void {
    this.#severed = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#severed = false;
  }

  async stop(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }

  #serve(client: Socket, target: Socket): void {
    this.connections++;
    for (const socket of [client, target]) {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#sockets.delete(socket);
        client.destroy();
        target.destroy();
      });
    }
    let muted = false;
    client.on('data', (chunk) => {
      if (this.muteOn !== null && chunk.includes(this.muteOn)) {
        this.muteOn = null;
        muted = true;
      }
      if (muted || this.frozen) return;
      if (this.cutNextRequest) {
        this.cutNextRequest = false;
        client.destroy();
      } else if (this.resetOn !== null && chunk.includes(this.resetOn)) client.resetAndDestroy();
      else target.write(chunk);
    });
    target.on('data', (chunk) => {
      if (muted || this.frozen) return;
      if (this.resetAfter !== null && this.resetAfter-- === 0) {
        this.resetAfter = null;
        client.resetAndDestroy();
      } else if (this.cutNextAnswer) {
        this.cutNextAnswer = false;
        client.destroy();
      } else if (this.delayMs > 0) setTimeout(() => client.destroyed || client.write(chunk), this.delayMs);
      else client.write(chunk);
    });
  }
}
