import type { Sql, Tx } from '../../db/postgres-client.js';
import type { Role } from '../../http/route-access.js';

export const DEVICE_CODE_LIFETIME_S = 600;
export const POLL_INTERVAL_S = 2;

export interface NewDeviceLogin {
  readonly id: string;
  readonly deviceCodeHash: Buffer;
  readonly userCodeHash: Buffer;
  readonly client: string;
  readonly hostname: string;
  readonly ip: string;
}

/** Returns false when another device login uses the same short code. */
export async function insertDeviceLogin(sql: Sql, device: NewDeviceLogin): Promise<boolean> {
  const { id, deviceCodeHash, userCodeHash, client, hostname, ip } = device;
  const rows = await sql`
    insert into device_logins (id, device_code_hash, user_code_hash, client, hostname, ip, expires_at)
    values (${id}, ${deviceCodeHash}, ${userCodeHash}, ${client}, ${hostname}, ${ip},
            now() + make_interval(secs => ${DEVICE_CODE_LIFETIME_S}))
    on conflict (user_code_hash) do nothing returning 1`;
  return rows.length === 1;
}

export interface PendingDeviceLogin {
  readonly id: string;
  readonly client: string;
  readonly hostname: string;
  readonly ip: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** Locks the device login. Null: unknown, expired or already decided. */
export async function lockPendingDeviceLogin(tx: Tx, userCodeHash: Buffer): Promise<PendingDeviceLogin | null> {
  const [row] = await tx<PendingDeviceLogin[]>`
    select id, client, hostname, ip, created_at as "createdAt", expires_at as "expiresAt" from device_logins
     where user_code_hash = ${userCodeHash} and status = 'pending' and expires_at > now() for update`;
  return row ?? null;
}

export interface DeviceApproval {
  readonly userId: string;
  readonly version: number;
  readonly orgId: string;
  readonly role: Role;
  /** Approved in a session of single sign-on. */
  readonly sso: boolean;
}

export async function approveDeviceLogin(
  tx: Tx,
  id: string,
  { userId, version, orgId, role, sso }: DeviceApproval,
): Promise<void> {
  await tx`
    update device_logins set status = 'approved', user_id = ${userId}, session_version = ${version}, org_id = ${orgId},
           role = ${role}, sso = ${sso} where id = ${id}`;
}

export async function denyDeviceLogin(tx: Tx, id: string): Promise<void> {
  await tx`update device_logins set status = 'denied' where id = ${id}`;
}

export interface PolledDeviceLogin {
  readonly id: string;
  readonly status: 'pending' | 'approved' | 'denied';
  /** The program polled again before the interval was over. */
  readonly polledTooSoon: boolean;
}

/** Records the poll. Null: unknown or expired. */
export async function recordDeviceLoginPoll(sql: Sql, deviceCodeHash: Buffer): Promise<PolledDeviceLogin | null> {
  const [row] = await sql<PolledDeviceLogin[]>`
    with before as (
      select id, coalesce(polled_at > now() - make_interval(secs => ${POLL_INTERVAL_S}), false) as "polledTooSoon"
        from device_logins where device_code_hash = ${deviceCodeHash} and expires_at > now() for update)
    update device_logins d set polled_at = now() from before where d.id = before.id
    returning d.id, d.status, before."polledTooSoon"`;
  return row ?? null;
}

/** Deletes the approval and returns it, so that it works once; null when another poll has already consumed it. */
export async function consumeDeviceApproval(tx: Tx, id: string): Promise<DeviceApproval | null> {
  const [row] = await tx<DeviceApproval[]>`
    delete from device_logins where id = ${id} and status = 'approved' and expires_at > now()
    returning user_id as "userId", session_version as version, org_id as "orgId", role, sso`;
  return row ?? null;
}

export async function pruneDeviceLogins(sql: Sql): Promise<void> {
  await sql`delete from device_logins where id in (select id from device_logins where expires_at < now() limit 10000)`;
}
