import { JsonScanner } from '../scan/json-scanner.js';
import { type EventKind, SseFramer, type SseSink } from '../scan/sse-framer.js';
import type { BodyMeter, MeterOptions, UsageReading } from './meter.js';
import type { UsageReader } from './usage-reader.js';

const USAGE_KEY = Buffer.from('"usage"');

/**
 * A server-sent event stream. Most events are pieces of content: one native search per chunk tells which events
 * mention usage, and only those (and the first, for the model's name, and errors) are scanned.
 */
export class EventsMeter implements BodyMeter, SseSink {
  readonly #options: MeterOptions;
  readonly #reader: UsageReader;
  readonly #scanner: JsonScanner;
  readonly #framer: SseFramer;
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
    this.#framer = new SseFramer(this);
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

  unreadable(encodedBytes: number): void {
    this.#encodedBytes = encodedBytes;
  }

  finish(complete: boolean): UsageReading {
    this.#framer.end();
    return this.#reader.reading({
      kind: 'events',
      complete,
      bytes: this.#bytes,
      encodedBytes: this.#encodedBytes,
      options: this.#options,
    });
  }

  eventData(kind: EventKind, bytes: Buffer, from: number, to: number): void {
    const mentionsUsage =
      bytes === this.#chunk ? this.#chunkMentionsUsage(bytes, from, to) : mentionsUsageIn(bytes.subarray(from, to));
    if (!this.#reader.wants(kind, mentionsUsage, bytes, from, to)) return;
    this.#scanner.reset();
    this.#scanner.push(bytes, from, to);
    this.#reader.documentEnd(kind);
  }

  longData(bytes: Buffer, from: number, to: number): void {
    if (!this.#isLongOpen) {
      this.#isLongOpen = true;
      this.#scanner.reset();
    }
    this.#scanner.push(bytes, from, to);
  }

  longDataEnd(kind: EventKind): void {
    this.#isLongOpen = false;
    this.#reader.documentEnd(kind);
  }

  /** The search goes on from the last hit, so a chunk of many events is searched once. */
  #chunkMentionsUsage(chunk: Buffer, from: number, to: number): boolean {
    if (this.#usageAt < from) this.#usageAt = searchUsage(chunk, from);
    while (this.#usageAt < to) {
      if (!isNullMember(chunk, this.#usageAt + USAGE_KEY.length)) return true;
      this.#usageAt = searchUsage(chunk, this.#usageAt + USAGE_KEY.length);
    }
    return false;
  }
}

function searchUsage(bytes: Buffer, from: number): number {
  const at = bytes.indexOf(USAGE_KEY, from);
  return at < 0 ? bytes.length : at;
}

function mentionsUsageIn(bytes: Buffer): boolean {
  for (let at = searchUsage(bytes, 0); at < bytes.length; at = searchUsage(bytes, at + USAGE_KEY.length)) {
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
