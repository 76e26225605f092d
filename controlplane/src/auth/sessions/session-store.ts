import type { Sql, Tx } from '../../db/postgres-client.js';
import type { ListResult, Page } from '../../http/limit-offset-pagination.js';
import type { Role } from '../../http/route-access.js';
import { isSecondFactorMissing, isSsoRequired } from '../users/user-and-membership-store.js';
import { REFRESH_GRACE_S, SESSION_LIFETIME_S } from './session-jwt.js';

/** Sessions per user. A new session beyond this deletes the session with the oldest `last_seen_at`. */
export const SESSIONS_PER_USER_MAX = 100;
/** A browser session that is not used for this long expires. */
export const BROWSER_IDLE_S = 12 * 3_600;
/** How long the bearer token before the newest one stays valid, because two tabs may refresh at the same time. */
const PREVIOUS_TOKEN_GRACE_S = 60;
/** The maximum lifetime of a session with bearer tokens, even if it is refreshed. Then its user must log in again. */
export const BEARER_LIFETIME_S = 30 * 86_400;
/** `last_seen_at` is updated at most once per interval. */
const MARK_SEEN_INTERVAL_S = 60;

export type SessionKind = 'api' | 'browser' | 'cli';

export interface NewSession {
  readonly id: string;
  readonly userId: string;
  readonly orgId: string;
  /** `users.session_version` at the time of authentication: a password reset in between wins. */
  readonly version: number;
  readonly kind: SessionKind;
  readonly secretHash: Buffer | null;
  readonly roleMax: Role | null;
  readonly authenticated: boolean;
  /** A code of the second factor was verified at the login. */
  readonly factorVerified: boolean;
  /** Opened by single sign-on. */
  readonly sso: boolean;
  readonly ip: string;
  readonly userAgent: string;
}

/** Returns false when the sessions of that version were revoked meanwhile. Waits for a running password change. */
export async function insertSessionIfVersionCurrent(
  tx: Tx,
  session: NewSession,
  lifetimeS = SESSION_LIFETIME_S,
): Promise<boolean> {
  const { id, userId, orgId, version, kind, secretHash, roleMax, authenticated, factorVerified, sso, ip, userAgent } =
    session;
  const user = await tx`select 1 from users where id = ${userId} and session_version = ${version} for share`;
  if (user.length === 0) return false;
  await tx`
    insert into sessions (id, user_id, org_id, kind, secret_hash, role_max, authenticated_at, factor_at, sso, ip, user_agent,
                          expires_at)
    values (${id}, ${userId}, ${orgId}, ${kind}, ${secretHash}, ${roleMax}, ${authenticated ? tx`now()` : null},
            ${factorVerified ? tx`now()` : null}, ${sso}, ${ip}, ${userAgent}, now() + make_interval(secs => ${lifetimeS}))`;
  await tx`
    delete from sessions where id in (
      select id from sessions where user_id = ${userId} order by last_seen_at desc, id desc offset ${SESSIONS_PER_USER_MAX})`;
  return true;
}

/**
 * The fields of a session that authentication and authorization read. One row per session and organization of its user.
 */
export interface LiveSession {
  readonly email: string;
  readonly role: Role;
  readonly userId: string;
  readonly orgId: string;
  readonly id: string;
  readonly kind: SessionKind;
  readonly roleMax: Role | null;
  readonly recent: boolean;
  /** The purge date of the organization; null when it is not being deleted. */
  readonly purgeAt: Date | null;
  /** The organization requires a second factor, and the user has none. */
  readonly secondFactorMissing: boolean;
  /** The organization requires single sign-on of the user. */
  readonly ssoRequired: boolean;
  /** Opened by single sign-on: its provider is responsible for second factors. */
  readonly sso: boolean;
  /** True when `last_seen_at` is due for an update. */
  readonly shouldMarkUsed: boolean;
}

/** How long after entering the password the user counts as recently authenticated. */
const RECENT_AUTHENTICATION_S = 15 * 60;

const organizationColumns = (sql: Sql | Tx) => sql`
  (select purge_at from organizations o where o.id = m.org_id) as "purgeAt",
  (select ${isSecondFactorMissing(sql)} from organizations o where o.id = m.org_id) as "secondFactorMissing",
  ${isSsoRequired(sql)} as "ssoRequired"`;

const liveSessionColumns = (sql: Sql | Tx) => sql`
  u.email, m.role, u.id as "userId", m.org_id as "orgId", ${organizationColumns(sql)}, s.sso, s.id, s.kind, s.role_max as "roleMax",
  coalesce(s.authenticated_at > now() - make_interval(secs => ${RECENT_AUTHENTICATION_S}), false) as recent,
  s.last_seen_at < now() - make_interval(secs => ${MARK_SEEN_INTERVAL_S}) as "shouldMarkUsed"`;

