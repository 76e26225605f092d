import type { Sql, Tx } from '../../db/sql.js';
import type { ListResult, Page } from '../../http/pagination.js';
import type { Role } from '../../http/route-access.js';
import { REFRESH_GRACE_S, SESSION_LIFETIME_S } from './session-token.js';

/** Of one user; the one that was not seen for the longest goes first. */
export const SESSIONS_PER_USER_MAX = 100;
/** A browser that is not used for so long is logged out. */
export const BROWSER_IDLE_S = 12 * 3_600;
/** How long the bearer token before the newest one is still good: two tabs refresh at the same time. */
const PREVIOUS_TOKEN_GRACE_S = 60;
/** Of a session with bearer tokens, however often it is refreshed: then its user logs in again. */
export const BEARER_LIFETIME_S = 30 * 86_400;
/** A seen session is written down at most so often. */
const MARK_SEEN_INTERVAL_S = 60;

export type SessionKind = 'api' | 'browser' | 'cli';

export interface NewSession {
  readonly id: string;
  readonly userId: string;
  readonly orgId: string;
  /** users.session_version when the user showed who it is: a reset in between wins. */
  readonly version: number;
  readonly kind: SessionKind;
  readonly secretHash: Buffer | null;
  readonly roleMax: Role | null;
  readonly authenticated: boolean;
  readonly ip: string;
  readonly userAgent: string;
}

/** False when the sessions of that version have ended meanwhile. Waits for a password change that is under way. */
export async function insertSession(tx: Tx, session: NewSession): Promise<boolean> {
  const { id, userId, orgId, version, kind, secretHash, roleMax, authenticated, ip, userAgent } = session;
  const user = await tx`select 1 from users where id = ${userId} and session_version = ${version} for share`;
  if (user.length === 0) return false;
  await tx`
    insert into sessions (id, user_id, org_id, kind, secret_hash, role_max, authenticated_at, ip, user_agent, expires_at)
    values (${id}, ${userId}, ${orgId}, ${kind}, ${secretHash}, ${roleMax}, ${authenticated ? tx`now()` : null}, ${ip},
            ${userAgent}, now() + make_interval(secs => ${SESSION_LIFETIME_S}))`;
  await tx`
    delete from sessions where id in (
      select id from sessions where user_id = ${userId} order by last_seen_at desc, id desc offset ${SESSIONS_PER_USER_MAX})`;
  return true;
}

/** What a request needs to know; one row per session and organization of its user. */
export interface LiveSession {
  readonly email: string;
  readonly role: Role;
  readonly userId: string;
  readonly orgId: string;
  readonly id: string;
  readonly kind: SessionKind;
  readonly roleMax: Role | null;
  readonly recent: boolean;
  /** Of the organization. */
  readonly purgeAt: Date | null;
  /** To be written down as seen. */
  readonly stale: boolean;
}

/** How long after the password was given its holder counts as present. */
const RECENT_AUTHENTICATION_S = 15 * 60;

const purgeAt = (sql: Sql | Tx) => sql`
  (select purge_at from organizations o where o.id = m.org_id) as "purgeAt"`;

const liveColumns = (sql: Sql | Tx) => sql`
  u.email, m.role, u.id as "userId", m.org_id as "orgId", ${purgeAt(sql)}, s.id, s.kind, s.role_max as "roleMax",
  coalesce(s.authenticated_at > now() - make_interval(secs => ${RECENT_AUTHENTICATION_S}), false) as recent,
  s.last_seen_at < now() - make_interval(secs => ${MARK_SEEN_INTERVAL_S}) as stale`;

/** Its user logged in less than {@link BEARER_LIFETIME_S} ago. */
const withinBearerLifetime = (sql: Sql | Tx) => sql`s.created_at > now() - make_interval(secs => ${BEARER_LIFETIME_S})`;

