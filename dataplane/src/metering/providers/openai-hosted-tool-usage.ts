/**
 * Counts OpenAI's hosted tools in one document of the Responses API: searches, code interpreter containers, images.
 * `tool_usage` is the provider's own count; without it the output items are counted. Computer use is billed by its
 * tokens only.
 */
import { asJsonObject, type JsonObject, parseJsonObject, parseJsonString } from '../../scan/parse-json-text.js';
import { parseCount, parsePart, SEARCHES_MAX, type UsageCounts } from '../reading/provider-usage-to-token-counts.js';
import type { GeneratedImages } from '../reading/response-usage-meter-interface.js';
import { IMAGE_TOKENS_OUT } from '../reading/token-estimates.js';

/** Default model of the image tool. */
const IMAGE_MODEL = 'gpt-image-1';
const IMAGE_MODEL_NAME = /^(?:chatgpt|gpt)-image/;
const CONTAINERS_MAX = 100;
/** Containers with more memory cost a multiple of a 1 GB container. */
const MEMORY_UNITS: Readonly<Record<string, number>> = { '"1g"': 1, '"4g"': 4, '"16g"': 16, '"64g"': 64 };

export class HostedToolUsage {
  #searches = 0;
  #fileSearches = 0;
  #images = 0;
  /** Container ids; several interpreter calls can share a container, which counts once. */
  #containers: string[] | null = null;
  #memoryUnits = 1;
  #imageModel = IMAGE_MODEL;
  #reported: JsonObject | null = null;

  /** `text`: a JSON value. */
  onOutputType(text: string | null): void {
    if (text === '"web_search_call"') this.#searches++;
    else if (text === '"file_search_call"') this.#fileSearches++;
    else if (text === '"image_generation_call"') this.#images++;
  }

  onContainer(id: string | null): void {
    if (id === null || id === 'null') return;
    this.#containers ??= [];
    if (this.#containers.length < CONTAINERS_MAX && !this.#containers.includes(id)) this.#containers.push(id);
  }

  onMemoryLimit(limit: string | null): void {
    this.#memoryUnits = Math.max(this.#memoryUnits, MEMORY_UNITS[limit ?? ''] ?? 1);
  }

  onToolModel(text: string | null): void {
    const model = parseJsonString(text, 64);
    if (model !== null && IMAGE_MODEL_NAME.test(model)) this.#imageModel = model;
  }

  onReportedUsage(text: string | null): void {
    this.#reported = parseJsonObject(text);
  }

  /** Adds the tool usage of the current document. */
  addTo(counts: UsageCounts): void {
    const searches = asJsonObject(this.#reported?.web_search)?.num_requests;
    counts.webSearches = Math.min(SEARCHES_MAX, parseCount(searches) ?? Math.max(counts.webSearches, this.#searches));
    counts.fileSearches = Math.min(SEARCHES_MAX, this.#fileSearches);
    counts.containers = (this.#containers?.length ?? 0) * this.#memoryUnits;
    counts.generatedImages = this.#countGeneratedImages();
  }

  reset(): void {
    this.#searches = 0;
    this.#fileSearches = 0;
    this.#images = 0;
    this.#containers = null;
    this.#memoryUnits = 1;
    this.#imageModel = IMAGE_MODEL;
    this.#reported = null;
  }

  #countGeneratedImages(): GeneratedImages | null {
    const model = this.#imageModel;
    const usage = asJsonObject(this.#reported?.image_gen);
    const tokensOut = parseCount(usage?.output_tokens);
    if (usage !== null && tokensOut !== null) {
      const tokensIn = parseCount(usage.input_tokens) ?? 0;
      if (tokensIn + tokensOut === 0) return null;
      const imageTokensIn = parsePart(asJsonObject(usage.input_tokens_details)?.image_tokens, tokensIn);
      return { model, tokensIn, imageTokensIn, tokensOut };
    }
    const images = Math.min(SEARCHES_MAX, this.#images);
    return images === 0 ? null : { model, tokensIn: 0, imageTokensIn: 0, tokensOut: images * IMAGE_TOKENS_OUT };
  }
}
