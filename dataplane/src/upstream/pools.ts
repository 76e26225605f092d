/**
 * Connections to upstreams: one pool per origin, one request per connection at a time (HTTP/1.1 without pipelining).
 * The only importer of undici, which carries the requests whose body streams; the others have connections of our own.
 *
 * undici's own Pool looks for a free connection by walking all of them, which costs more with every open stream; here
 * free ones stand on a stack: constant time, and the most recently used is used again, so that others can go idle.
 */

import type { Dialer, DialTarget } from '@acg/base/dialer/dialer';
import { type Connector, connectorOf } from '@acg/base/dialer/undici-connector';
import { bareHost, portOf } from '@acg/base/egress/check-url';
import { ignore } from '@acg/base/ignore';
import { Client, errors } from 'undici';
import { type ConnectionOwner, Http1Connection, type Opener, type QuietLimits } from '../http1/http1-connection.js';
import { InvalidRequest } from '../http1/request-head.js';
import type { Connection, UpstreamCall, UpstreamHandler } from '../http1/upstream-call.js';

export interface PoolOptions {
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  readonly dialer: Pick<Dialer, 'dial'>;
}

/** How long a connection waits for its next call where the upstream announces nothing. */
const IDLE_OWN_MS = 30_000;
/** Of a tenant's address: nobody knows what stands there, so it is not relied on for long. */
const IDLE_TENANT_MS = 4_000;
/** So that names that moved, and load balancers, are followed. */
const AGE_MS = 300_000;
const KEEP_ALIVE_MS_MAX = 120_000;
const HEADER_BYTES_MAX = 64 * 1024;
/** A pool without calls is closed after this. */
const IDLE_MS = 60_000;
const SWEEP_MS = 10_000;
/** How often silence is noticed; timeouts end up to this much late. */
const TICK_MS = 250;

export class UpstreamPools {
  readonly #options: PoolOptions;
  readonly #originsMax: number;
  /** In order of first use since the last time it was empty. */
  readonly #pools = new Map<string, OriginPool>();
  readonly #ownLimits: QuietLimits;
  readonly #tenantLimits: QuietLimits;
  /** All of our own, busy or free. */
  readonly #connections = new Set<Http1Connection>();
  readonly #sweeper: NodeJS.Timeout;
  readonly #ticker: NodeJS.Timeout;
  #closed = false;

  constructor(options: PoolOptions, originsMax = 2_000) {
    this.#options = options;
    this.#originsMax = originsMax;
    this.#sweeper = setInterval(() => this.#sweep(performance.now()), SWEEP_MS).unref();
    // Whole: timers drop fractions, and a timeout would end early.
    const tickMs = Math.max(1, Math.floor(Math.min(TICK_MS, options.headersTimeoutMs / 4, options.bodyTimeoutMs / 4)));
    this.#ownLimits = quietLimits(options, tickMs, IDLE_OWN_MS);
    this.#tenantLimits = quietLimits(options, tickMs, IDLE_TENANT_MS);
    this.#ticker = setInterval(() => this.#tick(), tickMs).unref();
  }

