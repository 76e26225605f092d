/**
 * The name of a breaker: provider, upstream origin and organization, so that nothing one organization does stops
 * another one's calls (docs/contract.md#circuits). Without an organization it is the fleet's breaker of that origin.
 *
 *   openai|https://api.openai.com|{orgId}    an organization's
 *   openai|https://api.openai.com            the fleet's
 *
 * Neither slugs nor origins can contain `|` (an origin comes out of `new URL`, which encodes or refuses it).
 */
import { UUID_PATTERN } from '@acg/base/uuid';

const SEPARATOR = '|';

interface CircuitKeyParts {
  readonly providerSlug: string;
  /** scheme://host[:port] */
  readonly origin: string;
  /** Null: the fleet's. */
  readonly orgId: string | null;
}

export function formatCircuitKey(name: CircuitKeyParts): string {
  const base = `${name.providerSlug}${SEPARATOR}${name.origin}`;
  return name.orgId === null ? base : `${base}${SEPARATOR}${name.orgId}`;
}

const CIRCUIT_KEY_LENGTH_MAX = 512;

/** Null when the text is no circuit key. */
export function parseCircuitKey(key: string): CircuitKeyParts | null {
  if (key.length > CIRCUIT_KEY_LENGTH_MAX) return null;
  const [providerSlug = '', origin = '', orgId, ...rest] = key.split(SEPARATOR);
  if (providerSlug === '' || origin === '' || rest.length > 0) return null;
  if (orgId !== undefined && !UUID_PATTERN.test(orgId)) return null;
  return { providerSlug, origin, orgId: orgId ?? null };
}

/** Of a breaker's name without its organization: `circuits.origin_key`. */
export const formatOriginKey = ({ providerSlug, origin }: Pick<CircuitKeyParts, 'providerSlug' | 'origin'>): string =>
  formatCircuitKey({ providerSlug, origin, orgId: null });
