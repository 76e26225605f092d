/**
 * Sessions: opened by a login, kept alive by refresh, seen and ended by their user. A bearer token is good while its row
 * is there and its generation is the current one; refreshing raises the generation, and a token of an earlier one ends
 * the session, so a copied token does not live on.
 */

import { toClientNetworkKey } from '@acg/base/client-network';
import { uuidv7 } from '@acg/base/uuidv7';
import { recordAudit, recordUserAudit } from '../../audit/audit-trail.js';
import type { Sql, Tx } from '../../db/sql.js';
import { Forbidden, NotFound, Unauthenticated } from '../../domain/errors.js';
import type { ListResult, Page } from '../../http/pagination.js';
import type { Actor, Role } from '../../http/route-access.js';
import type { SessionInfo } from '../users/session-schema.js';
import { createCookieSecret } from './session-cookie.js';
import { revokeReusedSession } from './session-reuse.js';
import * as store from './session-store.js';
import type { SessionTokens } from './session-token.js';

export const SESSION_ENDED_MESSAGE = 'this session has ended: log in again';
const USER_AGENT_MAX = 200;

/** From where a session is opened. */
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
  /** No more than this role, and in this organization alone. */
  readonly roleMax?: Role;
  /** The user has just given the password; true unless said otherwise. */
  readonly authenticated?: boolean;
}

export class SessionService {
  constructor(
    readonly sql: Sql,
    readonly tokens: SessionTokens,
  ) {}

  /** Opens one in that organization and answers its bearer token. */
  async openBearerSession(
    tx: Tx,
    user: SessionUser,
    orgId: string,
    client: ClientInfo,
    { kind = 'api', roleMax, authenticated = true }: SessionOptions = {},
  ): Promise<string> {
    const id = await this.#insertSession(
      tx,
      user,
      orgId,
      client,
      { kind, roleMax: roleMax ?? null, authenticated },
      null,
    );
    return this.tokens.issue({ userId: user.id, orgId, version: user.sessionVersion, id, generation: 1 });
  }

  /** Opens one for a browser and answers what its cookie holds. */
  async openBrowserSession(tx: Tx, user: SessionUser, orgId: string, client: ClientInfo): Promise<string> {
    const { secret, hash } = createCookieSecret();
    await this.#insertSession(tx, user, orgId, client, { kind: 'browser', roleMax: null, authenticated: true }, hash);
    return secret;
  }

  /** The actor's bearer tokens end; a cookie carries the session on, with all its bounds. */
  async exchangeForCookie(actor: Actor): Promise<string> {
    const { secret, hash } = createCookieSecret();
    const { session } = actor;
    await this.sql.begin(async (tx) => {
      if (session === null || !(await store.convertToBrowserSession(tx, session.id, hash))) {
        throw new Unauthenticated('this session cannot become one of a browser: log in with e-mail and password');
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
   * A new token for one that is valid or expired less than 7 days ago; the old one retires. A retired one ends the whole
   * session (reused-session.ts).
   */
  async refresh(token: string, client: ClientInfo): Promise<string> {
    const session = this.tokens.verifyForRefresh(token);
    const { userId, orgId, id, generation } = session;
    const refreshed = await this.sql.begin(async (tx) => {
      if (id === null) {
        const holds = await store.loadLegacySession(tx, userId, orgId, session.version);
        if (holds === null) throw new Unauthenticated(SESSION_ENDED_MESSAGE);
        return this.openBearerSession(tx, { id: userId, sessionVersion: session.version }, orgId, client, {
          authenticated: false,
        });
      }
      const row = { id, userId, orgId, generation };
      const next = await store.refreshSession(tx, row, toClientNetworkKey(client.ip));
      if (next !== null && next !== 'reused') return this.tokens.issue({ userId, orgId, id, ...next });
      await revokeReusedSession(tx, row, client.ip, next === null);
      return null;
    });
    // Outside: what has ended, stays so.
    if (refreshed === null) throw new Unauthenticated(SESSION_ENDED_MESSAGE);
    return refreshed;
  }

  /** The session acts in another organization from now on; answers a bearer token for it. */
  async switchOrganization(
    tx: Tx,
    actor: Actor,
    user: SessionUser,
    orgId: string,
    client: ClientInfo,
  ): Promise<string> {
    const { session } = actor;
    if (session === null) return this.openBearerSession(tx, user, orgId, client, { authenticated: false });
    if (session.roleMax !== null) throw new Forbidden('this session is bound to its organization: log in for another');
    const moved = await store.switchSessionOrganization(tx, session.id, orgId);
    if (moved === null) throw new Unauthenticated(SESSION_ENDED_MESSAGE);
    return this.tokens.issue({ userId: user.id, orgId, id: session.id, ...moved });
  }

  async list(actor: Actor, page: Page): Promise<ListResult<SessionInfo>> {
    const { rows, total } = await store.listSessions(this.sql, actor.userId, page);
    return { rows: rows.map((row) => present(row, actor)), total };
  }

  /** Its own too. */
  async revoke(actor: Actor, id: string): Promise<void> {
    await this.sql.begin(async (tx) => {
      if (!(await store.deleteSession(tx, actor.userId, id))) throw new NotFound('session');
      await recordUserAudit(tx, user(actor), actor.ip, 'session.end', { session: [id, null] });
    });
  }

  async revokeOthers(actor: Actor): Promise<void> {
    await this.sql.begin(async (tx) => {
      await store.revokeUserSessions(tx, actor.userId, actor.session?.id ?? null);
      await recordUserAudit(tx, user(actor), actor.ip, 'session.end_others', {});
    });
  }

  /** A token from before sessions were rows cannot end alone: all sessions of its user do. */
  async logout(actor: Actor): Promise<void> {
    if (actor.session !== null) return this.revoke(actor, actor.session.id);
    await this.revokeOthers(actor);
  }

  async #insertSession(
    tx: Tx,
    user: SessionUser,
    orgId: string,
    { ip, userAgent }: ClientInfo,
    how: Pick<store.NewSession, 'kind' | 'roleMax' | 'authenticated'>,
    secretHash: Buffer | null,
  ): Promise<string> {
    const id = uuidv7(Date.now());
    const from = { ip, userAgent: userAgent.slice(0, USER_AGENT_MAX) };
    const row = { id, userId: user.id, orgId, version: user.sessionVersion, secretHash, ...how, ...from };
    if (!(await store.insertSession(tx, row))) throw new Unauthenticated(SESSION_ENDED_MESSAGE);
    return id;
  }
}

/** Throws {@link Unauthenticated} where the actor's session has ended. Until the transaction ends, it cannot. */
export async function lockActiveSession(tx: Tx, { session }: Pick<Actor, 'session'>): Promise<void> {
  // A token from before sessions were rows has none.
  if (session !== null && !(await store.lockSession(tx, session.id))) throw new Unauthenticated(SESSION_ENDED_MESSAGE);
}

const user = ({ userId, email }: Actor) => ({ id: userId, email });

const present = (row: store.SessionRow, actor: Actor): SessionInfo => ({
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
