/** Reads the standard environment variables of OpenTelemetry for the trace exporter (docs/configuration.md). */
import type { EnvReader } from '@acg/base/env-reader';
import { Secret } from '@acg/base/secret';

export interface OtlpSettings {
  readonly tracesUrl: string;
  /** Headers of every export; their values are secrets. */
  readonly headers: ReadonlyMap<string, Secret>;
  readonly timeoutMs: number;
  /** Spans in the queue; further spans are dropped. */
  readonly queueMax: number;
  readonly batchMax: number;
  readonly delayMs: number;
  readonly serviceName: string;
  readonly resource: ReadonlyMap<string, string>;
}

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

/** Returns null when no traces are exported. */
export function readOtlpSettings(read: EnvReader): OtlpSettings | null {
  const base = read.optionalUrl('OTEL_EXPORTER_OTLP_ENDPOINT', ['http', 'https']);
  const traces = read.optionalUrl('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', ['http', 'https']);
  const protocol = read.string('OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json');
  if (base === null && traces === null) return null;
  if (protocol !== 'http/json')
    read.addProblem('OTEL_EXPORTER_OTLP_PROTOCOL must be http/json: spans are sent as JSON');
  return {
    tracesUrl: traces?.href ?? `${base!.href.replace(/\/+$/, '')}/v1/traces`,
    headers: readHeaders(read),
    timeoutMs: read.int('OTEL_EXPORTER_OTLP_TIMEOUT', { fallback: 10_000, min: 1, max: 600_000 }),
    queueMax: read.int('OTEL_BSP_MAX_QUEUE_SIZE', { fallback: 16_384, min: 1, max: 1_000_000 }),
    batchMax: read.int('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', { fallback: 512, min: 1, max: 10_000 }),
    delayMs: read.int('OTEL_BSP_SCHEDULE_DELAY', { fallback: 1_000, min: 1, max: 600_000 }),
    serviceName: read.string('OTEL_SERVICE_NAME', 'agent-credential-gateway'),
    resource: readPairs(read, 'OTEL_RESOURCE_ATTRIBUTES') ?? new Map(),
  };
}

function readHeaders(read: EnvReader): ReadonlyMap<string, Secret> {
  const pairs = readPairs(read, 'OTEL_EXPORTER_OTLP_HEADERS') ?? new Map<string, string>();
  const headers = new Map<string, Secret>();
  for (const [name, value] of pairs) {
    if (!HEADER_NAME.test(name) || !HEADER_VALUE.test(value)) {
      read.addProblem('OTEL_EXPORTER_OTLP_HEADERS must be name=value,name=value with values that fit into a header');
      return new Map();
    }
    headers.set(name.toLowerCase(), new Secret(value));
  }
  return headers;
}

/** Parses `key=value,key=value` with percent-encoded values. */
function readPairs(read: EnvReader, name: string): Map<string, string> | null {
  const pairs = new Map<string, string>();
  for (const part of read.list(name, [])) {
    const equals = part.indexOf('=');
    const value = equals < 1 ? null : decodePercent(part.slice(equals + 1).trim());
    if (value === null) {
      read.addProblem(`${name} must be key=value pairs, comma separated, with percent-encoded values`);
      return null;
    }
    pairs.set(part.slice(0, equals).trim(), value);
  }
  return pairs;
}

function decodePercent(value: string): string | null {
  try {
    return decodeURIComponent(value);
  } catch {
    return null;
  }
}
