/**
 * Connections to addresses that a tenant gave. Each connect resolves the name once, refuses it when any answer is
 * neither public nor allowed, dials exactly that address (so that a second DNS answer cannot differ) with the host's
 * name for TLS, and looks at the peer once more. Redirects are never followed by the callers; proxies from the
 * environment are never used. Measured against the vector classes of SECURITY §6.
 */
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Agent, type buildConnector } from 'undici';
import { bareHost, nameOrPortProblem, portOf, type Resolve, type ResolvedAddress, resolveByDns } from './check-url.js';
import { CidrList, unmapped } from './cidr-list.js';
import { isPublicAddress } from './public-address.js';

/** The connect was refused by the rules, not by the network. The message may be shown to operators, not to agents. */
export class EgressRefused extends Error {
  readonly code = 'EGRESS_REFUSED';

  constructor(reason: string) {
    super(reason);
    this.name = 'EgressRefused';
  }
}

export interface GuardOptions {
  /** EGRESS_ALLOW_CIDRS. */
  readonly allowCidrs: readonly string[];
  /** Name resolution, TCP and TLS handshake together. */
  readonly connectTimeoutMs: number;
  readonly resolve?: Resolve;
}

type Connector = buildConnector.connector;
type ConnectCallback = buildConnector.Callback;
type ConnectOptions = buildConnector.Options;

/** An undici agent whose every connection passes the guard. `agentOptions` are undici's own (timeouts, sizes). */
export function createGuardedAgent(options: GuardOptions, agentOptions: Omit<Agent.Options, 'connect'> = {}): Agent {
  return new Agent({ ...agentOptions, connect: guardedConnector(options) });
}

/** undici's `connect` function with the guard in it; see {@link createGuardedAgent}. */
export function guardedConnector(options: GuardOptions): Connector {
  const allowed = new CidrList(options.allowCidrs);
  const resolve = options.resolve ?? resolveByDns;
  return (target, callback) => {
    const attempt = new ConnectAttempt(target, options.connectTimeoutMs, allowed, callback);
    const host = attempt.host;
    const family = isIP(host);
    if (family !== 0) {
      attempt.dial([{ address: host, family }]);
      return;
    }
    resolve(host).then(
      (addresses) => attempt.dial(addresses),
      (error: unknown) => attempt.fail(error instanceof Error ? error : new Error('the name does not resolve')),
    );
  };
}

/** Null when every address may be dialled, else the reason. Pure. */
export function refusalOf(
  host: string,
  port: number,
  addresses: readonly ResolvedAddress[],
  allowed: CidrList,
): string | null {
  if (addresses.length === 0) return `${host} has no address`;
  if (addresses.every(({ address }) => allowed.includes(address))) return null;
  for (const { address } of addresses) {
    if (!isPublicAddress(address) && !allowed.includes(address))
      return `${host} leads to ${address}, not a public address`;
  }
  return nameOrPortProblem(host, port);
}

/** Of every connection to an upstream. */
export const SOCKET_OPTIONS = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 };

/** One connect: calls back exactly once. */
class ConnectAttempt {
  readonly host: string;
  readonly #secure: boolean;
  readonly #port: number;
  readonly #allowed: CidrList;
  readonly #callback: ConnectCallback;
  readonly #timer: NodeJS.Timeout;
  #addresses: readonly ResolvedAddress[] = [];
  /** Index of the next address to try. */
  #next = 0;
  #socket: Socket | null = null;
  #finished = false;

  constructor(target: ConnectOptions, timeoutMs: number, allowed: CidrList, callback: ConnectCallback) {
    this.host = bareHost(target.hostname);
    this.#secure = target.protocol === 'https:';
    this.#port = portOf(target.protocol, target.port);
    this.#allowed = allowed;
    this.#callback = callback;
    this.#timer = setTimeout(() => this.fail(timedOut(this.host)), timeoutMs);
  }

  dial(addresses: readonly ResolvedAddress[]): void {
    if (this.#finished) return;
    const refusal = refusalOf(this.host, this.#port, addresses, this.#allowed);
    if (refusal !== null) {
      this.fail(new EgressRefused(refusal));
      return;
    }
    this.#addresses = addresses;
    try {
      this.#dialNext();
    } catch (error) {
      this.fail(error as Error); // arguments that net or tls refuse, such as a port above 65535
    }
  }

  fail(error: Error): void {
    if (this.#finished) return;
    this.#finish();
    this.#socket?.destroy();
    this.#callback(error, null);
  }

  /** Tries one checked address after the other, as the resolver ordered them, until one answers. */
  #dialNext(): void {
    const host = this.#addresses[this.#next++]!.address;
    const socket = this.#secure ? this.#openTls(host) : connectTcp({ host, port: this.#port, ...SOCKET_OPTIONS });
    this.#socket = socket;
    socket.once(this.#secure ? 'secureConnect' : 'connect', () => this.#connected(socket));
    socket.once('error', (error) => {
      if (this.#finished) return;
      if (this.#next < this.#addresses.length) this.#dialNext();
      else this.fail(error);
    });
  }

  #openTls(host: string): Socket {
    const options = { host, port: this.#port, ALPNProtocols: ['http/1.1'], ...SOCKET_OPTIONS };
    return connectTls(isIP(this.host) === 0 ? { ...options, servername: this.host } : options);
  }

  #connected(socket: Socket): void {
    if (this.#finished) return;
    const peer = unmapped(socket.remoteAddress ?? '');
    if (!isPublicAddress(peer) && !this.#allowed.includes(peer)) {
      this.fail(new EgressRefused(`${this.host} is connected to ${peer}, not a public address`));
      return;
    }
    this.#finish();
    this.#callback(null, socket);
  }

  #finish(): void {
    this.#finished = true;
    clearTimeout(this.#timer);
  }
}

function timedOut(host: string): Error {
  return Object.assign(new Error(`connecting to ${host} took too long`), { code: 'UND_ERR_CONNECT_TIMEOUT' });
}
