/** The span of one usage record, in OTLP's JSON form. Pure. It holds figures and ids, never anything of a body. */
import { isError, type UsageEntry } from '../ledger/usage-entry.js';
import { ATTRIBUTE, OPERATIONS, type Operation } from './attributes.js';
import { parseTraceparent } from './trace-context.js';

/** 64-bit integers are decimal strings in OTLP's JSON, ids are hex. */
type AttributeValue =
  | { readonly stringValue: string }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly boolValue: boolean };

interface Attribute {
  readonly key: string;
  readonly value: AttributeValue;
}

export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code?: number };
}

const KIND_CLIENT = 3;
const STATUS_ERROR = 2;
const NANOS_PER_USD = 1e9;

export const text = (key: string, stringValue: string): Attribute => ({ key, value: { stringValue } });
const integer = (key: string, value: number): Attribute => ({ key, value: { intValue: String(value) } });

/**
 * Null where the caller does not record its trace. A call without a trace begins one whose id is the request's id, so
 * that one can be found by the other.
 */
export function spanOf(entry: UsageEntry): OtlpSpan | null {
  const context = parseTraceparent(entry.traceparent);
  if (context !== null && !context.sampled) return null;
  const { kind } = entry;
  const id = entry.id.replaceAll('-', '');
  const operation = kind.method === 'POST' ? operationOf(entry.path) : null;
  return {
    traceId: context?.traceId ?? id,
    spanId: id.slice(16),
    ...(context === null ? {} : { parentSpanId: context.parentSpanId }),
    name: operation === null ? `${kind.method} ${kind.providerSlug}` : `${operation.name} ${kind.model}`.trim(),
    kind: KIND_CLIENT,
    startTimeUnixNano: unixNano(entry.startedAtMs),
    endTimeUnixNano: unixNano(entry.startedAtMs + entry.durationMs),
    attributes: [...(operation === null ? [] : generation(entry, operation)), ...call(entry)],
    status: isError(kind) ? { code: STATUS_ERROR } : {},
  };
}

const unixNano = (ms: number): string => `${Math.round(ms)}000000`;

function operationOf(path: string): Operation | null {
  const plain = path.toLowerCase().replace(/\/+$/, '');
  return OPERATIONS.find(({ end }) => plain.endsWith(end)) ?? null;
}

function generation(entry: UsageEntry, { name, outputType }: Operation): readonly Attribute[] {
  const { kind } = entry;
  const tokensIn = entry.tokensInUncached + entry.tokensCacheRead + entry.tokensCacheWrite;
  return [
    text(ATTRIBUTE.operation, name),
    ...(outputType === null ? [] : [text(ATTRIBUTE.outputType, outputType)]),
    text(ATTRIBUTE.provider, kind.providerSlug),
    ...(kind.model === '' ? [] : [text(ATTRIBUTE.model, kind.model)]),
    integer(ATTRIBUTE.inputTokens, tokensIn),
    integer(ATTRIBUTE.outputTokens, entry.tokensOut),
    integer(ATTRIBUTE.cacheReadTokens, entry.tokensCacheRead),
    integer(ATTRIBUTE.cacheWriteTokens, entry.tokensCacheWrite),
    integer(ATTRIBUTE.reasoningTokens, entry.tokensReasoning),
    text(ATTRIBUTE.usageSource, kind.usageSource),
  ];
}

function call(entry: UsageEntry): readonly Attribute[] {
  const { kind } = entry;
  return [
    text(ATTRIBUTE.requestId, entry.id),
    text(ATTRIBUTE.orgId, kind.orgId),
    ...(kind.projectId === '' ? [] : [text(ATTRIBUTE.projectId, kind.projectId)]),
    text(ATTRIBUTE.agentId, kind.agentId),
    text(ATTRIBUTE.keyId, kind.keyId),
    text(ATTRIBUTE.providerSlug, kind.providerSlug),
    { key: ATTRIBUTE.costUsd, value: { doubleValue: entry.costNanos / NANOS_PER_USD } },
    text(ATTRIBUTE.method, kind.method),
    text(ATTRIBUTE.path, entry.path),
    integer(ATTRIBUTE.status, kind.responseStatus),
    integer(ATTRIBUTE.requestBytes, entry.bytesIn),
    integer(ATTRIBUTE.responseBytes, entry.bytesOut),
    { key: ATTRIBUTE.streamed, value: { boolValue: kind.streamed } },
    ...(entry.ttfbMs === null ? [] : [integer(ATTRIBUTE.firstByteMs, entry.ttfbMs)]),
    ...(isError(kind) ? [text(ATTRIBUTE.errorType, kind.error || String(kind.responseStatus))] : []),
  ];
}
