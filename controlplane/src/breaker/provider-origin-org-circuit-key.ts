/**
 * Key of a breaker: provider, upstream origin and organization, so that no organization can block another one's calls
 * (docs/contract.md#circuits). Without an organization it is the fleet breaker of that origin. Example of an
 * organization's breaker: `openai|https://api.openai.com|{orgId}`; of a fleet breaker: `openai|https://api.openai.com`.
 *
 * Neither slugs nor origins can contain `|`: `new URL` encodes or rejects it in an origin.
 */
import { UUID_PATTERN } from '@acg/base/uuid-patterns';

const SEPARATOR = '|';

interface CircuitKeyParts {
  readonly providerSlug: string;
  /** scheme://host[:port] */
  readonly origin: string;
  /** Null: fleet breaker. */
  readonly orgId: string | null;
}

export function formatCircuitKey(name: CircuitKeyParts): string {
  const base = `${name.providerSlug}${SEPARATOR}${name.origin}`;
  return name.orgId === null ? base : `${base}${SEPARATOR}${name.orgId}`;
}

const CIRCUIT_KEY_LENGTH_MAX = 512;

/** Null if the text is not a circuit key. */
export function parseCircuitKey(key: string): CircuitKeyParts | null {
  if (key.length > CIRCUIT_KEY_LENGTH_MAX) return null;
  const [providerSlug = '', origin = '', orgId, ...rest] = key.split(SEPARATOR);
  if (providerSlug === '' || origin === '' || rest.length > 0) return null;
  if (orgId !== undefined && !UUID_PATTERN.test(orgId)) return null;
  return { providerSlug, origin, orgId: orgId ?? null };
}

/** Key without the organization, as in `circuits.origin_key`. */
export const formatOriginKey = ({ providerSlug, origin }: Pick<CircuitKeyParts, 'providerSlug' | 'origin'>): string =>
  formatCircuitKey({ providerSlug, origin, orgId: null });
