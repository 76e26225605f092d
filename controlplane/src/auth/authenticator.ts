/**
 * Resolves the actor of a request from its credential: a session's bearer token, a browser's session cookie or a
 * management token. Reads session, membership and role from the database on each request, so that changes apply at
 * once. An Authorization header takes precedence over a cookie.
 */
import type { FastifyRequest } from 'fastify';
import { isDatabaseUnavailable, type Sql } from '../db/postgres-client.js';
import { Forbidden, Unauthenticated } from '../domain/errors.js';
import { type Access, type Actor, isRoleAtLeast, lowerRole } from '../http/route-access.js';
import { hashManagementToken, isManagementToken } from './management-tokens/management-token.js';
import * as tokenStore from './management-tokens/store.js';
import { hashCookieSecret, type SessionCookie } from './sessions/session-cookie.js';
import type { SessionJwts } from './sessions/session-jwt.js';
import { type ClientInfo, revokeSessionIfTokenReused, SESSION_ENDED_MESSAGE } from './sessions/session-service.js';
import * as store from './sessions/session-store.js';

const BEARER = /^Bearer ([A-Za-z0-9_.-]{1,4096})$/i;
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Reads the token of the Authorization header. Throws {@link Unauthenticated} when the header is missing or malformed.
 */
export function readBearerToken(request: FastifyRequest): string {
  const token = BEARER.exec(request.headers.authorization ?? '')?.[1];
  if (token === undefined) {
    throw new Unauthenticated('send the header Authorization: Bearer <token> with a token from signup or login');
  }
  return token;
}

export const getClientInfo = ({ ip, headers }: FastifyRequest): ClientInfo => ({
  ip,
  userAgent: headers['user-agent'] ?? '',
});

/**
 * An actor with the state of the organization in which it acts. `purgeAt` is null when it is not being deleted.
 */
interface ActorWithPurgeDate extends Actor {
  readonly purgeAt: Date | null;
  /** The organization requires a second factor, and the user has none. */
  readonly secondFactorMissing: boolean;
  /** The organization requires single sign-on, which did not open the session. */
  readonly ssoRequired: boolean;
}

export class Authenticator {
  constructor(
    readonly sql: Sql,
    readonly tokens: SessionJwts,
    readonly cookie: SessionCookie,
  ) {}

  async authenticateAndAuthorize(request: FastifyRequest, access: Exclude<Access, 'public'>): Promise<Actor> {
    const actor = await this.resolveActor(request);
    const { config } = request.routeOptions;
    if (actor.token !== null && (access === 'session' || config.tokens === false)) {
      throw new Forbidden('a management token cannot do this: log in as a user');
    }
    if (config.account === true && isSessionLimitedToOneOrg(actor)) {
      throw new Forbidden(
        'this session is limited to one organization: log in with e-mail and password to change the account',
      );
    }
    if (actor.purgeAt !== null && access !== 'session' && config.whileDeleted !== true) {
      throw new Forbidden(
        `this organization will be deleted at ${actor.purgeAt.toISOString()}: until then an owner restores it with ` +
          `POST /v1/orgs/${actor.orgId}/restore; its members may switch to another organization`,
      );
    }
    if (actor.secondFactorMissing && access !== 'session' && config.whileDeleted !== true) {
      throw new Forbidden(
        'this organization requires a second factor: set one up in the dashboard under Settings, or with POST /v1/second-factor',
      );
    }
    if (actor.ssoRequired && access !== 'session' && config.whileDeleted !== true) {
      throw new Forbidden('this organization requires single sign-on: log in by its identity provider');
    }
    if (access !== 'session' && !isRoleAtLeast(actor.role, access)) {
      throw new Forbidden(
        `this requires the role ${access} or higher; your role in this organization is ${actor.role}`,
      );
    }
    return actor;
  }

  /**
   * Resolves the sender of the request without checking its rights. Throws {@link Unauthenticated} when the request
   * carries no valid credential.
   */
  async resolveActor(request: FastifyRequest): Promise<ActorWithPurgeDate> {
    const secret = request.headers.authorization === undefined ? this.cookie.readSecret(request) : null;
    if (secret !== null) return this.#authenticateCookie(request, secret);
    const token = readBearerToken(request);
    return isManagementToken(token)
      ? this.#authenticateManagementToken(request, token)
      : this.#authenticateBearerSession(request, token);
  }

