/** SQL for billing accounts: admin keys, the lease of a running check, adjustments. */
import type { Sql, Tx } from '../db/postgres-client.js';
import type { EncryptedSecret } from '../vault/aes-gcm-vault.js';
import type { BillingApi } from './schema.js';

export interface BillingAccountRow {
  readonly id: string;
  readonly api: BillingApi;
  readonly providerSlug: string;
  readonly name: string;
  readonly alertCents: number;
  readonly checkedAt: Date | null;
  readonly problem: string | null;
  readonly createdAt: Date;
}

const columns = (sql: Sql | Tx) => sql`
  id, api, provider_slug as "providerSlug", name, alert_cents as "alertCents", checked_at as "checkedAt", problem,
  created_at as "createdAt"`;

export const listAccounts = (sql: Sql, orgId: string) =>
  sql<BillingAccountRow[]>`
    select ${columns(sql)} from billing_accounts where org_id = ${orgId} order by provider_slug, id`;

export async function loadAccount(sql: Sql, orgId: string, id: string): Promise<BillingAccountRow | null> {
  const [row] = await sql<BillingAccountRow[]>`
    select ${columns(sql)} from billing_accounts where org_id = ${orgId} and id = ${id}`;
  return row ?? null;
}

export interface NewBillingAccount {
  readonly id: string;
  readonly orgId: string;
  readonly api: BillingApi;
  readonly providerSlug: string;
  readonly name: string;
  readonly alertCents: number;
  readonly sealed: EncryptedSecret;
}

/** Returns null when the organization already has a billing account of that provider. */
export async function insertAccount(tx: Tx, account: NewBillingAccount): Promise<BillingAccountRow | null> {
  const { id, orgId, api, providerSlug, name, alertCents, sealed } = account;
  const [row] = await tx<BillingAccountRow[]>`
    insert into billing_accounts (id, org_id, api, provider_slug, name, alert_cents, key_id, nonce, ciphertext)
    values (${id}, ${orgId}, ${api}, ${providerSlug}, ${name}, ${alertCents}, ${sealed.keyId}, ${sealed.nonce},
            ${sealed.ciphertext})
    on conflict (org_id, provider_slug) do nothing returning ${columns(tx)}`;
  return row ?? null;
}

interface AccountChanges {
  readonly name: string | null;
  readonly alertCents: number | null;
  readonly sealed: EncryptedSecret | null;
}

/** Null fields stay as they are. A new key makes the next check due. */
export async function updateAccount(
  tx: Tx,
  orgId: string,
  id: string,
  { name, alertCents, sealed }: AccountChanges,
): Promise<BillingAccountRow | null> {
  const [row] = await tx<BillingAccountRow[]>`
    update billing_accounts
       set name = coalesce(${name}, name), alert_cents = coalesce(${alertCents}::integer, alert_cents)
           ${sealed === null ? tx`` : tx`, key_id = ${sealed.keyId}, nonce = ${sealed.nonce}, ciphertext = ${sealed.ciphertext}, next_check_at = now()`}
     where org_id = ${orgId} and id = ${id} returning ${columns(tx)}`;
  return row ?? null;
}

export async function deleteAccount(tx: Tx, orgId: string, id: string): Promise<BillingAccountRow | null> {
  const [row] = await tx<BillingAccountRow[]>`
    delete from billing_accounts where org_id = ${orgId} and id = ${id} returning ${columns(tx)}`;
  return row ?? null;
}

/** A check in progress: until the lease ends, no other check of the account begins. */
export interface LeasedAccount extends BillingAccountRow {
  readonly orgId: string;
  /** Whose server answers: the provider's, or that of the organization for a custom provider. */
  readonly lane: string;
  readonly lease: string;
  readonly sealed: EncryptedSecret;
}

const LANE = 'case when provider_slug = api then api else org_id::text end';

/**
 * Leases one account for a check. With an id: that account of the organization; null where another check runs. Without:
 * the account of any organization in another lane whose check is longest overdue.
 */
