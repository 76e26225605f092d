/**
 * Redis client (ioredis) of the counters: connection settings, failover, and the admission script. Reconnects for ever;
 * a call that fails is reported and never repeated here.
 */
import { Cluster, Command, Redis } from 'ioredis';
import { ADMIT_SCRIPT } from '../script/admit-script.js';
import type { RedisAddress, SentinelGroup } from './redis-address.js';
import type { ScriptRunner } from './script-runner-interface.js';
import { SentinelFailoverWatch } from './sentinel-failover-watch.js';

/** What `defineCommand` adds to a client. */
interface ScriptCommands {
  admit(keyCount: number, ...keysAndRequest: string[]): Promise<string>;
}

/** Limit for the TCP or TLS connect, and again for the replies to the handshake commands. */
const CONNECT_TIMEOUT_MS = 1_000;
const POLICY_TIMEOUT_MS = 1_000;
/**
 * TCP keep-alive detects a dead peer of an idle connection within 20 s, before a call or a failover needs the
 * connection.
 */
const KEEP_ALIVE_MS = 10_000;
const RECONNECT_DELAY_MAX_MS = 500;
const SLOTS_REFRESH_MS = 1_000;

/** Waits 25, 50, 100 … at most 500 ms, because enforcement must resume within 2 s after recovery. */
const retryDelayMs = (attempt: number): number => Math.min(RECONNECT_DELAY_MAX_MS, 25 * 2 ** Math.min(attempt - 1, 8));

/**
 * Errors of a server that does not, or not yet, serve this data: a primary demoted to replica, a replica without its
 * primary, a cluster node without quorum. A client that kept such a connection would admit calls unchecked for ever.
 * Older servers prefix a script's error with text of their own.
 */
const WRONG_NODE_ERROR = /^(?:ERR Error running script .*-)?(?:READONLY|LOADING|MASTERDOWN|CLUSTERDOWN)\b/s;

export interface RedisClientOptions {
  readonly urls: readonly URL[];
  /** Set: the one URL names a group, and the sentinels know its primary. */
  readonly sentinel?: RedisAddress['sentinel'];
  /** Name for CLIENT SETNAME. */
  readonly connectionName: string;
  /** Extra certificate authority for rediss:// URLs, PEM; null = system store. */
  readonly tlsCa: string | null;
}

interface RedisClientEvents {
  /** A connection is ready for commands. */
  onConnected(): void;
  onError(error: Error): void;
}

export class RedisClient implements ScriptRunner {
  readonly #options: RedisClientOptions;
  readonly #events: RedisClientEvents;
  #client: Redis | Cluster;
  /** Null without Sentinel. */
  readonly #failoverWatch: SentinelFailoverWatch | null;
  /**
   * Incremented with each abandoned connection, so that late errors of an old connection do not abandon the new one.
   */
  #reconnectCount = 0;

  /** Several URLs are nodes of one Redis Cluster. Connects in the background and retries indefinitely. */
  constructor(clientOptions: RedisClientOptions, events: RedisClientEvents) {
    this.#options = clientOptions;
    this.#events = events;
    this.#client = this.#connect();
    this.#failoverWatch = createSentinelWatch(clientOptions, this.#onFailover);
  }

