/**
 * Session JWTs: HS256 only; claims `sub`, `org`, `ver`, `sid`, `gen`, `jti`, `iat`, `exp`. The role is never in the
 * token. The header's `kid` identifies the secret that signed it: during a rotation there are two secrets, and only the
 * first one signs.
 */

import { createHash, randomUUID } from 'node:crypto';
import type { Secret } from '@acg/base/secret';
import { UUID_PATTERN } from '@acg/base/uuid-patterns';
import { createDecoder, createSigner, createVerifier, TokenError } from 'fast-jwt';
import { Unauthenticated } from '../../domain/errors.js';

export const SESSION_LIFETIME_S = 7 * 86_400;
/** How long after its expiry a token can still be refreshed. */
export const REFRESH_GRACE_S = 7 * 86_400;

interface SessionClaims {
  readonly userId: string;
  readonly orgId: string;
  /**
   * `users.session_version` at issue; a password reset raises it. It is the only way to revoke a token without a
   * session row.
   */
  readonly version: number;
  /** The session row; null in tokens that were issued before sessions were stored. */
  readonly id: string | null;
  /** The generation of the session row; 0 without a row. */
  readonly generation: number;
}

interface JwtClaims {
  readonly sub: string;
  readonly org: string;
  readonly ver: number;
  readonly sid?: string;
  readonly gen?: number;
  readonly jti: string;
}

interface VerificationKey {
  readonly id: string;
  readonly verify: (token: string) => unknown;
  readonly verifyWithGrace: (token: string) => unknown;
}

export class SessionJwts {
  #sign!: (claims: JwtClaims) => string;
  #keys!: readonly VerificationKey[];
  readonly #decode = createDecoder({ complete: true });

  /** The first secret signs; all verify. */
  constructor(secrets: readonly Secret[]) {
    this.replaceSecrets(secrets);
  }

  /** Uses these secrets from the next token on. */
  replaceSecrets(secrets: readonly Secret[]): void {
    const first = secrets[0]!.reveal();
    const expiresIn = SESSION_LIFETIME_S * 1000;
    this.#sign = createSigner({ key: first, algorithm: 'HS256', expiresIn, kid: deriveKeyId(first) });
    this.#keys = secrets.map((secret) => createVerificationKey(secret.reveal()));
  }

  issue(session: SessionClaims): string {
    const { userId, orgId, version, id, generation } = session;
    const row = id === null ? {} : { sid: id, gen: generation };
    // `jti` makes two tokens of the same second differ, so that a refreshed token is always a new one.
    return this.#sign({ sub: userId, org: orgId, ver: version, ...row, jti: randomUUID() });
  }

  /** Throws {@link Unauthenticated} for anything but a valid, unexpired token. */
  verify(token: string): SessionClaims {
    return this.#verifyClaims('verify', token, 'the session token is invalid or expired: log in, or refresh it');
  }

  /** Like {@link verify}, but also accepts a token that expired less than {@link REFRESH_GRACE_S} ago. */
  verifyForRefresh(token: string): SessionClaims {
    return this.#verifyClaims(
      'verifyWithGrace',
      token,
      'the session token is invalid or too old to refresh: log in again',
    );
  }

  #verifyClaims(method: 'verify' | 'verifyWithGrace', token: string, message: string): SessionClaims {
    try {
      const { header } = this.#decode(token) as { header: { kid?: unknown } };
      // A token without `kid` predates rotation: any of the secrets may have signed it.
      const keys = header.kid === undefined ? this.#keys : this.#keys.filter((key) => key.id === header.kid);
      for (const [n, key] of keys.entries()) {
        try {
          return parseClaims(key[method](token) as Partial<JwtClaims>, message);
        } catch (error) {
          if (!isWrongSignature(error) || n === keys.length - 1) throw error;
        }
      }
      throw new Unauthenticated(message);
    } catch (error) {
      if (error instanceof TokenError) throw new Unauthenticated(message);
      throw error;
    }
  }
}

const deriveKeyId = (secret: string): string => createHash('sha256').update(`kid:${secret}`).digest('hex').slice(0, 8);

function createVerificationKey(secret: string): VerificationKey {
  const rules = { key: secret, algorithms: ['HS256' as const], requiredClaims: ['sub', 'org', 'ver', 'iat', 'exp'] };
  return {
    id: deriveKeyId(secret),
    verify: createVerifier(rules),
    verifyWithGrace: createVerifier({ ...rules, clockTolerance: REFRESH_GRACE_S * 1000 }),
  };
}

const isWrongSignature = (error: unknown): boolean =>
  error instanceof TokenError && error.code === TokenError.codes.invalidSignature;

const isUuid = (claim: unknown): boolean => typeof claim === 'string' && UUID_PATTERN.test(claim);

function parseClaims({ sub, org, ver, sid, gen }: Partial<JwtClaims>, message: string): SessionClaims {
  if (!isUuid(sub) || !isUuid(org) || !Number.isSafeInteger(ver)) throw new Unauthenticated(message);
  if (sid === undefined) return { userId: sub!, orgId: org!, version: ver!, id: null, generation: 0 };
  if (!isUuid(sid) || !Number.isSafeInteger(gen)) throw new Unauthenticated(message);
  return { userId: sub!, orgId: org!, version: ver!, id: sid, generation: gen! };
}
