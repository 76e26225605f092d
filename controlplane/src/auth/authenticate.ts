/** Turns the session token of a request into the actor: membership and role are read from the database each time. */
import type { FastifyRequest } from 'fastify';
import type { Sql } from '../db/sql.js';
import { Forbidden, Unauthenticated } from '../domain/errors.js';
import { type Access, type Actor, atLeast, type Role } from '../http/access.js';
import type { Session, SessionTokens } from './session-token.js';

const BEARER = /^Bearer ([A-Za-z0-9_.-]{1,4096})$/i;

/** What stands in the Authorization header as a session token, if anything. */
export const offeredToken = (request: FastifyRequest): string | null =>
  BEARER.exec(request.headers.authorization ?? '')?.[1] ?? null;

/** The session token of the Authorization header; throws {@link Unauthenticated} when there is none. */
export function bearerToken(request: FastifyRequest): string {
  const token = offeredToken(request);
  if (token === null) {
    throw new Unauthenticated('send the header Authorization: Bearer <token> with a token from signup or login');
  }
  return token;
}

export class Authenticator {
  constructor(
    readonly sql: Sql,
    readonly tokens: SessionTokens,
  ) {}

  async authenticate(request: FastifyRequest, access: Exclude<Access, 'public'>): Promise<Actor> {
    const session = this.tokens.verify(bearerToken(request));
    const actor = await this.#loadActor(session, request.ip);
    if (access !== 'session' && !atLeast(actor.role, access)) {
      throw new Forbidden(`this needs the role ${access} or higher; you are ${actor.role} in this organization`);
    }
    return actor;
  }

  async #loadActor(session: Session, ip: string): Promise<Actor> {
    const [row] = await this.sql<{ email: string; role: Role }[]>`
      select u.email, m.role
        from users u join memberships m on m.user_id = u.id
       where u.id = ${session.userId} and m.org_id = ${session.orgId} and u.session_version = ${session.version}`;
    if (row === undefined) throw new Unauthenticated('this session has ended: log in again');
    return { userId: session.userId, orgId: session.orgId, email: row.email, role: row.role, ip };
  }
}
