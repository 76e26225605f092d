/**
 * Reads the answer of an MCP server on its way to the agent: reduces lists to what the policy allows, and answers with a
 * JSON-RPC error where the server's answer is cut, has another id, or holds a list that cannot be read. Other bytes pass
 * unchanged.
 */
import type { AnswerMemory } from '../call/mcp-call.js';
import type { BodyEdit } from '../call/response-plan-types.js';
import type { McpListFilter } from '../mcp/mcp-policy.js';
import { formatUnusableAnswerError } from '../rejection/mcp-rejections.js';
import { compileJsonPaths } from '../scan/json-paths.js';
import { JsonScanner, type JsonScanSink } from '../scan/json-scanner.js';
import { type RawEventSink, SseSplitter, skipLineEnd } from '../scan/sse-splitter.js';

/** The answer that an edit expects. */
interface ExpectedAnswer {
  /** JSON of the request's id; null: no request waits on this stream. */
  readonly idText: string | null;
  /** Null: no list is reduced. */
  readonly filter: McpListFilter | null;
}

/** Memory for the bytes that an edit holds. */
type HeldBytes = Pick<AnswerMemory, 'reserve'>;

/** A longer list is rejected. */
const LIST_BYTES_MAX = 4 * 1024 * 1024;
/** A longer answer without a list passes unread. */
const DOCUMENT_BYTES_MAX = 1024 * 1024;
const EVENT_BYTES_MAX = 64 * 1024;
const EMPTY: Buffer = Buffer.alloc(0);

const ID = 0;
const OUTCOME = 1;
const METHOD = 2;
const ANSWER = compileJsonPaths({ id: ID, result: OUTCOME, error: OUTCOME, method: METHOD });

/** Finds out whether a message is the response with an id. Reads it in pieces, builds no document. */
class ResponseScan implements JsonScanSink {
  readonly #scanner = new JsonScanner(ANSWER, this);
  readonly #id: unknown;
  #hasId = false;
  #hasOutcome = false;
  #hasMethod = false;

  constructor(idText: string) {
    this.#id = JSON.parse(idText);
  }

  reset(): void {
    this.#scanner.reset();
    this.#hasId = false;
    this.#hasOutcome = false;
    this.#hasMethod = false;
  }

  push(bytes: Buffer, from: number, to: number): void {
    this.#scanner.push(bytes, from, to);
  }

  onValue(slot: number, text: string | null): void {
    if (slot === OUTCOME) this.#hasOutcome = true;
    else if (slot === METHOD) this.#hasMethod = true;
    else this.#hasId = text !== null && isSameId(text, this.#id);
  }

  get isResponse(): boolean {
    return this.#scanner.isDone && this.#hasId && this.#hasOutcome && !this.#hasMethod;
  }
}

function isSameId(text: string, id: unknown): boolean {
  try {
    return JSON.parse(text) === id;
  } catch {
    return false;
  }
}

/** Parses one message and reduces its lists. Null: it cannot be read. */
function reduceLists(text: string, filter: McpListFilter): { readonly text: string | null } | null {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return null;
  const { result } = message as Record<string, unknown>;
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return { text: null };
  return { text: filter.apply(result as Record<string, unknown>) ? JSON.stringify(message) : null };
}

/** The answer is one JSON document. It is held until it is complete. */
export class JsonAnswerEdit implements BodyEdit {
  readonly #expected: ExpectedAnswer;
  readonly #memory: HeldBytes;
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** The answer is longer than can be held. */
  #isLong = false;

  constructor(expected: ExpectedAnswer, memory: HeldBytes) {
    this.#expected = expected;
    this.#memory = memory;
  }

