/**
 * Sessions: login opens them, refresh extends them, users list and revoke them. A bearer token is valid while its
 * session row exists and its generation is the current one. Each refresh raises the generation. Using a token of an
 * earlier generation revokes the session, so that a copied token does not stay valid.
 */

import { toClientNetworkKey } from '@acg/base/client-network-key';
import { uuidv7 } from '@acg/base/uuidv7';
import { recordAudit, recordUserAudit } from '../../audit/audit-trail.js';
import type { Sql, Tx } from '../../db/postgres-client.js';
import { Forbidden, NotFound, Unauthenticated } from '../../domain/errors.js';
import type { ListResult, Page } from '../../http/limit-offset-pagination.js';
import type { Actor, Role } from '../../http/route-access.js';
import type { SessionInfo } from '../users/session-schema.js';
import { createCookieSecret } from './session-cookie.js';
import type { SessionJwts } from './session-jwt.js';
import * as store from './session-store.js';

export const SESSION_ENDED_MESSAGE = 'this session has ended: log in again';
const USER_AGENT_MAX = 200;
const SSO_SESSION_LIFETIME_S = 86_400;

/** The client that opens a session. */
export interface ClientInfo {
  readonly ip: string;
  readonly userAgent: string;
}

interface SessionUser {
  readonly id: string;
  readonly sessionVersion: number;
}

interface SessionOptions {
  readonly kind?: 'api' | 'cli';
  /** Limits the session to this role and to the organization in which it is opened. */
  readonly roleMax?: Role;
  /** The user has just entered the password. Default: true. */
  readonly authenticated?: boolean;
  /** A code of the second factor was verified, too. Default: false. */
  readonly factorVerified?: boolean;
  /** Approved in a session of single sign-on: ends after 24 hours. Default: false. */
  readonly sso?: boolean;
}

export class SessionService {
  constructor(
    readonly sql: Sql,
    readonly tokens: SessionJwts,
  ) {}

