import { AwsEventStreamParser, type EventStreamSink } from '../../scan/aws-event-stream-parser.js';
import { JsonScanner } from '../../scan/json-scanner.js';
import { EVENT_ERROR, EVENT_PLAIN } from '../../scan/sse-parser.js';
import type { BodyMeter, MeterOptions, UsageReading } from '../reading/response-usage-meter-interface.js';
import { estimateCompressedEventTokens } from '../reading/token-estimates.js';
import type { UsageReader } from '../reading/usage-reader-interface.js';

/** Event of InvokeModelWithResponseStream, whose payload contains the model's own event: `{"bytes":"<base64>"}`. */
const MODEL_EVENT = 'chunk';
const MODEL_EVENT_BYTES = /^\s*\{[^{}]*?"bytes"\s*:\s*"([A-Za-z0-9+/=]*)"/;

/**
 * Meter of an AWS event stream. A frame with a wrong CRC or length ends the reading of usage, not the stream; what
 * follows is estimated by its bytes.
 */
export class EventStreamMeter implements BodyMeter, EventStreamSink {
  readonly #options: MeterOptions;
  readonly #reader: UsageReader;
  readonly #scanner: JsonScanner;
  readonly #parser = new AwsEventStreamParser(this);
  #bytes = 0;
  #unreadBytes = 0;

  constructor(options: MeterOptions, reader: UsageReader) {
    this.#options = options;
    this.#reader = reader;
    this.#scanner = new JsonScanner(reader.paths, reader);
  }

  observe(chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#parser.push(chunk);
    if (this.#parser.isBroken) this.#unreadBytes += chunk.length;
  }

  get tokensOutSeen(): number {
    return this.#reader.tokensOutSeen(this.#options) + estimateCompressedEventTokens(this.#unreadBytes);
  }

  get isMalformed(): boolean {
    return this.#parser.isBroken;
  }

  readonly findBoundary = (chunk: Buffer, at: number): number => this.#parser.frameEnd(chunk, at);

  skipUndecodable(encodedBytes: number): void {
    this.#unreadBytes += encodedBytes;
  }

  finish(isComplete: boolean): UsageReading {
    const isMalformed = this.#parser.isBroken || (isComplete && this.#parser.isInFrame);
    const reading = this.#reader.createReading({
      kind: 'events',
      isComplete: isComplete && !isMalformed,
      bytes: this.#bytes,
      encodedBytes: this.#unreadBytes,
      options: this.#options,
    });
    return { ...reading, isMalformed };
  }

  onFrame(isError: boolean, name: string, bytes: Buffer, from: number, to: number): void {
    if (isError) this.#reader.onException?.(name);
    const inner = name === MODEL_EVENT ? MODEL_EVENT_BYTES.exec(bytes.toString('latin1', from, to)) : null;
    const json = inner === null ? bytes.subarray(from, to) : Buffer.from(inner[1]!, 'base64');
    this.#scanner.reset();
    this.#scanner.push(json, 0, json.length);
    this.#reader.onDocumentEnd(isError ? EVENT_ERROR : EVENT_PLAIN);
  }
}
