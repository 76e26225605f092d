/** Which models an agent may name. `*` is any run of characters; case does not matter. */
import type { ModelPatterns } from '../context/agent-context.js';
import { matchesText } from './call-pattern.js';

const MODEL_CHARS_MAX = 512;
/** Control characters and blanks at its ends: some providers would cut them off. */
const LONE_SURROGATE = /[\ud800-\udfff]/u;
const PLAIN = /^[^\s\0-\x1f\x7f](?:[^\0-\x1f\x7f]*[^\s\0-\x1f\x7f])?$/;

export class ModelRule {
  readonly #allow: readonly (readonly string[])[] | null;
  readonly #deny: readonly (readonly string[])[];

  constructor({ allow, deny }: ModelPatterns) {
    this.#allow = allow === null ? null : allow.map(piecesOf);
    this.#deny = deny.map(piecesOf);
  }

  passes(model: string): boolean {
    if (model.length > MODEL_CHARS_MAX || !PLAIN.test(model) || LONE_SURROGATE.test(model)) return false;
    const name = fold(model);
    if (this.#deny.some((pieces) => matchesText(pieces, name))) return false;
    return this.#allow === null || this.#allow.some((pieces) => matchesText(pieces, name));
  }
}

const fold = (text: string): string => text.normalize('NFKC').toLowerCase();
const piecesOf = (pattern: string): readonly string[] => fold(pattern).split('*');
