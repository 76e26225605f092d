/**
 * The fields of a log record: each field once, with its SQL and its type. The pages of /logs, exports in JSON and CSV,
 * and the API document are built from this list, so all of them have the same fields.
 */
import { type Static, type TSchema, Type } from 'typebox';
import { Timestamp, Uuid } from '../../http/schema.js';

/** `text`: may contain anything that a caller or provider chose. */
type FieldKind = 'plain' | 'text' | 'textOrNull' | 'flag';

export interface LogField<Shown extends TSchema = TSchema> {
  readonly kind: FieldKind;
  /** Expression over a row of `usage_records`. */
  readonly sql: string;
  readonly type: Shown;
}

const plain = <Shown extends TSchema>(sql: string, type: Shown): LogField<Shown> => ({ kind: 'plain', sql, type });
const anyText = (sql: string) => ({ kind: 'text', sql, type: Type.String() }) as const;
const textOrNull = (sql: string) =>
  ({ kind: 'textOrNull', sql, type: Type.Union([Type.String(), Type.Null()]) }) as const;
const count = (sql: string) => plain(sql, Type.Integer());

/** In the order of the exports: append new fields at the end. */
export const LOG_FIELDS = {
  id: plain('id', Uuid),
  requestId: plain('id', Uuid),
  createdAt: plain(`to_char(started_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`, Timestamp),
  agentId: plain('agent_id', Uuid),
  keyId: plain('key_id', Uuid),
  providerSlug: anyText('provider_slug'),
  accountId: plain('account_id', Uuid),
  method: anyText('method'),
  path: anyText('path'),
  status: count('status'),
  error: textOrNull('error'),
  model: textOrNull('model'),
  tokensIn: count('tokens_in_uncached + tokens_cache_read + tokens_cache_write'),
  tokensOut: count('tokens_out'),
  tokensCacheRead: count('tokens_cache_read'),
  tokensCacheWrite: count('tokens_cache_write'),
  tokensReasoning: count('tokens_reasoning'),
  costCents: plain('trim_scale(cost_nanos * 0.0000001)', Type.Number()),
  usageSource: anyText('usage_source'),
  priceSource: anyText('price_source'),
  durationMs: count('duration_ms'),
  ttfbMs: plain('ttfb_ms', Type.Union([Type.Integer(), Type.Null()])),
  bytesIn: count('bytes_in'),
  bytesOut: count('bytes_out'),
  streamed: { kind: 'flag', sql: 'streamed', type: Type.Boolean() } as const,
  dataPlaneId: anyText('data_plane_id'),
};

type Types = { [Name in keyof typeof LOG_FIELDS]: (typeof LOG_FIELDS)[Name]['type'] };

export const LogRecord = Type.Object(
  Object.fromEntries(Object.entries(LOG_FIELDS).map(([name, { type }]) => [name, type])) as Types,
);
export type LogRecord = Static<typeof LogRecord>;
