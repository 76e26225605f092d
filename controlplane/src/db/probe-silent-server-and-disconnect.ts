/**
 * Destroys connections to a Postgres server that no longer responds. A dead or unreachable host sends no FIN, and TCP
 * retransmission alone would take up to 15 minutes to detect it; a stopped process is never detected. Until then every
 * connection of a pool could hang.
 *
 * A long statement is silent, too, so a separate connection probes the server: Postgres, and proxies in front of it,
 * answer at once whether they support TLS.
 */
import { connect, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { noop } from '@acg/base/noop';

const DEFAULT_TIMEOUTS: DeadPeerTimeouts = { idleMs: 10_000, probeTimeoutMs: 10_000 };
const SSL_REQUEST = Buffer.from('0000000804d2162f', 'hex');
const SSL_ACCEPTED = 0x53;
/**
 * Errors that mean that the host is unreachable. Any other error shows that it is up, or concerns only this process.
 */
const UNREACHABLE_CODES: ReadonlySet<string | undefined> = new Set([
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
]);

/** The Postgres client's options that say where to connect. */
export interface PostgresAddress {
  /** In order of preference. */
  readonly host: readonly string[];
  readonly port: readonly number[];
  /** If set, a host must be queried to know whether it is the required one. */
  readonly target_session_attrs?: string | null;
  /** Path of a Unix socket; such connections are not monitored. */
  readonly path?: string | false;
}

export interface DeadPeerTimeouts {
  /** Time without received bytes after which the server is probed, ms. */
  readonly idleMs: number;
  /** Time limit for the answer to a probe, ms. */
  readonly probeTimeoutMs: number;
}

/** Returns the socket factory of one pool. All pools with default timeouts share their probes. */
export function createSocketFactory(timeouts = DEFAULT_TIMEOUTS): (to: PostgresAddress) => Socket {
  const peerProbes = timeouts === DEFAULT_TIMEOUTS ? DEFAULT_PEER_PROBES : new SharedPeerProbes(timeouts);
  let currentHost = 0;
  return ({ host: hosts, port: ports, path, target_session_attrs: sessionAttrs }) => {
    if (typeof path === 'string') return connect(path);
    const hostIndex = currentHost;
    const [host, port] = [hosts[hostIndex]!, ports[hostIndex]!];
    const useNextHost = (): void => {
      if (currentHost === hostIndex) currentHost = (hostIndex + 1) % hosts.length;
    };
    const socket = new Socket();
    if (typeof sessionAttrs === 'string') useNextHost();
    else socket.once('close', useNextHost).once('connect', () => socket.off('close', useNextHost));
    // Deferred: without a route, `connect` fails synchronously, before the caller has added its listeners.
    queueMicrotask(() => socket.destroyed || socket.connect(port, host));
    destroyWhenPeerIsDead(socket, peerProbes, timeouts.idleMs);
    return Object.assign(socket, { host, port }); // the client uses them in errors and for TLS
  };
}

function destroyWhenPeerIsDead(socket: Socket, peerProbes: SharedPeerProbes, idleMs: number): void {
  let bytesRead = 0;
  const checkPeer = async (): Promise<void> => {
    const isSilent = socket.bytesRead === bytesRead && !socket.connecting;
    bytesRead = socket.bytesRead;
    if (isSilent && !socket.destroyed && !(await peerProbes.isPeerAlive(socket)) && socket.bytesRead === bytesRead) {
      socket.destroy();
    }
    if (!socket.destroyed) scheduleCheck();
  };
  const scheduleCheck = (): void => void setTimeout(checkPeer, idleMs).unref();
  scheduleCheck();
}

/** Shares probes: one probe per host serves all connections to it, and its result is cached for a while. */
class SharedPeerProbes {
  readonly #probes = new Map<string, Promise<boolean>>();

  constructor(readonly timeouts: DeadPeerTimeouts) {}

  isPeerAlive({ remoteAddress: host = '', remotePort: port = 0 }: Socket): Promise<boolean> {
    const key = `${host} ${port}`;
    let result = this.#probes.get(key);
    if (result === undefined) {
      result = probePeer(host, port, this.timeouts.probeTimeoutMs);
      this.#probes.set(key, result);
      void result.then((isAlive) => {
        setTimeout(() => this.#probes.delete(key), isAlive ? this.timeouts.idleMs / 2 : 0).unref();
      });
    }
    return result;
  }
}

const DEFAULT_PEER_PROBES = new SharedPeerProbes(DEFAULT_TIMEOUTS);

/** Resolves with false if there is no response at all. A rejected connection counts as alive. */
function probePeer(host: string, port: number, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    const finish = (isAlive: boolean): void => {
      socket.destroy();
      resolve(isAlive);
    };
    // setImmediate: a busy process first reads what has arrived.
    const timer = setTimeout(() => setImmediate(finish, false), timeoutMs);
    socket.once('close', () => clearTimeout(timer));
    socket.once('connect', () => socket.write(SSL_REQUEST));
    socket.once('data', ([answer]) => {
      if (answer !== SSL_ACCEPTED) return finish(true);
      resolve(true);
      closeGracefully(socket);
    });
    socket.once('end', () => finish(true));
    socket.once('error', ({ code }: NodeJS.ErrnoException) => finish(!UNREACHABLE_CODES.has(code)));
  });
}

/**
 * Completes the TLS handshake before it closes, without sending a query: Postgres logs a client that disconnects after
 * SSLRequest, but not one that disconnects after the handshake.
 */
function closeGracefully(socket: Socket): void {
  const tlsSocket = connectTls({ socket, rejectUnauthorized: false });
  tlsSocket.on('error', noop).once('secureConnect', () => tlsSocket.end());
  tlsSocket.resume();
}
