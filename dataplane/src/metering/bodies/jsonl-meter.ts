import { JsonScanner } from '../../scan/json-scanner.js';
import { EVENT_PLAIN } from '../../scan/sse-parser.js';
import { findLineEnd } from '../../scan/sse-splitter.js';
import {
  type BodyMeter,
  type MeterOptions,
  TOKENS_KNOWN_AT_END,
  type UsageReading,
} from '../reading/response-usage-meter-interface.js';
import type { UsageReader } from '../reading/usage-reader-interface.js';

const LF = 0x0a;

/**
 * Meter of a body with one JSON document per line: batch results, or the events of a stream. Scans each line in passing,
 * without buffering.
 */
export class JsonlMeter implements BodyMeter {
  readonly #kind: 'jsonl' | 'events';
  readonly #options: MeterOptions;
  readonly #reader: UsageReader;
  readonly #scanner: JsonScanner;
  #bytes = 0;
  #encodedBytes = 0;

  readonly findBoundary: BodyMeter['findBoundary'];

  constructor(kind: 'jsonl' | 'events', options: MeterOptions, reader: UsageReader) {
    this.#kind = kind;
    this.findBoundary = kind === 'events' ? findLineEnd : undefined;
    this.#options = options;
    this.#reader = reader;
    this.#scanner = new JsonScanner(reader.paths, reader);
  }

  observe(chunk: Buffer): void {
    this.#bytes += chunk.length;
    let at = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, at)) {
      this.#scanner.push(chunk, at, end);
      this.#endLine();
      at = end + 1;
    }
    this.#scanner.push(chunk, at, chunk.length);
  }

  get tokensOutSeen(): number {
    return this.#kind === 'events' ? this.#reader.tokensOutSeen(this.#options) : TOKENS_KNOWN_AT_END;
  }

  skipUndecodable(encodedBytes: number): void {
    this.#encodedBytes = encodedBytes;
  }

  finish(isComplete: boolean): UsageReading {
    if (isComplete) this.#endLine(); // a truncated line counts when a later fetch brings it whole
    return this.#reader.createReading({
      kind: this.#kind,
      isComplete,
      bytes: this.#bytes,
      encodedBytes: this.#encodedBytes,
      options: this.#options,
    });
  }

  #endLine(): void {
    if (this.#scanner.rootStart < 0) return; // an empty line
    this.#reader.onDocumentEnd(EVENT_PLAIN);
    if (this.#kind === 'jsonl') this.#reader.onLineEnd(this.#options);
    this.#scanner.reset();
  }
}
