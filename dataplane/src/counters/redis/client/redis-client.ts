/**
 * The Redis client (ioredis) behind the nodes: connection settings, NOSCRIPT after a flush or restart.
 */
import { noop } from '@acg/base/noop';
import { Cluster, Command, Redis } from 'ioredis';
import { ADMIT_SCRIPT, ADMIT_SCRIPT_SHA } from '../script/admit-script.js';
import type { RedisAddress, SentinelGroup } from './redis-address.js';
import { ScriptError, type ScriptRunner } from './script-runner.js';
import { SentinelFailoverWatch } from './sentinel-failover-watch.js';

/** A character for each byte, as commands are written. */
const SCRIPT_BYTES = Buffer.from(ADMIT_SCRIPT).toString('latin1');
/** To connect, and then again for the answers that a new connection begins with. */
const CONNECT_TIMEOUT_MS = 1_000;
const POLICY_TIMEOUT_MS = 1_000;
/** An idle connection whose other end is gone is noticed within 20 s: by TCP, before a call or a failover needs it. */
const KEEP_ALIVE_MS = 10_000;
const RECONNECT_DELAY_MAX_MS = 500;
const SLOTS_REFRESH_MS = 1_000;

/** Waits 25, 50, 100 … at most 500 ms: enforcement has to be back within 2 s of recovery. */
const retryDelayMs = (attempt: number): number => Math.min(RECONNECT_DELAY_MAX_MS, 25 * 2 ** Math.min(attempt - 1, 8));

/**
 * Answers of a server that does not serve this data any more, or not yet: a primary that became a replica, a replica
 * without its primary, a node of a cluster without its others. Whoever keeps such a connection passes calls unchecked
 * for ever. Older servers put a script's error behind their own words.
 */
const WRONG_NODE_ERROR = /^(?:ERR Error running script .*-)?(?:READONLY|LOADING|MASTERDOWN|CLUSTERDOWN)\b/s;

export interface RedisClientOptions {
  readonly urls: readonly URL[];
  /** Set: the one URL names a group whose primary the sentinels know. */
  readonly sentinel?: RedisAddress['sentinel'];
  /** CLIENT SETNAME. */
  readonly connectionName: string;
  /** Extra certificate authority of rediss:// URLs, PEM; null = the system's. */
  readonly tlsCa: string | null;
}

interface RedisClientEvents {
  /** A connection is ready for commands. */
  onConnected(): void;
  onError(error: Error): void;
}

export class RedisClient implements ScriptRunner {
  readonly #access: RedisClientOptions;
  readonly #events: RedisClientEvents;
  #client: Redis | Cluster;
  /** Null without Sentinel. */
  readonly #watch: SentinelFailoverWatch | null;
  /** Grows with each connection that was left: answers of an older one leave nothing any more. */
  #reconnectCount = 0;

  /** Several URLs = nodes of one Redis Cluster. Connects in the background and for ever again. */
  constructor(access: RedisClientOptions, events: RedisClientEvents) {
    this.#access = access;
    this.#events = events;
    this.#client = this.#open();
    this.#watch = createSentinelWatch(access, this.#onFailover);
  }

