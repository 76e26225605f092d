/**
 * Causes a streamed chat completion to report its usage although the client did not request it (docs/contract.md#usage).
 * Adds `"stream_options":{"include_usage":true}` to the raw bytes; StreamUsageFilter removes the effect from the
 * response. A doubtful body (not one well-formed object, a duplicate member, an unexpected type) stays unchanged, and
 * the call's usage is estimated.
 */

import { compileJsonPaths } from '../../scan/json-paths.js';
import { JsonScanner, type JsonScanSink } from '../../scan/json-scanner.js';
import { parseJsonString } from '../../scan/parse-json-text.js';
import type { RequestFacts } from '../../scan/request-scanner.js';
import { normalizePath } from '../reading/token-estimates.js';

interface EditedChatRequest {
  readonly facts: RequestFacts;
  /**
   * The body to send instead; null: send the body unchanged. The response to an edited body must pass a
   * StreamUsageFilter.
   */
  readonly edited: Buffer | null;
}

/**
 * Whether to request usage in streams of this provider. Only OpenAI: some compatible providers reject `stream_options`,
 * others report usage anyway.
 */
export const shouldRequestStreamUsage = (providerSlug: string): boolean => providerSlug === 'openai';

/** Whether the body of this request should be buffered and passed to {@link addIncludeUsage}. */
export function canRequestStreamUsage(
  method: string,
  path: string,
  contentType: string | null,
  contentEncoding: string | null,
): boolean {
  if (method !== 'POST') return false;
  if (contentEncoding !== null && contentEncoding !== '' && contentEncoding !== 'identity') return false;
  if (contentType !== null && !contentType.toLowerCase().includes('json')) return false;
  const plain = normalizePath(path);
  return plain === '/v1/chat/completions' || plain === '/v1/completions';
}

const MODEL = 0;
const STREAM = 1;
const OPTIONS = 2;
const PATHS = compileJsonPaths({ model: MODEL, stream: STREAM, stream_options: OPTIONS });
const OPTIONS_PATHS = compileJsonPaths({ include_usage: 0 });

const INCLUDE_USAGE = '"include_usage":true';
const INCLUDE_USAGE_OPTIONS = `{${INCLUDE_USAGE}}`;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Scans the whole body once. Returns its facts, and the edited body when an edit is needed. */
export function addIncludeUsage(body: Buffer): EditedChatRequest {
  const members = new MemberScan(PATHS, 3);
  members.read(body, 0, body.length);
  const streamed = members.text(STREAM) === 'true';
  const facts = {
    model: parseJsonString(members.text(MODEL)),
    streamed,
    itemCount: 0,
    requestedOutput: null,
    blobBytes: members.blobBytes,
  };
  const isSure = members.isWhole && body[members.rootStart] === OPEN_BRACE && members.count(STREAM) === 1;
  if (!streamed || !isSure) return { facts, edited: null };
  return { facts, edited: editStreamOptions(body, members) };
}

function editStreamOptions(body: Buffer, members: MemberScan): Buffer | null {
  const count = members.count(OPTIONS);
  // `stream` exists, so the object is not empty and the comma is right.
  if (count === 0)
    return splice(body, members.rootStart + 1, members.rootStart + 1, `"stream_options":${INCLUDE_USAGE_OPTIONS},`);
  if (count > 1) return null;
  const start = members.start(OPTIONS);
  const end = members.end(OPTIONS);
  if (members.text(OPTIONS) === 'null') return splice(body, start, end, INCLUDE_USAGE_OPTIONS);
  if (body[start] !== OPEN_BRACE) return null;
  const options = new MemberScan(OPTIONS_PATHS, 1);
  options.read(body, start, end);
  if (!options.isWhole || options.count(0) > 1) return null;
  if (options.count(0) === 0) {
    return splice(body, start + 1, start + 1, isEmptyObject(body, start) ? INCLUDE_USAGE : `${INCLUDE_USAGE},`);
  }
  const includeUsage = options.text(0);
  if (includeUsage !== 'false' && includeUsage !== 'null') return null; // true: the client itself requested usage
  return splice(body, start + options.start(0), start + options.end(0), 'true');
}

function isEmptyObject(body: Buffer, start: number): boolean {
  let at = start + 1;
  while (body[at]! <= 0x20) at++;
  return body[at] === CLOSE_BRACE;
}

function splice(body: Buffer, from: number, to: number, text: string): Buffer {
  return Buffer.concat([body.subarray(0, from), Buffer.from(text), body.subarray(to)]);
}

/** Positions of the wanted members in one document; offsets count from the document's first byte. */
class MemberScan implements JsonScanSink {
  readonly #scanner: JsonScanner;
  readonly #counts: number[];
  readonly #starts: number[];
  readonly #ends: number[];
  readonly #texts: (string | null)[];

  constructor(paths: ConstructorParameters<typeof JsonScanner>[0], slots: number) {
    this.#scanner = new JsonScanner(paths, this);
    this.#counts = new Array(slots).fill(0);
    this.#starts = new Array(slots).fill(0);
    this.#ends = new Array(slots).fill(0);
    this.#texts = new Array(slots).fill(null);
  }

  read(body: Buffer, from: number, to: number): void {
    this.#scanner.push(body, from, to);
  }

  onValue(slot: number, text: string | null): void {
    this.#counts[slot]!++;
    this.#starts[slot] = this.#scanner.valueStart;
    this.#ends[slot] = this.#scanner.valueEnd;
    this.#texts[slot] = text;
  }

  /** The document is well-formed and nothing follows it. */
  get isWhole(): boolean {
    return this.#scanner.isDone;
  }

  get rootStart(): number {
    return this.#scanner.rootStart;
  }

  get blobBytes(): number {
    return this.#scanner.blobBytes;
  }

  count(slot: number): number {
    return this.#counts[slot]!;
  }

  start(slot: number): number {
    return this.#starts[slot]!;
  }

  end(slot: number): number {
    return this.#ends[slot]!;
  }

  text(slot: number): string | null {
    return this.#texts[slot]!;
  }
}
