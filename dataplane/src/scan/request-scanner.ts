/**
 * What metering wants to know of a request: the model it names (some answers do not), whether it asks for a stream,
 * and how many items a body that is one array has. Fed on the tee as the body passes, in constant memory; the body may
 * be JSON or a form with a `model` field (audio, image edits).
 */

import { compileJsonPaths } from './json-paths.js';
import { JsonScanner, type JsonScanSink } from './json-scanner.js';
import { MultipartModelScanner, parseMultipartBoundary } from './multipart-model-scanner.js';
import { parseJsonString } from './parse-json-text.js';

export interface RequestFacts {
  /** Null when the body names none. */
  readonly model: string | null;
  readonly streamed: boolean;
  /** E-mails of a resend batch; 0 when the body is no array. */
  readonly itemCount: number;
  /** Bytes of packed data (base64) in a JSON body. */
  readonly blobBytes: number;
  /** Of a call that is billed by what it asks for; null otherwise, and where the body was not read. */
  readonly requestedOutput: RequestedOutput | null;
}

/** What speech is to be made of, or what images. */
export interface RequestedOutput {
  /** The text to be spoken: how many characters, and bytes in UTF-8. */
  readonly characters: number;
  readonly textBytes: number;
  /** As the request has them; `''`: it does not say. */
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
const ORDER_PATHS = compileJsonPaths({ model: MODEL, stream: STREAM, input: INPUT, size: SIZE, quality: QUALITY });
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

  /** `contentType`: the request's header; null when absent (taken for JSON). `isOrder`: see {@link RequestFacts.requestedOutput}. */
  constructor(contentType: string | null, readsRequestedOutput = false) {
    const type = (contentType ?? 'json').trimStart().toLowerCase();
    const boundary = type.startsWith('multipart/') ? parseMultipartBoundary(contentType!) : null;
    this.#form = boundary === null ? null : new MultipartModelScanner(boundary);
    this.#json = type.includes('json') ? new JsonScanner(readsRequestedOutput ? ORDER_PATHS : PATHS, this) : null;
    this.#readsRequestedOutput = readsRequestedOutput && this.#json !== null;
  }

  /** The next bytes of the body; not kept. */
  observe(chunk: Buffer): void {
    this.#json?.push(chunk, 0, chunk.length);
    this.#form?.observe(chunk);
  }

  /** As far as the body has been seen. */
  facts(): RequestFacts {
    const model = this.#form === null ? this.#model : this.#form.model;
    const order = this.#readsRequestedOutput
      ? { characters: this.#characters, textBytes: this.#textBytes, size: this.#size, quality: this.#quality }
      : null;
    return {
      model,
      streamed: this.#streamed,
      itemCount: this.#items,
      blobBytes: this.#json?.blobBytes ?? 0,
      requestedOutput: order,
    };
  }

  onValue(slot: number, text: string | null): void {
    if (slot === MODEL) this.#model = parseJsonString(text);
    else if (slot === STREAM) this.#streamed = text === 'true';
    else if (slot === SIZE) this.#size = parseJsonString(text, WORD_CHARS_MAX) ?? '';
    else if (slot === QUALITY) this.#quality = parseJsonString(text, WORD_CHARS_MAX) ?? '';
    else if (slot === INPUT) this.#input(text);
    else this.#items++;
  }

  #input(text: string | null): void {
    const spoken = parseJsonString(text, Number.POSITIVE_INFINITY) ?? '';
    this.#characters = 0;
    for (const _ of spoken) this.#characters++;
    this.#textBytes = Buffer.byteLength(spoken);
  }
}

/** The facts of a body that is there as a whole. */
export function scanRequest(body: Buffer, contentType: string | null, readsRequestedOutput = false): RequestFacts {
  const scanner = new RequestScanner(contentType, readsRequestedOutput);
  scanner.observe(body);
  return scanner.facts();
}
