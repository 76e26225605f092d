/**
 * The agents' port: the HTTP server with a bounded number of connections. It passes requests on and knows nothing about
 * calls.
 */
import uws, {
  type HttpRequest,
  type HttpResponse,
  type TemplatedApp,
  type us_listen_socket,
  type WebSocketBehavior,
} from 'uWebSockets.js';
import type { AddressConnectionLimiter } from './address-connection-limiter.js';

/** Attempts to find a free port that other processes may share. */
const FREE_PORT_ATTEMPTS_MAX = 10;

/** The port cannot be used; `message` is for the operator. */
class PortInUse extends Error {}

export class HttpListener {
  readonly #app: TemplatedApp = uws.App();
  #listenSocket: us_listen_socket | null = null;
  #connectionCount = 0;

  constructor(connectionsMax: number, addresses: Pick<AddressConnectionLimiter, 'tryOpenConnection'>) {
    this.#app.filter((res, count) => this.#onConnection(res, Number(count) > 0, connectionsMax, addresses));
  }

  get connectionCount(): number {
    return this.#connectionCount;
  }

  /** Counts a closed WebSocket. The server's filter reports the end of HTTP connections only, not of upgraded ones. */
  onWebSocketClosed(): void {
    this.#connectionCount--;
  }

  /** Registers a handler for requests that match `pattern`; patterns registered first win. */
  onRequest(pattern: string, handler: (res: HttpResponse, req: HttpRequest) => void): void {
    this.#app.any(pattern, handler);
  }

  onWebSocket<UserData>(pattern: string, behavior: WebSocketBehavior<UserData>): void {
    this.#app.ws(pattern, behavior);
  }

  /** Resolves with the port; rejects when it is in use. `shared`: several processes listen on the port. */
  async listen(host: string, port: number, shared: boolean): Promise<number> {
    if (port !== 0 || !shared) return this.#listen(host, port, shared);
    // The server shares only an explicit port, so a free one is found first. Another process may take it in between.
    for (let attempt = 1; ; attempt++) {
      const free = await this.#listen(host, 0, false);
      this.stopListening();
      try {
        return await this.#listen(host, free, true);
      } catch (error) {
        if (attempt === FREE_PORT_ATTEMPTS_MAX) throw error;
      }
    }
  }

  #listen(host: string, port: number, shared: boolean): Promise<number> {
    return new Promise((resolve, reject) => {
      const listen = this.#app.listen as unknown as (
        host: string,
        port: number,
        options: number,
        done: (socket: us_listen_socket | false) => void,
      ) => void;
      listen.call(this.#app, host, port, shared ? 0 : LISTEN_EXCLUSIVE_PORT, (socket) => {
        if (socket === false) {
          reject(
            new PortInUse(
              `cannot listen on ${host}:${port}: stop the other process, or set DATAPLANE_PORT (DATAPLANE_HOST) to a free one`,
            ),
          );
          return;
        }
        this.#listenSocket = socket;
        resolve(uws.us_socket_local_port(socket as never));
      });
    });
  }

  /** Stops accepting connections. */
  stopListening(): void {
    if (this.#listenSocket !== null) uws.us_listen_socket_close(this.#listenSocket);
    this.#listenSocket = null;
  }

  /** Closes every connection. */
  close(): void {
    this.#app.close();
  }

  #onConnection(
    res: HttpResponse,
    opened: boolean,
    connectionsMax: number,
    addresses: Pick<AddressConnectionLimiter, 'tryOpenConnection'>,
  ): void {
    this.#connectionCount += opened ? 1 : -1;
    if (!opened) return;
    const address = Buffer.from(res.getRemoteAddress());
    const text = (): string => Buffer.from(res.getRemoteAddressAsText()).toString('latin1');
    if (this.#connectionCount > connectionsMax || !addresses.tryOpenConnection(address, text)) res.close();
  }
}

/** The server's type definitions lack this export. */
const LISTEN_EXCLUSIVE_PORT = (uws as unknown as { LIBUS_LISTEN_EXCLUSIVE_PORT: number }).LIBUS_LISTEN_EXCLUSIVE_PORT;
