/**
 * What metering wants to know of a request: the model it names (some answers do not), whether it asks for a stream,
 * and how many items a body that is one array has. Fed on the tee as the body passes, in constant memory; the body may
 * be JSON or a form with a `model` field (audio, image edits).
 */

import { FormModel, formBoundary } from './form-model.js';
import { JsonScanner, type ScanSink } from './json-scanner.js';
import { parseString } from './json-text.js';
import { compilePaths } from './scan-paths.js';

export interface RequestFacts {
  /** Null when the body names none. */
  readonly model: string | null;
  readonly streamed: boolean;
  /** E-mails of a resend batch; 0 when the body is no array. */
  readonly items: number;
  /** Bytes of packed data (base64) in a JSON body. */
  readonly blobBytes: number;
}

const MODEL = 0;
const STREAM = 1;
const PATHS = compilePaths({ model: MODEL, stream: STREAM, '[].to': 2 });

export class RequestScanner implements ScanSink {
  readonly #json: JsonScanner | null;
  readonly #form: FormModel | null;
  #model: string | null = null;
  #streamed = false;
  #items = 0;

  /** `contentType`: the request's header; null when absent (taken for JSON). */
  constructor(contentType: string | null) {
    const type = (contentType ?? 'json').trimStart().toLowerCase();
    const boundary = type.startsWith('multipart/') ? formBoundary(contentType!) : null;
    this.#form = boundary === null ? null : new FormModel(boundary);
    this.#json = type.includes('json') ? new JsonScanner(PATHS, this) : null;
  }

  /** The next bytes of the body; not kept. */
  observe(chunk: Buffer): void {
    this.#json?.push(chunk, 0, chunk.length);
    this.#form?.observe(chunk);
  }

  /** As far as the body has been seen. */
  facts(): RequestFacts {
    const model = this.#form === null ? this.#model : this.#form.model;
    return { model, streamed: this.#streamed, items: this.#items, blobBytes: this.#json?.blobBytes ?? 0 };
  }

  value(slot: number, text: string | null): void {
    if (slot === MODEL) this.#model = parseString(text);
    else if (slot === STREAM) this.#streamed = text === 'true';
    else this.#items++;
  }
}

/** The facts of a body that is there as a whole. */
export function scanRequest(body: Buffer, contentType: string | null): RequestFacts {
  const scanner = new RequestScanner(contentType);
  scanner.observe(body);
  return scanner.facts();
}
