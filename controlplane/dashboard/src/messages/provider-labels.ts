/**
 * Names of the built-in providers as their vendors write them, for places where the API delivers only the slug.
 * `provider-names.json` is generated from the provider files (`npm run openapi`).
 */
import names from './provider-names.json' with { type: 'json' };

const PROVIDER_LABELS: Readonly<Record<string, string>> = names;

/** A custom provider is shown by its slug. */
export const providerLabel = (slug: string): string =>
  Object.hasOwn(PROVIDER_LABELS, slug) ? PROVIDER_LABELS[slug]! : slug;