  /** Like {@link resolveActor}, but accepts only a session's bearer token. */
  resolveBearerSessionActor(request: FastifyRequest): Promise<Actor> {
    return this.#authenticateBearerSession(request, readBearerToken(request));
  }

  /**
   * Returns the user of the request's session. Null without a session, for a management token and for a session that is
   * limited to one organization.
   */
  async findSessionUserId(request: FastifyRequest): Promise<string | null> {
    try {
      const actor = await this.resolveActor(request);
      return isSessionLimitedToOneOrg(actor) || actor.token !== null ? null : actor.userId;
    } catch (error) {
      if (error instanceof Unauthenticated || error instanceof Forbidden) return null;
      throw error;
    }
  }

  /** The actor gets the lower of the token's role and the current role of the token's creator. */
  async #authenticateManagementToken({ ip }: FastifyRequest, text: string): Promise<ActorWithPurgeDate> {
    const token = await tokenStore.findLiveManagementToken(this.sql, hashManagementToken(text));
    if (token === null)
      throw new Unauthenticated('this management token is unknown, deleted or expired: create a new one');
    if (token.shouldMarkUsed) await ignoreReadOnlyDatabase(tokenStore.markManagementTokenUsed(this.sql, token.id));
    const { id, name, orgId, projectId, creatorId } = token;
    const role = lowerRole(token.role, token.creatorRole);
    return {
      userId: creatorId,
      orgId,
      email: '',
      role,
      ip,
      purgeAt: null,
      secondFactorMissing: false,
      ssoRequired: false,
      session: null,
      token: { id, name, projectId },
    };
  }

  async #authenticateBearerSession(request: FastifyRequest, token: string): Promise<ActorWithPurgeDate> {
    const { userId, orgId, version, id, generation } = this.tokens.verify(token);
    if (id !== null) {
      const session = await store.loadBearerSession(this.sql, id, userId, orgId, generation);
      if (session === null) {
        await ignoreReadOnlyDatabase(
          this.sql.begin((tx) => revokeSessionIfTokenReused(tx, { id, userId, generation }, request.ip)),
        );
      }
      return this.#toActorAndMarkSessionSeen(request, session);
    }
    const row = await store.loadLegacySession(this.sql, userId, orgId, version);
    if (row === null) throw new Unauthenticated(SESSION_ENDED_MESSAGE);
    return { userId, orgId, ...row, ip: request.ip, session: null, token: null };
  }

  async #authenticateCookie(request: FastifyRequest, secret: string): Promise<ActorWithPurgeDate> {
    if (!SAFE_METHODS.has(request.method)) this.cookie.assertSameOrigin(request);
    return this.#toActorAndMarkSessionSeen(request, await store.loadBrowserSession(this.sql, hashCookieSecret(secret)));
  }

  async #toActorAndMarkSessionSeen({ ip }: FastifyRequest, row: store.LiveSession | null): Promise<ActorWithPurgeDate> {
    if (row === null) throw new Unauthenticated(SESSION_ENDED_MESSAGE);
    const { userId, orgId, email, id, kind, roleMax, recent, purgeAt, secondFactorMissing, ssoRequired, sso } = row;
    if (row.shouldMarkUsed) await ignoreReadOnlyDatabase(store.markSessionSeen(this.sql, id));
    const role = roleMax === null ? row.role : lowerRole(row.role, roleMax);
    const state = { purgeAt, secondFactorMissing: secondFactorMissing && !sso, ssoRequired: ssoRequired && !sso };
    return { userId, orgId, email, role, ip, ...state, session: { id, kind, roleMax, recent, sso }, token: null };
  }
}

/**
 * Ignores the failure of a write on a read-only database: a missing last-used time is no reason to reject the request.
 */
async function ignoreReadOnlyDatabase(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error;
  }
}

const isSessionLimitedToOneOrg = ({ session }: Actor): boolean => session !== null && session.roleMax !== null;
