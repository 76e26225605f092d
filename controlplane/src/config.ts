/**
 * The settings of the control plane. All are read and validated once, before any port opens
 * (docs/configuration.md#configuration).
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EnvReader } from '@acg/base/env-reader';
import { LOG_LEVELS, type LogLevel } from '@acg/base/log';
import { Secret } from '@acg/base/secret';
import { DAY_MS } from '@acg/base/time-and-money-units';
import { type LinkSecurity, readLinkSecurity } from '@acg/proto/link-tls-or-shared-secret';
import type { ArchiveLocation } from './archive/object-store.js';
import type { CircuitConfig } from './breaker/breaker-transition-writer.js';
import { readDatabaseUrl } from './db/database-url.js';
import type { AbuseThresholds } from './detectors/abuse-event-detector.js';
import { defaultConnectionLimits, descriptorsMax } from './http/connection-limits-from-descriptors.js';
import type { SyslogServer } from './syslog/syslog-connection.js';
import { type OtlpSettings, readOtlpSettings } from './traces/otlp-settings.js';
import type { MasterKey } from './vault/aes-gcm-vault.js';
import { isWrapped, type MasterKeyRing, readMasterKeyRing } from './vault/key-services/master-key-ring.js';

/** Connections that a port accepts: in total, and per client network. */
interface PortConnectionBounds {
  readonly max: number;
  readonly perAddressMax: number;
}

interface ConnectionBounds {
  readonly api: PortConnectionBounds;
  readonly grpc: PortConnectionBounds;
}

export interface Config {
  readonly dataDir: string;
  readonly host: string;
  readonly port: number;
  /** Null: `/metrics` is served on the API port. */
  readonly metricsListen: { readonly host: string; readonly port: number } | null;
  readonly grpcListen: string;
  readonly connections: ConnectionBounds;
  readonly link: LinkSecurity;
  /** Data planes need an identity of their own; INTERNAL_TOKEN is rejected. */
  readonly identitiesRequired: boolean;
  readonly databaseUrl: Secret;
  /** The first key encrypts, all keys decrypt. Without those of {@link masterKeyRing} that are still wrapped. */
  readonly masterKeys: readonly MasterKey[];
  readonly masterKeyRing: MasterKeyRing;
  /** One secret, or two during a rotation: the first signs, both verify. */
  readonly jwtSecrets: readonly Secret[];
  /** Base URL without a trailing slash. */
  readonly publicUrl: string;
  /** Base of the OpenID Connect issuers, without a slash at the end. */
  readonly issuerUrl: string;
  /** Authorization servers can fetch the client id metadata documents of this gateway. */
  readonly servesClientDocuments: boolean;
  /** Base URL of the data planes for agents, without a trailing slash; null when not set. */
  readonly proxyUrl: string | null;
  /** Who may sign up; `first`: only the first user. */
  readonly signup: 'open' | 'first' | 'closed';
  /** Null: each mail is written as an .eml file into the outbox directory. */
  readonly smtpUrl: Secret | null;
  readonly mailFrom: string;
  readonly providersFile: string | null;
  /** Directory with the operator's provider files. */
  readonly providersDir: string | null;
  readonly pricesFile: string | null;
  readonly egressAllowCidrs: readonly string[];
  readonly trustedProxyCidrs: readonly string[];
  readonly webhookRetryDelaysMs: readonly number[];
  readonly webhookTimeoutMs: number;
  readonly circuit: CircuitConfig;
  readonly abuse: AbuseThresholds;
  readonly usageLogRetentionDays: number;
  readonly rejectionRetentionDays: number;
  /** Null: daily rollups and monthly spend are kept for ever. */
  readonly rollupRetentionDays: number | null;
  readonly auditRetentionDays: number;
  /** Null: closed days of the ledger are not archived. */
  readonly archive: ArchiveLocation | null;
  /** Days after which a day that cannot be archived is dropped all the same; 0: never. */
  readonly archiveDropUnverifiedAfterDays: number;
  /** Null: audit entries and rejections are not sent to syslog. */
  readonly syslog: SyslogServer | null;
  /** Null: no traces are exported. */
  readonly otlp: OtlpSettings | null;
  readonly logLevel: LogLevel;
  readonly drainTimeoutMs: number;
  /** Lines for the log at startup, e.g. about deprecated variables. */
  readonly warnings: readonly string[];
  /** Files with secrets and certificates, which are read again when they change. */
  readonly secretFiles: readonly string[];
  readonly version: string;
}

/** Read in this release, constants from the next one on (docs/configuration.md#deprecated-variables). */
const DEPRECATED_VARIABLES = [
  'ABUSE_AUTH_FAILURES',
  'CIRCUIT_COOLDOWN_MS',
  'CIRCUIT_PROBES',
  'CIRCUIT_WINDOW_MS',
  'CONTROLPLANE_MAX_CONNECTIONS',
  'CONTROLPLANE_MAX_CONNECTIONS_PER_ADDRESS',
  'GRPC_MAX_CONNECTIONS',
  'GRPC_MAX_CONNECTIONS_PER_ADDRESS',
  'REJECTION_RETENTION_DAYS',
  'WEBHOOK_RETRY_DELAYS_MS',
  'WEBHOOK_TIMEOUT_MS',
] as const;

