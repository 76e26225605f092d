/**
 * What the ledger does with each field of a usage record: how it is checked, and in which column of `usage_records` it
 * stands. The insert is made of these lists. What logs and exports show of a record: reports/log-schema.ts.
 */
import type { UsageRecordFigures, UsageRecordKind } from '@acg/proto/generated/usage-record';
import { count, INT4_MAX, integer, STATUS_MAX, slug, text, uuid } from './checks.js';

const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;

export interface Column<Part> {
  readonly field: keyof Part;
  /** Null: checked but not stored. */
  readonly column: string | null;
  /** In which the values are sent. */
  readonly type: 'uuid' | 'text' | 'bigint' | 'integer' | 'smallint' | 'boolean';
  readonly value: (part: Part) => string | number | boolean | null;
  /** Puts the value right in place, or throws `Poison`. */
  readonly check?: (part: Part) => unknown;
  /** The stored value as SQL over the sent one, where they differ. */
  readonly stored?: string;
}

/** What records share. */
type SharedFields = UsageRecordKind & { dataPlaneId: string };

/** What each record has for itself. */
export const FIGURES: readonly Column<UsageRecordFigures>[] = [
  // First, so that what lies outside the ledger's days says so; checked against them in UsageEntry.
  {
    field: 'startedAtMs',
    column: 'started_at',
    type: 'bigint',
    value: (r) => r.startedAtMs,
    stored: 'to_timestamp(r.started_at::float8 / 1000)',
  },
  { field: 'id', column: 'id', type: 'uuid', value: (r) => r.id, check: (r) => (r.id = uuid('id', r.id)) },
  { field: 'path', column: 'path', type: 'text', value: (r) => r.path, check: (r) => (r.path = text(r.path, 1024)) },
  {
    field: 'tokensInUncached',
    column: 'tokens_in_uncached',
    type: 'bigint',
    value: (r) => r.tokensInUncached,
    check: (r) => count('tokens_in_uncached', r.tokensInUncached),
  },
  {
    field: 'tokensCacheRead',
    column: 'tokens_cache_read',
    type: 'bigint',
    value: (r) => r.tokensCacheRead,
    check: (r) => count('tokens_cache_read', r.tokensCacheRead),
  },
  {
    field: 'tokensCacheWrite',
    column: 'tokens_cache_write',
    type: 'bigint',
    value: (r) => r.tokensCacheWrite,
    check: (r) => count('tokens_cache_write', r.tokensCacheWrite),
  },
  {
    field: 'tokensOut',
    column: 'tokens_out',
    type: 'bigint',
    value: (r) => r.tokensOut,
    check: (r) => count('tokens_out', r.tokensOut),
  },
  {
    field: 'tokensReasoning',
    column: 'tokens_reasoning',
    type: 'bigint',
    value: (r) => r.tokensReasoning,
    check: (r) => count('tokens_reasoning', r.tokensReasoning),
  },
  {
    field: 'costNanos',
    column: 'cost_nanos',
    type: 'bigint',
    value: (r) => r.costNanos,
    check: (r) => count('cost_nanos', r.costNanos),
  },
  {
    field: 'bytesIn',
    column: 'bytes_in',
    type: 'bigint',
    value: (r) => r.bytesIn,
    check: (r) => count('bytes_in', r.bytesIn),
  },
  {
    field: 'bytesOut',
    column: 'bytes_out',
    type: 'bigint',
    value: (r) => r.bytesOut,
    check: (r) => count('bytes_out', r.bytesOut),
  },
  {
    field: 'durationMs',
    column: 'duration_ms',
    type: 'integer',
    value: (r) => r.durationMs,
    check: (r) => (r.durationMs = Math.min(r.durationMs, INT4_MAX)),
  },
  {
    field: 'ttfbMs',
    column: 'ttfb_ms',
    type: 'integer',
    value: (r) => r.ttfbMs,
    check: (r) => (r.ttfbMs = r.ttfbMs === null ? null : Math.min(r.ttfbMs, INT4_MAX)),
  },
  {
    field: 'probeLease',
    column: null,
    type: 'text',
    value: (r) => r.probeLease,
    check: (r) => (r.probeLease = text(r.probeLease, 80)),
  },
  {
    field: 'traceparent', // for the span of the call, which is sent once it is booked
    column: null,
    type: 'text',
    value: (r) => r.traceparent,
    check: (r) => (r.traceparent = text(r.traceparent, 80)),
  },
];