  #connect(): Redis | Cluster {
    const client = createIoredisClient(this.#options, this.#reconnectCount);
    client.defineCommand('admit', { lua: ADMIT_SCRIPT });
    client.on('ready', () => this.#events.onConnected());
    client.on('error', (error: Error) => this.#events.onError(error));
    if (client instanceof Redis) limitHandshakeTime(client);
    // ioredis connects to cluster nodes on first use, and calls would fail until then. So connect at once.
    client.on('+node', (node: Redis) => {
      limitHandshakeTime(node);
      node.on('ready', () => this.#events.onConnected());
      if (node.status === 'wait') node.connect().catch(() => {}); // ioredis also reports this failure as an error event
    });
    return client;
  }

  /** `host:port` of the master of a slot; null while unknown, and without a cluster. */
  masterOfSlot(slot: number): string | null {
    return this.#client instanceof Cluster ? (this.#client.slots[slot]?.[0] ?? null) : null;
  }

  /** `host:port` of every master that owns slots. */
  listMasters(): ReadonlySet<string> {
    const masters = new Set<string>();
    if (!(this.#client instanceof Cluster)) return masters;
    for (const nodes of this.#client.slots) if (nodes?.[0] !== undefined) masters.add(nodes[0]);
    return masters;
  }

  /** A server that does not know the script, after a flush or restart, gets its text. */
  runAdmitScript(
    keys: readonly string[],
    request: string,
    done: (failure: Error | null, reply: string | null) => void,
  ): void {
    const sentAtCount = this.#reconnectCount;
    (this.#client as unknown as ScriptCommands).admit(keys.length, ...keys, request).then(
      (reply) => done(null, reply),
      (error: Error) => {
        done(addClusterHint(error), null);
        if (WRONG_NODE_ERROR.test(error.message) && sentAtCount === this.#reconnectCount) this.#rediscoverPrimary();
      },
    );
  }

  /** Runs a script with one key. Its text is sent with each call. */
  evaluate(script: string, key: string, args: readonly (string | number)[]): Promise<unknown> {
    return this.#client.eval(script, 1, key, ...args);
  }

  /** Rejects when the store does not reply. */
  expire(key: string, seconds: number): Promise<unknown> {
    return this.#client.expire(key, seconds);
  }

  /** The fields of a hash; null: the store did not reply in time. */
  async readHash(key: string, timeoutMs: number): Promise<Readonly<Record<string, Buffer>> | null> {
    const command = new Command('hgetall', [key]);
    command.setTimeout(timeoutMs);
    try {
      return (await this.#client.sendCommand(command)) as Record<string, Buffer>;
    } catch {
      return null;
    }
  }

  /** Finds the current server again: through DNS, the next sentinel, or the cluster's slot map. */
  #rediscoverPrimary(): void {
    this.#reconnectCount++;
    if (this.#client instanceof Cluster) this.#client.refreshSlotsCache();
    else if (this.#options.sentinel == null) this.#client.disconnect(true);
    else {
      // The sentinel that answered last may be partitioned and still report the old primary. So start with another one.
      this.#client.disconnect();
      this.#client = this.#connect();
    }
  }

  /** Every sentinel announces a failover. Some announcements arrive when the client already uses the new primary. */
  readonly #onFailover = (host: string, port: number): void => {
    const stream = this.#client instanceof Cluster ? null : this.#client.stream;
    if (stream?.remoteAddress === host && stream.remotePort === port) return;
    this.#rediscoverPrimary();
  };

  reconnect(slot: number): void {
    const client = this.#client;
    // Not `disconnect()`: it waits for the peer to close. While a sentinel is queried there is no stream.
    if (client instanceof Redis) client.stream?.destroy();
    else findNodeByAddress(client, this.masterOfSlot(slot))?.stream?.destroy();
  }

  /** `maxmemory-policy` of each server; null where CONFIG GET is not permitted. */
  async fetchEvictionPolicies(): Promise<readonly (string | null)[]> {
    const nodes = this.#client instanceof Cluster ? this.#client.nodes('master') : [this.#client];
    return await Promise.all(nodes.map(fetchEvictionPolicy));
  }

  close(): void {
    this.#failoverWatch?.close();
    this.#client.disconnect();
  }
}

/** ioredis has no timeout for the replies to AUTH, SELECT and CLIENT SETNAME. */
function limitHandshakeTime(client: Redis): void {
  client.on('connect', () => {
    const { stream } = client;
    const destroyIfPending = (): void => {
      if (client.stream === stream && client.status === 'connect')
        stream.destroy(new Error('Redis did not reply to the handshake'));
    };
    // setImmediate: reads data that has already arrived before the check, however busy this process was.
    setTimeout(() => setImmediate(destroyIfPending), CONNECT_TIMEOUT_MS).unref();
  });
}

/** Finds a node by its `host:port`. */
const findNodeByAddress = (cluster: Cluster, name: string | null): Redis | undefined =>
  cluster.nodes('all').find(({ options: { host, port } }) => `${host}:${port}` === name);

/** `firstSentinel`: index of the sentinel to query first. */
function createIoredisClient(clientOptions: RedisClientOptions, firstSentinel: number): Redis | Cluster {
  const connection = connectionOptions(clientOptions);
  if (clientOptions.urls.length > 1) {
    return new Cluster(clientOptions.urls.map(hostAndPort), {
      redisOptions: connection,
      enableOfflineQueue: false,
      enableReadyCheck: false,
      clusterRetryStrategy: retryDelayMs,
      slotsRefreshInterval: SLOTS_REFRESH_MS,
      slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
      // Only the counters' nodes repeat a call, because only they make repeats safe.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      scaleReads: 'master',
    });
  }
  const url = clientOptions.urls[0]!;
  const address =
    clientOptions.sentinel == null
      ? hostAndPort(url)
      : sentinelOptions(clientOptions.sentinel, connection.tls, firstSentinel);
  return new Redis({
    ...connection,
    ...address,
    db: parseDatabase(url),
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: retryDelayMs,
  });
}

function sentinelOptions(group: SentinelGroup, tls: ConnectionOptions['tls'], firstSentinel: number) {
  const first = firstSentinel % group.hosts.length;
  return {
    sentinels: [...group.hosts.slice(first), ...group.hosts.slice(0, first)],
    name: group.name,
    role: 'master' as const,
    sentinelRetryStrategy: retryDelayMs,
    sentinelCommandTimeout: CONNECT_TIMEOUT_MS,
    ...(group.username === null ? {} : { sentinelUsername: group.username }),
    ...(group.password === null ? {} : { sentinelPassword: group.password }),
    ...(tls === undefined ? {} : { sentinelTLS: tls, enableTLSForSentinelMode: true }),
  };
}

function createSentinelWatch(
  clientOptions: RedisClientOptions,
  onFailover: (host: string, port: number) => void,
): SentinelFailoverWatch | null {
  if (clientOptions.sentinel == null) return null;
  const { hosts, name, username, password } = clientOptions.sentinel;
  const { tls } = connectionOptions(clientOptions);
  const connections = hosts.map((host) => ({
    ...host,
    ...(username === null ? {} : { username }),
    ...(password === null ? {} : { password }),
    ...(tls === undefined ? {} : { tls }),
    connectTimeout: CONNECT_TIMEOUT_MS,
    keepAlive: KEEP_ALIVE_MS,
    retryStrategy: retryDelayMs,
  }));
  return new SentinelFailoverWatch(connections, name, onFailover);
}

interface ConnectionOptions {
  connectionName: string;
  connectTimeout: number;
  keepAlive: number;
  enableReadyCheck: boolean;
  autoResendUnfulfilledCommands: boolean;
  disableClientInfo: boolean;
  protocol: 2;
  username?: string;
  password?: string;
  tls?: { ca?: string };
}

function connectionOptions(clientOptions: RedisClientOptions): ConnectionOptions {
  const url = clientOptions.urls[0]!;
  const options: ConnectionOptions = {
    connectionName: clientOptions.connectionName,
    connectTimeout: CONNECT_TIMEOUT_MS,
    keepAlive: KEEP_ALIVE_MS,
    enableReadyCheck: false, // probes check more than INFO does and need no permission for it
    autoResendUnfulfilledCommands: false,
    disableClientInfo: true,
    protocol: 2,
  };
  if (url.username !== '') options.username = decodeURIComponent(url.username);
  if (url.password !== '') options.password = decodeURIComponent(url.password);
  if (url.protocol === 'rediss:') options.tls = clientOptions.tlsCa === null ? {} : { ca: clientOptions.tlsCa };
  return options;
}

const hostAndPort = (url: URL): { host: string; port: number } => ({
  host: url.hostname.replace(/^\[|\]$/g, ''),
  port: url.port === '' ? 6379 : Number(url.port),
});

const parseDatabase = (url: URL): number => Number(/^\/(\d{1,4})$/.exec(url.pathname)?.[1] ?? 0);

function addClusterHint(error: Error): Error {
  return error.message.startsWith('MOVED ')
    ? new Error(`${error.message}: this server is a node of a Redis Cluster. List several of its nodes in REDIS_URL.`)
    : error;
}

async function fetchEvictionPolicy(node: Redis): Promise<string | null> {
  const command = new Command('config', ['GET', 'maxmemory-policy'], { replyEncoding: 'utf8' });
  command.setTimeout(POLICY_TIMEOUT_MS);
  try {
    const reply = (await node.sendCommand(command)) as string[];
    return reply[1] ?? null;
  } catch {
    return null; // managed services and restricted users may not have CONFIG
  }
}
