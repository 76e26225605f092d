/**
 * Limits the connections of one listening port: in total, per client network, and the time until the first byte. A
 * connection above a limit is closed at once and counted. The limits keep file descriptors free for Postgres, however
 * many connections clients open (docs/configuration.md#control-plane-connections).
 */

import type { Server, Socket } from 'node:net';
import { DynamicShare } from '@acg/base/fairness/dynamic-share';
import type { Logger } from '@acg/base/log';

export type ConnectionRejection = 'total' | 'network' | 'idle';

interface ConnectionLimitsOptions {
  /** Name of the port in the log, e.g. `the API port`. */
  readonly port: string;
  readonly connectionsMax: number;
  readonly perNetworkMax: number;
  /** Time until the first byte (ms), after which a silent connection is closed. */
  readonly firstByteTimeoutMs: number;
  /** The key under which a client's addresses are counted together. */
  readonly networkOf: (address: string) => string;
  /** Exempt from the limit per network: this machine and trusted proxies, which connect for many clients. */
  readonly isExempt: (address: string) => boolean;
  readonly onReject: (reason: ConnectionRejection) => void;
  readonly log: Pick<Logger, 'warn'>;
}

export const FIRST_BYTE_TIMEOUT_MS = 10_000;
const LOG_INTERVAL_MS = 60_000;
/** The lane of connections without a limit per network. */
const EXEMPT = 'exempt';

export class ConnectionLimits {
  readonly #options: ConnectionLimitsOptions;
  /** Open connections, with a lane for each client network. */
  readonly #open: DynamicShare;
  #lastLoggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: ConnectionLimitsOptions) {
    this.#options = options;
    this.#open = new DynamicShare({ capacity: options.connectionsMax, laneMax: options.perNetworkMax });
  }

  /** Number of connections that are open now. */
  get openConnections(): number {
    return this.#open.used;
  }

  /** Call once for each server of the port, before it listens. */
  install(server: Server): void {
    server.on('connection', (socket: Socket) => this.#onConnection(socket));
  }

  #onConnection(socket: Socket): void {
    const { firstByteTimeoutMs, networkOf, isExempt, onReject } = this.#options;
    const address = socket.remoteAddress;
    if (address === undefined) {
      socket.destroy(); // the client has already disconnected
      return;
    }
    const lane = isExempt(address) ? EXEMPT : networkOf(address);
    if (this.#open.free <= 0) {
      this.#reject(socket, 'total', address);
      return;
    }
    if (lane !== EXEMPT && this.#open.available(lane) <= 0) {
      this.#reject(socket, 'network', address);
      return;
    }
    this.#open.take(lane);
    const timer = setTimeout(() => {
      if (socket.bytesRead > 0) return;
      onReject('idle');
      socket.destroy();
    }, firstByteTimeoutMs);
    timer.unref();
    socket.once('close', () => {
      clearTimeout(timer);
      this.#open.release(lane);
    });
  }

  #reject(socket: Socket, reason: ConnectionRejection, address: string): void {
    const { onReject, port, log } = this.#options;
    onReject(reason);
    socket.destroy();
    const nowMs = performance.now();
    if (nowMs - this.#lastLoggedAtMs < LOG_INTERVAL_MS) return;
    this.#lastLoggedAtMs = nowMs;
    const limit =
      reason === 'total' ? 'the port has reached its connection limit' : 'its network has too many connections';
    log.warn({ address, reason, open: this.#open.used }, `connection to ${port} closed: ${limit}`);
  }
}