/** What records of one kind share. */
export const KINDS: readonly Column<SharedFields>[] = [
  id(
    'orgId',
    'org_id',
    (k) => k.orgId,
    (k, value) => (k.orgId = value),
  ),
  id(
    'agentId',
    'agent_id',
    (k) => k.agentId,
    (k, value) => (k.agentId = value),
  ),
  id(
    'keyId',
    'key_id',
    (k) => k.keyId,
    (k, value) => (k.keyId = value),
  ),
  id(
    'accountId',
    'account_id',
    (k) => k.accountId,
    (k, value) => (k.accountId = value),
  ),
  {
    field: 'projectId',
    column: 'project_id',
    type: 'uuid',
    value: (k) => k.projectId || null,
    check: (k) => (k.projectId = k.projectId === '' ? '' : uuid('project_id', k.projectId)),
  },
  {
    field: 'month',
    column: null,
    type: 'text',
    value: (k) => k.month,
    check: (k) => (k.month = MONTH.test(k.month) ? k.month : ''),
  },
  {
    field: 'providerSlug',
    column: 'provider_slug',
    type: 'text',
    value: (k) => k.providerSlug,
    check: (k) => slug('provider_slug', k.providerSlug),
  },
  words(
    'method',
    'method',
    40,
    (k) => k.method,
    (k, value) => (k.method = value),
  ),
  words(
    'error',
    'error',
    80,
    (k) => k.error,
    (k, value) => (k.error = value),
  ),
  words(
    'model',
    'model',
    200,
    (k) => k.model,
    (k, value) => (k.model = value),
  ),
  words(
    'usageSource',
    'usage_source',
    20,
    (k) => k.usageSource,
    (k, value) => (k.usageSource = value || 'none'),
  ),
  words(
    'priceSource',
    'price_source',
    20,
    (k) => k.priceSource,
    (k, value) => (k.priceSource = value || 'none'),
  ),
  words(
    'dataPlaneId',
    'data_plane_id',
    80,
    (k) => k.dataPlaneId,
    (k, value) => (k.dataPlaneId = value),
  ),
  {
    field: 'status', // of the upstream
    column: 'upstream_status',
    type: 'smallint',
    value: (k) => k.status,
    check: (k) => integer('status', k.status, STATUS_MAX),
  },
  {
    field: 'responseStatus',
    column: 'status', // what the agent got
    type: 'smallint',
    value: (k) => k.responseStatus,
    check: (k) => (k.responseStatus = integer('response_status', k.responseStatus, STATUS_MAX) || k.status),
  },
  { field: 'lined', column: null, type: 'boolean', value: (k) => k.lined },
  { field: 'streamed', column: 'streamed', type: 'boolean', value: (k) => k.streamed },
  { field: 'websocket', column: 'websocket', type: 'boolean', value: (k) => k.websocket },
  words(
    'circuitKey',
    null,
    512,
    (k) => k.circuitKey,
    (k, value) => (k.circuitKey = value),
  ),
  {
    field: 'circuitEpoch',
    column: null,
    type: 'bigint',
    value: (k) => k.circuitEpoch,
    check: (k) => count('circuit_epoch', k.circuitEpoch),
  },
  {
    field: 'circuitOutcome', // of the proto: 0 neutral, 1 success, 2 failure
    column: null,
    type: 'smallint',
    value: (k) => k.circuitOutcome,
    check: (k) => integer('circuit_outcome', k.circuitOutcome, 2),
  },
];

function id(
  field: keyof SharedFields,
  column: string,
  value: (kind: SharedFields) => string,
  set: (kind: SharedFields, value: string) => unknown,
): Column<SharedFields> {
  return { field, column, type: 'uuid', value, check: (kind) => set(kind, uuid(column, value(kind))) };
}

function words(
  field: keyof SharedFields,
  column: string | null,
  charsMax: number,
  value: (kind: SharedFields) => string,
  set: (kind: SharedFields, value: string) => unknown,
): Column<SharedFields> {
  return { field, column, type: 'text', value, check: (kind) => set(kind, text(value(kind), charsMax)) };
}
