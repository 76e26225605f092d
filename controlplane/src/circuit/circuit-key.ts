/**
 * The name of a circuit: one per provider and upstream origin, and for custom providers per organization as well, so
 * that one tenant's broken upstream never stops another's (docs/contract.md#circuits).
 *
 *   openai|https://api.openai.com            built-in
 *   mycorp|https://api.mycorp.com|{orgId}    custom
 *
 * Neither slugs nor origins can contain `|` (an origin comes out of `new URL`, which encodes or refuses it).
 */
import { UUID } from '@acg/base/uuid';

const SEPARATOR = '|';

interface CircuitName {
  readonly providerSlug: string;
  /** scheme://host[:port] */
  readonly origin: string;
  /** The owner of a custom provider; null for a built-in one. */
  readonly orgId: string | null;
}

export function circuitKey(name: CircuitName): string {
  const base = `${name.providerSlug}${SEPARATOR}${name.origin}`;
  return name.orgId === null ? base : `${base}${SEPARATOR}${name.orgId}`;
}

const CIRCUIT_KEY_LENGTH_MAX = 512;

/** Null when the text is no circuit key. */
export function parseCircuitKey(key: string): CircuitName | null {
  if (key.length > CIRCUIT_KEY_LENGTH_MAX) return null;
  const [providerSlug = '', origin = '', orgId, ...rest] = key.split(SEPARATOR);
  if (providerSlug === '' || origin === '' || rest.length > 0) return null;
  if (orgId !== undefined && !UUID.test(orgId)) return null;
  return { providerSlug, origin, orgId: orgId ?? null };
}
