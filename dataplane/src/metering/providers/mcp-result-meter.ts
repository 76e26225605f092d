import { compileJsonPaths } from '../../scan/json-paths.js';
import { JsonScanner, type JsonScanSink } from '../../scan/json-scanner.js';
import { SseParser, type SseSink } from '../../scan/sse-parser.js';
import { createEmptyCounts } from '../reading/provider-usage-to-token-counts.js';
import {
  type BodyMeter,
  type PricedToolCall,
  TOKENS_KNOWN_AT_END,
  type UsageReading,
} from '../reading/response-usage-meter-interface.js';
import { createUsageReading } from '../reading/usage-reader-interface.js';

const ID = 0;
const ERROR = 1;
const METHOD = 2;
const IS_ERROR = 3;
const RESULT_TYPE = 4;
const PATHS = compileJsonPaths({
  id: ID,
  error: ERROR,
  method: METHOD,
  'result.isError': IS_ERROR,
  'result.resultType': RESULT_TYPE,
});
/** A server's question to the client, which calls the tool again with the answer. */
const INPUT_REQUIRED = '"input_required"';
/** A line with the id of an event, from which a client can resume the stream. */
const EVENT_ID = Buffer.from('id:');
const LF = 0x0a;
const CR = 0x0d;

/**
 * Counts 1 unit when the answer to a priced tool call has its result: not for a JSON-RPC error, `input_required`, or a
 * result with `isError: true` unless the operator charges it. Also counts the handle of a task, and a stream that ends
 * early and can be resumed, because the result can be fetched without naming the tool.
 */
export class McpResultMeter implements BodyMeter, JsonScanSink, SseSink {
  readonly #call: PricedToolCall;
  readonly #id: unknown;
  readonly #scanner = new JsonScanner(PATHS, this);
  /** Null: the body is one JSON document. */
  readonly #parser: SseParser | null;
  /** A long event is being scanned. */
  #isLongOpen = false;
  #hasId = false;
  /** A request or a notification of the server. */
  #hasMethod = false;
  #isRefused = false;
  #isCounted = false;
  #isUnreadable = false;
  #isResumable = false;
  /** The last bytes of the previous chunk; at the start as if after a line end. */
  #tail: Buffer = Buffer.from('\n');

  constructor(call: PricedToolCall, isEventStream: boolean) {
    this.#call = call;
    this.#id = JSON.parse(call.idText);
    this.#parser = isEventStream ? new SseParser(this) : null;
  }

  observe(chunk: Buffer): void {
    if (this.#parser === null) {
      this.#scanner.push(chunk, 0, chunk.length);
      return;
    }
    this.#findEventId(chunk);
    this.#parser.push(chunk);
  }

  get tokensOutSeen(): number {
    return TOKENS_KNOWN_AT_END;
  }

  skipUndecodable(): void {
    this.#isUnreadable = true;
  }

  onValue(slot: number, text: string | null): void {
    if (slot === ID) this.#hasId = text !== null && isSameId(text, this.#id);
    else if (slot === IS_ERROR) this.#isRefused ||= text === 'true' && !this.#call.chargesErrors;
    else if (slot === RESULT_TYPE) this.#isRefused ||= text === INPUT_REQUIRED;
    else if (slot === METHOD) this.#hasMethod = true;
    else this.#isRefused = true;
  }

  onEvent(_kind: number, bytes: Buffer, from: number, to: number): void {
    this.#startDocument();
    this.#scanner.push(bytes, from, to);
    this.#endDocument();
  }

  onLongData(bytes: Buffer, from: number, to: number): void {
    if (!this.#isLongOpen) this.#startDocument();
    this.#isLongOpen = true;
    this.#scanner.push(bytes, from, to);
  }

  onLongDataEnd(): void {
    this.#isLongOpen = false;
    this.#endDocument();
  }

  finish(): UsageReading {
    if (this.#parser === null) this.#endDocument();
    else this.#parser.end();
    const isAnswered = this.#isCounted || this.#isUnreadable || this.#isResumable;
    return createUsageReading(createEmptyCounts(), 'none', null, { units: isAnswered ? 1 : 0 });
  }

  #startDocument(): void {
    this.#scanner.reset();
    this.#hasId = false;
    this.#hasMethod = false;
    this.#isRefused = false;
  }

  /** Another message of the stream decides nothing. */
  #endDocument(): void {
    if (!this.#scanner.isDone || !this.#hasId || this.#hasMethod) return;
    this.#isCounted ||= !this.#isRefused;
    this.#isResumable = false;
  }

  /** A client that has the id of an event can fetch the rest of the stream. */
  #findEventId(chunk: Buffer): void {
    if (this.#isResumable || this.#isCounted) return;
    const bytes = Buffer.concat([this.#tail, chunk]);
    for (let at = bytes.indexOf(EVENT_ID); at >= 0; at = bytes.indexOf(EVENT_ID, at + 1)) {
      if (at > 0 && (bytes[at - 1] === LF || bytes[at - 1] === CR)) this.#isResumable = true;
    }
    this.#tail = Buffer.from(bytes.subarray(-EVENT_ID.length));
  }
}

function isSameId(text: string, id: unknown): boolean {
  try {
    return JSON.parse(text) === id;
  } catch {
    return false;
  }
}
