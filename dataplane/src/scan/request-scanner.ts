/**
 * Reads from a request body what metering needs: the model (some responses do not name it), whether the call asks for a
 * stream, and the number of items of a top-level array. Observes the body as it passes, in constant memory. The body
 * may be JSON or a multipart form with a `model` field (audio, image edits).
 */

import { compileJsonPaths } from './json-paths.js';
import { JsonScanner, type JsonScanSink } from './json-scanner.js';
import { MultipartModelScanner, parseMultipartBoundary } from './multipart-model-scanner.js';
import { parseJsonString } from './parse-json-text.js';

export interface RequestFacts {
  /** Null when the body names no model. */
  readonly model: string | null;
  readonly streamed: boolean;
  /** E-mails of a Resend batch; 0 when the body is not an array. */
  readonly itemCount: number;
  /** Bytes of packed data (base64) in a JSON body. */
  readonly blobBytes: number;
  /** Set for calls that are billed by the requested output; null otherwise, and when the body is not JSON. */
  readonly requestedOutput: RequestedOutput | null;
}

/** Requested speech or images. */
export interface RequestedOutput {
  /** Characters (code points) of the text to speak. */
  readonly characters: number;
  readonly textBytes: number;
  /** As the request spells it; `''` when absent. */
  readonly size: string;
  readonly quality: string;
}

const MODEL = 0;
const STREAM = 1;
const ITEM = 2;
const INPUT = 3;
const SIZE = 4;
const QUALITY = 5;
const PATHS = compileJsonPaths({ model: MODEL, stream: STREAM, '[].to': ITEM });
const REQUESTED_OUTPUT_PATHS = compileJsonPaths({
  model: MODEL,
  stream: STREAM,
  input: INPUT,
  size: SIZE,
  quality: QUALITY,
});
const WORD_CHARS_MAX = 32;

export class RequestScanner implements JsonScanSink {
  readonly #json: JsonScanner | null;
  readonly #form: MultipartModelScanner | null;
  #model: string | null = null;
  #streamed = false;
  #items = 0;
  readonly #readsRequestedOutput: boolean;
  #characters = 0;
  #textBytes = 0;
  #size = '';
  #quality = '';

  /**
   * `contentType`: the request's header; null when absent (read as JSON). `readsRequestedOutput`: also read {@link
   * RequestFacts.requestedOutput}.
   */
  constructor(contentType: string | null, readsRequestedOutput = false) {
    const type = (contentType ?? 'json').trimStart().toLowerCase();
    const boundary = type.startsWith('multipart/') ? parseMultipartBoundary(contentType!) : null;
    this.#form = boundary === null ? null : new MultipartModelScanner(boundary);
    this.#json = type.includes('json')
      ? new JsonScanner(readsRequestedOutput ? REQUESTED_OUTPUT_PATHS : PATHS, this)
      : null;
    this.#readsRequestedOutput = readsRequestedOutput && this.#json !== null;
  }

  /** Reads the next bytes of the body; does not keep them. */
  observe(chunk: Buffer): void {
    this.#json?.push(chunk, 0, chunk.length);
    this.#form?.observe(chunk);
  }

  /** The facts of the bytes observed so far. */
  facts(): RequestFacts {
    const model = this.#form === null ? this.#model : this.#form.model;
    const requestedOutput = this.#readsRequestedOutput
      ? { characters: this.#characters, textBytes: this.#textBytes, size: this.#size, quality: this.#quality }
      : null;
    return {
      model,
      streamed: this.#streamed,
      itemCount: this.#items,
      blobBytes: this.#json?.blobBytes ?? 0,
      requestedOutput: requestedOutput,
    };
  }

  onValue(slot: number, text: string | null): void {
    if (slot === MODEL) this.#model = parseJsonString(text);
    else if (slot === STREAM) this.#streamed = text === 'true';
    else if (slot === SIZE) this.#size = parseJsonString(text, WORD_CHARS_MAX) ?? '';
    else if (slot === QUALITY) this.#quality = parseJsonString(text, WORD_CHARS_MAX) ?? '';
    else if (slot === INPUT) this.#readInput(text);
    else this.#items++;
  }

  #readInput(text: string | null): void {
    const spoken = parseJsonString(text, Number.POSITIVE_INFINITY) ?? '';
    this.#characters = 0;
    for (const _ of spoken) this.#characters++;
    this.#textBytes = Buffer.byteLength(spoken);
  }
}

/** The facts of a complete body. */
export function scanRequest(body: Buffer, contentType: string | null, readsRequestedOutput = false): RequestFacts {
  const scanner = new RequestScanner(contentType, readsRequestedOutput);
  scanner.observe(body);
  return scanner.facts();
}
