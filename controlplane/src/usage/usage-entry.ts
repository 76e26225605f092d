/**
 * A usage record as the ledger takes it. What a data plane sends is checked field by field: texts are cut to size and
 * cleaned, because a model's odd name must not cost the record; numbers or ids that make no sense make it poison.
 */
import type { IUsageRecord } from '@acg/proto/messages';

export interface UsageEntry {
  readonly id: string;
  readonly keyId: string;
  readonly agentId: string;
  readonly orgId: string;
  readonly providerSlug: string;
  readonly accountId: string;
  readonly startedAtMs: number;
  readonly method: string;
  readonly path: string;
  /** What the agent got. */
  readonly status: number;
  /** 0 = no answer. */
  readonly upstreamStatus: number;
  readonly error: string;
  readonly model: string;
  readonly tokensInUncached: number;
  readonly tokensCacheRead: number;
  readonly tokensCacheWrite: number;
  readonly tokensOut: number;
  readonly tokensReasoning: number;
  readonly costNanos: number;
  readonly usageSource: string;
  readonly priceSource: string;
  readonly durationMs: number;
  readonly ttfbMs: number | null;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly streamed: boolean;
  readonly websocket: boolean;
  readonly dataPlaneId: string;
  readonly circuitKey: string;
  readonly circuitEpoch: number;
  /** CircuitOutcome of the proto: 0 neutral, 1 success, 2 failure. */
  readonly circuitOutcome: number;
  readonly probeLease: string;
}

/** Days that the ledger has or makes partitions for: [oldest kept day, tomorrow]. */
export interface LedgerSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const SLUG = /^[a-z0-9-]{1,40}$/;
const INT4_MAX = 2 ** 31 - 1;
const STATUS_MAX = 999;

class Poison extends Error {}

/** The entry, or why the record cannot be booked. */
export function parseUsageRecord(record: IUsageRecord, dataPlaneId: string, span: LedgerSpan): UsageEntry | string {
  try {
    return read(record, dataPlaneId, span);
  } catch (error) {
    if (error instanceof Poison) return error.message;
    throw error;
  }
}

function read(record: IUsageRecord, dataPlaneId: string, span: LedgerSpan): UsageEntry {
  const startedAtMs = integer('started_at_ms', record.startedAtMs, Number.MAX_SAFE_INTEGER);
  if (startedAtMs < span.fromMs) throw new Poison('started_at_ms is older than the retention of logs');
  if (startedAtMs >= span.toMs) throw new Poison('started_at_ms lies in the future: check the clock of the data plane');
  const upstreamStatus = integer('status', record.status, STATUS_MAX);
  return {
    id: uuid('id', record.id),
    keyId: uuid('key_id', record.keyId),
    agentId: uuid('agent_id', record.agentId),
    orgId: uuid('org_id', record.orgId),
    providerSlug: slug('provider_slug', record.providerSlug),
    accountId: uuid('account_id', record.accountId),
    startedAtMs,
    method: text(record.method, 40),
    path: text(record.path, 1024),
    status: integer('response_status', record.responseStatus, STATUS_MAX) || upstreamStatus,
    upstreamStatus,
    error: text(record.error, 80),
    model: text(record.model, 200),
    tokensInUncached: count('tokens_in_uncached', record.tokensInUncached),
    tokensCacheRead: count('tokens_cache_read', record.tokensCacheRead),
    tokensCacheWrite: count('tokens_cache_write', record.tokensCacheWrite),
    tokensOut: count('tokens_out', record.tokensOut),
    tokensReasoning: count('tokens_reasoning', record.tokensReasoning),
    costNanos: count('cost_nanos', record.costNanos),
    usageSource: text(record.usageSource, 20) || 'none',
    priceSource: text(record.priceSource, 20) || 'none',
    durationMs: Math.min(integer('duration_ms', record.durationMs, 2 ** 32), INT4_MAX),
    ttfbMs: record.ttfbMs == null ? null : Math.min(integer('ttfb_ms', record.ttfbMs, 2 ** 32), INT4_MAX),
    bytesIn: count('bytes_in', record.bytesIn),
    bytesOut: count('bytes_out', record.bytesOut),
    streamed: record.streamed === true,
    websocket: record.websocket === true,
    dataPlaneId: text(dataPlaneId, 80),
    circuitKey: text(record.circuitKey, 512),
    circuitEpoch: count('circuit_epoch', record.circuitEpoch),
    circuitOutcome: integer('circuit_outcome', record.circuitOutcome, 2),
    probeLease: text(record.probeLease, 80),
  };
}

/** An error is an answer of 400 or above, or a transport failure; a client that leaves on purpose is none. */
export const isError = (entry: UsageEntry): boolean =>
  entry.status >= 400 || (entry.error !== '' && entry.error !== 'client_aborted');

export function isUuid(value: string): boolean {
  return UUID.test(value);
}

/** A provider slug, or "" for anything else. */
export function slugOrNone(value: string | null | undefined): string {
  return value != null && SLUG.test(value) ? value : '';
}

/** At most `charsMax` characters, without what Postgres cannot hold. */
export function text(value: string | null | undefined, charsMax: number): string {
  const raw = value ?? '';
  const cut = raw.length > charsMax ? raw.slice(0, charsMax) : raw;
  return cut.includes('\0') ? cut.replaceAll('\0', '\ufffd') : cut; // a replacement costs even where there is nothing to do
}

function uuid(field: string, value: string | null | undefined): string {
  if (value != null && UUID.test(value)) return value;
  const lower = (value ?? '').toLowerCase();
  if (!UUID.test(lower)) throw new Poison(`${field} is not a UUID`);
  return lower;
}

function slug(field: string, value: string | null | undefined): string {
  const known = slugOrNone(value);
  if (known === '') throw new Poison(`${field} is not a provider slug`);
  return known;
}

/** 2 199 USD, 2 TB, 2 × 10¹² tokens: sums over a batch of 4 096 stay exact in a JS number. */
const COUNT_MAX = 2 ** 41;
const count = (field: string, value: number | null | undefined): number => integer(field, value, COUNT_MAX);

function integer(field: string, value: number | null | undefined, max: number): number {
  const given = value ?? 0;
  if (!Number.isSafeInteger(given) || given < 0 || given > max) throw new Poison(`${field} is out of range`);
  return given;
}
