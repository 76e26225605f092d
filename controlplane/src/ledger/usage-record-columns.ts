/**
 * For each field of a usage record: how it is validated, and in which column of `usage_records` it is stored. The
 * insert statement is built from these lists. Fields in logs and exports: reports/log-record/log-schema.ts.
 */
import type { UsageRecordDimensions, UsageRecordMeasures } from '@acg/proto/generated/usage-record';
import {
  HTTP_STATUS_MAX,
  INT4_MAX,
  isUuid,
  parseCount,
  parseDayOrEmpty,
  parseIntegerUpTo,
  parseProviderSlug,
  parseTagsOrEmpty,
  parseUuid,
  truncateAndReplaceNul,
} from './usage-field-validation.js';

const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;

export interface UsageRecordColumn<Part> {
  readonly field: keyof Part;
  /** Null: validated but not stored. */
  readonly column: string | null;
  /** The type in which the values are sent. */
  readonly sqlType: 'uuid' | 'text' | 'bigint' | 'integer' | 'smallint' | 'boolean';
  readonly value: (part: Part) => string | number | boolean | null;
  /** Normalizes the value in place, or throws `InvalidUsageRecord`. */
  readonly validate?: (part: Part) => unknown;
  /** SQL that turns the sent value into the stored one, if they differ. */
  readonly storedSql?: string;
}

/** Dimensions that many records share. */
type DimensionFields = UsageRecordDimensions & { dataPlaneId: string };

/** Measures: fields that differ from record to record. */
export const MEASURE_COLUMNS: readonly UsageRecordColumn<UsageRecordMeasures>[] = [
  // First, so that a record outside the retained days fails for that reason; UsageEntry checks the time.
  {
    field: 'startedAtMs',
    column: 'started_at',
    sqlType: 'bigint',
    value: (r) => r.startedAtMs,
    storedSql: 'to_timestamp(r.started_at::float8 / 1000)',
  },
  { field: 'id', column: 'id', sqlType: 'uuid', value: (r) => r.id, validate: (r) => (r.id = parseUuid('id', r.id)) },
  {
    field: 'path',
    column: 'path',
    sqlType: 'text',
    value: (r) => r.path,
    validate: (r) => (r.path = truncateAndReplaceNul(r.path, 1024)),
  },
  {
    field: 'tags', // nearly each call may have its own
    column: 'tags',
    sqlType: 'text',
    value: (r) => r.tags,
    validate: (r) => (r.tags = parseTagsOrEmpty(r.tags)),
  },
  {
    field: 'tokensInUncached',
    column: 'tokens_in_uncached',
    sqlType: 'bigint',
    value: (r) => r.tokensInUncached,
    validate: (r) => parseCount('tokens_in_uncached', r.tokensInUncached),
  },
  {
    field: 'tokensCacheRead',
    column: 'tokens_cache_read',
    sqlType: 'bigint',
    value: (r) => r.tokensCacheRead,
    validate: (r) => parseCount('tokens_cache_read', r.tokensCacheRead),
  },
  {
    field: 'tokensCacheWrite',
    column: 'tokens_cache_write',
    sqlType: 'bigint',
    value: (r) => r.tokensCacheWrite,
    validate: (r) => parseCount('tokens_cache_write', r.tokensCacheWrite),
  },
  {
    field: 'tokensOut',
    column: 'tokens_out',
    sqlType: 'bigint',
    value: (r) => r.tokensOut,
    validate: (r) => parseCount('tokens_out', r.tokensOut),
  },
  {
    field: 'tokensReasoning',
    column: 'tokens_reasoning',
    sqlType: 'bigint',
    value: (r) => r.tokensReasoning,
    validate: (r) => parseCount('tokens_reasoning', r.tokensReasoning),
  },
  {
    field: 'costNanos',
    column: 'cost_nanos',
    sqlType: 'bigint',
    value: (r) => r.costNanos,
    validate: (r) => parseCount('cost_nanos', r.costNanos),
  },
  {
    field: 'statedCostNanos',
    column: 'stated_cost_nanos',
    sqlType: 'bigint',
    value: (r) => r.statedCostNanos,
    validate: (r) => r.statedCostNanos === null || parseCount('stated_cost_nanos', r.statedCostNanos),
  },
  {
    field: 'bytesIn',
    column: 'bytes_in',
    sqlType: 'bigint',
    value: (r) => r.bytesIn,
    validate: (r) => parseCount('bytes_in', r.bytesIn),
  },
  {
    field: 'bytesOut',
    column: 'bytes_out',
    sqlType: 'bigint',
    value: (r) => r.bytesOut,
    validate: (r) => parseCount('bytes_out', r.bytesOut),
  },
  {
    field: 'durationMs',
    column: 'duration_ms',
    sqlType: 'integer',
    value: (r) => r.durationMs,
    validate: (r) => (r.durationMs = Math.min(r.durationMs, INT4_MAX)),
  },
  {
    field: 'ttfbMs',
    column: 'ttfb_ms',
    sqlType: 'integer',
    value: (r) => r.ttfbMs,
    validate: (r) => (r.ttfbMs = r.ttfbMs === null ? null : Math.min(r.ttfbMs, INT4_MAX)),
  },
  {
    field: 'probeLease',
    column: null,
    sqlType: 'text',
    value: (r) => r.probeLease,
    validate: (r) => (r.probeLease = truncateAndReplaceNul(r.probeLease, 80)),
  },
  {
    field: 'traceparent', // for the span of the call, which is exported after the booking
    column: null,
    sqlType: 'text',
    value: (r) => r.traceparent,
    validate: (r) => (r.traceparent = truncateAndReplaceNul(r.traceparent, 80)),
  },
];

