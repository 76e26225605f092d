/**
 * Causes a streamed chat completion to report its usage although the client did not request it (docs/contract.md#usage).
 * Adds `"stream_options":{"include_usage":true}` to the raw bytes; StreamUsageFilter removes the effect from the
 * response. A doubtful body (not one well-formed object, a duplicate member, an unexpected type) stays unchanged, and
 * the call's usage is estimated.
 */

import { compileJsonPaths, type JsonPathNode } from '../../scan/json-paths.js';
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
  const members = new MemberScan(PATHS, body, 0, body.length);
  const streamed = members.last(STREAM)?.text === 'true';
  const facts = {
    model: parseJsonString(members.last(MODEL)?.text ?? null),
    streamed,
    itemCount: 0,
    requestedOutput: null,
    blobBytes: members.scanner.blobBytes,
  };
  const { isDone, rootStart } = members.scanner;
  const isSure = isDone && body[rootStart] === OPEN_BRACE && members.count(STREAM) === 1;
  if (!streamed || !isSure) return { facts, edited: null };
  return { facts, edited: editStreamOptions(body, rootStart, members) };
}

function editStreamOptions(body: Buffer, rootStart: number, members: MemberScan): Buffer | null {
  const given = members.last(OPTIONS);
  // `stream` exists, so the object is not empty and the comma is right.
  if (given === undefined)
    return splice(body, rootStart + 1, rootStart + 1, `"stream_options":${INCLUDE_USAGE_OPTIONS},`);
  if (members.count(OPTIONS) > 1) return null;
  const { start, end } = given;
  if (given.text === 'null') return splice(body, start, end, INCLUDE_USAGE_OPTIONS);
  if (body[start] !== OPEN_BRACE) return null;
  const options = new MemberScan(OPTIONS_PATHS, body, start, end);
  if (!options.scanner.isDone || options.count(0) > 1) return null;
  const includeUsage = options.last(0);
  if (includeUsage === undefined) {
    return splice(body, start + 1, start + 1, isEmptyObject(body, start) ? INCLUDE_USAGE : `${INCLUDE_USAGE},`);
  }
  if (includeUsage.text !== 'false' && includeUsage.text !== 'null') return null; // true: the client itself requested usage
  return splice(body, start + includeUsage.start, start + includeUsage.end, 'true');
}

function isEmptyObject(body: Buffer, start: number): boolean {
  let at = start + 1;
  while (body[at]! <= 0x20) at++;
  return body[at] === CLOSE_BRACE;
}

function splice(body: Buffer, from: number, to: number, text: string): Buffer {
  return Buffer.concat([body.subarray(0, from), Buffer.from(text), body.subarray(to)]);
}

interface Member {
  /** Null when it is too long. */
  readonly text: string | null;
  /** Offsets from the first byte of the document. */
  readonly start: number;
  readonly end: number;
}

/** The members of one document, by slot. */
class MemberScan implements JsonScanSink {
  readonly scanner: JsonScanner;
  readonly #counts: number[] = [];
  readonly #members: Member[] = [];

  constructor(paths: JsonPathNode, body: Buffer, from: number, to: number) {
    this.scanner = new JsonScanner(paths, this);
    this.scanner.push(body, from, to);
  }

  onValue(slot: number, text: string | null): void {
    this.#counts[slot] = this.count(slot) + 1;
    this.#members[slot] = { text, start: this.scanner.valueStart, end: this.scanner.valueEnd };
  }

  count(slot: number): number {
    return this.#counts[slot] ?? 0;
  }

  last(slot: number): Member | undefined {
    return this.#members[slot];
  }
}