  push(chunk: Buffer): Buffer {
    if (this.#isLong) return this.#expected.filter === null ? chunk : EMPTY;
    this.#bytes += chunk.length;
    this.#chunks.push(chunk);
    const bytesMax = this.#expected.filter === null ? DOCUMENT_BYTES_MAX : LIST_BYTES_MAX;
    if (this.#bytes <= bytesMax && this.#memory.reserve(chunk.length)) return EMPTY;
    this.#isLong = true;
    const held = this.#chunks;
    this.#chunks = [];
    return this.#expected.filter === null ? Buffer.concat(held) : EMPTY;
  }

  /** Null: a part of the answer has passed. */
  flushCut(): Buffer | null {
    const { idText, filter } = this.#expected;
    if (this.#isLong && filter === null) return null;
    return Buffer.from(formatUnusableAnswerError('it was cut', idText));
  }

  flush(): Buffer {
    const { idText, filter } = this.#expected;
    if (this.#isLong) return filter === null ? EMPTY : Buffer.from(formatUnusableAnswerError('it is too long', idText));
    const body = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    this.#chunks = [];
    if (idText !== null) {
      const scan = new ResponseScan(idText);
      scan.push(body, 0, body.length);
      if (!scan.isResponse) return Buffer.from(formatUnusableAnswerError('it is no response to this request', idText));
    }
    if (filter === null) return body;
    const reduced = reduceLists(body.toString('utf8'), filter);
    if (reduced === null) return Buffer.from(formatUnusableAnswerError('it is not valid JSON', idText));
    return reduced.text === null ? body : Buffer.from(reduced.text);
  }
}

/** The answer is a stream of events. Each event passes when it is complete. */
export class EventAnswerEdit implements BodyEdit, RawEventSink {
  readonly #expected: ExpectedAnswer;
  readonly #memory: HeldBytes;
  readonly #splitter: SseSplitter;
  readonly #scan: ResponseScan | null;
  #out: Buffer[] = [];
  /** Bytes reserved for the current event. */
  #reservedBytes = 0;
  #pendingBytes = 0;
  #isFirstEvent = true;
  /** The answer has passed, or an error in its place. */
  #isAnswered: boolean;
  /** The client can fetch the rest of the stream with another request. */
  #isResumable = false;
  /** An event could not be read: nothing of the stream passes any more. */
  #isRefused = false;

  constructor(expected: ExpectedAnswer, memory: HeldBytes) {
    this.#expected = expected;
    this.#memory = memory;
    this.#splitter = new SseSplitter(expected.filter === null ? EVENT_BYTES_MAX : LIST_BYTES_MAX, this);
    this.#scan = expected.idText === null ? null : new ResponseScan(expected.idText);
    this.#isAnswered = expected.idText === null;
  }

  push(chunk: Buffer): Buffer {
    if (this.#isRefused) return EMPTY;
    // Counts what an unfinished event may hold; the splitter bounds it.
    this.#pendingBytes = Math.min(this.#pendingBytes + chunk.length, LIST_BYTES_MAX);
    const more = this.#pendingBytes - this.#reservedBytes;
    if (more > 0 && this.#expected.filter !== null) {
      if (!this.#memory.reserve(more)) this.#refuse('the gateway has no memory to read it');
      this.#reservedBytes += more;
    }
    if (!this.#isRefused) this.#splitter.push(chunk);
    return this.#take();
  }

  flushCut(): Buffer | null {
    if (this.#isAnswered) return null;
    const last = this.flush();
    return this.#isRefused ? last : null;
  }

  flush(): Buffer {
    if (!this.#isRefused) this.#splitter.end();
    if (!this.#isAnswered && (!this.#isResumable || this.#expected.filter !== null))
      this.#refuse('it ended without a response to this request');
    return this.#take();
  }

  onRawEvent(bytes: Buffer, from: number, to: number, lineEnds: readonly number[], lines: number): void {
    this.#pendingBytes = 0;
    if (this.#isRefused) return;
    const event = this.#readLines(bytes, from, lineEnds, lines);
    this.#isFirstEvent = false;
    if (event === null) {
      this.#refuse('an event of it has an unknown field');
      return;
    }
    if (event.hasId) this.#isResumable = true;
    const { filter } = this.#expected;
    const reduced = filter === null || event.data.trim() === '' ? { text: null } : reduceLists(event.data, filter);
    if (reduced !== null && this.#scan?.isResponse) this.#isAnswered = true;
    if (reduced === null) this.#refuse('an event of it is not valid JSON');
    else if (reduced.text === null) this.#out.push(Buffer.from(bytes.subarray(from, to)));
    else this.#out.push(Buffer.from(`${event.otherLines}data: ${reduced.text}\n\n`));
  }

  onRawPiece(bytes: Buffer, from: number, to: number): void {
    if (this.#isRefused) return;
    if (this.#expected.filter !== null) {
      this.#refuse('an event of it is too long');
      return;
    }
    this.#isAnswered = true; // Not read.
    this.#out.push(Buffer.from(bytes.subarray(from, to)));
  }

  onRawPiecesEnd(): void {
    this.#pendingBytes = 0;
  }

  onLateLf(chunk: Buffer): void {
    if (!this.#isRefused) this.#out.push(Buffer.from(chunk.subarray(0, 1)));
  }

  /** Null: a field that a client might read in another way than this reader. */
  #readLines(bytes: Buffer, from: number, lineEnds: readonly number[], lines: number) {
    const isRead = this.#expected.filter !== null;
    let data = '';
    let dataLines = 0;
    let otherLines = '';
    let hasId = false;
    let at = from;
    this.#scan?.reset();
    for (let line = 0; line < lines; line++) {
      const end = from + lineEnds[line]!;
      const field = bytes.toString('latin1', at, Math.min(end, at + 6));
      const start = this.#isFirstEvent && line === 0 && field.startsWith('\xef\xbb\xbf') ? at + 3 : at;
      const name = start === at ? field : bytes.toString('latin1', start, Math.min(end, start + 6));
      if (name.startsWith('data:') || name === 'data') {
        const valueStart = Math.min(end, start + (name[5] === ' ' ? 6 : 5));
        this.#scan?.push(bytes, valueStart, end);
        if (isRead) data += (dataLines++ > 0 ? '\n' : '') + bytes.toString('utf8', valueStart, end);
      } else if (isRead) {
        const text = bytes.toString('utf8', start, end);
        if (!OTHER_FIELD.test(text)) return null;
        otherLines += `${text}\n`;
      }
      if (name.startsWith('id:') || name === 'id') hasId = true;
      at = skipLineEnd(bytes, end);
    }
    return { data, otherLines, hasId };
  }

  #refuse(why: string): void {
    this.#isRefused = true;
    if (this.#isAnswered && this.#expected.idText !== null) return;
    this.#isAnswered = true;
    this.#out.push(Buffer.from(`event: message\ndata: ${formatUnusableAnswerError(why, this.#expected.idText)}\n\n`));
  }

  #take(): Buffer {
    const out = this.#out;
    if (out.length === 0) return EMPTY;
    this.#out = [];
    return out.length === 1 ? out[0]! : Buffer.concat(out);
  }
}

/** Fields of an event besides its data, and comments. */
const OTHER_FIELD = /^(?:(?:id|event|retry)(?::|$)|:)/;

/** Replaces an answer that the gateway cannot read at all: compressed, or neither JSON nor events. */
export class UnreadableAnswerEdit implements BodyEdit {
  readonly #idText: string | null;

  constructor(idText: string | null) {
    this.#idText = idText;
  }

  push(): Buffer {
    return EMPTY;
  }

  flush(): Buffer {
    return Buffer.from(formatUnusableAnswerError('it is neither JSON nor a stream of events', this.#idText));
  }
}
