/**
 * Connections to upstreams: one pool per origin, one request per connection at a time (HTTP/1.1 without pipelining).
 * The only importer of undici.
 *
 * undici's own Pool looks for a free connection by walking all of them, which costs more with every open stream; here
 * free ones stand on a stack: constant time, and the most recently used is used again, so that others can go idle.
 */
import type { Readable } from 'node:stream';
import { buildConnector, Client, type Dispatcher, errors } from 'undici';

export type Connector = buildConnector.connector;

export interface UpstreamCall {
  readonly method: Dispatcher.HttpMethod;
  /** Raw request target; never normalised. */
  readonly path: string;
  /** Flat `[name, value, …]`. */
  readonly headers: string[];
  readonly body: Buffer | Readable | null;
}

/** undici's older handler shape, see relay.ts. */
export interface UpstreamHandler {
  onConnect(abort: (error?: Error) => void): void;
  onHeaders(status: number, rawHeaders: Buffer[], resume: () => void): boolean;
  onData(chunk: Buffer): boolean;
  onComplete(): void;
  onError(error: Error): void;
}

export interface PoolOptions {
  readonly connectTimeoutMs: number;
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  /** Dials addresses that a tenant gave; checks what they resolve to. */
  readonly egressConnector: Connector;
}

/** A connection that is held for one call. */
export interface Connection {
  /** A request that undici finds invalid is not sent: reported to the handler's onError, or thrown ({@link isInvalidRequest}). */
  dispatch(call: UpstreamCall, handler: UpstreamHandler): void;
  /** The call is over; once. */
  release(): void;
}

const KEEP_ALIVE_MS = 15_000;
const KEEP_ALIVE_MS_MAX = 120_000;
const HEADER_BYTES_MAX = 64 * 1024;
/** A pool without calls is closed after this. */
const IDLE_MS = 60_000;
const SWEEP_MS = 10_000;

export class UpstreamPools {
  readonly #options: PoolOptions;
  readonly #connector: Connector;
  readonly #originsMax: number;
  /** In order of first use since the last time it was empty. */
  readonly #pools = new Map<string, OriginPool>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(options: PoolOptions, originsMax = 2_000) {
    this.#options = options;
    this.#originsMax = originsMax;
    this.#connector = buildConnector({ timeout: options.connectTimeoutMs, maxCachedSessions: 100 });
    this.#sweeper = setInterval(() => this.#sweep(performance.now()), SWEEP_MS).unref();
  }

  /** What dials an address, for connections that are not pooled. */
  connectorFor(guarded: boolean): Connector {
    return guarded ? this.#options.egressConnector : this.#connector;
  }

  /** `guarded`: a tenant gave the address, so every connect goes through the egress guard. */
  acquire(origin: string, guarded: boolean): Connection {
    const key = guarded ? `guarded ${origin}` : origin;
    let pool = this.#pools.get(key);
    if (pool === undefined) {
      if (this.#pools.size >= this.#originsMax) this.#evict();
      pool = new OriginPool(origin, clientOptions(this.#options, this.connectorFor(guarded)));
      this.#pools.set(key, pool);
    }
    return pool.acquire();
  }

  /** Open connections' owners, for metrics. */
  get origins(): number {
    return this.#pools.size;
  }

  close(): void {
    clearInterval(this.#sweeper);
    for (const pool of this.#pools.values()) pool.close();
    this.#pools.clear();
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

function clientOptions(options: PoolOptions, connect: Connector): Client.Options {
  return {
    connect,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS_MAX,
    headersTimeout: options.headersTimeoutMs,
    bodyTimeout: options.bodyTimeoutMs,
    maxHeaderSize: HEADER_BYTES_MAX,
    strictContentLength: true,
    allowH2: false,
  };
}

class OriginPool {
  readonly #origin: string;
  readonly #options: Client.Options;
  /** Free connections; the last one was used most recently. */
  readonly #idle: PooledConnection[] = [];
  busy = 0;
  usedTick = performance.now();
  #closed = false;

  constructor(origin: string, options: Client.Options) {
    this.#origin = origin;
    this.#options = options;
  }

  acquire(): PooledConnection {
    this.busy++;
    return this.#idle.pop() ?? new PooledConnection(this, new Client(this.#origin, this.#options));
  }

  give(connection: PooledConnection): void {
    this.busy--;
    if (this.#closed) {
      connection.close();
      return;
    }
    this.usedTick = performance.now();
    connection.usedTick = this.usedTick;
    this.#idle.push(connection);
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

class PooledConnection implements Connection {
  readonly #pool: OriginPool;
  readonly #client: Client;
  usedTick = 0;

  constructor(pool: OriginPool, client: Client) {
    this.#pool = pool;
    this.#client = client;
  }

  dispatch(call: UpstreamCall, handler: UpstreamHandler): void {
    this.#client.dispatch(call, handler);
  }

  release(): void {
    this.#pool.give(this);
  }

  close(): void {
    this.#client.close(ignore);
  }
}

const ignore = (): void => {};

export type TransportFailure = 'connect' | 'timeout' | 'reset' | 'egress_refused';

/** What kind of failure an undici error is. `sent`: the request was written to a connection before. */
export function classifyFailure(error: Error, sent: boolean): TransportFailure {
  const code = (error as { code?: unknown }).code;
  if (code === 'EGRESS_REFUSED') return 'egress_refused';
  if (
    error instanceof errors.ConnectTimeoutError ||
    error instanceof errors.HeadersTimeoutError ||
    error instanceof errors.BodyTimeoutError ||
    code === 'ETIMEDOUT'
  ) {
    return 'timeout';
  }
  return sent ? 'reset' : 'connect';
}

/** Whether undici refuses the request itself, e.g. a header value it cannot send. */
export const isInvalidRequest = (error: unknown): boolean =>
  error instanceof errors.InvalidArgumentError || error instanceof errors.NotSupportedError;