/** Dimensions: fields that many records share. */
export const DIMENSION_COLUMNS: readonly UsageRecordColumn<DimensionFields>[] = [
  uuidColumn(
    'orgId',
    'org_id',
    (k) => k.orgId,
    (k, value) => (k.orgId = value),
  ),
  uuidColumn(
    'agentId',
    'agent_id',
    (k) => k.agentId,
    (k, value) => (k.agentId = value),
  ),
  uuidColumn(
    'keyId',
    'key_id',
    (k) => k.keyId,
    (k, value) => (k.keyId = value),
  ),
  uuidColumn(
    'accountId',
    'account_id',
    (k) => k.accountId,
    (k, value) => (k.accountId = value),
  ),
  {
    field: 'projectId',
    column: 'project_id',
    sqlType: 'uuid',
    value: (k) => k.projectId || null,
    validate: (k) => (k.projectId = k.projectId === '' ? '' : parseUuid('project_id', k.projectId)),
  },
  {
    field: 'month',
    column: null,
    sqlType: 'text',
    value: (k) => k.month,
    validate: (k) => (k.month = MONTH.test(k.month) ? k.month : ''),
  },
  {
    field: 'providerSlug',
    column: 'provider_slug',
    sqlType: 'text',
    value: (k) => k.providerSlug,
    validate: (k) => parseProviderSlug('provider_slug', k.providerSlug),
  },
  textColumn(
    'method',
    'method',
    40,
    (k) => k.method,
    (k, value) => (k.method = value),
  ),
  textColumn(
    'error',
    'error',
    80,
    (k) => k.error,
    (k, value) => (k.error = value),
  ),
  textColumn(
    'model',
    'model',
    200,
    (k) => k.model,
    (k, value) => (k.model = value),
  ),
  textColumn(
    'tool',
    'tool',
    200,
    (k) => k.tool,
    (k, value) => (k.tool = value),
  ),
  {
    field: 'runId',
    column: 'run_id',
    sqlType: 'uuid',
    value: (k) => k.runId || null,
    validate: (k) => (k.runId = isUuid(k.runId) ? k.runId.toLowerCase() : ''),
  },
  {
    field: 'day',
    column: null,
    sqlType: 'text',
    value: (k) => k.day,
    validate: (k) => (k.day = parseDayOrEmpty(k.day)),
  },
  textColumn(
    'budgetRows',
    null,
    16_384,
    (k) => k.budgetRows,
    (k, value) => (k.budgetRows = value),
  ),
  textColumn(
    'wouldReject',
    'would_reject',
    4_096,
    (k) => k.wouldReject,
    (k, value) => (k.wouldReject = value),
  ),
  textColumn(
    'usageSource',
    'usage_source',
    20,
    (k) => k.usageSource,
    (k, value) => (k.usageSource = value || 'none'),
  ),
  textColumn(
    'priceSource',
    'price_source',
    20,
    (k) => k.priceSource,
    (k, value) => (k.priceSource = value || 'none'),
  ),
  textColumn(
    'dataPlaneId',
    'data_plane_id',
    80,
    (k) => k.dataPlaneId,
    (k, value) => (k.dataPlaneId = value),
  ),
  {
    field: 'status', // status of the provider's response
    column: 'upstream_status',
    sqlType: 'smallint',
    value: (k) => k.status,
    validate: (k) => parseIntegerUpTo('status', k.status, HTTP_STATUS_MAX),
  },
  {
    field: 'responseStatus',
    column: 'status', // status that the agent received
    sqlType: 'smallint',
    value: (k) => k.responseStatus,
    validate: (k) =>
      (k.responseStatus = parseIntegerUpTo('response_status', k.responseStatus, HTTP_STATUS_MAX) || k.status),
  },
  { field: 'lined', column: null, sqlType: 'boolean', value: (k) => k.lined },
  { field: 'streamed', column: 'streamed', sqlType: 'boolean', value: (k) => k.streamed },
  { field: 'websocket', column: 'websocket', sqlType: 'boolean', value: (k) => k.websocket },
  textColumn(
    'circuitKey',
    null,
    512,
    (k) => k.circuitKey,
    (k, value) => (k.circuitKey = value),
  ),
  {
    field: 'circuitEpoch',
    column: null,
    sqlType: 'bigint',
    value: (k) => k.circuitEpoch,
    validate: (k) => parseCount('circuit_epoch', k.circuitEpoch),
  },
  {
    field: 'circuitOutcome', // values of the proto: 0 neutral, 1 success, 2 failure
    column: null,
    sqlType: 'smallint',
    value: (k) => k.circuitOutcome,
    validate: (k) => parseIntegerUpTo('circuit_outcome', k.circuitOutcome, 2),
  },
];

function uuidColumn(
  field: keyof DimensionFields,
  column: string,
  value: (dimensions: DimensionFields) => string,
  set: (dimensions: DimensionFields, value: string) => unknown,
): UsageRecordColumn<DimensionFields> {
  return {
    field,
    column,
    sqlType: 'uuid',
    value,
    validate: (dimensions) => set(dimensions, parseUuid(column, value(dimensions))),
  };
}

function textColumn(
  field: keyof DimensionFields,
  column: string | null,
  charsMax: number,
  value: (dimensions: DimensionFields) => string,
  set: (dimensions: DimensionFields, value: string) => unknown,
): UsageRecordColumn<DimensionFields> {
  return {
    field,
    column,
    sqlType: 'text',
    value,
    validate: (dimensions) => set(dimensions, truncateAndReplaceNul(value(dimensions), charsMax)),
  };
}