/** Of a bearer token of that generation, in one organization of the user. */
export async function loadBearerSession(
  sql: Sql,
  id: string,
  userId: string,
  orgId: string,
  generation: number,
): Promise<LiveSession | null> {
  const [row] = await sql<LiveSession[]>`
    select ${liveColumns(sql)}
      from sessions s join users u on u.id = s.user_id join memberships m on m.user_id = u.id and m.org_id = ${orgId}
     where s.id = ${id} and s.user_id = ${userId} and s.kind <> 'browser'
       and (s.role_max is null or s.org_id = ${orgId}) and ${withinBearerLifetime(sql)}
       and (s.generation = ${generation} or (s.generation = ${generation + 1} and s.previous_until > now()))`;
  return row ?? null;
}

export async function loadBrowserSession(sql: Sql, secretHash: Buffer): Promise<LiveSession | null> {
  const [row] = await sql<LiveSession[]>`
    select ${liveColumns(sql)}
      from sessions s join users u on u.id = s.user_id join memberships m on m.user_id = u.id and m.org_id = s.org_id
     where s.secret_hash = ${secretHash} and s.expires_at > now()
       and s.last_seen_at > now() - make_interval(secs => ${BROWSER_IDLE_S})`;
  return row ?? null;
}

/** By a token from before sessions were rows. */
export async function loadLegacySession(
  sql: Sql | Tx,
  userId: string,
  orgId: string,
  version: number,
): Promise<Pick<LiveSession, 'email' | 'role' | 'purgeAt'> | null> {
  const [row] = await sql<Pick<LiveSession, 'email' | 'role' | 'purgeAt'>[]>`
    select u.email, m.role, ${purgeAt(sql)} from users u join memberships m on m.user_id = u.id
     where u.id = ${userId} and m.org_id = ${orgId} and u.session_version = ${version}`;
  return row ?? null;
}

export async function markSessionSeen(sql: Sql, id: string): Promise<void> {
  await sql`
    update sessions set last_seen_at = now()
     where id = ${id} and last_seen_at < now() - make_interval(secs => ${MARK_SEEN_INTERVAL_S})`;
}

/** False when it has ended. Until the transaction ends, it cannot: whoever would end it waits. */
export async function lockSession(tx: Tx, id: string): Promise<boolean> {
  return (await tx`select 1 from sessions where id = ${id} for key share`).length === 1;
}

/** The password was given in it just now. */
export async function markSessionAuthenticated(tx: Tx, id: string): Promise<void> {
  await tx`update sessions set authenticated_at = now() where id = ${id}`;
}

/** What a bearer token says of its session. */
export interface SessionTokenIdentity {
  readonly id: string;
  readonly userId: string;
  readonly generation: number;
}

export interface SessionGeneration {
  /** What the new token carries. */
  readonly generation: number;
  readonly version: number;
}

/**
 * Raises the generation for the newest token. For the one before it, while that is good, answers the current generation,
 * but only to the network that refreshed last: two tabs of one client, not a thief. `reused`: somebody else has refreshed
 * the session. Null: the session or the membership has ended.
 */
export async function refreshSession(
  tx: Tx,
  { id, userId, orgId, generation }: SessionTokenIdentity & { readonly orgId: string },
  network: string,
): Promise<SessionGeneration | 'reused' | null> {
  const [row] = await tx<{ current: number; shared: boolean; version: number }[]>`
    select s.generation as current, u.session_version as version,
           coalesce(s.previous_until > now() and coalesce(s.refreshed_from = ${network}, true), false) as shared
      from sessions s join users u on u.id = s.user_id join memberships m on m.user_id = u.id and m.org_id = ${orgId}
     where s.id = ${id} and s.user_id = ${userId} and s.kind <> 'browser'
       and (s.role_max is null or s.org_id = ${orgId}) and ${withinBearerLifetime(tx)}
       for update of s`;
  if (row === undefined) return null;
  const { current, shared, version } = row;
  const newest = generation === current;
  if (!newest && !(generation === current - 1 && shared)) return generation < current ? 'reused' : null;
  await tx`
    update sessions set generation = ${newest ? current + 1 : current},
           previous_until = ${newest ? tx`now() + make_interval(secs => ${PREVIOUS_TOKEN_GRACE_S})` : tx`previous_until`},
           expires_at = least(now() + make_interval(secs => ${SESSION_LIFETIME_S}),
                              created_at + make_interval(secs => ${BEARER_LIFETIME_S})),
           last_seen_at = now(), org_id = ${orgId}, refreshed_from = ${network}
     where id = ${id}`;
  return { generation: newest ? current + 1 : current, version };
}