/** Throws `ConfigError` that names every variable that is wrong. */
export function loadConfig(env: NodeJS.ProcessEnv): Config {
  const read = new EnvReader(env);
  read.deprecate(DEPRECATED_VARIABLES);
  const host = read.string('CONTROLPLANE_HOST', '127.0.0.1');
  const port = read.int('CONTROLPLANE_PORT', { fallback: 8080, min: 0, max: 65_535 });
  const grpcListen = read.listenAddress('GRPC_LISTEN', '127.0.0.1:9090');
  const ms = (name: string, fallback: number) => readMs(read, name, fallback);
  const count = (name: string, fallback: number) => readPositiveInt(read, name, fallback);
  const databaseUrl = readDatabaseUrl(read, 'a postgres:// URL (npm start includes its own database)');
  const jwtSecrets = read.secrets('JWT_SECRET');
  if (jwtSecrets.length === 0)
    read.addProblem('JWT_SECRET is not set: it must be a random secret of at least 32 bytes');
  const smtpUrl = read.optionalUrl('SMTP_URL', ['smtp', 'smtps']);
  const publicUrl = read.optionalUrl('PUBLIC_URL', ['http', 'https']);
  const issuerUrl = read.optionalUrl('ISSUER_URL', ['http', 'https']);
  const identitiesRequired =
    read.oneOf('DATAPLANE_IDENTITIES', ['optional', 'required'] as const, 'optional') === 'required';
  const masterKeyRing = readMasterKeyRing(read);
  const config: Config = {
    dataDir: read.string('GATEWAY_DATA_DIR', '.gateway'),
    host,
    port,
    metricsListen: readMetricsListen(read),
    grpcListen,
    connections: readConnectionBounds(read),
    link: readLinkSecurity(read, [grpcListen], { isTokenOptional: identitiesRequired }),
    identitiesRequired,
    databaseUrl,
    masterKeys: masterKeyRing.entries.flatMap((entry) => (isWrapped(entry) ? [] : [entry])),
    masterKeyRing,
    jwtSecrets,
    publicUrl: (publicUrl?.href ?? `http://${host}:${port}`).replace(/\/+$/, ''),
    issuerUrl: (issuerUrl?.href ?? publicUrl?.href ?? `http://${host}:${port}`).replace(/\/+$/, ''),
    servesClientDocuments: read.oneOf('CLIENT_METADATA_DOCUMENTS', ['on', 'off'] as const, 'on') === 'on',
    proxyUrl: read.optionalUrl('DATAPLANE_PUBLIC_URL', ['http', 'https'])?.href.replace(/\/+$/, '') ?? null,
    signup: read.oneOf('SIGNUP', ['open', 'first', 'closed'] as const, 'open'),
    smtpUrl: smtpUrl === null ? null : new Secret(smtpUrl.href),
    mailFrom: read.string('MAIL_FROM', 'Agent Credential Gateway <gateway@localhost>'),
    providersFile: read.optional('PROVIDERS_FILE'),
    providersDir: read.optional('PROVIDERS_DIR'),
    pricesFile: read.optional('PRICES_FILE'),
    egressAllowCidrs: read.cidrs('EGRESS_ALLOW_CIDRS'),
    trustedProxyCidrs: read.cidrs('TRUSTED_PROXY_CIDRS'),
    webhookRetryDelaysMs: read.intList('WEBHOOK_RETRY_DELAYS_MS', [10_000, 60_000, 300_000], { min: 1, max: DAY_MS }),
    webhookTimeoutMs: ms('WEBHOOK_TIMEOUT_MS', 10_000),
    circuit: readCircuitConfig(read),
    abuse: {
      rejections: count('ABUSE_REJECTIONS', 300),
      authFailures: count('ABUSE_AUTH_FAILURES', 50),
      addresses: count('ABUSE_ADDRESSES', 20),
    },
    usageLogRetentionDays: readUsageLogRetentionDays(read),
    // Reports of rejections cover up to 90 days.
    rejectionRetentionDays: read.int('REJECTION_RETENTION_DAYS', { fallback: 400, min: 92, max: 36_500 }),
    rollupRetentionDays: readRollupRetentionDays(read),
    auditRetentionDays: read.int('AUDIT_RETENTION_DAYS', { fallback: 400, min: 1, max: 36_500 }),
    archive: readArchiveLocation(read),
    archiveDropUnverifiedAfterDays: read.int('ARCHIVE_DROP_UNVERIFIED_AFTER_DAYS', {
      fallback: 0,
      min: 0,
      max: 36_500,
    }),
    syslog: readSyslogServer(read),
    otlp: readOtlpSettings(read),
    logLevel: read.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
    drainTimeoutMs: ms('DRAIN_TIMEOUT_MS', 25_000),
    warnings: read.warnings,
    secretFiles: read.files,
    version: packageVersion(),
  };
  read.throwIfInvalid();
  return Object.freeze(config);
}

