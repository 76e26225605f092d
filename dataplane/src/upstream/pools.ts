/**
 * Connections to upstreams: one pool per origin, one request per connection at a time (HTTP/1.1 without pipelining).
 * The only importer of undici, which carries the requests whose body streams; the others have connections of our own.
 *
 * undici's own Pool looks for a free connection by walking all of them, which costs more with every open stream; here
 * free ones stand on a stack: constant time, and the most recently used is used again, so that others can go idle.
 */
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { bareHost, portOf } from '@acg/base/egress/check-url';
import { buildConnector, Client, type Dispatcher, errors } from 'undici';
import { type ConnectionOwner, Http1Connection, type Opener, type QuietLimits } from '../http1/http1-connection.js';
import { InvalidRequest } from '../http1/request-head.js';
import { type DialTarget, dial } from './dial.js';

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
  /** Flat `[name, value, …]`, latin1 where text. */
  onHeaders(status: number, rawHeaders: (Buffer | string)[], resume: () => void): boolean;
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
  /** What cannot be sent is reported to the handler's onError, or thrown ({@link isInvalidRequest}). */
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
/** How often silence is noticed; timeouts end up to this much late. */
const TICK_MS = 250;

export class UpstreamPools {
  readonly #options: PoolOptions;
  readonly #connector: Connector;
  readonly #originsMax: number;
  /** In order of first use since the last time it was empty. */
  readonly #pools = new Map<string, OriginPool>();
  readonly #limits: QuietLimits;
  /** All of our own, busy or free. */
  readonly #connections = new Set<Http1Connection>();
  readonly #sweeper: NodeJS.Timeout;
  readonly #ticker: NodeJS.Timeout;
  #closed = false;

  constructor(options: PoolOptions, originsMax = 2_000) {
    this.#options = options;
    this.#originsMax = originsMax;
    this.#connector = buildConnector({ timeout: options.connectTimeoutMs, maxCachedSessions: 100 });
    this.#sweeper = setInterval(() => this.#sweep(performance.now()), SWEEP_MS).unref();
    // Whole: timers drop fractions, and a timeout would end early.
    const tickMs = Math.max(1, Math.floor(Math.min(TICK_MS, options.headersTimeoutMs / 4, options.bodyTimeoutMs / 4)));
    this.#limits = quietLimits(options, tickMs);
    this.#ticker = setInterval(() => this.#tick(), tickMs).unref();
  }

  /** What dials an address, for connections that are not pooled. */
  connectorFor(guarded: boolean): Connector {
    return guarded ? this.#options.egressConnector : this.#connector;
  }

  /**
   * `guarded`: a tenant gave the address, so every connect goes through the egress guard. `streamed`: the request's
   * body is a stream.
   */
  acquire(origin: string, guarded: boolean, streamed: boolean): Connection {
    const kind = (guarded ? 1 : 0) + (streamed ? 2 : 0);
    const key = kind === 0 ? origin : `${kind} ${origin}`;
    let pool = this.#pools.get(key);
    if (pool === undefined) {
      if (this.#pools.size >= this.#originsMax) this.#evict();
      pool = new OriginPool((owner) => this.#open(owner, origin, guarded, streamed));
      this.#pools.set(key, pool);
    }
    return pool.acquire();
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

  #open(pool: OriginPool, origin: string, guarded: boolean, streamed: boolean): PooledConnection {
    if (streamed) {
      const client = new Client(origin, clientOptions(this.#options, this.connectorFor(guarded)));
      return new StreamingConnection(pool, client);
    }
    const opener = guarded ? this.#guardedOpener(origin) : this.#directOpener(pool, origin);
    const owner: ConnectionOwner = {
      give: (connection) => pool.give(connection),
      gone: (connection) => {
        this.#connections.delete(connection);
        pool.lost(connection);
      },
    };
    const connection = new Http1Connection(hostOf(origin), opener, this.#limits, owner);
    this.#connections.add(connection);
    return connection;
  }

  #directOpener(pool: OriginPool, origin: string): Opener {
    const target = dialTarget(origin);
    return (onread, done) =>
      dial(target, this.#options.connectTimeoutMs, onread, pool.tlsSession, (error, socket) => {
        if (socket !== null && target.protocol === 'https:') keepSession(pool, socket as TLSSocket);
        done(error, socket, true);
      });
  }

  #guardedOpener(origin: string): Opener {
    const { hostname, host, protocol, port } = new URL(origin);
    return (_onread, done) =>
      this.#options.egressConnector({ hostname, host, protocol, port }, (error, socket) =>
        done(error, socket as Socket | null, false),
      );
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
function quietLimits(options: PoolOptions, tickMs: number): QuietLimits {
  const ticks = (ms: number): number => Math.ceil(ms / tickMs);
  return {
    headTicks: ticks(options.headersTimeoutMs),
    bodyTicks: ticks(options.bodyTimeoutMs),
    idleTicks: ticks(KEEP_ALIVE_MS),
    idleTicksMax: ticks(KEEP_ALIVE_MS_MAX),
    ticksPerSec: 1_000 / tickMs,
  };
}

const hostOf = (origin: string): string => origin.slice(origin.indexOf('//') + 2);

/**
 * TLS 1.3 brings sessions later on, 1.2 has its only one now. Never before the peer's name was checked: a resumed
 * handshake does not check it again.
 */
function keepSession(pool: OriginPool, socket: TLSSocket): void {
  if (socket.getProtocol() === 'TLSv1.2') pool.tlsSession = socket.getSession() ?? null;
  socket.on('session', (session) => {
    pool.tlsSession = session;
  });
}

function dialTarget(origin: string): DialTarget {
  const { protocol, hostname, port } = new URL(origin);
  return { protocol, hostname: bareHost(hostname), port: portOf(protocol, port) };
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

interface PooledConnection extends Connection {
  usedTick: number;
  /** Whether another call may go out on it. */
  readonly usable: boolean;
  close(): void;
}

class OriginPool {
  readonly #open: (pool: OriginPool) => PooledConnection;
  /** Free connections; the last one was used most recently. */
  readonly #idle: PooledConnection[] = [];
  busy = 0;
  usedTick = performance.now();
  /** Of the last TLS connection: the next handshake is shorter with it. */
  tlsSession: Buffer | null = null;
  #closed = false;

  constructor(open: (pool: OriginPool) => PooledConnection) {
    this.#open = open;
  }

  acquire(): PooledConnection {
    const connection = this.#idle.pop() ?? this.#open(this);
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
  usedTick = 0;
  readonly usable = true; // undici connects again by itself

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

/** What kind of failure the error of a call is. `sent`: the request was written to a connection before. */
export function classifyFailure(error: Error, sent: boolean): TransportFailure {
  const code = (error as { code?: unknown }).code;
  if (code === 'EGRESS_REFUSED') return 'egress_refused';
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
