/**
 * Every setting of the data plane, read and checked once before any port opens (docs/configuration.md#configuration).
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CELL_NAME, type Cell } from '@acg/base/cells';
import { EnvReader } from '@acg/base/env-reader';
import { LOG_LEVELS, type LogLevel } from '@acg/base/log';
import { DAY_MS } from '@acg/base/time-and-money-units';
import { type LinkSecurity, readLinkSecurity } from '@acg/proto/link-tls-or-shared-secret';
import { parseRedisAddress, type RedisAddress } from './counters/redis/client/redis-address.js';
import { usableMemoryBytes } from './process/usable-memory.js';

export interface Config {
  readonly dataDir: string;
  readonly host: string;
  readonly port: number;
  /** URL at which agents reach the data plane, without a trailing slash; null = taken from the Host of each request. */
  readonly publicUrl: string | null;
  readonly metricsHost: string;
  readonly metricsPort: number;
  /** Processes that share the port. */
  readonly workers: number;
  /** `host:port` of each control-plane instance. */
  readonly controlplaneGrpc: readonly string[];
  readonly link: LinkSecurity;
  /** Null: in-process counters. */
  readonly redis: RedisAddress | null;
  /** Timeout of the counter store, ms; past it, admission fails open (docs/contract.md#counter-store-outage). */
  readonly countersTimeoutMs: number;
  readonly cell: Cell;
  readonly contextTtlMs: number;
  /** Time that a cached context is still used after its last confirmation while `Watch` is down. */
  readonly contextStaleIfErrorMs: number;
  readonly spoolDir: string;
  readonly spoolBytesMax: number;
  /** Time that sent usage is kept, to be sent again if the database loses it. */
  readonly spoolKeepMs: number;
  readonly egressAllowCidrs: readonly string[];
  readonly trustedProxyCidrs: readonly string[];
  readonly logLevel: LogLevel;
  readonly drainTimeoutMs: number;
  /** Per worker. */
  readonly connectionsMax: number;
  readonly inflightMax: number;
  /** Maximum of one organization; see concurrency/org-concurrency-limiter.ts. */
  readonly inflightPerOrgMax: number;
  /** Per worker, handshakes included. */
  readonly webSocketsMax: number;
  /** Bytes of a message in either direction. */
  readonly webSocketMessageBytesMax: number;
  /** Bytes that all WebSockets of a worker may hold beside the agents' unfinished messages. */
  readonly webSocketPoolBytes: number;
  readonly connectionsPerAddressMax: number;
  /** Lookups of unknown tokens a second, by client IP; see context/unauthenticated-rate-limiter.ts. */
  readonly unknownTokensPerAddress: number;
  readonly headerBytesMax: number;
  readonly headerCountMax: number;
  readonly editedBodyBytesMax: number;
  readonly bufferedBodyBytesMax: number;
  readonly upstreamConnectTimeoutMs: number;
  readonly upstreamHeadersTimeoutMs: number;
  readonly upstreamBodyTimeoutMs: number;
  /** Lines for the log at startup, e.g. about deprecated variables. */
  readonly warnings: readonly string[];
  /** Files with secrets and certificates, which are read again when they change. */
  readonly secretFiles: readonly string[];
  readonly version: string;
}

/** Read in this release, constants from the next one on (docs/configuration.md#deprecated-variables). */
const DEPRECATED_VARIABLES = [
  'CONTEXT_TTL_MS',
  'MAX_BUFFERED_BODY_BYTES',
  'MAX_HEADER_BYTES',
  'MAX_HEADER_COUNT',
  'UNKNOWN_TOKENS_PER_ADDRESS',
  'UPSTREAM_CONNECT_TIMEOUT_MS',
] as const;

const MIB = 1024 * 1024;
/** Ratios of the usable memory. */
const WEBSOCKET_MESSAGES_MEMORY_RATIO = 1 / 4;
const WEBSOCKET_POOL_MEMORY_RATIO = 1 / 8;
const WEBSOCKETS_MIN = 16;
/** Minimum, so that a message of another organization fits beside one organization that takes all it can. */
const WEBSOCKET_POOL_MESSAGES_MIN = 16;

/**
 * `memoryBytes`: memory that all processes on the agents' port may use together.
 *
 * @throws ConfigError that names every invalid variable.
 */