const ARCHIVE_URL = /^(?:s3:\/\/([a-z0-9][a-z0-9.-]{1,62})(?:\/(.*))?|file:\/\/(\/.+))$/;

function readArchiveLocation(read: EnvReader): ArchiveLocation | null {
  const url = read.optional('ARCHIVE_URL');
  const endpoint = read.optionalUrl('ARCHIVE_S3_ENDPOINT', ['http', 'https']);
  const region = read.string('ARCHIVE_S3_REGION', 'us-east-1');
  const accessKeyId = read.string('ARCHIVE_S3_ACCESS_KEY_ID', '');
  const secretAccessKey = new Secret(read.string('ARCHIVE_S3_SECRET_ACCESS_KEY', ''));
  if (url === null) return null;
  const [, bucket, prefix = '', path] = ARCHIVE_URL.exec(url) ?? [];
  if (path !== undefined) return { kind: 'file', path };
  if (bucket === undefined) {
    read.addProblem('ARCHIVE_URL must be s3://bucket/prefix or file:///directory');
    return null;
  }
  if (accessKeyId === '' || secretAccessKey.reveal() === '')
    read.addProblem('ARCHIVE_URL of S3 needs ARCHIVE_S3_ACCESS_KEY_ID and ARCHIVE_S3_SECRET_ACCESS_KEY');
  return {
    kind: 's3',
    bucket,
    prefix: prefix.replace(/^\/+|\/+$/g, ''),
    endpoint: endpoint?.origin ?? `https://s3.${region}.amazonaws.com`,
    region,
    accessKeyId,
    secretAccessKey,
  };
}

const SYSLOG_URL = /^syslog\+(tcp|tls):\/\/(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+):(\d{1,5})$/;

function readSyslogServer(read: EnvReader): SyslogServer | null {
  const url = read.optional('SYSLOG_URL');
  if (url === null) return null;
  const [, transport, host, port] = SYSLOG_URL.exec(url) ?? [];
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) {
    read.addProblem('SYSLOG_URL must be syslog+tls://host:port or syslog+tcp://host:port');
    return null;
  }
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port), isTls: transport === 'tls' };
}

export const readUsageLogRetentionDays = (read: EnvReader): number =>
  read.int('USAGE_LOG_RETENTION_DAYS', { fallback: 90, min: 1, max: 36_500 });

/** A day is rebuilt from its hours, and budgets read the present month: rollups of a year are always needed. */
function readRollupRetentionDays(read: EnvReader): number | null {
  const days = read.int('ROLLUP_RETENTION_DAYS', { fallback: 0, min: 400, max: 36_500 });
  return days === 0 ? null : days;
}

function readMetricsListen(read: EnvReader): Config['metricsListen'] {
  if (read.optional('CONTROLPLANE_METRICS_PORT') === null) return null;
  const port = read.int('CONTROLPLANE_METRICS_PORT', { fallback: 0, min: 0, max: 65_535 });
  return { host: read.string('CONTROLPLANE_METRICS_HOST', '127.0.0.1'), port };
}

const CONNECTIONS_MAX = 1_000_000;

function readConnectionBounds(read: EnvReader): ConnectionBounds {
  const defaults = defaultConnectionLimits(descriptorsMax());
  const bounds = (prefix: string, fallback: number): PortConnectionBounds => {
    const max = read.int(`${prefix}_MAX_CONNECTIONS`, { fallback, min: 1, max: CONNECTIONS_MAX });
    const half = { fallback: Math.ceil(max / 2), min: 1, max: CONNECTIONS_MAX };
    return { max, perAddressMax: read.int(`${prefix}_MAX_CONNECTIONS_PER_ADDRESS`, half) };
  };
  return { api: bounds('CONTROLPLANE', defaults.api), grpc: bounds('GRPC', defaults.link) };
}

/** The directory for mails that are not sent by SMTP. */
export const outboxDirectory = (config: Config): string => join(config.dataDir, 'outbox');

const readMs = (read: EnvReader, name: string, fallback: number): number =>
  read.int(name, { fallback, min: 1, max: DAY_MS });
const readPositiveInt = (read: EnvReader, name: string, fallback: number): number =>
  read.int(name, { fallback, min: 1, max: 1_000_000_000 });

export const readCircuitConfig = (read: EnvReader): CircuitConfig => ({
  windowMs: readMs(read, 'CIRCUIT_WINDOW_MS', 30_000),
  requestsMin: readPositiveInt(read, 'CIRCUIT_MIN_REQUESTS', 20),
  errorRate: read.ratio('CIRCUIT_ERROR_RATE', 0.5),
  cooldownMs: readMs(read, 'CIRCUIT_COOLDOWN_MS', 30_000),
  probes: read.int('CIRCUIT_PROBES', { fallback: 5, min: 1, max: 1_000 }),
});

function packageVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };
  return manifest.version;
}
