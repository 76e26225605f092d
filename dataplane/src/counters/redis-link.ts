/**
 * The Redis client (ioredis) behind the lanes: connection settings, NOSCRIPT after a flush or restart, and what an
 * error says about whether a call was applied. The only file that imports ioredis.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Cluster, Command, Redis } from 'ioredis';
import { ScriptFailure, type ScriptLink } from './script-link.js';

/** Script and its digest, read once. */
const SCRIPT = readFileSync(new URL('./admit.lua', import.meta.url), 'utf8');
const SCRIPT_SHA = createHash('sha1').update(SCRIPT).digest('hex');

const CONNECT_TIMEOUT_MS = 1_000;
const RECONNECT_DELAY_MAX_MS = 500;
const SLOTS_REFRESH_MS = 1_000;

/** Waits 25, 50, 100 … at most 500 ms: enforcement has to be back within 2 s of recovery. */
const retryDelayMs = (attempt: number): number => Math.min(RECONNECT_DELAY_MAX_MS, 25 * 2 ** Math.min(attempt - 1, 8));

export interface RedisAccess {
  readonly urls: readonly URL[];
  /** CLIENT SETNAME. */
  readonly connectionName: string;
  /** Extra certificate authority of rediss:// URLs, PEM; null = the system's. */
  readonly tlsCa: string | null;
}

export interface LinkEvents {
  /** A connection is ready for commands. */
  onConnected(): void;
  onError(error: Error): void;
}

export class RedisLink implements ScriptLink {
  readonly #client: Redis | Cluster;

  /** Several URLs = nodes of one Redis Cluster. Connects in the background and for ever again. */
  constructor(access: RedisAccess, events: LinkEvents) {
    const common = connectionOptions(access);
    this.#client =
      access.urls.length > 1
        ? new Cluster(access.urls.map(hostAndPort), {
            redisOptions: common,
            enableOfflineQueue: false,
            enableReadyCheck: false,
            clusterRetryStrategy: retryDelayMs,
            slotsRefreshInterval: SLOTS_REFRESH_MS,
            slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
            // A call is repeated only by the lanes, which know how to do that exactly once.
            retryDelayOnFailover: 0,
            retryDelayOnClusterDown: 0,
            scaleReads: 'master',
          })
        : new Redis({
            ...common,
            ...hostAndPort(access.urls[0]!),
            db: databaseOf(access.urls[0]!),
            enableOfflineQueue: false,
            maxRetriesPerRequest: 0,
            retryStrategy: retryDelayMs,
          });
    this.#client.on('ready', () => events.onConnected());
    this.#client.on('error', (error: Error) => events.onError(error));
    // Connections to a cluster's nodes are made on first use otherwise, and until then calls would be refused.
    this.#client.on('+node', (node: Redis) => {
      node.on('ready', () => events.onConnected());
      if (node.status === 'wait') node.connect().catch(() => {}); // ioredis reports it as an error event, too
    });
  }

  /** `host:port` of the master of a slot; null while unknown, and without a cluster. */
  nodeOf(slot: number): string | null {
    return this.#client instanceof Cluster ? (this.#client.slots[slot]?.[0] ?? null) : null;
  }

  /** `host:port` of every master that has slots. */
  masters(): ReadonlySet<string> {
    const masters = new Set<string>();
    if (!(this.#client instanceof Cluster)) return masters;
    for (const nodes of this.#client.slots) if (nodes?.[0] !== undefined) masters.add(nodes[0]);
    return masters;
  }

  run(
    keys: readonly string[],
    argument: Buffer,
    done: (failure: ScriptFailure | null, reply: Buffer | null) => void,
  ): void {
    this.#send('evalsha', SCRIPT_SHA, keys, argument, (error, reply) => {
      if (error === null) done(null, reply);
      else if (error.message.startsWith('NOSCRIPT')) {
        this.#send('eval', SCRIPT, keys, argument, (again, late) =>
          done(again === null ? null : failureOf(again), late),
        );
      } else done(failureOf(error), null);
    });
  }

  reconnect(): void {
    if (this.#client instanceof Cluster) for (const node of this.#client.nodes('all')) node.disconnect(true);
    else this.#client.disconnect(true);
  }

  /** `maxmemory-policy` of the server(s); null where it may not be read. */
  async evictionPolicies(): Promise<readonly (string | null)[]> {
    const nodes = this.#client instanceof Cluster ? this.#client.nodes('master') : [this.#client];
    return await Promise.all(nodes.map(evictionPolicy));
  }

  close(): void {
    this.#client.disconnect();
  }

  #send(
    name: 'evalsha' | 'eval',
    script: string,
    keys: readonly string[],
    argument: Buffer,
    done: (error: Error | null, reply: Buffer | null) => void,
  ): void {
    const args = [script, String(keys.length), ...keys, argument];
    const command = new Command(name, args, { replyEncoding: null }, (error, reply) => {
      done(error ?? null, Buffer.isBuffer(reply) ? reply : null);
    });
    this.#client.sendCommand(command);
  }
}

interface ConnectionOptions {
  connectionName: string;
  connectTimeout: number;
  enableReadyCheck: boolean;
  autoResendUnfulfilledCommands: boolean;
  disableClientInfo: boolean;
  protocol: 2;
  username?: string;
  password?: string;
  tls?: { ca?: string };
}

function connectionOptions(access: RedisAccess): ConnectionOptions {
  const url = access.urls[0]!;
  const options: ConnectionOptions = {
    connectionName: access.connectionName,
    connectTimeout: CONNECT_TIMEOUT_MS,
    enableReadyCheck: false, // the lanes' probes find out more than INFO does, and need no right to it
    autoResendUnfulfilledCommands: false,
    disableClientInfo: true,
    protocol: 2,
  };
  if (url.username !== '') options.username = decodeURIComponent(url.username);
  if (url.password !== '') options.password = decodeURIComponent(url.password);
  if (url.protocol === 'rediss:') options.tls = access.tlsCa === null ? {} : { ca: access.tlsCa };
  return options;
}

const hostAndPort = (url: URL): { host: string; port: number } => ({
  host: url.hostname.replace(/^\[|\]$/g, ''),
  port: url.port === '' ? 6379 : Number(url.port),
});

const databaseOf = (url: URL): number => Number(/^\/(\d{1,4})$/.exec(url.pathname)?.[1] ?? 0);

/** An error reply means that the store refused: Redis checks memory, role and state before a script's first write. */
function failureOf(error: Error): ScriptFailure {
  const hint = error.message.startsWith('MOVED ')
    ? ': a node of a Redis Cluster; name several of its nodes in REDIS_URL'
    : '';
  return new ScriptFailure(error.message + hint, error.name === 'ReplyError' ? 'no' : 'unknown');
}

async function evictionPolicy(node: Redis): Promise<string | null> {
  try {
    const reply = (await node.config('GET', 'maxmemory-policy')) as string[];
    return reply[1] ?? null;
  } catch {
    return null; // CONFIG is not for every user, nor offered by every managed service
  }
}
