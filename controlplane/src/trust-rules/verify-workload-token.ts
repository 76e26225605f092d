/**
 * Verifies a workload's token against a trust rule: signature by `jose`, with asymmetric algorithms only, then issuer,
 * audience, times and conditions. Pure, apart from the clock that it gets.
 */
import { createLocalJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import { hasUnstorableText } from '../http/json-body.js';
import { ALGORITHMS, type JwkSet } from '../sso/jwk-set.js';
import { type ClaimCondition, findUnmetClaim } from './claim-conditions.js';

/** Clocks of issuers may differ by this much. */
export const CLOCK_TOLERANCE_S = 60;
/** Of tokens that are accepted once: their ids are kept until they expire. */
const ONCE_LIFETIME_MAX_S = 86_400;
const TEXT_CHARS_MAX = 2_048;

interface VerificationRule {
  readonly issuer: string;
  readonly audience: string;
  readonly conditions: readonly ClaimCondition[];
  readonly jtiOnce: boolean;
}

export interface WorkloadIdentity {
  readonly subject: string;
  /** Null: the token has none. */
  readonly tokenId: string | null;
  /** Unix seconds. */
  readonly expiresAtS: number;
}

/** The rule does not accept the token. The message names no values of the rule. */
export class TokenRejected extends Error {}
/** No key of the issuer has the token's `kid`. */
export class UnknownKey extends TokenRejected {}

/** Throws {@link TokenRejected}. */
export async function verifyWorkloadToken(
  token: string,
  keys: JwkSet,
  rule: VerificationRule,
  nowMs: number,
): Promise<WorkloadIdentity> {
  const claims = await verifySignatureAndTimes(token, keys, nowMs);
  assertIssuer(claims, rule.issuer);
  const { aud } = claims;
  // A token for several recipients could be sent here by any of them.
  if (aud !== rule.audience && !(Array.isArray(aud) && aud.length === 1 && aud[0] === rule.audience))
    throw new TokenRejected('aud of the token must be the audience of the trust rule, and nothing else');
  const { iat, exp, sub, jti } = claims;
  const nowS = nowMs / 1000;
  if (iat !== undefined && iat > nowS + CLOCK_TOLERANCE_S) throw new TokenRejected('iat of the token is in the future');
  if (!isUsableText(sub)) throw new TokenRejected('the token has no usable sub');
  const unmet = findUnmetClaim(claims, rule.conditions);
  if (unmet !== null) throw new TokenRejected(`the claim ${unmet} does not meet the condition of the trust rule`);
  const tokenId = isUsableText(jti) ? jti : null;
  if (rule.jtiOnce) {
    if (tokenId === null) throw new TokenRejected('the trust rule accepts each token once, and this one has no jti');
    if (exp! > nowS + ONCE_LIFETIME_MAX_S + CLOCK_TOLERANCE_S)
      throw new TokenRejected('the trust rule accepts each token once, and this one is valid for more than a day');
  }
  return { subject: sub, tokenId, expiresAtS: exp! };
}

async function verifySignatureAndTimes(token: string, keys: JwkSet, nowMs: number): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, createLocalJWKSet({ keys: [...keys.keys] }), {
      algorithms: [...ALGORITHMS],
      clockTolerance: CLOCK_TOLERANCE_S,
      currentDate: new Date(nowMs),
      requiredClaims: ['exp'],
    });
    return payload;
  } catch (error) {
    throw describeRejection(error);
  }
}

function describeRejection(error: unknown): TokenRejected {
  if (error instanceof errors.JWKSNoMatchingKey)
    return new UnknownKey('the issuer has no key for this token (kid, alg)');
  if (error instanceof errors.JWTExpired) return new TokenRejected('the token has expired');
  if (error instanceof errors.JWTClaimValidationFailed)
    return new TokenRejected(`the claim ${error.claim} of the token is missing or does not hold`);
  if (error instanceof errors.JOSEAlgNotAllowed)
    return new TokenRejected(`alg of the token must be one of ${ALGORITHMS.join(', ')}`);
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return new TokenRejected('the signature of the token is wrong');
  if (error instanceof errors.JOSEError) return new TokenRejected('the token is not a signed JWT of a usable form');
  // Node's crypto rejects keys that jose passes to it.
  if (error instanceof TypeError || (error as { code?: unknown }).code !== undefined)
    return new TokenRejected('the key of the issuer cannot verify this token');
  throw error;
}

/** A SPIFFE JWT-SVID needs no `iss`: its trust domain is in `sub` (JWT-SVID §3). */
function assertIssuer(claims: JWTPayload, issuer: string): void {
  const isIssued = issuer.startsWith('spiffe://')
    ? claims.sub?.startsWith(`${issuer}/`) === true
    : claims.iss === issuer;
  if (!isIssued) throw new TokenRejected('the token is of another issuer than that of the trust rule');
}

/** The audit trail stores the text. */
const isUsableText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= TEXT_CHARS_MAX && !hasUnstorableText(value);
