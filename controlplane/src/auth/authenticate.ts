/**
 * Turns the credential of a request into the actor: a bearer token of a session, the cookie of a browser's, or a
 * management token. Session, membership and role are read from the database each time. An Authorization header wins over a cookie.
 */
import type { FastifyRequest } from 'fastify';
import { isDatabaseAway, type Sql } from '../db/sql.js';
import { Forbidden, Unauthenticated } from '../domain/errors.js';
import { type Access, type Actor, atLeast, lower } from '../http/access.js';
import { hashCookieSecret, type SessionCookie } from './cookie.js';
import { hashManagementToken, isManagementToken } from './management-token.js';
import * as tokenStore from './management-token-store.js';
import { endIfReused } from './reused-session.js';
import * as store from './session-store.js';
import type { SessionTokens } from './session-token.js';
import { type Client, ENDED } from './sessions.js';

const BEARER = /^Bearer ([A-Za-z0-9_.-]{1,4096})$/i;
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** The token of the Authorization header; throws {@link Unauthenticated} when there is none. */
export function bearerToken(request: FastifyRequest): string {
  const token = BEARER.exec(request.headers.authorization ?? '')?.[1];
  if (token === undefined) {
    throw new Unauthenticated('send the header Authorization: Bearer <token> with a token from signup or login');
  }
  return token;
}

export const clientOf = ({ ip, headers }: FastifyRequest): Client => ({ ip, userAgent: headers['user-agent'] ?? '' });

/** An actor, and when the organization of the request is purged; null: it is not being deleted. */
interface Located extends Actor {
  readonly purgeAt: Date | null;
}

export class Authenticator {
  constructor(
    readonly sql: Sql,
    readonly tokens: SessionTokens,
    readonly cookie: SessionCookie,
  ) {}

  async authenticate(request: FastifyRequest, access: Exclude<Access, 'public'>): Promise<Actor> {
    const actor = await this.actorOf(request);
    const { config } = request.routeOptions;
    if (actor.token !== null && (access === 'session' || config.tokens === false)) {
      throw new Forbidden('a management token may not do this: it needs the session of a person');
    }
    if (config.account === true && isBound(actor)) {
      throw new Forbidden('this session was approved for one organization only: log in to change the account');
    }
    if (actor.purgeAt !== null && access !== 'session' && config.whileDeleted !== true) {
      throw new Forbidden(
        `this organization will be deleted at ${actor.purgeAt.toISOString()}: until then an owner restores it with ` +
          `POST /v1/orgs/${actor.orgId}/restore; its members may switch to another organization`,
      );
    }
    if (access !== 'session' && !atLeast(actor.role, access)) {
      throw new Forbidden(`this needs the role ${access} or higher; you are ${actor.role} in this organization`);
    }
    return actor;
  }

  /** Whoever sent the request; throws {@link Unauthenticated} when nobody known did. */
  async actorOf(request: FastifyRequest): Promise<Located> {
    const secret = request.headers.authorization === undefined ? this.cookie.read(request) : null;
    if (secret !== null) return this.#byCookie(request, secret);
    const token = bearerToken(request);
    return isManagementToken(token) ? this.#byManagementToken(request, token) : this.#byToken(request, token);
  }

  /** As {@link actorOf}, where only a bearer token will do. */
  bearerActorOf(request: FastifyRequest): Promise<Actor> {
    return this.#byToken(request, bearerToken(request));
  }

  /** The user whose session the request carries, where that session may do all that the user may; else null. */
  async userOf(request: FastifyRequest): Promise<string | null> {
    try {
      const actor = await this.actorOf(request);
      return isBound(actor) || actor.token !== null ? null : actor.userId;
    } catch (error) {
      if (error instanceof Unauthenticated || error instanceof Forbidden) return null;
      throw error;
    }
  }

  /** With the lower of its role and its creator's role now. */
  async #byManagementToken({ ip }: FastifyRequest, text: string): Promise<Located> {
    const token = await tokenStore.findToken(this.sql, hashManagementToken(text));
    if (token === null) throw new Unauthenticated('this management token is unknown, deleted or expired');
    if (token.stale) await noted(tokenStore.markUsed(this.sql, token.id));
    const { id, name, orgId, projectId, creatorId } = token;
    const role = lower(token.role, token.creatorRole);
    return {
      userId: creatorId,
      orgId,
      email: '',
      role,
      ip,
      purgeAt: null,
      session: null,
      token: { id, name, projectId },
    };
  }

  async #byToken(request: FastifyRequest, token: string): Promise<Located> {
    const { userId, orgId, version, id, generation } = this.tokens.verify(token);
    if (id !== null) {
      const session = await store.loadBearerSession(this.sql, id, userId, orgId, generation);
      if (session === null) {
        await noted(this.sql.begin((tx) => endIfReused(tx, { id, userId, generation }, request.ip)));
      }
      return this.#asActor(request, session);
    }
    const row = await store.loadVersionSession(this.sql, userId, orgId, version);
    if (row === null) throw new Unauthenticated(ENDED);
    return { userId, orgId, ...row, ip: request.ip, session: null, token: null };
  }

  async #byCookie(request: FastifyRequest, secret: string): Promise<Located> {
    if (!SAFE_METHODS.has(request.method)) this.cookie.assertOwnPage(request);
    return this.#asActor(request, await store.loadBrowserSession(this.sql, hashCookieSecret(secret)));
  }

  async #asActor({ ip }: FastifyRequest, row: store.LiveSession | null): Promise<Located> {
    if (row === null) throw new Unauthenticated(ENDED);
    const { userId, orgId, email, id, kind, roleMax, recent, purgeAt } = row;
    if (row.stale) await noted(store.markSeen(this.sql, id));
    const role = roleMax === null ? row.role : lower(row.role, roleMax);
    return { userId, orgId, email, role, ip, purgeAt, session: { id, kind, roleMax, recent }, token: null };
  }
}

/** A database that takes no writes can be read, and to have noted that somebody was here is not worth a refusal. */
async function noted(mark: Promise<unknown>): Promise<void> {
  try {
    await mark;
  } catch (error) {
    if (!isDatabaseAway(error)) throw error;
  }
}

const isBound = ({ session }: Actor): boolean => session !== null && session.roleMax !== null;
