/** Decides which models an agent may use. `*` matches any run of characters; case is ignored. */

import { matchesWildcard } from './call-pattern.js';
import type { ModelPatterns } from './call-rule-source.js';

const MODEL_CHARS_MAX = 512;
/** No control characters, and no blanks at the ends, which some providers would remove. */
const LONE_SURROGATE = /[\ud800-\udfff]/u;
const PLAIN = /^[^\s\0-\x1f\x7f](?:[^\0-\x1f\x7f]*[^\s\0-\x1f\x7f])?$/;

/** Begins the name of settings that the provider stores, which can replace the model (OpenRouter, Perplexity). */
export const PRESET_PREFIX = '@preset/';

/** Whether a model name, or a pattern, names stored settings. Only patterns that do match such names. */
export const namesPreset = (model: string): boolean => foldCase(model).includes(PRESET_PREFIX);

export class ModelRule {
  readonly #allow: readonly (readonly string[])[] | null;
  /** The allowed patterns for presets. */
  readonly #allowedPresets: readonly (readonly string[])[];
  readonly #deny: readonly (readonly string[])[];

  constructor({ allow, deny }: ModelPatterns) {
    this.#allow = allow === null ? null : allow.map(splitWildcards);
    this.#allowedPresets = (allow ?? []).filter(namesPreset).map(splitWildcards);
    this.#deny = deny.map(splitWildcards);
  }

  allows(model: string): boolean {
    if (!isPlainModelName(model)) return false;
    const name = foldCase(model);
    if (this.#deny.some((pieces) => matchesWildcard(pieces, name))) return false;
    const allow = name.includes(PRESET_PREFIX) ? this.#allowedPresets : this.#allow;
    return allow === null || allow.some((pieces) => matchesWildcard(pieces, name));
  }
}

/** Whether every provider reads the name alike. */
export const isPlainModelName = (model: string): boolean =>
  model.length <= MODEL_CHARS_MAX && PLAIN.test(model) && !LONE_SURROGATE.test(model);

const foldCase = (text: string): string => text.normalize('NFKC').toLowerCase();
const splitWildcards = (pattern: string): readonly string[] => foldCase(pattern).split('*');
