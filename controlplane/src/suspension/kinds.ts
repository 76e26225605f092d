/**
 * What is suspended when the mailbox of an unconfirmed account is proven for the first time: every kind of row that lets
 * somebody act in an organization, or that sends its data somewhere. `test/src/controlplane/suspendable-kinds.test.ts`
 * compares the list with the tables of the schema.
 */

export type SuspendableKind =
  | 'member'
  | 'management_token'
  | 'invitation'
  | 'api_key'
  | 'webhook'
  | 'account'
  | 'credential'
  | 'custom_provider';

/** SQL expressions over the row `t` of `table`. They are constants of this file, never input. */
interface SuspendableTable {
  readonly kind: SuspendableKind;
  /** With the columns org_id and created_at. */
  readonly table: string;
  /** What the review shows of a row. */
  readonly name: string;
  readonly detail: string;
  /** Which rows of the organization; `$founder` is the account whose mailbox was proven. */
  readonly where: string;
  /** The columns key_id, nonce and ciphertext hold a secret of the vault. */
  readonly encrypted: boolean;
  /** Must be true for a row that comes back, over its table's row type `t`. */
  readonly keepIf: string;
}

/**
 * In the order in which they are suspended. Memberships first: a request that is under way holds its membership's row, so
 * what that request makes is there, and is suspended too. Rows that refer to others go before those.
 */
export const SUSPENDABLE: readonly SuspendableTable[] = [
  {
    kind: 'member',
    table: 'memberships',
    name: '(select email from users where id = t.user_id)',
    detail: 't.role',
    where: 't.user_id <> $founder',
    encrypted: false,
    keepIf: 'true',
  },
  {
    kind: 'management_token',
    table: 'management_tokens',
    name: 't.name',
    detail: "t.token_prefix || '… ' || t.role",
    where: 'true',
    encrypted: false,
    // Else the token would come to life should its creator ever become a member again.
    keepIf: 'exists (select from memberships m where m.org_id = t.org_id and m.user_id = t.created_by)',
  },
  {
    kind: 'invitation',
    table: 'invitations',
    name: 't.email',
    detail: 't.role',
    where: 't.expires_at > now()',
    encrypted: false,
    keepIf: 't.expires_at > now()',
  },
  {
    kind: 'api_key',
    table: 'api_keys',
    name: 't.name',
    detail: "t.key_prefix || '… ' || t.scope",
    where: 't.revoked_at is null',
    encrypted: false,
    keepIf: 'true',
  },
  {
    kind: 'webhook',
    table: 'webhook_endpoints',
    name: 't.url',
    detail: "array_to_string(t.events, ', ')",
    where: 'true',
    encrypted: true,
    keepIf: 'true',
  },
  {
    kind: 'account',
    table: 'provider_accounts',
    name: 't.provider_slug',
    detail: "'agent ' || (select name from agents where id = t.agent_id)",
    where: 'true',
    encrypted: true,
    keepIf: 'true',
  },
  {
    kind: 'credential',
    table: 'credentials',
    name: 't.name',
    detail: 't.provider_slug',
    where: 'true',
    encrypted: true,
    keepIf: 'true',
  },
  {
    kind: 'custom_provider',
    table: 'custom_providers',
    name: 't.slug',
    detail: 't.base_url',
    where: 't.deleted_at is null',
    encrypted: false,
    keepIf: 'true',
  },
];

export const SUSPENDABLE_KINDS: readonly SuspendableKind[] = SUSPENDABLE.map(({ kind }) => kind);
