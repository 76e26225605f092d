/**
 * Checks JWK sets (RFC 7517) that a person uploads or an issuer serves. Only public keys of asymmetric algorithms
 * remain, with the members that verification reads.
 */
import type { JWK } from 'jose';

export interface JwkSet {
  readonly keys: readonly JWK[];
}

/** Never `none` and never HMAC, whose key would be the public one. */
export const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

const KEYS_MAX = 50;
/** Base64url characters of a modulus of 2048 and of 8192 bits. */
const MODULUS_CHARS_MIN = 342;
const MODULUS_CHARS_MAX = 1366;
/** Base64url characters of an exponent of 32 bits: a larger one makes verification slow. */
const EXPONENT_CHARS_MAX = 6;
const KID_CHARS_MAX = 512;
/** `jwt-svid`: SPIFFE bundles. Their `x509-svid` keys sign no tokens. */
const SIGNING_USES: ReadonlySet<unknown> = new Set([undefined, 'sig', 'jwt-svid']);
const CURVES: Readonly<Record<string, readonly string[]>> = {
  EC: ['P-256', 'P-384', 'P-521'],
  OKP: ['Ed25519'],
};
const BASE64URL = /^[A-Za-z0-9_-]+$/;

/** An uploaded set must be correct as a whole; returns what is wrong with it. */
export function parseUploadedKeys(value: unknown): JwkSet | string {
  const keys = readKeys(value);
  if (typeof keys === 'string') return keys;
  const parsed: JWK[] = [];
  for (const [i, key] of keys.entries()) {
    if (isPrivateOrSymmetric(key))
      return `jwks.keys[${i}] is a private or symmetric key: upload only public keys, and replace this one`;
    if (key.use === 'x509-svid') continue;
    const jwk = parsePublicKey(key);
    if (typeof jwk === 'string') return `jwks.keys[${i}] ${jwk}`;
    parsed.push(jwk);
  }
  return parsed.length === 0 ? 'jwks.keys contains no key that signs tokens' : { keys: parsed };
}

/** Of a set that an issuer serves, the usable keys; throws with the reason when there are none. */
export function parseServedKeys(value: unknown): JwkSet {
  const keys = readKeys(value);
  if (typeof keys === 'string') throw new Error(keys);
  const usable = keys.filter((key) => !isPrivateOrSymmetric(key)).map(parsePublicKey);
  const parsed = usable.filter((key) => typeof key !== 'string');
  if (parsed.length === 0) throw new Error('jwks.keys contains no usable key');
  return { keys: parsed };
}

type JwkMembers = Readonly<Record<string, unknown>>;

function readKeys(value: unknown): readonly JwkMembers[] | string {
  const keys = (value as { keys?: unknown } | null)?.keys;
  if (!Array.isArray(keys)) return 'jwks must be an object with a list keys';
  if (keys.length > KEYS_MAX) return `jwks.keys must have at most ${KEYS_MAX} keys`;
  if (!keys.every((key) => typeof key === 'object' && key !== null)) return 'jwks.keys must contain objects';
  return keys as JwkMembers[];
}

const isPrivateOrSymmetric = (key: JwkMembers): boolean => 'd' in key || 'k' in key || key.kty === 'oct';

/** Returns what is wrong with the key, if anything. */
function parsePublicKey({ kty, use, kid, alg, n, e, crv, x, y }: JwkMembers): JWK | string {
  if (!SIGNING_USES.has(use)) return 'is not for signatures (use)';
  if (kid !== undefined && (typeof kid !== 'string' || kid.length > KID_CHARS_MAX)) return 'has an unusable kid';
  if (alg !== undefined && !(ALGORITHMS as readonly unknown[]).includes(alg))
    return `has an alg that is not one of ${ALGORITHMS.join(', ')}`;
  const common = { ...(kid === undefined ? {} : { kid }), ...(alg === undefined ? {} : { alg: alg as string }) };
  if (kty === 'RSA') {
    if (!isBase64url(n, MODULUS_CHARS_MIN, MODULUS_CHARS_MAX)) return 'must have a modulus n of 2048 to 8192 bits';
    if (!isBase64url(e, 1, EXPONENT_CHARS_MAX)) return 'must have an exponent e of at most 32 bits';
    return { ...common, kty, n, e };
  }
  if (typeof kty !== 'string' || !Object.hasOwn(CURVES, kty)) return 'must have kty RSA, EC or OKP';
  if (typeof crv !== 'string' || !CURVES[kty]!.includes(crv)) return `must have crv ${CURVES[kty]!.join(', ')}`;
  if (!isBase64url(x, 1, 100)) return 'must have a coordinate x';
  if (kty === 'OKP') return { ...common, kty, crv, x };
  return isBase64url(y, 1, 100) ? { ...common, kty, crv, x, y } : 'must have a coordinate y';
}

const isBase64url = (value: unknown, min: number, max: number): value is string =>
  typeof value === 'string' && value.length >= min && value.length <= max && BASE64URL.test(value);