export function loadConfig(env: NodeJS.ProcessEnv, memoryBytes = usableMemoryBytes()): Config {
  const envReader = new EnvReader(env);
  envReader.deprecate(DEPRECATED_VARIABLES);
  const dataDir = envReader.string('GATEWAY_DATA_DIR', '.gateway');
  const controlplaneGrpc = envReader.list('CONTROLPLANE_GRPC', ['127.0.0.1:9090']);
  const workers = envReader.int('DATAPLANE_WORKERS', { fallback: 1, min: 1, max: 64 });
  const redis = readRedisAddress(envReader);
  if (workers > 1 && redis === null) {
    envReader.addProblem(
      'REDIS_URL must be set when DATAPLANE_WORKERS is above 1: in-process counters serve one process only',
    );
  }
  const timeout = (name: string, fallback: number) => envReader.int(name, { fallback, min: 1, max: DAY_MS });
  const connectionsMax = envReader.int('MAX_CONNECTIONS', { fallback: 20_000, min: 1, max: 1_000_000 });
  const inflightMax = envReader.int('MAX_INFLIGHT', { fallback: 10_000, min: 1, max: 1_000_000 });
  const webSocketMessageBytesMax = envReader.int('WEBSOCKET_MESSAGE_BYTES_MAX', {
    fallback: 4 * MIB,
    min: MIB / 16,
    max: 16 * MIB,
  });
  const workerBytes = memoryBytes / workers;
  const webSocketsByMemory = Math.floor((workerBytes * WEBSOCKET_MESSAGES_MEMORY_RATIO) / webSocketMessageBytesMax);
  const part = (whole: number, parts: number) => ({ fallback: Math.ceil(whole / parts), min: 1, max: 1_000_000 });
  const config: Config = {
    dataDir,
    host: envReader.string('DATAPLANE_HOST', '127.0.0.1'),
    port: envReader.int('DATAPLANE_PORT', { fallback: 8081, min: 0, max: 65_535 }),
    publicUrl: envReader.optionalUrl('DATAPLANE_PUBLIC_URL', ['http', 'https'])?.href.replace(/\/+$/, '') ?? null,
    metricsHost: envReader.string('DATAPLANE_METRICS_HOST', '127.0.0.1'),
    metricsPort: envReader.int('DATAPLANE_METRICS_PORT', { fallback: 9464, min: 0, max: 65_535 }),
    workers,
    controlplaneGrpc,
    link: readLinkSecurity(envReader, controlplaneGrpc, { ownTokens: envReader.secrets('DATAPLANE_TOKEN') }),
    redis,
    countersTimeoutMs: envReader.int('COUNTERS_TIMEOUT_MS', { fallback: 50, min: 1, max: 10_000 }),
    cell: readCell(envReader, redis),
    contextTtlMs: envReader.int('CONTEXT_TTL_MS', { fallback: 300_000, min: 1, max: DAY_MS }),
    contextStaleIfErrorMs: envReader.int('CONTEXT_STALE_IF_ERROR_MS', { fallback: 900_000, min: 0, max: DAY_MS }),
    spoolDir: envReader.string('SPOOL_DIR', join(dataDir, 'spool')),
    spoolBytesMax: envReader.int('SPOOL_MAX_BYTES', { fallback: 1_073_741_824, min: 65_536, max: 2 ** 44 }),
    // The ledger remembers its commits for twice the maximum.
    spoolKeepMs: envReader.int('SPOOL_KEEP_MS', { fallback: 600_000, min: 0, max: 3_600_000 }),
    egressAllowCidrs: envReader.cidrs('EGRESS_ALLOW_CIDRS'),
    trustedProxyCidrs: envReader.cidrs('TRUSTED_PROXY_CIDRS'),
    logLevel: envReader.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
    drainTimeoutMs: timeout('DRAIN_TIMEOUT_MS', 25_000),
    connectionsMax,
    connectionsPerAddressMax: envReader.int('MAX_CONNECTIONS_PER_ADDRESS', part(connectionsMax, 2)),
    inflightMax,
    inflightPerOrgMax: envReader.int('MAX_INFLIGHT_PER_ORG', part(inflightMax, 1)),
    webSocketsMax: envReader.int('MAX_WEBSOCKETS', {
      fallback: Math.min(inflightMax, Math.max(WEBSOCKETS_MIN, webSocketsByMemory)),
      min: 1,
      max: 1_000_000,
    }),
    webSocketMessageBytesMax,
    webSocketPoolBytes: Math.max(
      WEBSOCKET_POOL_MESSAGES_MIN * webSocketMessageBytesMax,
      Math.floor(workerBytes * WEBSOCKET_POOL_MEMORY_RATIO),
    ),
    unknownTokensPerAddress: envReader.int('UNKNOWN_TOKENS_PER_ADDRESS', { fallback: 20, min: 1, max: 1_000_000 }),
    headerBytesMax: envReader.int('MAX_HEADER_BYTES', { fallback: 16_384, min: 1_024, max: 262_144 }),
    headerCountMax: envReader.int('MAX_HEADER_COUNT', { fallback: 80, min: 8, max: 1_000 }),
    editedBodyBytesMax: envReader.int('MAX_EDITED_BODY_BYTES', { fallback: 10_485_760, min: 0, max: 1_073_741_824 }),
    bufferedBodyBytesMax: envReader.int('MAX_BUFFERED_BODY_BYTES', { fallback: 65_536, min: 0, max: 1_073_741_824 }),
    upstreamConnectTimeoutMs: timeout('UPSTREAM_CONNECT_TIMEOUT_MS', 5_000),
    upstreamHeadersTimeoutMs: timeout('UPSTREAM_HEADERS_TIMEOUT_MS', 300_000),
    upstreamBodyTimeoutMs: timeout('UPSTREAM_BODY_TIMEOUT_MS', 300_000),
    warnings: envReader.warnings,
    secretFiles: envReader.files,
    version: packageVersion(),
  };
  envReader.throwIfInvalid();
  return Object.freeze(config);
}

/** In-process counters serve one data plane, so there cannot be another cell. */
function readCell(read: EnvReader, redis: RedisAddress | null): Cell {
  const name = read.string('CELL_NAME', '');
  if (name !== '' && !CELL_NAME.test(name))
    read.addProblem('CELL_NAME must have 1 to 32 characters a-z, 0-9 and -, and must not begin or end with -');
  if (name !== '' && redis === null)
    read.addProblem('CELL_NAME needs REDIS_URL: a cell has a Redis of its own (docs/regions.md)');
  return { name, sharePercent: read.int('CELL_SHARE_PERCENT', { fallback: 100, min: 1, max: 100 }) };
}

function readRedisAddress(read: EnvReader): RedisAddress | null {
  const raw = read.optional('REDIS_URL');
  if (raw === null) return null;
  const address = parseRedisAddress(raw);
  if (address === null) {
    read.addProblem(
      'REDIS_URL must be one or more redis:// or rediss:// URLs, comma separated, or ' +
        'redis+sentinel://host:26379,host:26379/group/0?sentinelPassword=…',
    );
  }
  return address;
}

function packageVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };
  return manifest.version;
}
