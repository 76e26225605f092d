/**
 * Opens every connection to an upstream or a webhook receiver. A name from a tenant is resolved with that tenant's
 * lookup slots and blocked when any of its addresses is neither public nor allowed. The dialer connects only to the
 * checked addresses, so a second DNS answer cannot differ, and checks the peer address again once connected. It never
 * uses proxies from the environment. A failure calls back with the error and no socket.
 */
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import {
  type ConnectionOptions,
  connect as connectTls,
  createSecureContext,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { NameResolver } from '../dns/name-resolver-interface.js';
import type { ResolvedAddress } from '../egress/check-tenant-url.js';
import { CidrList, unmapIpv4 } from '../egress/cidr-list.js';
import { checkEgress, EgressBlocked } from '../egress/egress-guard.js';
import { isPublicAddress } from '../egress/public-address.js';
import { Ipv6Availability, interleaveFamilies } from './address-order.js';
import { HappyEyeballsConnect } from './happy-eyeballs.js';

/**
 * Receives the bytes of a connection. All connections share one buffer; a handler reads it before the next byte of any
 * connection arrives.
 */
export interface SocketReadHandler {
  readonly buffer: Uint8Array;
  /** Returns false to pause the connection. */
  callback(bytes: number, buffer: Uint8Array): boolean;
}

export interface DialTarget {
  /** `http:` or `https:`. */
  readonly protocol: string;
  /** Without brackets and without a trailing dot. */
  readonly hostname: string;
  readonly port: number;
  /** The organization that configured the address; null for built-in providers and the operator's own addresses. */
  readonly tenant: string | null;
}

export interface DialerOptions {
  /** EGRESS_ALLOW_CIDRS. */
  readonly allowCidrs: readonly string[];
  /** Covers name resolution, TCP connect and TLS handshake together, ms. */
  readonly connectTimeoutMs: number;
  readonly tenantNames: NameResolver;
  readonly operatorNames: NameResolver;
}

/** Name resolution, TCP connect and TLS handshake together exceeded `connectTimeoutMs`. */
class ConnectTimeout extends Error {
  readonly code = 'ETIMEDOUT';
}

type DialCallback = (error: Error | null, socket: Socket | null) => void;

const SOCKET_OPTIONS = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 };
/** Cached TLS sessions, one for each upstream. */
const TLS_SESSIONS_MAX = 500;

export class Dialer {
  readonly #options: DialerOptions;
  readonly #allowed: CidrList;
  readonly #ipv6 = new Ipv6Availability();
  /** The last TLS session of each upstream, which shortens the next handshake. */
  readonly #sessions = new LRUCache<string, Buffer>({ max: TLS_SESSIONS_MAX });
  /** Shared by all connections; otherwise Node creates one for each connection. */
  #secureContext: SecureContext | null = null;

  constructor(options: DialerOptions) {
    this.#options = options;
    this.#allowed = new CidrList(options.allowCidrs);
  }

  /** Calls `done` exactly once, after this function has returned. `onread`, if given, replaces `data` events. */
  dial(target: DialTarget, onread: SocketReadHandler | null, done: DialCallback): void {
    let race: HappyEyeballsConnect | null = null;
    let finished = false;
    const finish: DialCallback = (error, socket) => {
      if (finished) {
        socket?.destroy();
        return;
      }
      finished = true;
      clearTimeout(timer);
      done(error, socket);
    };
    const timer = setTimeout(() => {
      race?.abort();
      finish(
        new ConnectTimeout(`connecting to ${target.hostname} took longer than ${this.#options.connectTimeoutMs} ms`),
        null,
      );
    }, this.#options.connectTimeoutMs);
    this.#resolveAddresses(target).then(
      (addresses) => {
        if (finished) return;
        const blockedReason = this.#checkEgress(target, addresses);
        if (blockedReason !== null) finish(new EgressBlocked(blockedReason), null);
        else race = this.#connect(target, addresses, onread, finish);
      },
      (error: Error) => finish(error, null),
    );
  }

  async #resolveAddresses({ hostname, tenant }: DialTarget): Promise<readonly ResolvedAddress[]> {
    const family = isIP(hostname);
    if (family !== 0) return [{ address: hostname, family }];
    const { tenantNames, operatorNames } = this.#options;
    return (tenant === null ? operatorNames : tenantNames).resolve(hostname, tenant);
  }

  #checkEgress({ hostname, port, tenant }: DialTarget, addresses: readonly ResolvedAddress[]): string | null {
    return tenant === null ? null : checkEgress(hostname, port, addresses, this.#allowed);
  }

  #connect(
    target: DialTarget,
    addresses: readonly ResolvedAddress[],
    onread: SocketReadHandler | null,
    done: DialCallback,
  ): HappyEyeballsConnect {
    const { protocol, hostname, port, tenant } = target;
    const secure = protocol === 'https:';
    const reading = onread === null ? SOCKET_OPTIONS : { ...SOCKET_OPTIONS, onread };
    const sessionKey = `${tenant === null ? 'own' : 'tenants'} ${hostname}:${port}`;
    const open = (host: string): Socket =>
      secure
        ? connectTls({
            ...reading,
            host,
            port,
            ALPNProtocols: ['http/1.1'],
            session: this.#sessions.get(sessionKey),
            secureContext: this.#getSecureContext(),
            ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
          } as ConnectionOptions)
        : connectTcp({ ...reading, host, port });
    const check = (socket: Socket): Error | null => (tenant === null ? null : this.#checkPeer(hostname, socket));
    const ordered = interleaveFamilies(addresses, this.#ipv6.isAvailable);
    return new HappyEyeballsConnect({ addresses: ordered, open, isTls: secure, checkPeer: check }, (error, socket) => {
      if (socket !== null && secure) this.#cacheTlsSessions(sessionKey, socket as TLSSocket);
      done(error, socket);
    });
  }

  #getSecureContext(): SecureContext {
    this.#secureContext ??= createSecureContext();
    return this.#secureContext;
  }

  #checkPeer(hostname: string, socket: Socket): Error | null {
    const peer = unmapIpv4(socket.remoteAddress ?? '');
    if (isPublicAddress(peer) || this.#allowed.includes(peer)) return null;
    return new EgressBlocked(`${hostname} is connected to ${peer}, not a public address`);
  }

  /**
   * Caches the sessions of a connection. TLS 1.3 sends them later; TLS 1.2 has its only one now. Runs only after the
   * peer's name was verified, because a resumed handshake does not verify it again.
   */
  #cacheTlsSessions(key: string, socket: TLSSocket): void {
    const now = socket.getProtocol() === 'TLSv1.2' ? socket.getSession() : undefined;
    if (now !== undefined) this.#sessions.set(key, now);
    socket.on('session', (session) => this.#sessions.set(key, session));
  }
}
