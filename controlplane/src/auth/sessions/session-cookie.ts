/**
 * The cookie of a browser session: 256 random bits, of which only the SHA-256 is stored. When the public URL uses
 * https, the `__Host-` prefix of its name restricts the cookie to https and to this host.
 */
import { createHash, randomBytes } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyRequest } from 'fastify';
import { Forbidden } from '../../domain/errors.js';
import { SESSION_LIFETIME_S } from './session-jwt.js';

const COOKIE_SECRET = /^[A-Za-z0-9_-]{43}$/;

export function createCookieSecret(): { readonly secret: string; readonly hash: Buffer } {
  const secret = randomBytes(32).toString('base64url');
  return { secret, hash: hashCookieSecret(secret) };
}

export const hashCookieSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest();

export class SessionCookie {
  readonly #name: string;
  readonly #secure: boolean;
  readonly #origin: string;

  constructor(publicUrl: string) {
    this.#secure = publicUrl.startsWith('https:');
    this.#name = this.#secure ? '__Host-acg_session' : 'acg_session';
    this.#origin = new URL(publicUrl).origin;
  }

  /** Returns the secret of the request's session cookie; null when it is missing or malformed. */
  readSecret(request: FastifyRequest): string | null {
    const header = request.headers.cookie;
    const secret = header === undefined ? undefined : parseCookie(header)[this.#name];
    return secret !== undefined && COOKIE_SECRET.test(secret) ? secret : null;
  }

  /** Returns the Set-Cookie header that sets the secret; null deletes the cookie. */
  serializeSetCookie(secret: string | null): string {
    return stringifySetCookie({
      name: this.#name,
      value: secret ?? '',
      maxAge: secret === null ? 0 : SESSION_LIFETIME_S,
      path: '/',
      httpOnly: true,
      sameSite: 'strict',
      secure: this.#secure,
    });
  }

  /**
   * Throws {@link Forbidden} unless a page of this service sent the request. SameSite is not enough: another port of
   * the same host is the same site. Browsers omit Sec-Fetch-Site on plain http except on loopback; then Origin must be
   * the public origin.
   */
  assertSameOrigin({ headers }: FastifyRequest): void {
    const site = headers['sec-fetch-site'];
    if (site === undefined ? headers.origin === this.#origin : site === 'same-origin') return;
    throw new Forbidden('a call with the session cookie must come from a page of this service');
  }
}
