/**
 * The tables that are suspended when the mailbox of an unconfirmed account is proven for the first time: all rows that
 * let a person or program act in an organization, or that send its data elsewhere.
 * `test/src/organizations/suspension-coverage.test.ts` compares the list with the tables of the schema.
 */
import { SHOWN_ENDPOINT_URL } from '../db/shown-endpoint-url.js';

export type SuspendableKind =
  | 'member'
  | 'management_token'
  | 'invitation'
  | 'run'
  | 'api_key'
  | 'webhook'
  | 'account'
  | 'credential'
  | 'custom_provider'
  | 'sso'
  | 'trust_rule'
  | 'scim_token';

/** SQL expressions over the row `t` of `table`. They are constants of this file, never input. */
interface SuspendableTable {
  readonly kind: SuspendableKind;
  /** Must have the columns org_id and created_at. */
  readonly table: string;
  /** What the review shows for a row. */
  readonly nameSql: string;
  readonly detailSql: string;
  /** Selects rows of the organization; `$founder` is the account whose mailbox was proven. */
  readonly suspendCondition: string;
  /** Whether the columns key_id, nonce and ciphertext hold a secret of the vault. */
  readonly encrypted: boolean;
  /** Must hold for a row to be restored; `t` has the row type of its table. */
  readonly restoreCondition: string;
}

/**
 * In the order of suspension. Memberships first: a request in progress locks the membership of its actor, so rows that
 * it creates exist by then and are suspended, too. Rows that refer to others come before those.
 */
export const SUSPENDABLE_TABLES: readonly SuspendableTable[] = [
  {
    kind: 'member',
    table: 'memberships',
    nameSql: '(select email from users where id = t.user_id)',
    detailSql: 't.role',
    suspendCondition: 't.user_id <> $founder',
    encrypted: false,
    restoreCondition: 'true',
  },
  {
    kind: 'management_token',
    table: 'management_tokens',
    nameSql: 't.name',
    detailSql: "t.token_prefix || '… ' || t.role",
    suspendCondition: 'true',
    encrypted: false,
    // Otherwise the token would become valid if its creator ever became a member again.
    restoreCondition: 'exists (select from memberships m where m.org_id = t.org_id and m.user_id = t.created_by)',
  },
  {
    kind: 'invitation',
    table: 'invitations',
    nameSql: 't.email',
    detailSql: 't.role',
    suspendCondition: 't.expires_at > now()',
    encrypted: false,
    restoreCondition: 't.expires_at > now()',
  },
  {
    kind: 'run',
    table: 'runs',
    nameSql: 't.label',
    detailSql: "'agent ' || (select name from agents where id = t.agent_id)",
    suspendCondition: 't.ended_at is null and t.expires_at > now()',
    encrypted: false,
    restoreCondition: 't.expires_at > now()',
  },
  {
    kind: 'api_key',
    table: 'api_keys',
    nameSql: 't.name',
    detailSql: "t.key_prefix || '… ' || t.scope",
    suspendCondition: 't.revoked_at is null',
    encrypted: false,
    restoreCondition: 'true',
  },
  {
    kind: 'trust_rule',
    table: 'trust_rules',
    nameSql: 't.name',
    detailSql: 't.issuer',
    // The keys of a rule are deleted with its row.
    suspendCondition: 't.deleted_at is null',
    encrypted: false,
    restoreCondition: 'true',
  },
  {
    kind: 'webhook',
    table: 'webhook_endpoints',
    nameSql: SHOWN_ENDPOINT_URL,
    detailSql: "array_to_string(t.events, ', ')",
    suspendCondition: 'true',
    encrypted: true,
    restoreCondition: 'true',
  },
  {
    kind: 'account',
    table: 'provider_accounts',
    nameSql: 't.provider_slug',
    detailSql: "'agent ' || (select name from agents where id = t.agent_id)",
    suspendCondition: 'true',
    encrypted: true,
    restoreCondition: 'true',
  },
  {
    kind: 'credential',
    table: 'credentials',
    nameSql: 't.name',
    detailSql: 't.provider_slug',
    suspendCondition: 'true',
    encrypted: true,
    restoreCondition: 'true',
  },
  {
    kind: 'custom_provider',
    table: 'custom_providers',
    nameSql: 't.slug',
    detailSql: 't.base_url',
    suspendCondition: 't.deleted_at is null',
    encrypted: false,
    restoreCondition: 'true',
  },
  {
    kind: 'sso',
    table: 'sso_connections',
    nameSql: 't.issuer',
    detailSql: 't.client_id',
    suspendCondition: 'true',
    encrypted: true,
    restoreCondition: 'true',
  },
  {
    kind: 'scim_token',
    table: 'scim_tokens',
    nameSql: 't.name',
    detailSql: "t.token_prefix || '…'",
    suspendCondition: 'true',
    encrypted: false,
    restoreCondition: 'true',
  },
];

export const SUSPENDABLE_KINDS: readonly SuspendableKind[] = SUSPENDABLE_TABLES.map(({ kind }) => kind);
