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
import { ignore } from '@acg/base/ignore';

const PATIENCE: Patience = { silenceMs: 10_000, answerMs: 10_000 };
const DO_YOU_SPEAK_TLS = Buffer.from('0000000804d2162f', 'hex');
const YES = 0x53;
/** There is no way to the machine. All else that may fail says that it is there, or is about this process. */
const AWAY: ReadonlySet<string | undefined> = new Set([
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
]);

/** Those of the client's options that say where to connect. */
export interface Destination {
  /** In order of preference. */
  readonly host: readonly string[];
  readonly port: readonly number[];
  /** Which of the hosts is wanted is known only when it has been asked. */
  readonly target_session_attrs?: string | null;
  /** Of a Unix socket; these are not watched. */
  readonly path?: string | false;
}

export interface Patience {
  /** Nothing received for so long, and it is asked whether the server is there. */
  readonly silenceMs: number;
  /** So long it has time to answer. */
  readonly answerMs: number;
}

/** Makes the sockets of one pool. Those of the usual patience ask together. */
export function watchedSockets(patience = PATIENCE): (to: Destination) => Socket {
  const machines = patience === PATIENCE ? MACHINES : new Machines(patience);
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
    endWhenDeserted(socket, machines, patience.silenceMs);
    return Object.assign(socket, { host, port }); // the client names them in its errors, and to TLS
  };
}

function endWhenDeserted(socket: Socket, machines: Machines, silenceMs: number): void {
  let bytesRead = 0;
  const look = async (): Promise<void> => {
    const isSilent = socket.bytesRead === bytesRead && !socket.connecting;
    bytesRead = socket.bytesRead;
    if (isSilent && !socket.destroyed && !(await machines.answer(socket)) && socket.bytesRead === bytesRead) {
      socket.destroy();
    }
    if (!socket.destroyed) later();
  };
  const later = (): void => void setTimeout(look, silenceMs).unref();
  later();
}

/** Of all connections to one machine one asks, and what it hears is known to the others for a while. */
class Machines {
  readonly #asked = new Map<string, Promise<boolean>>();

  constructor(readonly patience: Patience) {}

  answer({ remoteAddress: host = '', remotePort: port = 0 }: Socket): Promise<boolean> {
    const key = `${host} ${port}`;
    let answer = this.#asked.get(key);
    if (answer === undefined) {
      answer = answers(host, port, this.patience.answerMs);
      this.#asked.set(key, answer);
      void answer.then((isThere) => {
        setTimeout(() => this.#asked.delete(key), isThere ? this.patience.silenceMs / 2 : 0).unref();
      });
    }
    return answer;
  }
}

const MACHINES = new Machines(PATIENCE);

/** False where nothing at all comes back; a refusal is an answer, too. */
function answers(host: string, port: number, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    const end = (isThere: boolean): void => {
      socket.destroy();
      resolve(isThere);
    };
    // What has arrived is read before that, however busy this process was.
    const timer = setTimeout(() => setImmediate(end, false), timeoutMs);
    socket.once('close', () => clearTimeout(timer));
    socket.once('connect', () => socket.write(DO_YOU_SPEAK_TLS));
    socket.once('data', ([answer]) => {
      if (answer !== YES) return end(true);
      resolve(true);
      takeLeave(socket);
    });
    socket.once('end', () => end(true));
    socket.once('error', ({ code }: NodeJS.ErrnoException) => end(!AWAY.has(code)));
  });
}

/** Postgres logs whoever asks for TLS and goes, and not whoever goes when it speaks. Nothing is said to it. */
function takeLeave(socket: Socket): void {
  const secure = connectTls({ socket, rejectUnauthorized: false });
  secure.on('error', ignore).once('secureConnect', () => secure.end());
  secure.resume();
}
