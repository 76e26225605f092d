/**
 * Bounds the connections of one listening port: in total, of one client network, and the time until the first byte. A
 * connection beyond a bound is closed at once and counted. The bounds keep file descriptors free for Postgres, whatever
 * strangers open (docs/configuration.md#connections-of-the-control-plane).
 */
import type { Server, Socket } from 'node:net';
import type { Logger } from '@acg/base/log';

export type ConnectionRejection = 'total' | 'network' | 'idle';

interface ConnectionLimitsOptions {
  /** Name of the port in the log, e.g. `the API port`. */
  readonly port: string;
  readonly connectionsMax: number;
  readonly perNetworkMax: number;
  /** A connection without a byte after so long is closed. */
  readonly firstByteTimeoutMs: number;
  /** The key under which a client's addresses are counted together. */
  readonly networkOf: (address: string) => string;
  /** This machine and trusted proxies, which connect for many clients: not bounded by network. */
  readonly isExempt: (address: string) => boolean;
  readonly onReject: (reason: ConnectionRejection) => void;
  readonly log: Pick<Logger, 'warn'>;
}

export const FIRST_BYTE_TIMEOUT_MS = 10_000;
const LOG_INTERVAL_MS = 60_000;

export class ConnectionLimits {
  readonly #options: ConnectionLimitsOptions;
  /** Open connections by client network; only of networks that have one. */
  readonly #byNetwork = new Map<string, number>();
  #open = 0;
  #lastLoggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: ConnectionLimitsOptions) {
    this.#options = options;
  }

  /** Connections that are open now. */
  get openConnections(): number {
    return this.#open;
  }

  /** Called once for each server of the port, before it listens. */
  install(server: Server): void {
    server.on('connection', (socket: Socket) => this.#onConnection(socket));
  }

  #onConnection(socket: Socket): void {
    const { connectionsMax, perNetworkMax, firstByteTimeoutMs, networkOf, isExempt, onReject } = this.#options;
    const address = socket.remoteAddress;
    if (address === undefined) {
      socket.destroy(); // the client has gone already
      return;
    }
    const network = isExempt(address) ? null : networkOf(address);
    if (this.#open >= connectionsMax) {
      this.#reject(socket, 'total', address);
      return;
    }
    if (network !== null && (this.#byNetwork.get(network) ?? 0) >= perNetworkMax) {
      this.#reject(socket, 'network', address);
      return;
    }
    this.#add(network, 1);
    const timer = setTimeout(() => {
      if (socket.bytesRead > 0) return;
      onReject('idle');
      socket.destroy();
    }, firstByteTimeoutMs);
    timer.unref();
    socket.once('close', () => {
      clearTimeout(timer);
      this.#add(network, -1);
    });
  }

  #add(network: string | null, count: 1 | -1): void {
    this.#open += count;
    if (network === null) return;
    const open = (this.#byNetwork.get(network) ?? 0) + count;
    if (open === 0) this.#byNetwork.delete(network);
    else this.#byNetwork.set(network, open);
  }

  #reject(socket: Socket, reason: ConnectionRejection, address: string): void {
    const { onReject, port, log } = this.#options;
    onReject(reason);
    socket.destroy();
    const nowMs = performance.now();
    if (nowMs - this.#lastLoggedAtMs < LOG_INTERVAL_MS) return;
    this.#lastLoggedAtMs = nowMs;
    const bound = reason === 'total' ? 'the port has all connections that it may have' : 'its network has too many';
    log.warn({ address, reason, open: this.#open }, `connection to ${port} closed: ${bound}`);
  }
}
