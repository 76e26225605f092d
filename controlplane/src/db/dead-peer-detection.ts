/**
 * Connections to Postgres that end when its machine does not answer any more: one that has lost its power, or its way,
 * sends nothing, and the kernel waits up to a quarter of an hour for it; a process that is stopped is waited for as long
 * as it likes. Meanwhile every connection of a pool would be waited on.
 *
 * A long statement is as silent, so the server is asked on a connection beside: Postgres, and the proxies before it, say
 * at once whether they speak TLS.
 */
import { connect, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { noop } from '@acg/base/noop';

const DEFAULT_TIMEOUTS: DeadPeerTimeouts = { idleMs: 10_000, probeTimeoutMs: 10_000 };
const SSL_REQUEST = Buffer.from('0000000804d2162f', 'hex');
const SSL_ACCEPTED = 0x53;
/** There is no way to the machine. All else that may fail says that it is there, or is about this process. */
const UNREACHABLE_CODES: ReadonlySet<string | undefined> = new Set([
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
]);

/** Those of the client's options that say where to connect. */
export interface PostgresAddress {
  /** In order of preference. */
  readonly host: readonly string[];
  readonly port: readonly number[];
  /** Which of the hosts is wanted is known only when it has been asked. */
  readonly target_session_attrs?: string | null;
  /** Of a Unix socket; these are not watched. */
  readonly path?: string | false;
}

export interface DeadPeerTimeouts {
  /** Nothing received for so long, and it is asked whether the server is there. */
  readonly idleMs: number;
  /** So long it has time to answer. */
  readonly probeTimeoutMs: number;
}

/** Makes the sockets of one pool. Those of the usual patience ask together. */
export function createSocketFactory(timeouts = DEFAULT_TIMEOUTS): (to: PostgresAddress) => Socket {
  const machines = timeouts === DEFAULT_TIMEOUTS ? DEFAULT_PEER_PROBES : new PeerProbes(timeouts);
  let current = 0;
  return ({ host: hosts, port: ports, path, target_session_attrs: wanted }) => {
    if (typeof path === 'string') return connect(path);
    const at = current;
    const [host, port] = [hosts[at]!, ports[at]!];
    const goOn = (): void => {
      if (current === at) current = (at + 1) % hosts.length;
    };
    const socket = new Socket();
    if (typeof wanted === 'string') goOn();
    else socket.once('close', goOn).once('connect', () => socket.off('close', goOn));
    // Not at once: where there is no way to an address it fails in this turn, and nobody listens yet.
    queueMicrotask(() => socket.destroyed || socket.connect(port, host));
    destroyWhenPeerIsDead(socket, machines, timeouts.idleMs);
    return Object.assign(socket, { host, port }); // the client names them in its errors, and to TLS
  };
}

function destroyWhenPeerIsDead(socket: Socket, machines: PeerProbes, silenceMs: number): void {
  let bytesRead = 0;
  const look = async (): Promise<void> => {
    const isSilent = socket.bytesRead === bytesRead && !socket.connecting;
    bytesRead = socket.bytesRead;
    if (isSilent && !socket.destroyed && !(await machines.isPeerAlive(socket)) && socket.bytesRead === bytesRead) {
      socket.destroy();
    }
    if (!socket.destroyed) later();
  };
  const later = (): void => void setTimeout(look, silenceMs).unref();
  later();
}

/** Of all connections to one machine one asks, and what it hears is known to the others for a while. */
class PeerProbes {
  readonly #probes = new Map<string, Promise<boolean>>();

  constructor(readonly timeouts: DeadPeerTimeouts) {}

  isPeerAlive({ remoteAddress: host = '', remotePort: port = 0 }: Socket): Promise<boolean> {
    const key = `${host} ${port}`;
    let answer = this.#probes.get(key);
    if (answer === undefined) {
      answer = probePeer(host, port, this.timeouts.probeTimeoutMs);
      this.#probes.set(key, answer);
      void answer.then((isThere) => {
        setTimeout(() => this.#probes.delete(key), isThere ? this.timeouts.idleMs / 2 : 0).unref();
      });
    }
    return answer;
  }
}

const DEFAULT_PEER_PROBES = new PeerProbes(DEFAULT_TIMEOUTS);

/** False where nothing at all comes back; a refusal is an answer, too. */
function probePeer(host: string, port: number, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    const end = (isThere: boolean): void => {
      socket.destroy();
      resolve(isThere);
    };
    // What has arrived is read before that, however busy this process was.
    const timer = setTimeout(() => setImmediate(end, false), timeoutMs);
    socket.once('close', () => clearTimeout(timer));
    socket.once('connect', () => socket.write(SSL_REQUEST));
    socket.once('data', ([answer]) => {
      if (answer !== SSL_ACCEPTED) return end(true);
      resolve(true);
      closeGracefully(socket);
    });
    socket.once('end', () => end(true));
    socket.once('error', ({ code }: NodeJS.ErrnoException) => end(!UNREACHABLE_CODES.has(code)));
  });
}

/** Postgres logs whoever asks for TLS and goes, and not whoever goes when it speaks. Nothing is said to it. */
function closeGracefully(socket: Socket): void {
  const secure = connectTls({ socket, rejectUnauthorized: false });
  secure.on('error', noop).once('secureConnect', () => secure.end());
  secure.resume();
}