/**
 * A token that was retired is used again: the gateway cannot tell thief from owner, so the session ends. Null:
 * the token is not retired, or is the one before the newest, in its overlap, and `overlap` spares it.
 */
export async function deleteReusedSession(
  tx: Tx,
  { id, userId, generation }: SessionTokenIdentity,
  overlap: boolean,
): Promise<{ email: string } | null> {
  const [row] = await tx<{ email: string }[]>`
    delete from sessions s using users u
     where s.id = ${id} and s.user_id = ${userId} and u.id = s.user_id and s.generation > ${generation}
       and not (s.generation = ${generation + 1} and ${overlap}::boolean and coalesce(s.previous_until > now(), false))
    returning u.email`;
  return row ?? null;
}

/** Only one that is bound to no organization. Null: it has ended, or may not. */
export async function switchSessionOrganization(tx: Tx, id: string, orgId: string): Promise<SessionGeneration | null> {
  const [row] = await tx<SessionGeneration[]>`
    update sessions s set org_id = ${orgId} from users u where s.id = ${id} and s.role_max is null and u.id = s.user_id
    returning s.generation, u.session_version as version`;
  return row ?? null;
}

/** The bearer tokens of that session end, a cookie takes their place. False: it has ended meanwhile. */
export async function convertToBrowserSession(sql: Sql | Tx, id: string, secretHash: Buffer): Promise<boolean> {
  const rows = await sql`
    update sessions set kind = 'browser', secret_hash = ${secretHash}, generation = generation + 1,
           previous_until = now() + make_interval(secs => ${PREVIOUS_TOKEN_GRACE_S}), last_seen_at = now(),
           expires_at = now() + make_interval(secs => ${SESSION_LIFETIME_S})
     where id = ${id} and kind <> 'browser' returning 1`;
  return rows.length === 1;
}

export interface SessionRow {
  readonly id: string;
  readonly kind: SessionKind;
  readonly orgId: string | null;
  readonly roleMax: Role | null;
  readonly ip: string;
  readonly userAgent: string;
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  readonly expiresAt: Date;
}

/** Those that can still be used, or refreshed. */
const usableSessionCondition = (sql: Sql | Tx) => sql`
  case when kind = 'browser'
    then expires_at > now() and last_seen_at > now() - make_interval(secs => ${BROWSER_IDLE_S})
    else expires_at > now() - make_interval(secs => ${REFRESH_GRACE_S})
         and created_at > now() - make_interval(secs => ${BEARER_LIFETIME_S}) end`;

export async function listSessions(sql: Sql, userId: string, page: Page): Promise<ListResult<SessionRow>> {
  const where = sql`user_id = ${userId} and ${usableSessionCondition(sql)}`;
  const rows = await sql<SessionRow[]>`
    select id, kind, org_id as "orgId", role_max as "roleMax", ip, user_agent as "userAgent", created_at as "createdAt",
           last_seen_at as "lastSeenAt", expires_at as "expiresAt"
      from sessions where ${where} order by created_at desc, id desc limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from sessions where ${where}`;
  return { rows, total: count!.total };
}

/** False when the user has no such session. */
export async function deleteSession(tx: Tx, userId: string, id: string): Promise<boolean> {
  return (await tx`delete from sessions where user_id = ${userId} and id = ${id} returning 1`).length === 1;
}

/**
 * All sessions of the user but that one; null keeps none. Tokens from before sessions were rows end with the version.
 */
export async function revokeUserSessions(tx: Tx, userId: string, keepId: string | null): Promise<void> {
  await tx`update users set session_version = session_version + 1 where id = ${userId}`;
  await tx`delete from sessions where user_id = ${userId} and id is distinct from ${keepId}`;
}

export async function pruneSessions(sql: Sql): Promise<void> {
  await sql`delete from sessions where id in (
    select id from sessions where expires_at < now() - make_interval(secs => ${REFRESH_GRACE_S}) limit 10000)`;
}
