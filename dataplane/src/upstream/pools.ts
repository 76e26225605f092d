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
import { bareHost, portOf } from '@acg/base/egress/check-url';
import { type ConnectionOwner, Http1Connection, type Opener, type QuietLimits } from '../http1/http1-connection.js';
import { InvalidRequest } from '../http1/request-head.js';
import type { Connection } from '../http1/upstream-call.js';

export interface PoolOptions {
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  readonly dialer: Pick<Dialer, 'dial'>;
  /** A connect to an operator's own address ended; `startedMs`: `performance.now()` at its beginning. */
  readonly onDialled?: (origin: string, startedMs: number, failure: { readonly local: boolean } | null) => void;
}

type Dialled = (error: Error | null, socket: Socket | null) => void;

/**
 * How long a connection waits for its next call where the upstream announces nothing. Load balancers in front of providers
 * close after 60 s or more: https://docs.aws.amazon.com/elasticloadbalancing/latest/application/edit-load-balancer-attributes.html
 */
const IDLE_OWN_MS = 55_000;
/** Of a tenant's address: nobody knows what stands there, so it is not relied on for long. */
const IDLE_TENANT_MS = 4_000;
/** So that names that moved, and load balancers, are followed. */
const AGE_MS = 300_000;
const KEEP_ALIVE_MS_MAX = 120_000;
/**
 * Free connections of all pools together. Each takes a file descriptor and, with TLS, some 40 KiB of memory; an organization
 * with a call each 55 s needs one for each of its origins.
 */
const FREE_MAX = 4_000;
/** Of the free connections, the most that one pool has: a burst of one organization leaves the others theirs. */
const POOL_SHARE = 1 / 8;
/** How often silence is noticed; timeouts end up to this much late. */
const TICK_MS = 250;

export class UpstreamPools {
  readonly #options: PoolOptions;
  readonly #freeMax: number;
  /** By owner and origin; only those with connections. */
  readonly #pools = new Map<string, Pool>();
  readonly #ownLimits: QuietLimits;
  readonly #tenantLimits: QuietLimits;
  /** All of them, busy or free. */
  readonly #connections = new Set<Http1Connection>();
  /** The free ones, in the order in which they became free. */
  readonly #free = new Set<Http1Connection>();
  readonly #ticker: NodeJS.Timeout;
  #closed = false;

  constructor(options: PoolOptions, freeMax = FREE_MAX) {
    this.#options = options;
    this.#freeMax = freeMax;
    // Whole: timers drop fractions, and a timeout would end early.
    const tickMs = Math.max(1, Math.floor(Math.min(TICK_MS, options.headersTimeoutMs / 4, options.bodyTimeoutMs / 4)));
    this.#ownLimits = quietLimits(options, tickMs, IDLE_OWN_MS);
    this.#tenantLimits = quietLimits(options, tickMs, IDLE_TENANT_MS);
    this.#ticker = setInterval(() => this.#tick(), tickMs).unref();
  }

  /** Opens a connection that is not pooled. `tenant`: as for {@link acquire}. */
  dial(origin: string, tenant: string | null, done: Dialled): void {
    this.#options.dialer.dial(dialTarget(origin, tenant), null, this.#observed(origin, tenant, done));
  }

  /**
   * `tenant`: the organization that gave the address, so that every connect is checked; null: it is the operator's own.
   * `owner`: only calls of the same owner meet on a connection.
   */
  acquire(origin: string, tenant: string | null, owner: string): Connection {
    const key = tenant === null ? `${owner} ${origin}` : `tenants ${owner} ${origin}`;
    const pool = this.#pools.get(key) ?? new Pool(key);
    const free = pool.free.pop();
    if (free === undefined) return this.#open(pool, origin, tenant);
    this.#free.delete(free);
    return free;
  }

  /** Pools with connections, for metrics. */
  get count(): number {
    return this.#pools.size;
  }

