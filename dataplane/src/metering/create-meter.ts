/**
 * Selects the meter for one response by usage format and body type.
 *
 *   text/event-stream ── SseParser ── events ─┐
 *   application/json ─────── whole body ──────┼─▶ JsonScanner ──▶ UsageReader (by format) ──▶ UsageReading
 *   …jsonl, NDJSON streams ─ lines ───────────┤
 *   AWS event stream ─────── frames ──────────┤
 *   JSON array of events ─── items ───────────┘
 *   gzip, br, deflate, zstd ── decoded off the event loop, bounded ──▶ as above
 */

import { AWS_EVENT_STREAM_TYPE } from '../scan/aws-event-stream-parser.js';
import { LINE_STREAM_TYPES } from '../scan/sse-splitter.js';
import { BinaryBodyMeter } from './bodies/binary-body-meter.js';
import { CompressedBodyMeter, isCompressed } from './bodies/compressed-body-meter.js';
import { EventStreamMeter } from './bodies/event-stream-meter.js';
import { JsonArrayMeter } from './bodies/json-array-meter.js';
import { JsonDocumentMeter } from './bodies/json-document-meter.js';
import { JsonlMeter } from './bodies/jsonl-meter.js';
import { SseMeter } from './bodies/sse-meter.js';
import { AnthropicUsageReader } from './providers/anthropic-usage-reader.js';
import { BedrockUsageReader } from './providers/bedrock-usage-reader.js';
import { CohereUsageReader } from './providers/cohere-usage-reader.js';
import { GeminiUsageReader } from './providers/gemini-usage-reader.js';
import { McpResultMeter } from './providers/mcp-result-meter.js';
import { OpenAiUsageReader } from './providers/openai-usage-reader.js';
import { ResendMeter } from './providers/resend-meter.js';
import { createEmptyCounts } from './reading/provider-usage-to-token-counts.js';
import {
  type BodyMeter,
  type MeterOptions,
  TOKENS_KNOWN_AT_END,
  type UsageMeter,
  type UsageReading,
} from './reading/response-usage-meter-interface.js';
import { normalizePath } from './reading/token-estimates.js';
import { createUsageReading, type UsageReader } from './reading/usage-reader-interface.js';

/** Creates the meter for the response that `options` describes. */
export function createMeter(options: MeterOptions): UsageMeter {
  if (options.status < 200 || options.status > 299) return new NoUsageMeter(options, 0);
  switch (options.usageFormat) {
    case 'openai':
      return createBodyMeter(options, new OpenAiUsageReader());
    case 'anthropic':
      return createBodyMeter(options, new AnthropicUsageReader());
    case 'gemini':
      return createBodyMeter(options, new GeminiUsageReader(options));
    case 'bedrock':
      return createBodyMeter(options, new BedrockUsageReader(options));
    case 'cohere':
      return createBodyMeter(options, new CohereUsageReader());
    case 'resend':
      return withDecoder(options, new ResendMeter(options));
    case 'mcp': {
      const { toolCall = null } = options;
      if (toolCall === null) return new NoUsageMeter(options, 1);
      const isEventStream = parseMediaType(options.contentType) === 'text/event-stream';
      return withDecoder(options, new McpResultMeter(toolCall, isEventStream));
    }
    default:
      return new NoUsageMeter(options, 1);
  }
}

function createBodyMeter(options: MeterOptions, reader: UsageReader): UsageMeter {
  return withDecoder(options, createPlainMeter(options, reader));
}

function withDecoder(options: MeterOptions, meter: BodyMeter): UsageMeter {
  return isCompressed(options.contentEncoding) ? new CompressedBodyMeter(options.contentEncoding!, meter) : meter;
}

function createPlainMeter(options: MeterOptions, reader: UsageReader): BodyMeter {
  const type = parseMediaType(options.contentType);
  if (type === 'text/event-stream') return new SseMeter(options, reader);
  if (type === AWS_EVENT_STREAM_TYPE) return new EventStreamMeter(options, reader);
  if (reader instanceof GeminiUsageReader && isArrayStreamPath(options.path))
    return new JsonArrayMeter(options, reader);
  if (options.method === 'GET' && isBatchResultFile(normalizePath(options.path)))
    return new JsonlMeter('jsonl', options, reader);
  if (LINE_STREAM_TYPES.has(type)) return new JsonlMeter('events', options, reader);
  // Without a content type the body is assumed to be JSON, because these providers send JSON.
  if (type === '' || type.endsWith('json') || type.startsWith('text/')) return new JsonDocumentMeter(options, reader);
  return new BinaryBodyMeter(options, reader);
}

/**
 * Whether the response contains usage that is recorded when it is fetched. A range request could leave that usage out.
 */
export function needsWholeResponse(method: string, path: string): boolean {
  if (method !== 'GET') return false;
  const plain = normalizePath(path);
  return isBatchResultFile(plain) || /\/(?:responses|runs|deferred-completion)\//.test(plain);
}

/** Whether the path is a batch result file: one JSON document per line, whatever its content type is. */
function isBatchResultFile(path: string): boolean {
  if (path.endsWith('/results')) return path.includes('/messages/batches/');
  return path.endsWith('/content') && path.includes('/files/');
}

/** Whether a response that is not an SSE stream is a JSON array of events. */
const isArrayStreamPath = (path: string): boolean => normalizePath(path).endsWith(':streamgeneratecontent');

/** Returns the media type in lower case without parameters. */
function parseMediaType(contentType: string | null): string {
  if (contentType === null) return '';
  const semicolon = contentType.indexOf(';');
  return (semicolon < 0 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase();
}

/** Meter of responses without usage: s3, supabase, vercel, and every response that is not 2xx. */
class NoUsageMeter implements UsageMeter {
  readonly #options: MeterOptions;
  readonly #units: number;

  constructor(options: MeterOptions, units: number) {
    this.#options = options;
    this.#units = units;
  }

  observe(): void {}

  get tokensOutSeen(): number {
    return TOKENS_KNOWN_AT_END;
  }

  finish(): UsageReading {
    return createUsageReading(createEmptyCounts(), 'none', this.#options.requestModel, { units: this.#units });
  }
}
