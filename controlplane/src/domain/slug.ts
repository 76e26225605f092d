/** Slugs: derived from names, unique in their parent, suffixed on collision (docs/contract.md#management-api). */
import { randomInt } from 'node:crypto';

const SLUG_LENGTH_MAX = 60;

/**
 * `Support Bot (EU)` → `support-bot-eu`, `Müller Café` → `muller-cafe`. A name without Latin letters or digits gives
 * the fallback.
 */
export function slugify(name: string, fallback: string): string {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '') // NFKD has separated the diacritics; without removal they would split words
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_LENGTH_MAX)
    .replace(/^-|-$/g, '');
  return slug === '' ? fallback : slug;
}

/** Returns the first free slug of base, base-2, base-3 and so on. */
export function nextFreeSlug(base: string, taken: ReadonlySet<string>): string {
  if (!taken.has(base)) return base;
  for (let n = 2; ; n++) {
    const slug = `${base}-${n}`;
    if (!taken.has(slug)) return slug;
  }
}

const NUMBERED_SUFFIX_MAX = 5;
const RANDOM_SUFFIX_TRIES = 10;

/**
 * Yields candidates to try in turn, where too many slugs share one parent to list the taken ones: base, base-2 …
 * base-5, then random suffixes.
 */
export function* slugCandidates(base: string): Generator<string> {
  yield base;
  for (let n = 2; n <= NUMBERED_SUFFIX_MAX; n++) yield `${base}-${n}`;
  for (let n = 0; n < RANDOM_SUFFIX_TRIES; n++)
    yield `${base}-${randomInt(36 ** 6)
      .toString(36)
      .padStart(6, '0')}`;
}