  #open(): Redis | Cluster {
    const client = createIoredisClient(this.#access, this.#reconnectCount);
    client.on('ready', () => this.#events.onConnected());
    client.on('error', (error: Error) => this.#events.onError(error));
    if (client instanceof Redis) configureConnection(client);
    // Connections to a cluster's nodes are made on first use otherwise, and until then calls would be refused.
    client.on('+node', (node: Redis) => {
      configureConnection(node);
      node.on('ready', () => this.#events.onConnected());
      if (node.status === 'wait') node.connect().catch(() => {}); // ioredis reports it as an error event, too
    });
    return client;
  }

  /** `host:port` of the master of a slot; null while unknown, and without a cluster. */
  masterOfSlot(slot: number): string | null {
    return this.#client instanceof Cluster ? (this.#client.slots[slot]?.[0] ?? null) : null;
  }

  /** `host:port` of every master that has slots. */
  listMasters(): ReadonlySet<string> {
    const masters = new Set<string>();
    if (!(this.#client instanceof Cluster)) return masters;
    for (const nodes of this.#client.slots) if (nodes?.[0] !== undefined) masters.add(nodes[0]);
    return masters;
  }

  runAdmitScript(
    keys: readonly string[],
    argument: Buffer,
    writerId: string,
    done: (failure: ScriptError | null, reply: Buffer | null) => void,
  ): void {
    const left = this.#reconnectCount;
    const refused = (error: Error): void => {
      done(toScriptError(error), null);
      if (WRONG_NODE_ERROR.test(error.message) && left === this.#reconnectCount) this.#switchServer();
    };
    this.#send('evalsha', ADMIT_SCRIPT_SHA, keys, argument, writerId, (error, reply) => {
      if (error === null) done(null, reply);
      else if (error.message.startsWith('NOSCRIPT')) {
        this.#send('eval', SCRIPT_BYTES, keys, argument, writerId, (again, late) => {
          if (again === null) done(null, late);
          else refused(again);
        });
      } else refused(error);
    });
  }

  /** Looks for the server anew, by its name: through the resolver, the next sentinel, or the cluster's nodes. */
  #switchServer(): void {
    this.#reconnectCount++;
    if (this.#client instanceof Cluster) this.#client.refreshSlotsCache();
    else if (this.#access.sentinel == null) this.#client.disconnect(true);
    else {
      // The sentinel that was asked may be cut off from the others and believe in the old primary: ask another one.
      this.#client.disconnect();
      this.#client = this.#open();
    }
  }

  /** Every sentinel announces a failover, and some do when its new primary has been found already. */
  readonly #onFailover = (host: string, port: number): void => {
    const stream = this.#client instanceof Cluster ? null : this.#client.stream;
    if (stream?.remoteAddress === host && stream.remotePort === port) return;
    this.#switchServer();
  };

  reconnect(slot: number): void {
    const client = this.#client;
    // Not `disconnect`, which waits for an answer to its end of the connection. There is none while a sentinel is asked.
    if (client instanceof Redis) client.stream?.destroy();
    else findNode(client, this.masterOfSlot(slot))?.stream?.destroy();
  }

  /** `maxmemory-policy` of the server(s); null where it may not be read. */
  async fetchEvictionPolicies(): Promise<readonly (string | null)[]> {
    const nodes = this.#client instanceof Cluster ? this.#client.nodes('master') : [this.#client];
    return await Promise.all(nodes.map(fetchEvictionPolicy));
  }

  close(): void {
    this.#watch?.close();
    this.#client.disconnect();
  }

  #send(
    name: 'evalsha' | 'eval',
    script: string,
    keys: readonly string[],
    argument: Buffer,
    writerId: string,
    done: (error: Error | null, reply: Buffer | null) => void,
  ): void {
    const args = [script, String(keys.length), ...keys, argument, writerId];
    this.#client.sendCommand(new ScriptCommand(name, args, done));
  }
}

function configureConnection(client: Redis): void {
  limitHandshakeTime(client);
  forceFlowingReads(client);
}

/** ioredis waits for the answers to AUTH, SELECT and CLIENT SETNAME as long as the connection stands. */
function limitHandshakeTime(client: Redis): void {
  client.on('connect', () => {
    const { stream } = client;
    const judge = (): void => {
      if (client.stream === stream && client.status === 'connect')
        stream.destroy(new Error('no answer to a handshake'));
    };
    // What has arrived is read before that, however busy this process was.
    setTimeout(() => setImmediate(judge), CONNECT_TIMEOUT_MS).unref();
  });
}

/** By its `host:port`. */
const findNode = (cluster: Cluster, name: string | null): Redis | undefined =>
  cluster.nodes('all').find(({ options: { host, port } }) => `${host}:${port}` === name);

/**
 * ioredis listens for replies in a way that Node's streams do not count as listening: they put each reply aside then and
 * hand it over in a later step. A listener of the usual kind, and they come at once.
 */
function forceFlowingReads(client: Redis): void {
  client.on('connect', () => client.stream.on('data', noop));
}

/**
 * Written as one buffer: ioredis makes one of every key, which costs more than the call itself where there are many. The
 * reply is told as it is read, without the promise of every other command, which nobody has here.
 */
class ScriptCommand extends Command {
  constructor(name: string, args: (string | Buffer)[], done: (error: Error | null, reply: Buffer | null) => void) {
    super(name, [], { replyEncoding: null }); // it would copy them piece by piece
    this.args = args;
    this.resolve = (reply) => {
      this.isResolved = true;
      this.isSettled = true;
      done(null, Buffer.isBuffer(reply) ? reply : null);
    };
    // In a step of its own: a command that cannot be sent is refused before `sendCommand` returns.
    this.reject = (error) => queueMicrotask(() => done(error, null));
  }

  /** A character of its texts is a byte: they are ASCII, all of them this program's, and the script's bytes. */
  override toWritable(): Buffer {
    // Script, number of keys, keys, argument, writer.
    const { args } = this;
    const argument = args[args.length - 2] as Buffer;
    let head = `*${args.length + 1}\r\n${encodeBulkString(this.name)}`;
    for (let i = 0; i < args.length - 2; i++) head += encodeBulkString(args[i] as string);
    head += `$${argument.length}\r\n`;
    const tail = `\r\n${encodeBulkString(args[args.length - 1] as string)}`;
    const out = Buffer.allocUnsafe(head.length + argument.length + tail.length);
    out.write(head, 0, 'latin1');
    out.set(argument, head.length);
    out.write(tail, head.length + argument.length, 'latin1');
    return out;
  }
}

const encodeBulkString = (text: string): string => `$${text.length}\r\n${text}\r\n`;

/** `turn`: which sentinel is asked first. */
function createIoredisClient(access: RedisClientOptions, firstSentinel: number): Redis | Cluster {
  const common = connectionOptions(access);
  if (access.urls.length > 1) {
    return new Cluster(access.urls.map(hostAndPort), {
      redisOptions: common,
      enableOfflineQueue: false,
      enableReadyCheck: false,
      clusterRetryStrategy: retryDelayMs,
      slotsRefreshInterval: SLOTS_REFRESH_MS,
      slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
      // A call is repeated only by the counters' nodes, which know how to do that exactly once.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      scaleReads: 'master',
    });
  }
  const url = access.urls[0]!;
  const where =
    access.sentinel == null ? hostAndPort(url) : sentinelOptions(access.sentinel, common.tls, firstSentinel);
  return new Redis({
    ...common,
    ...where,
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
  access: RedisClientOptions,
  onSwitch: (host: string, port: number) => void,
): SentinelFailoverWatch | null {
  if (access.sentinel == null) return null;
  const { hosts, name, username, password } = access.sentinel;
  const { tls } = connectionOptions(access);
  const connections = hosts.map((host) => ({
    ...host,
    ...(username === null ? {} : { username }),
    ...(password === null ? {} : { password }),
    ...(tls === undefined ? {} : { tls }),
    connectTimeout: CONNECT_TIMEOUT_MS,
    keepAlive: KEEP_ALIVE_MS,
    retryStrategy: retryDelayMs,
  }));
  return new SentinelFailoverWatch(connections, name, onSwitch);
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

function connectionOptions(access: RedisClientOptions): ConnectionOptions {
  const url = access.urls[0]!;
  const options: ConnectionOptions = {
    connectionName: access.connectionName,
    connectTimeout: CONNECT_TIMEOUT_MS,
    keepAlive: KEEP_ALIVE_MS,
    enableReadyCheck: false, // the nodes' probes find out more than INFO does, and need no right to it
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

const parseDatabase = (url: URL): number => Number(/^\/(\d{1,4})$/.exec(url.pathname)?.[1] ?? 0);

function toScriptError(error: Error): ScriptError {
  const hint = error.message.startsWith('MOVED ')
    ? ': a node of a Redis Cluster; name several of its nodes in REDIS_URL'
    : '';
  return new ScriptError(error.message + hint);
}

async function fetchEvictionPolicy(node: Redis): Promise<string | null> {
  const asked = new Command('config', ['GET', 'maxmemory-policy'], { replyEncoding: 'utf8' });
  asked.setTimeout(POLICY_TIMEOUT_MS);
  try {
    const reply = (await node.sendCommand(asked)) as string[];
    return reply[1] ?? null;
  } catch {
    return null; // CONFIG is not for every user, nor offered by every managed service
  }
}