/** Whether the user logged in less than {@link BEARER_LIFETIME_S} ago. */
const withinBearerLifetime = (sql: Sql | Tx) => sql`s.created_at > now() - make_interval(secs => ${BEARER_LIFETIME_S})`;

/** A session of single sign-on, or one that it approved for a device, cannot be extended: the provider decides each day. */
const withinSsoLifetime = (sql: Sql | Tx) => sql`(not s.sso or s.expires_at > now())`;

/** Loads the session of a bearer token of that generation, in one organization of the user. */
export async function loadBearerSession(
  sql: Sql,
  id: string,
  userId: string,
  orgId: string,
  generation: number,
): Promise<LiveSession | null> {
  const [row] = await sql<LiveSession[]>`
    select ${liveSessionColumns(sql)}
      from sessions s join users u on u.id = s.user_id join memberships m on m.user_id = u.id and m.org_id = ${orgId}
     where s.id = ${id} and s.user_id = ${userId} and s.kind <> 'browser'
       and (s.role_max is null or s.org_id = ${orgId}) and ${withinBearerLifetime(sql)} and ${withinSsoLifetime(sql)}
       and (s.generation = ${generation} or (s.generation = ${generation + 1} and s.previous_until > now()))`;
  return row ?? null;
}

export async function loadBrowserSession(sql: Sql, secretHash: Buffer): Promise<LiveSession | null> {
  const [row] = await sql<LiveSession[]>`
    select ${liveSessionColumns(sql)}
      from sessions s join users u on u.id = s.user_id join memberships m on m.user_id = u.id and m.org_id = s.org_id
     where s.secret_hash = ${secretHash} and s.expires_at > now()
       and s.last_seen_at > now() - make_interval(secs => ${BROWSER_IDLE_S})`;
  return row ?? null;
}

type LegacySession = Pick<LiveSession, 'email' | 'role' | 'purgeAt' | 'secondFactorMissing' | 'ssoRequired'>;

/** Loads the user and role for a token that was issued before sessions were stored. */
export async function loadLegacySession(
  sql: Sql | Tx,
  userId: string,
  orgId: string,
  version: number,
): Promise<LegacySession | null> {
  const [row] = await sql<LegacySession[]>`
    select u.email, m.role, ${organizationColumns(sql)} from users u join memberships m on m.user_id = u.id
     where u.id = ${userId} and m.org_id = ${orgId} and u.session_version = ${version}`;
  return row ?? null;
}

export async function markSessionSeen(sql: Sql, id: string): Promise<void> {
  await sql`
    update sessions set last_seen_at = now()
     where id = ${id} and last_seen_at < now() - make_interval(secs => ${MARK_SEEN_INTERVAL_S})`;
}

/** Returns false when the session was revoked. Otherwise a revocation waits until the transaction ends. */
export async function lockSession(tx: Tx, id: string): Promise<boolean> {
  return (await tx`select 1 from sessions where id = ${id} for key share`).length === 1;
}

/** Records that the user has just entered the password in this session. */
export async function markSessionAuthenticated(tx: Tx, id: string): Promise<void> {
  await tx`update sessions set authenticated_at = now() where id = ${id}`;
}

/** The claims of a bearer token that identify its session. */
export interface SessionTokenIdentity {
  readonly id: string;
  readonly userId: string;
  readonly generation: number;
}

export interface SessionGeneration {
  /** The generation for the new token. */
  readonly generation: number;
  readonly version: number;
}

/**
 * Raises the generation for the newest token. For the token before it, within its grace period, returns the current
 * generation, but only to the network that refreshed last: two tabs of one client, not a thief. `reused`: another
 * client has refreshed the session. Null: the session or the membership has ended.
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
       and (s.role_max is null or s.org_id = ${orgId}) and ${withinBearerLifetime(tx)} and ${withinSsoLifetime(tx)}
       for update of s`;
  if (row === undefined) return null;
  const { current, shared, version } = row;
  const newest = generation === current;
  if (!newest && !(generation === current - 1 && shared)) return generation < current ? 'reused' : null;
  await tx`
    update sessions set generation = ${newest ? current + 1 : current},
           previous_until = ${newest ? tx`now() + make_interval(secs => ${PREVIOUS_TOKEN_GRACE_S})` : tx`previous_until`},
           expires_at = case when sso then expires_at else least(now() + make_interval(secs => ${SESSION_LIFETIME_S}),
                              created_at + make_interval(secs => ${BEARER_LIFETIME_S})) end,
           last_seen_at = now(), org_id = ${orgId}, refreshed_from = ${network}
     where id = ${id}`;
  return { generation: newest ? current + 1 : current, version };
}

/**
 * Deletes the session when a retired token is used again, because the gateway cannot tell a thief from the owner. Null:
 * the token is not retired, or `allowPreviousToken` is set and the token is the one before the newest within its grace
 * period.
 */
