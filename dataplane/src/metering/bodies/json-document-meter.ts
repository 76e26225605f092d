import { JsonScanner } from '../../scan/json-scanner.js';
import { EVENT_PLAIN } from '../../scan/sse-parser.js';
import {
  type BodyMeter,
  type MeterOptions,
  TOKENS_KNOWN_AT_END,
  type UsageReading,
} from '../reading/response-usage-meter-interface.js';
import type { ObservedBody, UsageReader } from '../reading/usage-reader-interface.js';

/** Meter of a body that is one JSON document. Scans it in passing: no size limit, no buffering. */
export class JsonDocumentMeter implements BodyMeter {
  protected readonly options: MeterOptions;
  protected readonly reader: UsageReader;
  protected readonly kind: ObservedBody['kind'] = 'document';
  readonly #scanner: JsonScanner;
  #bytes = 0;
  #encodedBytes = 0;

  constructor(options: MeterOptions, reader: UsageReader) {
    this.options = options;
    this.reader = reader;
    this.#scanner = new JsonScanner(reader.paths, reader);
  }

  observe(chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#scanner.push(chunk, 0, chunk.length);
  }

  get tokensOutSeen(): number {
    return TOKENS_KNOWN_AT_END;
  }

  skipUndecodable(encodedBytes: number): void {
    this.#encodedBytes = encodedBytes;
  }

  finish(isComplete: boolean): UsageReading {
    this.reader.onDocumentEnd(EVENT_PLAIN);
    return this.reader.createReading({
      kind: this.kind,
      isComplete,
      bytes: this.#bytes,
      encodedBytes: this.#encodedBytes,
      options: this.options,
    });
  }
}