export async function leaseAccount(
  sql: Sql,
  which: { readonly orgId: string; readonly id: string } | { readonly exceptLanes: readonly string[] },
  lease: string,
  leaseMs: number,
): Promise<LeasedAccount | null> {
  const wanted =
    'exceptLanes' in which
      ? sql`id = (select id from billing_accounts where next_check_at <= now()
                     and (leased_until is null or leased_until < now())
                     and ${sql.unsafe(LANE)} <> all(${[...which.exceptLanes]}::text[])
                   order by next_check_at, id limit 1 for update skip locked)`
      : sql`org_id = ${which.orgId} and id = ${which.id}`;
  const [row] = await sql<(LeasedAccount & EncryptedSecret)[]>`
    update billing_accounts set lease = ${lease}, leased_until = now() + ${leaseMs} * interval '1 millisecond'
     where ${wanted} and (leased_until is null or leased_until < now())
    returning ${columns(sql)}, org_id as "orgId", ${sql.unsafe(LANE)} as lane, lease, key_id as "keyId", nonce, ciphertext`;
  if (row === undefined) return null;
  const { keyId, nonce, ciphertext } = row;
  return { ...row, sealed: { keyId, nonce, ciphertext } };
}

/** Ends the check and records its outcome. Returns false when another check took the account over meanwhile. */
export async function releaseAccount(
  sql: Sql | Tx,
  { id, lease }: LeasedAccount,
  problem: string | null,
  nextCheckAt: Date,
): Promise<boolean> {
  const rows = await sql`
    update billing_accounts
       set lease = null, leased_until = null, problem = ${problem}, next_check_at = ${nextCheckAt}
           ${problem === null ? sql`, checked_at = now()` : sql``}
     where id = ${id} and lease = ${lease} returning 1`;
  return rows.length > 0;
}

export const recordCheck = (tx: Tx, id: string, month: string) => tx`
  insert into billing_checks (billing_account_id, month) values (${id}, ${month})
  on conflict (billing_account_id, month) do update set checked_at = now()`;

/** When the month was last checked successfully, by billing account. */
export async function listChecks(sql: Sql, orgId: string, month: string): Promise<ReadonlyMap<string, Date>> {
  const rows = await sql<{ id: string; checkedAt: Date }[]>`
    select c.billing_account_id as id, c.checked_at as "checkedAt"
      from billing_checks c join billing_accounts a on a.id = c.billing_account_id
     where a.org_id = ${orgId} and c.month = ${month}`;
  return new Map(rows.map(({ id, checkedAt }) => [id, checkedAt]));
}

export interface AdjustmentRow {
  readonly id: string;
  readonly accountId: string;
  readonly month: string;
  readonly amountNanos: number;
  readonly reason: string;
  readonly createdBy: string;
  readonly createdAt: Date;
}

const adjustmentColumns = (sql: Sql | Tx) => sql`
  d.id, d.billing_account_id as "accountId", d.month, d.amount_nanos as "amountNanos", d.reason,
  d.created_by as "createdBy", d.created_at as "createdAt"`;

export async function insertAdjustment(tx: Tx, adjustment: Omit<AdjustmentRow, 'createdAt'>): Promise<AdjustmentRow> {
  const { id, accountId, month, amountNanos, reason, createdBy } = adjustment;
  const [row] = await tx<AdjustmentRow[]>`
    insert into billing_adjustments as d (id, billing_account_id, month, amount_nanos, reason, created_by)
    values (${id}, ${accountId}, ${month}, ${amountNanos}, ${reason}, ${createdBy}) returning ${adjustmentColumns(tx)}`;
  return row!;
}

export const listAdjustments = (sql: Sql, orgId: string, month: string) =>
  sql<AdjustmentRow[]>`
    select ${adjustmentColumns(sql)} from billing_adjustments d join billing_accounts a on a.id = d.billing_account_id
     where a.org_id = ${orgId} and d.month = ${month} order by d.created_at, d.id`;
