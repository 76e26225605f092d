/** The cookie that binds a connection to the browser that began it. Lax, because the provider sends the browser back. */
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyRequest } from 'fastify';

export const CONNECT_LIFETIME_S = 600;
const SECRET = /^[A-Za-z0-9_-]{43}$/;

export class ConnectCookie {
  readonly #secure: boolean;
  readonly #name: string;

  constructor(publicUrl: string) {
    this.#secure = publicUrl.startsWith('https:');
    this.#name = this.#secure ? '__Host-acg_connect' : 'acg_connect';
  }

  /** Null when it is missing or malformed. */
  readSecret({ headers }: FastifyRequest): string | null {
    const secret = headers.cookie === undefined ? undefined : parseCookie(headers.cookie)[this.#name];
    return secret !== undefined && SECRET.test(secret) ? secret : null;
  }

  /** Null deletes the cookie. */
  serializeSetCookie(secret: string | null): string {
    return stringifySetCookie({
      name: this.#name,
      value: secret ?? '',
      maxAge: secret === null ? 0 : CONNECT_LIFETIME_S,
      path: '/',
      httpOnly: true,
      sameSite: 'lax',
      secure: this.#secure,
    });
  }
}
