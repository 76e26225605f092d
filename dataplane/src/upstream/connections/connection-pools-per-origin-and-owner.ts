/**
 * HTTP/1.1 connections to upstreams, one request at a time on each (no pipelining). A pool belongs to one origin and
 * one owner (organization or account), and no connection changes its pool. Reason: when upstream and gateway disagree
 * about the end of a request, the upstream takes the rest for the next request on that connection. That next request
 * must not be of another organization.
 *
 *   pool: idle connections, the most recently used first ─┐
 *   pool: …                                              ─┴─▶ one limit for all; the longest idle is closed
 */

import type { Socket } from 'node:net';
import type { Dialer, DialTarget } from '@acg/base/dialer/dialer';
import { effectivePort, normalizeHostname } from '@acg/base/egress/check-tenant-url';
import { invariant } from '@acg/base/invariant-failures';
import { InvalidRequestError } from '../../http1/format-request-head.js';
import { Http1Connection, type SocketOpener, type TickTimeouts } from '../../http1/http1-connection.js';
import type { UpstreamConnection } from '../../http1/upstream-request-interface.js';

export interface ConnectionPoolsOptions {
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  readonly dialer: Pick<Dialer, 'dial'>;
  /**
   * Called when a connect to an operator's address ends. `startedMs`: `performance.now()` at the start of the connect.
   * `failure` is null on success; `local` as {@link isLocalError}.
   */
  readonly onDialed?: (origin: string, startedMs: number, failure: { readonly local: boolean } | null) => void;
}

type DialCallback = (error: Error | null, socket: Socket | null) => void;

/**
 * How long a connection may be idle where the upstream announces no keep-alive timeout. Load balancers in front of
 * providers close after 60 s or more:
 * https://docs.aws.amazon.com/elasticloadbalancing/latest/application/edit-load-balancer-attributes.html
 */
const OPERATOR_IDLE_MS = 55_000;
/** For tenants' addresses. Their servers are unknown and may close idle connections early. */
const TENANT_IDLE_MS = 4_000;
/** Bounds the age of a connection, so that DNS changes and load balancing take effect. */
const CONNECTION_AGE_MS_MAX = 300_000;
const KEEP_ALIVE_MS_MAX = 120_000;
/**
 * Idle connections of all pools together. Each takes a file descriptor and, with TLS, about 40 KiB of memory. An
 * organization with a call every 55 s needs one for each of its origins.
 */
const IDLE_CONNECTIONS_MAX = 4_000;
/**
 * Largest part of all idle connections that one pool may keep, so that a burst of one organization does not evict the
 * others'.
 */
const IDLE_PER_POOL_RATIO = 1 / 8;
/** Interval of the timeout checks. A timeout fires up to this much late. */
const TICK_MS = 250;

export class ConnectionPools {
  readonly #options: ConnectionPoolsOptions;
  readonly #idleMax: number;
  /** By owner and origin. A pool without connections is removed. */
  readonly #pools = new Map<string, Pool>();
  readonly #operatorTimeouts: TickTimeouts;
  readonly #tenantTimeouts: TickTimeouts;
  /** All connections, busy or idle. */
  readonly #connections = new Set<Http1Connection>();
  /** Idle connections, the longest idle first. */
  readonly #idle = new Set<Http1Connection>();
  readonly #ticker: NodeJS.Timeout;
  #closed = false;

  constructor(options: ConnectionPoolsOptions, idleMax = IDLE_CONNECTIONS_MAX) {
    this.#options = options;
    this.#idleMax = idleMax;
    // An integer: timers drop fractions, and a timeout would fire early.
    const tickMs = Math.max(1, Math.floor(Math.min(TICK_MS, options.headersTimeoutMs / 4, options.bodyTimeoutMs / 4)));
    this.#operatorTimeouts = toTickTimeouts(options, tickMs, OPERATOR_IDLE_MS);
    this.#tenantTimeouts = toTickTimeouts(options, tickMs, TENANT_IDLE_MS);
    this.#ticker = setInterval(() => this.#tickConnections(), tickMs).unref();
  }

  /** Opens a connection outside the pools. `tenant`: see {@link takeIdle}. */
  dialUnpooled(origin: string, tenant: string | null, done: DialCallback): void {
    this.#options.dialer.dial(toDialTarget(origin, tenant), null, this.#withDialObserver(origin, tenant, done));
  }

  /**
   * Takes an idle connection, or returns null. `tenant`: the organization that configured the address, so that every
   * connect is checked against the egress policy; null for an operator's address. `owner`: only calls of the same owner
   * share a connection. `isForUpgrade`: a WebSocket will take its socket.
   */
  takeIdle(origin: string, tenant: string | null, owner: string, isForUpgrade = false): UpstreamConnection | null {
    const connection = this.#pools.get(poolKeyOf(origin, tenant, owner, isForUpgrade))?.idle.pop();
    if (connection === undefined) return null;
    this.#idle.delete(connection);
    return connection;
  }

  /** Creates a connection, which has to connect. Parameters as in {@link takeIdle}. Throws for an invalid origin. */
  create(origin: string, tenant: string | null, owner: string, isForUpgrade = false): UpstreamConnection {
    const key = poolKeyOf(origin, tenant, owner, isForUpgrade);
    const pool = this.#pools.get(key) ?? new Pool(key);
    const connection = new Http1Connection(
      hostHeaderOf(origin),
      this.#createSocketOpener(origin, tenant),
      tenant === null ? this.#operatorTimeouts : this.#tenantTimeouts,
      {
        onReleased: (released) => this.#returnToPool(pool, released),
        onClosed: (closed) => this.#removeClosedConnection(pool, closed),
      },
      isForUpgrade,
    );
    this.#connections.add(connection);
    pool.connectionCount++;
    this.#pools.set(key, pool);
    return connection;
  }

