/**
 * Connections to upstreams, one request at a time on each (HTTP/1.1 without pipelining). A pool belongs to one origin and one
 * organization, or account: where an upstream and the gateway disagree about the end of a request, what one caller sent is
 * taken for the beginning of the next request on that connection, so no other organization's request may come next.
 *
 *   pool: free connections, the most recently used first ─┐
 *   pool: …                                              ─┴─▶ one bound for all; the one free for longest is closed
 */

import type { Socket } from 'node:net';
import type { Dialer, DialTarget } from '@acg/base/dialer/dialer';
import { effectivePort, normalizeHostname } from '@acg/base/egress/check-url';
import {
  type ConnectionOwner,
  Http1Connection,
  type SocketOpener,
  type TickTimeouts,
} from '../../http1/http1-connection.js';
import { InvalidRequestError } from '../../http1/request-head.js';
import type { UpstreamConnection } from '../../http1/upstream-request.js';

export interface ConnectionPoolsOptions {
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  readonly dialer: Pick<Dialer, 'dial'>;
  /** A connect to an operator's own address ended; `startedMs`: `performance.now()` at its beginning. */
  readonly onDialed?: (origin: string, startedMs: number, failure: { readonly local: boolean } | null) => void;
}

type DialCallback = (error: Error | null, socket: Socket | null) => void;

/**
 * How long a connection waits for its next call where the upstream announces nothing. Load balancers in front of providers
 * close after 60 s or more: https://docs.aws.amazon.com/elasticloadbalancing/latest/application/edit-load-balancer-attributes.html
 */
const OPERATOR_IDLE_MS = 55_000;
/** Of a tenant's address: nobody knows what stands there, so it is not relied on for long. */
const TENANT_IDLE_MS = 4_000;
/** So that names that moved, and load balancers, are followed. */
const CONNECTION_AGE_MS_MAX = 300_000;
const KEEP_ALIVE_MS_MAX = 120_000;
/**
 * Free connections of all pools together. Each takes a file descriptor and, with TLS, some 40 KiB of memory; an organization
 * with a call each 55 s needs one for each of its origins.
 */
const IDLE_CONNECTIONS_MAX = 4_000;
/** Of the free connections, the most that one pool has: a burst of one organization leaves the others theirs. */
const IDLE_PER_POOL_RATIO = 1 / 8;
/** How often silence is noticed; timeouts end up to this much late. */
const TICK_MS = 250;

export class ConnectionPools {
  readonly #options: ConnectionPoolsOptions;
  readonly #idleMax: number;
  /** By owner and origin; only those with connections. */
  readonly #pools = new Map<string, Pool>();
  readonly #operatorTimeouts: TickTimeouts;
  readonly #tenantTimeouts: TickTimeouts;
  /** All of them, busy or free. */
  readonly #connections = new Set<Http1Connection>();
  /** The free ones, in the order in which they became free. */
  readonly #idle = new Set<Http1Connection>();
  readonly #ticker: NodeJS.Timeout;
  #closed = false;

  constructor(options: ConnectionPoolsOptions, freeMax = IDLE_CONNECTIONS_MAX) {
    this.#options = options;
    this.#idleMax = freeMax;
    // Whole: timers drop fractions, and a timeout would end early.
    const tickMs = Math.max(1, Math.floor(Math.min(TICK_MS, options.headersTimeoutMs / 4, options.bodyTimeoutMs / 4)));
    this.#operatorTimeouts = toTickTimeouts(options, tickMs, OPERATOR_IDLE_MS);
    this.#tenantTimeouts = toTickTimeouts(options, tickMs, TENANT_IDLE_MS);
    this.#ticker = setInterval(() => this.#tick(), tickMs).unref();
  }

  /** Opens a connection that is not pooled. `tenant`: as for {@link acquire}. */
  dial(origin: string, tenant: string | null, done: DialCallback): void {
    this.#options.dialer.dial(toDialTarget(origin, tenant), null, this.#withDialObserver(origin, tenant, done));
  }

  /**
   * `tenant`: the organization that gave the address, so that every connect is checked; null: it is the operator's own.
   * `owner`: only calls of the same owner meet on a connection.
   */
  acquire(origin: string, tenant: string | null, owner: string): UpstreamConnection {
    const key = tenant === null ? `${owner} ${origin}` : `tenants ${owner} ${origin}`;
    const pool = this.#pools.get(key) ?? new Pool(key);
    const free = pool.idle.pop();
    if (free === undefined) return this.#createConnection(pool, origin, tenant);
    this.#idle.delete(free);
    return free;
  }

