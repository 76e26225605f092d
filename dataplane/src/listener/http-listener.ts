/** The agents' port: the HTTP server, bounded in connections. What arrives is handed on; nothing of a call is known here. */
import uws, {
  type HttpRequest,
  type HttpResponse,
  type TemplatedApp,
  type us_listen_socket,
  type WebSocketBehavior,
} from 'uWebSockets.js';
import type { AddressConnectionLimiter } from './address-connection-limiter.js';

/** To find a free port that others may join. */
const FREE_PORT_ATTEMPTS_MAX = 10;

/** The port cannot be had; `message` is for the operator. */
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

  /** The filter hears of the end of HTTP connections only, not of one that became a WebSocket. */
  onWebSocketClosed(): void {
    this.#connectionCount--;
  }

  /** Requests of `pattern`; patterns that were added first win. */
  onRequest(pattern: string, handler: (res: HttpResponse, req: HttpRequest) => void): void {
    this.#app.any(pattern, handler);
  }

  onWebSocket<UserData>(pattern: string, behavior: WebSocketBehavior<UserData>): void {
    this.#app.ws(pattern, behavior);
  }

  /** Resolves with the port; rejects when it is taken. `shared`: several processes listen on it together. */
  async listen(host: string, port: number, shared: boolean): Promise<number> {
    if (port !== 0 || !shared) return this.#listen(host, port, shared);
    // The server shares only a port that it is told, so any free one is found first. Between the two, it can get lost.
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

  /** Takes no new connections. */
  stopListening(): void {
    if (this.#listenSocket !== null) uws.us_listen_socket_close(this.#listenSocket);
    this.#listenSocket = null;
  }

  /** Ends every connection. */
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

/** The typings lack this export. */
const LISTEN_EXCLUSIVE_PORT = (uws as unknown as { LIBUS_LISTEN_EXCLUSIVE_PORT: number }).LIBUS_LISTEN_EXCLUSIVE_PORT;
