/**
 * What OpenAI's hosted tools did in one answer of the Responses API: searches, containers of code interpreters, images.
 * `tool_usage` is the provider's own count; where it is missing the output's items are counted. Computer use is paid for
 * by its tokens alone.
 */
import { asObject, type JsonObject, parseObject, parseString } from '../scan/json-text.js';
import type { DrawnImages } from './drawn-images.js';
import { IMAGE_TOKENS_OUT } from './estimate.js';
import { type Counts, countOf, partOf, SEARCHES_MAX } from './usage-fields.js';

/** What the tool draws with when nobody says. */
const IMAGE_MODEL = 'gpt-image-1';
const IMAGE_MODEL_NAME = /^(?:chatgpt|gpt)-image/;
const CONTAINERS_MAX = 100;
/** Containers of more memory cost so many of 1 GB. */
const MEMORY_UNITS: Readonly<Record<string, number>> = { '"1g"': 1, '"4g"': 4, '"16g"': 16, '"64g"': 64 };

export class HostedTools {
  #searches = 0;
  #fileSearches = 0;
  #images = 0;
  /** Several calls of an interpreter share one: counted once. */
  #containers: string[] | null = null;
  #memoryUnits = 1;
  #imageModel = IMAGE_MODEL;
  #reported: JsonObject | null = null;

  /** `text`: JSON. */
  outputType(text: string | null): void {
    if (text === '"web_search_call"') this.#searches++;
    else if (text === '"file_search_call"') this.#fileSearches++;
    else if (text === '"image_generation_call"') this.#images++;
  }

  container(id: string | null): void {
    if (id === null || id === 'null') return;
    this.#containers ??= [];
    if (this.#containers.length < CONTAINERS_MAX && !this.#containers.includes(id)) this.#containers.push(id);
  }

  memory(limit: string | null): void {
    this.#memoryUnits = Math.max(this.#memoryUnits, MEMORY_UNITS[limit ?? ''] ?? 1);
  }

  toolModel(text: string | null): void {
    const model = parseString(text, 64);
    if (model !== null && IMAGE_MODEL_NAME.test(model)) this.#imageModel = model;
  }

  usage(text: string | null): void {
    this.#reported = parseObject(text);
  }

  /** Adds what the document that ends now said. */
  addTo(counts: Counts): void {
    const searches = asObject(this.#reported?.web_search)?.num_requests;
    counts.webSearches = Math.min(SEARCHES_MAX, countOf(searches) ?? this.#searches);
    counts.fileSearches = Math.min(SEARCHES_MAX, this.#fileSearches);
    counts.containers = (this.#containers?.length ?? 0) * this.#memoryUnits;
    counts.drawn = this.#drawn();
  }

  clear(): void {
    this.#searches = 0;
    this.#fileSearches = 0;
    this.#images = 0;
    this.#containers = null;
    this.#memoryUnits = 1;
    this.#imageModel = IMAGE_MODEL;
    this.#reported = null;
  }

  #drawn(): DrawnImages | null {
    const model = this.#imageModel;
    const usage = asObject(this.#reported?.image_gen);
    const tokensOut = countOf(usage?.output_tokens);
    if (usage !== null && tokensOut !== null) {
      const tokensIn = countOf(usage.input_tokens) ?? 0;
      if (tokensIn + tokensOut === 0) return null;
      const imageTokensIn = partOf(asObject(usage.input_tokens_details)?.image_tokens, tokensIn);
      return { model, tokensIn, imageTokensIn, tokensOut };
    }
    const images = Math.min(SEARCHES_MAX, this.#images);
    return images === 0 ? null : { model, tokensIn: 0, imageTokensIn: 0, tokensOut: images * IMAGE_TOKENS_OUT };
  }
}
