/** Session JWTs (DESIGN §11): HS256 only; `sub`, `org`, `ver`, `jti`, `iat`, `exp`. The role is never in the token. */
import { randomUUID } from 'node:crypto';
import type { Secret } from '@acg/base/secret';
import { createSigner, createVerifier, TokenError } from 'fast-jwt';
import { Unauthenticated } from '../domain/errors.js';

export const SESSION_LIFETIME_S = 7 * 86_400;
/** How long after its end a token can still be refreshed (SPEC §5). */
export const REFRESH_GRACE_S = 7 * 86_400;

export interface Session {
  readonly userId: string;
  readonly orgId: string;
  /** users.session_version at issue; a password reset raises it. */
  readonly version: number;
}

interface Claims {
  readonly sub: string;
  readonly org: string;
  readonly ver: number;
  readonly jti: string;
}

export class SessionTokens {
  readonly #sign: (claims: Claims) => string;
  readonly #verify: (token: string) => unknown;
  readonly #verifyWithGrace: (token: string) => unknown;

  constructor(secret: Secret) {
    const key = secret.reveal();
    this.#sign = createSigner({ key, algorithm: 'HS256', expiresIn: SESSION_LIFETIME_S * 1000 });
    const rules = { key, algorithms: ['HS256' as const], requiredClaims: ['sub', 'org', 'ver', 'iat', 'exp'] };
    this.#verify = createVerifier(rules);
    this.#verifyWithGrace = createVerifier({ ...rules, clockTolerance: REFRESH_GRACE_S * 1000 });
  }

  issue(session: Session): string {
    // jti: two tokens of one second differ, so that a refreshed one is a new one.
    return this.#sign({ sub: session.userId, org: session.orgId, ver: session.version, jti: randomUUID() });
  }

  /** Throws {@link Unauthenticated} for anything but a valid, unexpired token. */
  verify(token: string): Session {
    return readClaims(this.#verify, token, 'the session token is invalid or expired: log in, or refresh it');
  }

  /** As {@link verify}, but up to the grace window after its end. */
  verifyForRefresh(token: string): Session {
    return readClaims(this.#verifyWithGrace, token, 'the session token is invalid or too old to refresh: log in again');
  }
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const isUuid = (claim: unknown): boolean => typeof claim === 'string' && UUID.test(claim);

function readClaims(verify: (token: string) => unknown, token: string, message: string): Session {
  try {
    const { sub, org, ver } = verify(token) as Partial<Claims>;
    if (!isUuid(sub) || !isUuid(org) || !Number.isSafeInteger(ver)) throw new Unauthenticated(message);
    return { userId: sub!, orgId: org!, version: ver! };
  } catch (error) {
    if (error instanceof TokenError) throw new Unauthenticated(message);
    throw error;
  }
}
