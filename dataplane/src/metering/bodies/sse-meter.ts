import { JsonScanner } from '../../scan/json-scanner.js';
import { type SseEventKind, SseParser, type SseSink } from '../../scan/sse-parser.js';
import type { BodyMeter, MeterOptions, UsageReading } from '../reading/usage-meter.js';
import type { UsageReader } from '../reading/usage-reader.js';

const USAGE_KEY = Buffer.from('"usage"');

/**
 * A server-sent event stream. Most events are pieces of content: one native search per chunk tells which events
 * mention usage, and only those (and the first, for the model's name, and errors) are scanned.
 */
export class SseMeter implements BodyMeter, SseSink {
  readonly #options: MeterOptions;
  readonly #reader: UsageReader;
  readonly #scanner: JsonScanner;
  readonly #framer: SseParser;
  #bytes = 0;
  #encodedBytes = 0;
  #chunk: Buffer | null = null;
  /** Where `"usage"` next stands in #chunk; the chunk's length when nowhere further on. */
  #usageAt = 0;
  #isLongOpen = false;

  constructor(options: MeterOptions, reader: UsageReader) {
    this.#options = options;
    this.#reader = reader;
    this.#scanner = new JsonScanner(reader.paths, reader);
    this.#framer = new SseParser(this);
  }

  observe(chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#chunk = chunk;
    this.#usageAt = -1;
    this.#framer.push(chunk);
    this.#chunk = null; // never kept
  }

  get tokensOutSeen(): number {
    return this.#reader.tokensOutSeen(this.#options);
  }

  skipUndecodable(encodedBytes: number): void {
    this.#encodedBytes = encodedBytes;
  }

  finish(complete: boolean): UsageReading {
    this.#framer.end();
    return this.#reader.createReading({
      kind: 'events',
      isComplete: complete,
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

  /** The search goes on from the last hit, so a chunk of many events is searched once. */
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

/** `: n…` follows: the member is null. */
function isNullMember(bytes: Buffer, from: number): boolean {
  let at = from;
  while (isBlank(bytes[at])) at++;
  if (bytes[at] !== 0x3a) return false;
  at++;
  while (isBlank(bytes[at])) at++;
  return bytes[at] === 0x6e;
}

const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
