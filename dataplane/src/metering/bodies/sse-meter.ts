import { JsonScanner } from '../../scan/json-scanner.js';
import { type SseEventKind, SseParser, type SseSink } from '../../scan/sse-parser.js';
import { findLineEnd } from '../../scan/sse-splitter.js';
import type { BodyMeter, MeterOptions, UsageReading } from '../reading/response-usage-meter-interface.js';
import type { UsageReader } from '../reading/usage-reader-interface.js';

const USAGE_KEY = Buffer.from('"usage"');

/**
 * Meter of a server-sent event stream. Most events are content deltas. One native search per chunk finds the events
 * that mention usage; only those, the first event (model name) and errors are scanned.
 */
export class SseMeter implements BodyMeter, SseSink {
  readonly #options: MeterOptions;
  readonly #reader: UsageReader;
  readonly #scanner: JsonScanner;
  readonly #parser: SseParser;
  #bytes = 0;
  #encodedBytes = 0;
  #chunk: Buffer | null = null;
  /** Offset of the next `"usage"` in #chunk; the chunk's length when there is no further one. */
  #usageAt = 0;
  #isLongOpen = false;

  /** The blank line that ends an event is a line, too. */
  readonly findBoundary: BodyMeter['findBoundary'];

  constructor(options: MeterOptions, reader: UsageReader) {
    this.findBoundary = reader.reportsTotals ? findLineEnd : undefined;
    this.#options = options;
    this.#reader = reader;
    this.#scanner = new JsonScanner(reader.paths, reader);
    this.#parser = new SseParser(this);
  }

  observe(chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#chunk = chunk;
    this.#usageAt = -1;
    this.#parser.push(chunk);
    this.#chunk = null; // the meter must not keep the buffer
  }

  get tokensOutSeen(): number {
    return this.#reader.tokensOutSeen(this.#options);
  }

  skipUndecodable(encodedBytes: number): void {
    this.#encodedBytes = encodedBytes;
  }

  finish(isComplete: boolean): UsageReading {
    this.#parser.end();
    return this.#reader.createReading({
      kind: 'events',
      isComplete,
      bytes: this.#bytes,
      encodedBytes: this.#encodedBytes,
      options: this.#options,
    });
  }

  onEvent(kind: SseEventKind, bytes: Buffer, from: number, to: number): void {
    const mentionsUsage =
      bytes === this.#chunk ? this.#chunkMentionsUsage(bytes, from, to) : mentionsUsageIn(bytes.subarray(from, to));
    if (!this.#reader.shouldScan(kind, mentionsUsage, bytes, from, to)) return;
    this.#scanner.reset();
    this.#scanner.push(bytes, from, to);
    this.#reader.onDocumentEnd(kind);
  }

  onLongData(bytes: Buffer, from: number, to: number): void {
    if (!this.#isLongOpen) {
      this.#isLongOpen = true;
      this.#scanner.reset();
    }
    this.#scanner.push(bytes, from, to);
  }

  onLongDataEnd(kind: SseEventKind): void {
    this.#isLongOpen = false;
    this.#reader.onDocumentEnd(kind);
  }

  /**
   * Whether the range mentions usage. The search resumes at the last hit, so a chunk of many events is searched once.
   */
  #chunkMentionsUsage(chunk: Buffer, from: number, to: number): boolean {
    if (this.#usageAt < from) this.#usageAt = findUsageKey(chunk, from);
    while (this.#usageAt < to) {
      if (!isNullMember(chunk, this.#usageAt + USAGE_KEY.length)) return true;
      this.#usageAt = findUsageKey(chunk, this.#usageAt + USAGE_KEY.length);
    }
    return false;
  }
}

function findUsageKey(bytes: Buffer, from: number): number {
  const at = bytes.indexOf(USAGE_KEY, from);
  return at < 0 ? bytes.length : at;
}

function mentionsUsageIn(bytes: Buffer): boolean {
  for (let at = findUsageKey(bytes, 0); at < bytes.length; at = findUsageKey(bytes, at + USAGE_KEY.length)) {
    if (!isNullMember(bytes, at + USAGE_KEY.length)) return true;
  }
  return false;
}

/** Whether `: n…` follows, that is, the member's value is null. */
function isNullMember(bytes: Buffer, from: number): boolean {
  let at = from;
  while (isBlank(bytes[at])) at++;
  if (bytes[at] !== 0x3a) return false;
  at++;
  while (isBlank(bytes[at])) at++;
  return bytes[at] === 0x6e;
}

const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