  /** Opens a session in that organization and returns its bearer token. */
  async openBearerSession(
    tx: Tx,
    user: SessionUser,
    orgId: string,
    client: ClientInfo,
    { kind = 'api', roleMax, authenticated = true, factorVerified = false, sso = false }: SessionOptions = {},
  ): Promise<string> {
    const id = await this.#insertSession(
      tx,
      user,
      orgId,
      client,
      { kind, roleMax: roleMax ?? null, authenticated, factorVerified, sso },
      null,
      sso ? SSO_SESSION_LIFETIME_S : undefined,
    );
    return this.tokens.issue({ userId: user.id, orgId, version: user.sessionVersion, id, generation: 1 });
  }

  /** Opens a browser session and returns the secret for its cookie. */
  async openBrowserSession(
    tx: Tx,
    user: SessionUser,
    orgId: string,
    client: ClientInfo,
    factorVerified: boolean,
  ): Promise<string> {
    const { secret, hash } = createCookieSecret();
    const options = { kind: 'browser', roleMax: null, authenticated: true, factorVerified, sso: false } as const;
    await this.#insertSession(tx, user, orgId, client, options, hash);
    return secret;
  }

  /** Opens a browser session by single sign-on: for that organization only, and for 24 hours. */
  async openSsoSession(tx: Tx, user: SessionUser, orgId: string, client: ClientInfo): Promise<string> {
    const { secret, hash } = createCookieSecret();
    const options = {
      kind: 'browser',
      roleMax: 'owner',
      authenticated: true,
      factorVerified: false,
      sso: true,
    } as const;
    await this.#insertSession(tx, user, orgId, client, options, hash, SSO_SESSION_LIFETIME_S);
    return secret;
  }

  /**
   * Revokes the actor's bearer tokens and continues the session with a cookie, with the same limits. Returns the secret
   * for the cookie.
   */
  async exchangeForCookie(actor: Actor): Promise<string> {
    const { secret, hash } = createCookieSecret();
    const { session } = actor;
    await this.sql.begin(async (tx) => {
      if (session === null || !(await store.convertToBrowserSession(tx, session.id, hash))) {
        throw new Unauthenticated(
          'this session cannot be exchanged for a browser session: log in with e-mail and password',
        );
      }
      await recordAudit(
        tx,
        actor,
        'session.exchange',
        { type: 'session', id: session.id },
        { kind: [session.kind, 'browser'] },
      );
    });
    return secret;
  }

  /**
   * Returns a new token for one that is valid or expired less than 7 days ago, and retires the old one. Using a retired
   * token revokes the session ({@link revokeSessionIfTokenReused}).
   */
  async refresh(token: string, client: ClientInfo): Promise<string> {
    const session = this.tokens.verifyForRefresh(token);
    const { userId, orgId, id, generation } = session;
    const refreshed = await this.sql.begin(async (tx) => {
      if (id === null) {
        const legacySession = await store.loadLegacySession(tx, userId, orgId, session.version);
        if (legacySession === null) throw new Unauthenticated(SESSION_ENDED_MESSAGE);
        return this.openBearerSession(tx, { id: userId, sessionVersion: session.version }, orgId, client, {
          authenticated: false,
        });
      }
      const tokenIdentity = { id, userId, orgId, generation };
      const next = await store.refreshSession(tx, tokenIdentity, toClientNetworkKey(client.ip));
      if (next !== null && next !== 'reused') return this.tokens.issue({ userId, orgId, id, ...next });
      await revokeSessionIfTokenReused(tx, tokenIdentity, client.ip, next === null);
      return null;
    });
    // Outside the transaction, which must commit the revocation.
    if (refreshed === null) throw new Unauthenticated(SESSION_ENDED_MESSAGE);
    return refreshed;
  }

  /** Switches the session to another organization and returns a bearer token for it. */
  async switchOrganization(
    tx: Tx,
    actor: Actor,
    user: SessionUser,
    orgId: string,
    client: ClientInfo,
  ): Promise<string> {
    const { session } = actor;
    if (session === null) return this.openBearerSession(tx, user, orgId, client, { authenticated: false });
    if (session.roleMax !== null)
      throw new Forbidden(
        'this session is limited to its organization: log in with e-mail and password to use another',
      );
    const switched = await store.switchSessionOrganization(tx, session.id, orgId);
    if (switched === null) throw new Unauthenticated(SESSION_ENDED_MESSAGE);
    return this.tokens.issue({ userId: user.id, orgId, id: session.id, ...switched });
  }

  async list(actor: Actor, page: Page): Promise<ListResult<SessionInfo>> {
    const { rows, total } = await store.listSessions(this.sql, actor.userId, page);
    return { rows: rows.map((row) => presentSession(row, actor)), total };
  }

  /** Sessions of a member in the actor's organization. */
  async listOfMember(actor: Actor, userId: string, page: Page): Promise<ListResult<SessionInfo>> {
    const { rows, total } = await store.listMemberSessions(this.sql, actor.orgId, userId, page);
    return { rows: rows.map((row) => presentSession(row, actor)), total };
  }

  /** Revokes one session of the actor's user; the actor's own session is allowed. */
  async revoke(actor: Actor, id: string): Promise<void> {
    await this.sql.begin(async (tx) => {
      if (!(await store.deleteSession(tx, actor.userId, id))) throw new NotFound('session');
      await recordUserAudit(tx, toAuditUser(actor), actor.ip, 'session.end', { session: [id, null] });
    });
  }

  async revokeOthers(actor: Actor): Promise<void> {
    await this.sql.begin(async (tx) => {
      await store.revokeUserSessions(tx, actor.userId, actor.session?.id ?? null);
      await recordUserAudit(tx, toAuditUser(actor), actor.ip, 'session.end_others', {});
    });
  }

  /**
   * A token without a session row (issued before sessions were stored) cannot be revoked alone: revokes all sessions of
   * its user.
   */
  async logout(actor: Actor): Promise<void> {
    if (actor.session !== null) return this.revoke(actor, actor.session.id);
    await this.revokeOthers(actor);
  }

  async #insertSession(
    tx: Tx,
    user: SessionUser,
    orgId: string,
    { ip, userAgent }: ClientInfo,
    options: Pick<store.NewSession, 'kind' | 'roleMax' | 'authenticated' | 'factorVerified' | 'sso'>,
    secretHash: Buffer | null,
    lifetimeS?: number,
  ): Promise<string> {
    const id = uuidv7(Date.now());
    const client = { ip, userAgent: userAgent.slice(0, USER_AGENT_MAX) };
    const row = { id, userId: user.id, orgId, version: user.sessionVersion, secretHash, ...options, ...client };
    if (!(await store.insertSessionIfVersionCurrent(tx, row, lifetimeS)))
      throw new Unauthenticated(SESSION_ENDED_MESSAGE);
    return id;
  }
}

/**
 * Revokes the session when a retired token is used again. Two clients hold the session then: the owner, and a thief who
 * copied a token and refreshed it first, or exchanged it for a cookie. The gateway cannot tell them apart, so it revokes
 * the session for both. `allowPreviousToken` spares the token before the newest one for 60 seconds, because a call with it may
 * be in flight.
 */
export async function revokeSessionIfTokenReused(
  tx: Tx,
  token: store.SessionTokenIdentity,
  ip: string,
  allowPreviousToken = true,
): Promise<void> {
  const ended = await store.deleteSessionIfTokenReused(tx, token, allowPreviousToken);
  if (ended === null) return;
  const user = { id: token.userId, email: ended.email };
  await recordUserAudit(tx, user, ip, 'session.end_reused', { session: [token.id, null] });
}

/**
 * Locks the actor's session against revocation until the transaction ends. Throws {@link Unauthenticated} when it is
 * already revoked.
 */
export async function lockActiveSession(tx: Tx, { session }: Pick<Actor, 'session'>): Promise<void> {
  // A token issued before sessions were stored has no session row.
  if (session !== null && !(await store.lockSession(tx, session.id))) throw new Unauthenticated(SESSION_ENDED_MESSAGE);
}

const toAuditUser = ({ userId, email }: Actor) => ({ id: userId, email });

const presentSession = (row: store.SessionRow, actor: Actor): SessionInfo => ({
  id: row.id,
  kind: row.kind,
  current: row.id === actor.session?.id,
  orgId: row.orgId,
  roleMax: row.roleMax,
  ip: row.ip,
  userAgent: row.userAgent,
  createdAt: row.createdAt.toISOString(),
  lastSeenAt: row.lastSeenAt.toISOString(),
  expiresAt: row.expiresAt.toISOString(),
});
