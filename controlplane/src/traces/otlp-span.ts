/**
 * Builds the span of one usage record in OTLP's JSON form. Pure. The span contains ids and numbers, never a part of a
 * body.
 */
import { isFailedCall, type UsageEntry } from '../ledger/usage-record-with-shared-dimensions.js';
import { parseTraceparent } from './parse-traceparent.js';
import { ATTRIBUTE, OPERATIONS, type Operation } from './span-attribute-names.js';

/** OTLP's JSON encodes 64-bit integers as decimal strings and ids as hex. */
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

export const stringAttribute = (key: string, stringValue: string): Attribute => ({ key, value: { stringValue } });
const intAttribute = (key: string, value: number): Attribute => ({ key, value: { intValue: String(value) } });

/**
 * Returns null when the caller does not sample its trace. A call without a trace starts one whose id is the request id,
 * so that each can be found by the other.
 */
export function toOtlpSpan(entry: UsageEntry): OtlpSpan | null {
  const context = parseTraceparent(entry.traceparent);
  if (context !== null && !context.sampled) return null;
  const { dimensions: kind } = entry;
  const id = entry.id.replaceAll('-', '');
  const operation = kind.method === 'POST' ? genAiOperationOf(entry.path) : null;
  return {
    traceId: context?.traceId ?? id,
    spanId: id.slice(16),
    ...(context === null ? {} : { parentSpanId: context.parentSpanId }),
    name: operation === null ? `${kind.method} ${kind.providerSlug}` : `${operation.name} ${kind.model}`.trim(),
    kind: KIND_CLIENT,
    startTimeUnixNano: unixNano(entry.startedAtMs),
    endTimeUnixNano: unixNano(entry.startedAtMs + entry.durationMs),
    attributes: [...(operation === null ? [] : genAiAttributes(entry, operation)), ...callAttributes(entry)],
    status: isFailedCall(kind) ? { code: STATUS_ERROR } : {},
  };
}

const unixNano = (ms: number): string => `${Math.round(ms)}000000`;

function genAiOperationOf(path: string): Operation | null {
  const plain = path.toLowerCase().replace(/\/+$/, '');
  return OPERATIONS.find(({ end }) => plain.endsWith(end)) ?? null;
}

function genAiAttributes(entry: UsageEntry, { name, outputType }: Operation): readonly Attribute[] {
  const { dimensions: kind } = entry;
  const tokensIn = entry.tokensInUncached + entry.tokensCacheRead + entry.tokensCacheWrite;
  return [
    stringAttribute(ATTRIBUTE.operation, name),
    ...(outputType === null ? [] : [stringAttribute(ATTRIBUTE.outputType, outputType)]),
    stringAttribute(ATTRIBUTE.provider, kind.providerSlug),
    ...(kind.model === '' ? [] : [stringAttribute(ATTRIBUTE.model, kind.model)]),
    intAttribute(ATTRIBUTE.inputTokens, tokensIn),
    intAttribute(ATTRIBUTE.outputTokens, entry.tokensOut),
    intAttribute(ATTRIBUTE.cacheReadTokens, entry.tokensCacheRead),
    intAttribute(ATTRIBUTE.cacheWriteTokens, entry.tokensCacheWrite),
    intAttribute(ATTRIBUTE.reasoningTokens, entry.tokensReasoning),
    stringAttribute(ATTRIBUTE.usageSource, kind.usageSource),
  ];
}

function callAttributes(entry: UsageEntry): readonly Attribute[] {
  const { dimensions: kind } = entry;
  return [
    stringAttribute(ATTRIBUTE.requestId, entry.id),
    stringAttribute(ATTRIBUTE.orgId, kind.orgId),
    ...(kind.projectId === '' ? [] : [stringAttribute(ATTRIBUTE.projectId, kind.projectId)]),
    stringAttribute(ATTRIBUTE.agentId, kind.agentId),
    stringAttribute(ATTRIBUTE.keyId, kind.keyId),
    stringAttribute(ATTRIBUTE.providerSlug, kind.providerSlug),
    { key: ATTRIBUTE.costUsd, value: { doubleValue: entry.costNanos / NANOS_PER_USD } },
    stringAttribute(ATTRIBUTE.method, kind.method),
    stringAttribute(ATTRIBUTE.path, entry.path),
    intAttribute(ATTRIBUTE.status, kind.responseStatus),
    intAttribute(ATTRIBUTE.requestBytes, entry.bytesIn),
    intAttribute(ATTRIBUTE.responseBytes, entry.bytesOut),
    { key: ATTRIBUTE.streamed, value: { boolValue: kind.streamed } },
    ...(entry.ttfbMs === null ? [] : [intAttribute(ATTRIBUTE.firstByteMs, entry.ttfbMs)]),
    ...(isFailedCall(kind) ? [stringAttribute(ATTRIBUTE.errorType, kind.error || String(kind.responseStatus))] : []),
  ];
}
