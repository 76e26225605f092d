/**
 * Picks the meter for one response: by usage format, then by how the body comes.
 *
 *   text/event-stream ── SseFramer ── events ─┐
 *   application/json ─────── whole body ──────┼─▶ JsonScanner ──▶ UsageReader (openai, anthropic) ──▶ UsageReading
 *   …jsonl, batch results ── lines ───────────┘
 *   gzip, br, deflate, zstd ── kept up to a cap, decoded once at the end ──▶ as above
 */
import { AnthropicReader } from './anthropic-reader.js';
import { DocumentMeter } from './document-meter.js';
import { EncodedMeter, isEncoded } from './encoded-meter.js';
import { plainPath } from './estimate.js';
import { EventsMeter } from './events-meter.js';
import { LinesMeter } from './lines-meter.js';
import { type BodyMeter, KNOWN_AT_END, type MeterOptions, type UsageMeter, type UsageReading } from './meter.js';
import { OpaqueMeter } from './opaque-meter.js';
import { OpenAiReader } from './openai-reader.js';
import { ResendMeter } from './resend-meter.js';
import { emptyCounts } from './usage-fields.js';
import { readingOf, type UsageReader } from './usage-reader.js';

/** A meter for the response described by `options`. */
export function createMeter(options: MeterOptions): UsageMeter {
  if (options.status < 200 || options.status > 299) return new FixedMeter(options, 0);
  switch (options.usageFormat) {
    case 'openai':
      return bodyMeter(options, new OpenAiReader());
    case 'anthropic':
      return bodyMeter(options, new AnthropicReader());
    case 'resend':
      return decoded(options, new ResendMeter(options));
    default:
      return new FixedMeter(options, 1);
  }
}

function bodyMeter(options: MeterOptions, reader: UsageReader): UsageMeter {
  return decoded(options, plainMeter(options, reader));
}

function decoded(options: MeterOptions, meter: BodyMeter): UsageMeter {
  return isEncoded(options.contentEncoding) ? new EncodedMeter(options.contentEncoding!, meter) : meter;
}

function plainMeter(options: MeterOptions, reader: UsageReader): BodyMeter {
  const type = mediaType(options.contentType);
  if (type === 'text/event-stream') return new EventsMeter(options, reader);
  if (options.method === 'GET' && isResultFile(plainPath(options.path))) return new LinesMeter(options, reader);
  // No type at all: JSON is what these providers send.
  if (type === '' || type.endsWith('json') || type.startsWith('text/')) return new DocumentMeter(options, reader);
  return new OpaqueMeter(options, reader);
}

/**
 * Whether the answer holds usage that is booked when it is fetched: a part of it, which a range would bring, can leave the
 * usage out.
 */
export function isFetchedWhole(method: string, path: string): boolean {
  if (method !== 'GET') return false;
  const plain = plainPath(path);
  return isResultFile(plain) || /\/(?:responses|runs)\//.test(plain);
}

/** Where a batch's results are fetched, one JSON document a line, whatever their content type says. */
function isResultFile(path: string): boolean {
  if (path.endsWith('/results')) return path.includes('/messages/batches/');
  return path.endsWith('/content') && path.includes('/files/');
}

/** Lower case, without parameters. */
function mediaType(contentType: string | null): string {
  if (contentType === null) return '';
  const semicolon = contentType.indexOf(';');
  return (semicolon < 0 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase();
}

/** Nothing to read: s3, supabase, vercel, and every answer that is not 2xx. */
class FixedMeter implements UsageMeter {
  readonly #options: MeterOptions;
  readonly #units: number;

  constructor(options: MeterOptions, units: number) {
    this.#options = options;
    this.#units = units;
  }

  observe(): void {}

  get tokensOutSeen(): number {
    return KNOWN_AT_END;
  }

  finish(): UsageReading {
    return readingOf(emptyCounts(), 'none', this.#options.requestModel, { units: this.#units });
  }
}