  /** Pools with at least one connection, for metrics. */
  get poolCount(): number {
    return this.#pools.size;
  }

  /** Connections that wait for a call. */
  get idleConnectionCount(): number {
    return this.#idle.size;
  }

  /** Closes idle connections now and busy ones when their calls end. Timeouts stay active for busy ones. */
  closeGracefully(): void {
    this.#closed = true;
    for (const connection of this.#idle) connection.close();
  }

  #createSocketOpener(origin: string, tenant: string | null): SocketOpener {
    const target = toDialTarget(origin, tenant);
    return (onread, done) => this.#options.dialer.dial(target, onread, this.#withDialObserver(origin, tenant, done));
  }

  #withDialObserver(origin: string, tenant: string | null, done: DialCallback): DialCallback {
    const { onDialed } = this.#options;
    if (tenant !== null || onDialed === undefined) return done;
    const startedMs = performance.now();
    return (error, socket) => {
      onDialed(origin, startedMs, error === null ? null : { local: isLocalError(error) });
      done(error, socket);
    };
  }

  #returnToPool(pool: Pool, connection: Http1Connection): void {
    if (!connection.isUsable) return;
    if (this.#closed || !connection.isConnected) {
      connection.close();
      return;
    }
    pool.idle.push(connection);
    this.#idle.add(connection);
    if (pool.idle.length > Math.ceil(this.#idleMax * IDLE_PER_POOL_RATIO)) pool.idle[0]!.close();
    else if (this.#idle.size > this.#idleMax) this.#closeLongestIdleConnection();
  }

  #closeLongestIdleConnection(): void {
    for (const connection of this.#idle) {
      connection.close();
      return;
    }
  }

  /** Removes a connection that closed or must not be used again. */
  #removeClosedConnection(pool: Pool, connection: Http1Connection): void {
    this.#connections.delete(connection);
    if (this.#idle.delete(connection)) pool.idle.splice(pool.idle.indexOf(connection), 1);
    pool.connectionCount--;
    invariant(pool.connectionCount >= 0, 'pool_connections_not_negative');
    if (pool.connectionCount <= 0) this.#pools.delete(pool.key);
  }

  #tickConnections(): void {
    for (const connection of this.#connections) connection.tick();
    if (this.#closed && this.#connections.size === 0) clearInterval(this.#ticker);
  }
}

/**
 * Converts timeouts to ticks. Ticks are counted rather than measured, so that a pause of this process does not count as
 * silence of the upstream.
 */
function toTickTimeouts(options: ConnectionPoolsOptions, tickMs: number, idleMs: number): TickTimeouts {
  const ticks = (ms: number): number => Math.ceil(ms / tickMs);
  return {
    headTicks: ticks(options.headersTimeoutMs),
    bodyTicks: ticks(options.bodyTimeoutMs),
    idleTicks: ticks(idleMs),
    idleTicksMax: ticks(KEEP_ALIVE_MS_MAX),
    ageTicks: ticks(CONNECTION_AGE_MS_MAX),
    ticksPerSec: 1_000 / tickMs,
  };
}

const poolKeyOf = (origin: string, tenant: string | null, owner: string, isForUpgrade: boolean): string =>
  `${tenant === null ? '' : 'tenants '}${isForUpgrade ? 'upgrade ' : ''}${owner} ${origin}`;

const hostHeaderOf = (origin: string): string => origin.slice(origin.indexOf('//') + 2);

function toDialTarget(origin: string, tenant: string | null): DialTarget {
  const { protocol, hostname, port } = new URL(origin);
  return { protocol, hostname: normalizeHostname(hostname), port: effectivePort(protocol, port), tenant };
}

/** The connections of one owner to one origin. */
class Pool {
  readonly key: string;
  /** The last one was used most recently. */
  readonly idle: Http1Connection[] = [];
  /** Busy and idle connections. */
  connectionCount = 0;

  constructor(key: string) {
    this.key = key;
  }
}

export type TransportFailure = 'connect' | 'timeout' | 'reset' | 'egress_refused' | 'lookups_busy';

/** Classifies the error of a call. `wasSent`: a connection had taken the request before the error. */
export function classifyFailure(error: Error, wasSent: boolean): TransportFailure {
  const code = (error as { code?: unknown }).code;
  if (code === 'EGRESS_REFUSED') return 'egress_refused';
  if (code === 'LOOKUPS_BUSY') return 'lookups_busy'; // A limit of this gateway; it says nothing about the address.
  if (code === 'ETIMEDOUT' || code === 'DIALS_BUSY') return 'timeout';
  return wasSent ? 'reset' : 'connect';
}

/**
 * Errors of connects that this machine could not start or does not permit. They say nothing about the upstream's
 * health.
 */
const LOCAL_ERROR_CODES: ReadonlySet<unknown> = new Set([
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
  'EADDRNOTAVAIL',
  'EADDRINUSE',
  'EACCES',
  'EPERM',
  'EGRESS_REFUSED',
  'LOOKUPS_BUSY',
  'DIALS_BUSY',
]);

/** Whether a call or a connect failed because of a limit or policy of this machine. */
export const isLocalError = (error: Error): boolean => LOCAL_ERROR_CODES.has((error as { code?: unknown }).code);

/** Whether the request itself is invalid, for example a header value that HTTP/1.1 cannot carry. */
export const isInvalidRequest = (error: unknown): boolean => error instanceof InvalidRequestError;
