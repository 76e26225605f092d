/**
 * Connections to upstreams: one pool per origin, one request per connection at a time (HTTP/1.1 without pipelining).
 * Free ones stand on a stack: the most recently used is used again, so that others can go idle.
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
}

/** How long a connection waits for its next call where the upstream announces nothing. */
const IDLE_OWN_MS = 30_000;
/** Of a tenant's address: nobody knows what stands there, so it is not relied on for long. */
const IDLE_TENANT_MS = 4_000;
/** So that names that moved, and load balancers, are followed. */
const AGE_MS = 300_000;
const KEEP_ALIVE_MS_MAX = 120_000;
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
  /** All of them, busy or free. */
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

  /** Opens a connection that is not pooled. `tenant`: as for {@link acquire}. */
  dial(origin: string, tenant: string | null, done: (error: Error | null, socket: Socket | null) => void): void {
    this.#options.dialer.dial(dialTarget(origin, tenant), null, done);
  }

  /** `tenant`: the organization that gave the address, so that every connect is checked; null: it is the operator's own. */
  acquire(origin: string, tenant: string | null): Connection {
    const key = tenant === null ? origin : `tenants ${origin}`;
    let pool = this.#pools.get(key);
    if (pool === undefined) {
      if (this.#pools.size >= this.#originsMax) this.#evict();
      pool = new OriginPool((owner, asking) => this.#open(owner, origin, asking));
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

  #open(pool: OriginPool, origin: string, tenant: string | null): Http1Connection {
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

class OriginPool {
  readonly #open: (pool: OriginPool, tenant: string | null) => Http1Connection;
  /** Free connections; the last one was used most recently. */
  readonly #idle: Http1Connection[] = [];
  busy = 0;
  usedTick = performance.now();
  #closed = false;

  constructor(open: (pool: OriginPool, tenant: string | null) => Http1Connection) {
    this.#open = open;
  }

  /** `tenant`: whose share of lookups a new connection uses. */
  acquire(tenant: string | null): Http1Connection {
    const connection = this.#idle.pop() ?? this.#open(this, tenant);
    this.busy++;
    return connection;
  }

  give(connection: Http1Connection): void {
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
  lost(connection: Http1Connection): void {
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

export type TransportFailure = 'connect' | 'timeout' | 'reset' | 'egress_refused' | 'lookups_busy';

/** What kind of failure the error of a call is. `sent`: the request was written to a connection before. */
export function classifyFailure(error: Error, sent: boolean): TransportFailure {
  const code = (error as { code?: unknown }).code;
  if (code === 'EGRESS_REFUSED') return 'egress_refused';
  if (code === 'LOOKUPS_BUSY') return 'lookups_busy'; // says nothing about the address
  if (code === 'ETIMEDOUT') return 'timeout';
  return sent ? 'reset' : 'connect';
}

/** Whether the request itself is refused, e.g. a header value that cannot be sent. */
export const isInvalidRequest = (error: unknown): boolean => error instanceof InvalidRequest;
