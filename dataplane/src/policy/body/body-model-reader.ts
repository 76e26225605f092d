/**
 * Reads the models that a call's body names, so strictly that no provider can read another model from it. Fed as the
 * body arrives; decides only on the complete body.
 */

import { PRESET_PREFIX } from '@acg/base/policy/model-rule';
import { compileJsonPaths } from '../../scan/json-paths.js';
import { JsonScanner, type JsonScanSink } from '../../scan/json-scanner.js';
import { StrictJsonValidator } from './strict-json-validator.js';
import { parseStrictBoundary, parseStrictMultipart } from './strict-multipart-parser.js';

/**
 * Why a body is rejected:
 * - encoded: has a content-encoding; the gateway would have to decode as the provider does
 * - media_type: a content type under which this provider does not read such a body
 * - not_readable: invalid JSON or form
 * - ambiguous: parsers may differ
 * - unnamed: no model in the expected place, or not a string
 */
export type BodyProblem = 'encoded' | 'media_type' | 'not_readable' | 'ambiguous' | 'unnamed';

export type BodyModelResult = { readonly models: readonly string[] } | { readonly problem: BodyProblem };

const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;\s*charset="?utf-8"?\s*)?$/i;

export const isJsonMediaType = (contentType: string): boolean => JSON_TYPE.test(contentType.trim());

const MODEL = 0;
/** Members that make some providers use further models. */
const MORE_MODELS = 1;
const ITEM_MODEL = 2;
const ITEMS = 3;
/** Names of stored settings, which can replace the model; null: none. */
const PRESET = 4;
const SINGLE = compileJsonPaths({
  model: MODEL,
  models: MORE_MODELS,
  'models[]': MORE_MODELS,
  'tools[].model': MORE_MODELS,
  preset: PRESET,
  fallbacks: PRESET,
  'fallbacks[]': MORE_MODELS,
  'fallbacks[].model': MORE_MODELS,
});
const BATCH = compileJsonPaths({
  'requests[].params.model': ITEM_MODEL,
  'requests[].params.tools[].model': MORE_MODELS,
  'requests[].params.fallbacks': PRESET,
  'requests[].params.fallbacks[].model': MORE_MODELS,
  'requests[].custom_id': ITEMS,
});
const SINGLE_NAMES = ['model', 'models', 'tools', 'preset', 'fallbacks'];
const BATCH_NAMES = ['requests', 'params', 'model', 'tools', 'fallbacks'];

/** Reads one body. Create it with {@link createBodyModelReader}. */
export interface BodyModelReader {
  /** Reads the next bytes; does not keep them. */
  observe(bytes: Buffer): void;
  /** Bytes of memory besides the body. */
  readonly heldBytes: number;
  /** Decides after the last byte. `body`: the complete body. */
  finish(body: Buffer): BodyModelResult;
}

/**
 * Chooses the reader by content type. `unnamed`: the body names no model, because the path does.
 * `headers`: flat, lower-case names. Returns a problem when no reader applies.
 */
export function createBodyModelReader(
  place: 'json' | 'form' | 'json_or_form' | 'batch' | 'unnamed',
  headers: readonly string[],
): BodyModelReader | BodyProblem {
  let contentType: string | null = null;
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] === 'content-encoding') return 'encoded';
    if (headers[i] !== 'content-type') continue;
    if (contentType !== null) return 'ambiguous';
    contentType = headers[i + 1]!;
  }
  if (contentType === null) return 'media_type';
  if (place !== 'form' && isJsonMediaType(contentType))
    return place === 'unnamed' ? new UnnamedJsonReader() : new JsonModelReader(place === 'batch');
  const boundary = place === 'json' || place === 'batch' ? null : parseStrictBoundary(contentType.trim());
  return boundary === null ? 'media_type' : new FormModelReader(boundary, place !== 'unnamed');
}

/** Only checks that all parsers read the same from the body. */
class UnnamedJsonReader implements BodyModelReader {
  readonly #strict = new StrictJsonValidator([], 0);

  get heldBytes(): number {
    return this.#strict.heldBytes;
  }

  observe(bytes: Buffer): void {
    this.#strict.push(bytes);
  }

  finish(): BodyModelResult {
    const problem = this.#strict.finish();
    if (problem === null) return { models: [] };
    return { problem: problem === 'not_json' ? 'not_readable' : problem };
  }
}

class JsonModelReader implements BodyModelReader, JsonScanSink {
  readonly #strict: StrictJsonValidator;
  readonly #scanner: JsonScanner;
  readonly #isBatch: boolean;
  readonly #models: string[] = [];
  #named = 0;
  #items = 0;
  #hasInvalidModel = false;

  constructor(isBatch: boolean) {
    this.#isBatch = isBatch;
    this.#strict = isBatch ? new StrictJsonValidator(BATCH_NAMES, 4) : new StrictJsonValidator(SINGLE_NAMES, 1);
    this.#scanner = new JsonScanner(isBatch ? BATCH : SINGLE, this);
  }

  get heldBytes(): number {
    return this.#strict.heldBytes;
  }

  observe(bytes: Buffer): void {
    this.#strict.push(bytes);
    this.#scanner.push(bytes, 0, bytes.length);
  }

  finish(): BodyModelResult {
    const problem = this.#strict.finish();
    if (problem === 'not_json') return { problem: 'not_readable' };
    if (problem === 'ambiguous') return { problem };
    // Each request of a batch has an id and a model. A single call has exactly one model.
    const isNamed = this.#isBatch ? this.#named > 0 && this.#named === this.#items : this.#named === 1;
    return isNamed && !this.#hasInvalidModel ? { models: this.#models } : { problem: 'unnamed' };
  }

  onValue(slot: number, text: string | null): void {
    if (slot === ITEMS) {
      this.#items++;
      return;
    }
    if (slot === PRESET && text === 'null') return;
    if (slot === MODEL || slot === ITEM_MODEL) this.#named++;
    const model = text?.startsWith('"') ? parseModelString(text) : null;
    if (model === null) this.#hasInvalidModel = true;
    else this.#models.push(slot === PRESET ? PRESET_PREFIX + model : model);
  }
}

class FormModelReader implements BodyModelReader {
  readonly heldBytes = 0;

  constructor(
    readonly boundary: string,
    readonly isNamed: boolean,
  ) {}

  observe(): void {}

  finish(body: Buffer): BodyModelResult {
    const fields = parseStrictMultipart(body, this.boundary);
    if (fields === 'not_form') return { problem: 'not_readable' };
    if (fields === 'ambiguous') return { problem: fields };
    if (!this.isNamed) return { models: [] };
    const named = fields.filter(({ name }) => resemblesModel(name));
    if (named.length > 1 || (named.length === 1 && named[0]!.name !== 'model')) return { problem: 'ambiguous' };
    const model = named[0]?.value ?? null;
    return model === null ? { problem: 'unnamed' } : { models: [model] };
  }
}

/** Whether some form parsers would read this name as `model`: they ignore case, or read `model[]` as `model`. */
const resemblesModel = (name: string): boolean => /^\W*model\W*$/i.test(name.normalize('NFKC'));

function parseModelString(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : null;
  } catch {
    return null; // invalid JSON: the strict validator reports it
  }
}
