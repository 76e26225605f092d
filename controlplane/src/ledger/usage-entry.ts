/**
 * A usage record as the ledger takes it. What a data plane sends is checked field by field: texts are cut to size and
 * cleaned, because a model's odd name must not cost the record; numbers or ids that make no sense make it poison.
 *
 * Many records of a batch share whose call it was and how it went. That part is a {@link UsageKind}: checked once, and
 * one object for all of them, so that a batch that waits for its commit is small for the garbage collector.
 */

/** What records share. */
export interface UsageKind {
  readonly keyId: string;
  readonly agentId: string;
  readonly orgId: string;
  readonly providerSlug: string;
  readonly accountId: string;
  readonly method: string;
  /** What the agent got. */
  readonly status: number;
  /** 0 = no answer. */
  readonly upstreamStatus: number;
  readonly error: string;
  readonly model: string;
  readonly usageSource: string;
  readonly priceSource: string;
  readonly streamed: boolean;
  readonly websocket: boolean;
  readonly dataPlaneId: string;
  readonly circuitKey: string;
  readonly circuitEpoch: number;
  /** CircuitOutcome of the proto: 0 neutral, 1 success, 2 failure. */
  readonly circuitOutcome: number;
}

/** What each record has for itself. */
export interface UsageFigures {
  readonly id: string;
  readonly path: string;
  readonly startedAtMs: number;
  readonly tokensInUncached: number;
  readonly tokensCacheRead: number;
  readonly tokensCacheWrite: number;
  readonly tokensOut: number;
  readonly tokensReasoning: number;
  readonly costNanos: number;
  readonly durationMs: number;
  readonly ttfbMs: number | null;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** `''` unless the request was admitted as a probe. */
  readonly probeLease: string;
}

/** A record that can be booked. The constructor throws {@link Poison}. */
export class UsageEntry implements UsageFigures {
  readonly id: string;
  readonly path: string;
  readonly startedAtMs: number;
  readonly tokensInUncached: number;
  readonly tokensCacheRead: number;
  readonly tokensCacheWrite: number;
  readonly tokensOut: number;
  readonly tokensReasoning: number;
  readonly costNanos: number;
  readonly durationMs: number;
  readonly ttfbMs: number | null;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly probeLease: string;

  constructor(
    readonly kind: UsageKind,
    wire: WireFigures,
    span: LedgerSpan,
  ) {
    this.startedAtMs = instant(wire.startedAtMs, span);
    this.id = uuid('id', wire.id);
    this.path = text(wire.path, 1024);
    this.tokensInUncached = count('tokens_in_uncached', wire.tokensInUncached);
    this.tokensCacheRead = count('tokens_cache_read', wire.tokensCacheRead);
    this.tokensCacheWrite = count('tokens_cache_write', wire.tokensCacheWrite);
    this.tokensOut = count('tokens_out', wire.tokensOut);
    this.tokensReasoning = count('tokens_reasoning', wire.tokensReasoning);
    this.costNanos = count('cost_nanos', wire.costNanos);
    this.durationMs = Math.min(wire.durationMs, INT4_MAX);
    this.ttfbMs = wire.ttfbMs < 0 ? null : Math.min(wire.ttfbMs, INT4_MAX);
    this.bytesIn = count('bytes_in', wire.bytesIn);
    this.bytesOut = count('bytes_out', wire.bytesOut);
    this.probeLease = text(wire.probeLease, 80);
  }

  get agentId(): string {
    return this.kind.agentId;
  }
  get orgId(): string {
    return this.kind.orgId;
  }
  get upstreamStatus(): number {
    return this.kind.upstreamStatus;
  }
  get circuitKey(): string {
    return this.kind.circuitKey;
  }
  get circuitEpoch(): number {
    return this.kind.circuitEpoch;
  }
  get circuitOutcome(): number {
    return this.kind.circuitOutcome;
  }
}

/** Days that the ledger has or makes partitions for: [oldest kept day, tomorrow]. */
export interface LedgerSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Fields as they came over the wire; absent ones have the default of their type, `ttfbMs` is -1. */
export interface WireKind extends Omit<UsageKind, 'status' | 'dataPlaneId'> {
  readonly responseStatus: number;
}
export interface WireFigures extends UsageFigures {
  readonly ttfbMs: number;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const SLUG = /^[a-z0-9-]{1,40}$/;
const INT4_MAX = 2 ** 31 - 1;
const STATUS_MAX = 999;

/** Why a record cannot be booked. */
export class Poison extends Error {}

/** Throws {@link Poison}. */
export function checkKind(wire: WireKind, dataPlaneId: string): UsageKind {
  const upstreamStatus = integer('status', wire.upstreamStatus, STATUS_MAX);
  return {
    keyId: uuid('key_id', wire.keyId),
    agentId: uuid('agent_id', wire.agentId),
    orgId: uuid('org_id', wire.orgId),
    providerSlug: slug('provider_slug', wire.providerSlug),
    accountId: uuid('account_id', wire.accountId),
    method: text(wire.method, 40),
    status: integer('response_status', wire.responseStatus, STATUS_MAX) || upstreamStatus,
    upstreamStatus,
    error: text(wire.error, 80),
    model: text(wire.model, 200),
    usageSource: text(wire.usageSource, 20) || 'none',
    priceSource: text(wire.priceSource, 20) || 'none',
    streamed: wire.streamed,
    websocket: wire.websocket,
    dataPlaneId: text(dataPlaneId, 80),
    circuitKey: text(wire.circuitKey, 512),
    circuitEpoch: count('circuit_epoch', wire.circuitEpoch),
    circuitOutcome: integer('circuit_outcome', wire.circuitOutcome, 2),
  };
}

/** An error is an answer of 400 or above, or a transport failure; a client that leaves on purpose is none. */
export const isError = (kind: UsageKind): boolean =>
  kind.status >= 400 || (kind.error !== '' && kind.error !== 'client_aborted');

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

function instant(ms: number, { fromMs, toMs }: LedgerSpan): number {
  if (!(ms <= Number.MAX_SAFE_INTEGER)) throw new Poison('started_at_ms is out of range');
  if (ms < fromMs) throw new Poison('started_at_ms is older than the retention of logs');
  if (ms >= toMs) throw new Poison('started_at_ms lies in the future: check the clock of the data plane');
  return ms;
}

function uuid(field: string, value: string): string {
  if (UUID.test(value)) return value;
  const lower = value.toLowerCase();
  if (!UUID.test(lower)) throw new Poison(`${field} is not a UUID`);
  return lower;
}

function slug(field: string, value: string): string {
  const known = slugOrNone(value);
  if (known === '') throw new Poison(`${field} is not a provider slug`);
  return known;
}

/** 2 199 USD, 2 TB, 2 × 10¹² tokens: sums over a batch of 4 096 stay exact in a JS number. */
export const COUNT_MAX = 2 ** 41;
const count = (field: string, value: number): number => integer(field, value, COUNT_MAX);

function integer(field: string, value: number, max: number): number {
  if (value > max) throw new Poison(`${field} is out of range`);
  return value;
}