  /** Pools with connections, for metrics. */
  get poolCount(): number {
    return this.#pools.size;
  }

  /** Connections that wait for a call. */
  get idleConnectionCount(): number {
    return this.#idle.size;
  }

  /** Closes free connections now, busy ones when their calls end; silence still ends these. */
  close(): void {
    this.#closed = true;
    for (const connection of this.#idle) connection.close();
  }

  #createConnection(pool: Pool, origin: string, tenant: string | null): Http1Connection {
    const owner: ConnectionOwner = {
      onReleased: (connection) => this.#returnToPool(pool, connection),
      onClosed: (connection) => this.#removeClosed(pool, connection),
    };
    const limits = tenant === null ? this.#operatorTimeouts : this.#tenantTimeouts;
    const connection = new Http1Connection(
      hostHeaderOf(origin),
      this.#createSocketOpener(origin, tenant),
      limits,
      owner,
    );
    this.#connections.add(connection);
    pool.connectionCount++;
    this.#pools.set(pool.key, pool);
    return connection;
  }

  #createSocketOpener(origin: string, tenant: string | null): SocketOpener {
    const target = toDialTarget(origin, tenant);
    return (onread, done) => this.#options.dialer.dial(target, onread, this.#withDialObserver(origin, tenant, done));
  }

  #withDialObserver(origin: string, tenant: string | null, done: DialCallback): DialCallback {
    const { onDialed: onDialled } = this.#options;
    if (tenant !== null || onDialled === undefined) return done;
    const startedMs = performance.now();
    return (error, socket) => {
      onDialled(origin, startedMs, error === null ? null : { local: isLocalError(error) });
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
    else if (this.#idle.size > this.#idleMax) this.#closeLongestIdle();
  }

  #closeLongestIdle(): void {
    for (const connection of this.#idle) {
      connection.close();
      return;
    }
  }

  /** It will never carry another call. */
  #removeClosed(pool: Pool, connection: Http1Connection): void {
    this.#connections.delete(connection);
    if (this.#idle.delete(connection)) pool.idle.splice(pool.idle.indexOf(connection), 1);
    pool.connectionCount--;
    if (pool.connectionCount === 0) this.#pools.delete(pool.key);
  }

  #tick(): void {
    for (const connection of this.#connections) connection.tick();
    if (this.#closed && this.#connections.size === 0) clearInterval(this.#ticker);
  }
}

/** Ticks are counted, not measured: a process that stood still does not take the time for the upstream's silence. */
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

const hostHeaderOf = (origin: string): string => origin.slice(origin.indexOf('//') + 2);

function toDialTarget(origin: string, tenant: string | null): DialTarget {
  const { protocol, hostname, port } = new URL(origin);
  return { protocol, hostname: normalizeHostname(hostname), port: effectivePort(protocol, port), tenant };
}

/** The connections to one origin for one owner. */
class Pool {
  readonly key: string;
  /** The last one was used most recently. */
  readonly idle: Http1Connection[] = [];
  /** Connections, busy or free. */
  connectionCount = 0;

  constructor(key: string) {
    this.key = key;
  }
}

export type TransportFailure = 'connect' | 'timeout' | 'reset' | 'egress_refused' | 'lookups_busy';

/** What kind of failure the error of a call is. `sent`: the request was written to a connection before. */
export function classifyFailure(error: Error, sent: boolean): TransportFailure {
  const code = (error as { code?: unknown }).code;
  if (code === 'EGRESS_REFUSED') return 'egress_refused';
  if (code === 'LOOKUPS_BUSY') return 'lookups_busy'; // says nothing about the address
  if (code === 'ETIMEDOUT') return 'timeout';
  return sent ? 'reset' : 'connect';
}

/** Of connects that this machine could not begin, or was not allowed to: they say nothing about the other side. */
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
]);

/** Whether a call or a connect failed for want of something on this machine. */
export const isLocalError = (error: Error): boolean => LOCAL_ERROR_CODES.has((error as { code?: unknown }).code);

/** Whether the request itself is refused, e.g. a header value that cannot be sent. */
export const isInvalidRequest = (error: unknown): boolean => error instanceof InvalidRequestError;