  /** Connections that wait for a call. */
  get freeConnections(): number {
    return this.#free.size;
  }

  /** Closes free connections now, busy ones when their calls end; silence still ends these. */
  close(): void {
    this.#closed = true;
    for (const connection of this.#free) connection.close();
  }

  #open(pool: Pool, origin: string, tenant: string | null): Http1Connection {
    const owner: ConnectionOwner = {
      give: (connection) => this.#give(pool, connection),
      gone: (connection) => this.#gone(pool, connection),
    };
    const limits = tenant === null ? this.#ownLimits : this.#tenantLimits;
    const connection = new Http1Connection(hostOf(origin), this.#opener(origin, tenant), limits, owner);
    this.#connections.add(connection);
    pool.size++;
    this.#pools.set(pool.key, pool);
    return connection;
  }

  #opener(origin: string, tenant: string | null): Opener {
    const target = dialTarget(origin, tenant);
    return (onread, done) => this.#options.dialer.dial(target, onread, this.#observed(origin, tenant, done));
  }

  #observed(origin: string, tenant: string | null, done: Dialled): Dialled {
    const { onDialled } = this.#options;
    if (tenant !== null || onDialled === undefined) return done;
    const startedMs = performance.now();
    return (error, socket) => {
      onDialled(origin, startedMs, error === null ? null : { local: isLocalFailure(error) });
      done(error, socket);
    };
  }

  #give(pool: Pool, connection: Http1Connection): void {
    if (!connection.usable) return;
    if (this.#closed || !connection.connected) {
      connection.close();
      return;
    }
    pool.free.push(connection);
    this.#free.add(connection);
    if (pool.free.length > Math.ceil(this.#freeMax * POOL_SHARE)) pool.free[0]!.close();
    else if (this.#free.size > this.#freeMax) this.#closeLongestFree();
  }

  #closeLongestFree(): void {
    for (const connection of this.#free) {
      connection.close();
      return;
    }
  }

  /** It will never carry another call. */
  #gone(pool: Pool, connection: Http1Connection): void {
    this.#connections.delete(connection);
    if (this.#free.delete(connection)) pool.free.splice(pool.free.indexOf(connection), 1);
    pool.size--;
    if (pool.size === 0) this.#pools.delete(pool.key);
  }

  #tick(): void {
    for (const connection of this.#connections) connection.tick();
    if (this.#closed && this.#connections.size === 0) clearInterval(this.#ticker);
  }
}

/** Ticks are counted, not measured: a process that stood still does not take the time for the upstream's silence. */
function quietLimits(options: PoolOptions, tickMs: number, idleMs: number): QuietLimits {
  const ticks = (ms: number): number => Math.ceil(ms / tickMs);
  return {
    headTicks: ticks(options.headersTimeoutMs),
    bodyTicks: ticks(options.bodyTimeoutMs),
    idleTicks: ticks(idleMs),
    idleTicksMax: ticks(KEEP_ALIVE_MS_MAX),
    ageTicks: ticks(AGE_MS),
    ticksPerSec: 1_000 / tickMs,
  };
}

const hostOf = (origin: string): string => origin.slice(origin.indexOf('//') + 2);

function dialTarget(origin: string, tenant: string | null): DialTarget {
  const { protocol, hostname, port } = new URL(origin);
  return { protocol, hostname: bareHost(hostname), port: portOf(protocol, port), tenant };
}

/** The connections to one origin for one owner. */
class Pool {
  readonly key: string;
  /** The last one was used most recently. */
  readonly free: Http1Connection[] = [];
  /** Connections, busy or free. */
  size = 0;

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
const LOCAL_CODES: ReadonlySet<unknown> = new Set([
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
export const isLocalFailure = (error: Error): boolean => LOCAL_CODES.has((error as { code?: unknown }).code);

/** Whether the request itself is refused, e.g. a header value that cannot be sent. */
export const isInvalidRequest = (error: unknown): boolean => error instanceof InvalidRequest;