export async function deleteSessionIfTokenReused(
  tx: Tx,
  { id, userId, generation }: SessionTokenIdentity,
  allowPreviousToken: boolean,
): Promise<{ email: string } | null> {
  const [row] = await tx<{ email: string }[]>`
    delete from sessions s using users u
     where s.id = ${id} and s.user_id = ${userId} and u.id = s.user_id and s.generation > ${generation}
       and not (s.generation = ${generation + 1} and ${allowPreviousToken}::boolean and coalesce(s.previous_until > now(), false))
    returning u.email`;
  return row ?? null;
}

/** Switches only a session that is not limited to one organization. Null: the session has ended or is limited. */
export async function switchSessionOrganization(tx: Tx, id: string, orgId: string): Promise<SessionGeneration | null> {
  const [row] = await tx<SessionGeneration[]>`
    update sessions s set org_id = ${orgId} from users u where s.id = ${id} and s.role_max is null and u.id = s.user_id
    returning s.generation, u.session_version as version`;
  return row ?? null;
}

/** Revokes the bearer tokens of that session and replaces them by a cookie. False: the session has ended meanwhile. */
export async function convertToBrowserSession(sql: Sql | Tx, id: string, secretHash: Buffer): Promise<boolean> {
  const rows = await sql`
    update sessions set kind = 'browser', secret_hash = ${secretHash}, generation = generation + 1,
           previous_until = now() + make_interval(secs => ${PREVIOUS_TOKEN_GRACE_S}), last_seen_at = now(),
           expires_at = case when sso then expires_at else now() + make_interval(secs => ${SESSION_LIFETIME_S}) end
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

/** Matches sessions that can still be used or refreshed. */
const usableSessionCondition = (sql: Sql | Tx) => sql`
  case when kind = 'browser'
    then expires_at > now() and last_seen_at > now() - make_interval(secs => ${BROWSER_IDLE_S})
    else expires_at > now() - make_interval(secs => case when sso then 0 else ${REFRESH_GRACE_S} end)
         and created_at > now() - make_interval(secs => ${BEARER_LIFETIME_S}) end`;

const sessionColumns = (sql: Sql) => sql`
  id, kind, org_id as "orgId", role_max as "roleMax", ip, user_agent as "userAgent", created_at as "createdAt",
  last_seen_at as "lastSeenAt", expires_at as "expiresAt"`;

export async function listSessions(sql: Sql, userId: string, page: Page): Promise<ListResult<SessionRow>> {
  const where = sql`user_id = ${userId} and ${usableSessionCondition(sql)}`;
  const rows = await sql<SessionRow[]>`
    select ${sessionColumns(sql)} from sessions where ${where} order by created_at desc, id desc limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from sessions where ${where}`;
  return { rows, total: count!.total };
}

/** Sessions of the user that act in that organization, or acted there last. */
export async function listMemberSessions(
  sql: Sql,
  orgId: string,
  userId: string,
  page: Page,
): Promise<ListResult<SessionRow>> {
  const where = sql`org_id = ${orgId} and user_id = ${userId} and ${usableSessionCondition(sql)}`;
  const rows = await sql<SessionRow[]>`
    select ${sessionColumns(sql)} from sessions
     where ${where} order by created_at desc, id desc limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from sessions where ${where}`;
  return { rows, total: count!.total };
}

/** Returns how many ended. `id` null: all in that organization. */
export async function deleteMemberSessions(tx: Tx, orgId: string, userId: string, id: string | null): Promise<number> {
  const rows = await tx`
    delete from sessions where org_id = ${orgId} and user_id = ${userId} and (${id}::uuid is null or id = ${id}) returning 1`;
  return rows.length;
}

/** Returns false when the user has no such session. */
export async function deleteSession(tx: Tx, userId: string, id: string): Promise<boolean> {
  return (await tx`delete from sessions where user_id = ${userId} and id = ${id} returning 1`).length === 1;
}

/**
 * Revokes all sessions of the user except `keepId`; null keeps none. Raising the session version also revokes tokens
 * that were issued before sessions were stored.
 */
export async function revokeUserSessions(tx: Tx, userId: string, keepId: string | null): Promise<void> {
  await tx`update users set session_version = session_version + 1 where id = ${userId}`;
  await tx`delete from sessions where user_id = ${userId} and id is distinct from ${keepId}`;
}

export async function pruneSessions(sql: Sql): Promise<void> {
  await sql`delete from sessions where id in (
    select id from sessions where expires_at < now() - make_interval(secs => ${REFRESH_GRACE_S}) limit 10000)`;
}