  /** What dials an address, for connections that are not pooled. */
  connectorFor(tenant: string | null): Connector {
    return connectorOf(this.#options.dialer, tenant);
  }

  /**
   * `tenant`: the organization that gave the address, so that every connect is checked; null: it is the operator's own.
   * `streamed`: the request's body is a stream.
   */
  acquire(origin: string, tenant: string | null, streamed: boolean): Connection {
    const kind = (tenant === null ? 0 : 1) + (streamed ? 2 : 0);
    const key = kind === 0 ? origin : `${kind} ${origin}`;
    let pool = this.#pools.get(key);
    if (pool === undefined) {
      if (this.#pools.size >= this.#originsMax) this.#evict();
      pool = new OriginPool((owner, asking) => this.#open(owner, origin, asking, streamed));
      this.#pools.set(key, pool);
    }
    return pool.acquire(tenant);
  }

  /** Open connections' owners, for metrics. */
  get origins(): number {
    return this.#pools.size;
  }

  /** Closes free connections now, busy ones when their calls end; silence still ends these. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#sweeper);
    for (const pool of this.#pools.values()) pool.close();
    this.#pools.clear();
  }

  #open(pool: OriginPool, origin: string, tenant: string | null, streamed: boolean): PooledConnection {
    if (streamed) {
      const idleMs = tenant === null ? IDLE_OWN_MS : IDLE_TENANT_MS;
      const client = new Client(origin, clientOptions(this.#options, idleMs, this.connectorFor(tenant)));
      return new StreamingConnection(pool, client);
    }
    const owner: ConnectionOwner = {
      give: (connection) => pool.give(connection),
      gone: (connection) => {
        this.#connections.delete(connection);
        pool.lost(connection);
      },
    };
    const limits = tenant === null ? this.#ownLimits : this.#tenantLimits;
    const connection = new Http1Connection(hostOf(origin), this.#opener(origin, tenant), limits, owner);
    this.#connections.add(connection);
    return connection;
  }

  #opener(origin: string, tenant: string | null): Opener {
    const target = dialTarget(origin, tenant);
    return (onread, done) => this.#options.dialer.dial(target, onread, done);
  }

  #tick(): void {
    for (const connection of this.#connections) connection.tick();
    if (this.#closed && this.#connections.size === 0) clearInterval(this.#ticker);
  }

  #sweep(nowTick: number): void {
    for (const [key, pool] of this.#pools) {
      pool.trim(nowTick);
      if (pool.busy === 0 && nowTick - pool.usedTick > IDLE_MS) this.#drop(key, pool);
    }
  }

  /** Makes room: the first pool without calls goes; where all are busy the bound gives way to the calls. */
  #evict(): void {
    for (const [key, pool] of this.#pools) {
      if (pool.busy > 0) continue;
      this.#drop(key, pool);
      return;
    }
  }

  #drop(key: string, pool: OriginPool): void {
    this.#pools.delete(key);
    pool.close();
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

function clientOptions(options: PoolOptions, idleMs: number, connect: Connector): Client.Options {
  return {
    connect,
    pipelining: 1,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: KEEP_ALIVE_MS_MAX,
    headersTimeout: options.headersTimeoutMs,
    bodyTimeout: options.bodyTimeoutMs,
    maxHeaderSize: HEADER_BYTES_MAX,
    strictContentLength: true,
    allowH2: false,
  };
}

interface PooledConnection extends Connection {
  usedTick: number;
  /** Whether another call may go out on it. */
  readonly usable: boolean;
  close(): void;
}

class OriginPool {
  readonly #open: (pool: OriginPool, tenant: string | null) => PooledConnection;
  /** Free connections; the last one was used most recently. */
  readonly #idle: PooledConnection[] = [];
  busy = 0;
  usedTick = performance.now();
  #closed = false;

  constructor(open: (pool: OriginPool, tenant: string | null) => PooledConnection) {
    this.#open = open;
  }

  /** `tenant`: whose share of lookups a new connection uses. */
  acquire(tenant: string | null): PooledConnection {
    const connection = this.#idle.pop() ?? this.#open(this, tenant);
    this.busy++;
    return connection;
  }

  give(connection: PooledConnection): void {
    this.busy--;
    if (!connection.usable) return;
    if (this.#closed) {
      connection.close();
      return;
    }
    this.usedTick = performance.now();
    connection.usedTick = this.usedTick;
    this.#idle.push(connection);
  }

  /** The other side closed a connection. */
  lost(connection: PooledConnection): void {
    const at = this.#idle.indexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
  }

  /** Lets go of connections that were not needed for a while. */
  trim(nowTick: number): void {
    let stale = 0;
    while (stale < this.#idle.length && nowTick - this.#idle[stale]!.usedTick > IDLE_MS) stale++;
    for (const connection of this.#idle.splice(0, stale)) connection.close();
  }

  close(): void {
    this.#closed = true;
    for (const connection of this.#idle.splice(0)) connection.close();
  }
}

class StreamingConnection implements PooledConnection {
  readonly #pool: OriginPool;
  readonly #client: Client;
  readonly #openedTick = performance.now();
  usedTick = 0;

  constructor(pool: OriginPool, client: Client) {
    this.#pool = pool;
    this.#client = client;
  }

  dispatch(call: UpstreamCall, handler: UpstreamHandler): void {
    this.#client.dispatch(call, handler);
  }

  /** undici connects again by itself, but does not say how old a connection is. */
  get usable(): boolean {
    return performance.now() - this.#openedTick < AGE_MS;
  }

  release(): void {
    this.#pool.give(this);
    if (!this.usable) this.close();
  }

  close(): void {
    this.#client.close(ignore);
  }
}

export type TransportFailure = 'connect' | 'timeout' | 'reset' | 'egress_refused' | 'lookups_busy';

/** What kind of failure the error of a call is. `sent`: the request was written to a connection before. */
export function classifyFailure(error: Error, sent: boolean): TransportFailure {
  const code = (error as { code?: unknown }).code;
  if (code === 'EGRESS_REFUSED') return 'egress_refused';
  if (code === 'LOOKUPS_BUSY') return 'lookups_busy'; // says nothing about the address
  if (
    error instanceof errors.ConnectTimeoutError ||
    error instanceof errors.HeadersTimeoutError ||
    error instanceof errors.BodyTimeoutError ||
    code === 'ETIMEDOUT' ||
    code === 'UND_ERR_CONNECT_TIMEOUT'
  ) {
    return 'timeout';
  }
  return sent ? 'reset' : 'connect';
}

/** Whether the request itself is refused, e.g. a header value that cannot be sent. */
export const isInvalidRequest = (error: unknown): boolean =>
  error instanceof InvalidRequest ||
  error instanceof errors.InvalidArgumentError ||
  error instanceof errors.NotSupportedError;
