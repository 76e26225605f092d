/** How accounts and shared credentials show a minted credential. Pure, except for the SQL fragment. */
import type { Sql, Tx } from '../db/postgres-client.js';
import { MINT_FAILURES, type MintFailureCode } from './mint-failure.js';

export interface MintedColumns {
  /** Null: the credential is stored. */
  readonly method: string | null;
  readonly mintKind: string | null;
  /** Null: nothing was minted yet. */
  readonly mintedRow: {
    readonly hasToken: boolean;
    readonly isExpired: boolean;
    readonly scope: string | null;
    readonly mintedAt: string | null;
    readonly expiresAt: string | null;
    readonly failure: MintFailureCode | null;
    readonly detail: string | null;
    readonly failedAt: string | null;
    readonly nextAttemptAt: string | null;
    readonly connectedAt: string | null;
  } | null;
}

/** The column `mintedRow` of a query over one of the two tables. */
export const mintedRowColumn = (sql: Sql | Tx, table: 'provider_accounts' | 'credentials') => sql`
  (select jsonb_build_object(
            'hasToken', m.ciphertext is not null, 'isExpired', coalesce(m.expires_at <= now(), false),
            'scope', m.scope, 'mintedAt', m.minted_at, 'expiresAt', m.expires_at, 'failure', m.failure,
            'detail', m.failure_detail, 'failedAt', m.failed_at,
            'connectedAt', (select g.connected_at from oauth_grants g
                             where g.account_id = m.account_id or g.credential_id = m.credential_id),
            'nextAttemptAt', case when m.next_attempt_at in ('infinity', '-infinity') then null
                                  else m.next_attempt_at end)
     from minted_credentials m
    where ${
      table === 'credentials'
        ? sql`m.credential_id = credentials.id`
        : sql`m.account_id = provider_accounts.id or m.credential_id = provider_accounts.credential_id`
    } limit 1) as "mintedRow"`;

export const MINTED_STATES = ['waiting', 'not_connected', 'active', 'failing', 'expired', 'reconnect_needed'] as const;
export type MintedState = (typeof MINTED_STATES)[number];

export interface MintedView {
  method: string;
  kind: string;
  state: MintedState;
  scope: string | null;
  mintedAt: string | null;
  expiresAt: string | null;
  connectedAt: string | null;
  failure: {
    reason: string;
    detail: string | null;
    cause: string;
    remedy: string;
    at: string;
    nextAttemptAt: string | null;
  } | null;
}

export function presentMinted({ method, mintKind, mintedRow: row }: MintedColumns): MintedView | null {
  if (method === null) return null;
  const toIso = (time: string | null | undefined): string | null => (time ? new Date(time).toISOString() : null);
  const failure = row?.failure ?? null;
  return {
    method,
    kind: mintKind ?? '',
    state: stateOf(mintKind, row),
    scope: row?.scope ?? null,
    mintedAt: toIso(row?.mintedAt),
    expiresAt: toIso(row?.expiresAt),
    connectedAt: toIso(row?.connectedAt),
    failure:
      failure === null
        ? null
        : {
            reason: failure,
            detail: row!.detail,
            ...MINT_FAILURES[failure],
            at: toIso(row!.failedAt)!,
            nextAttemptAt: toIso(row!.nextAttemptAt),
          },
  };
}

function stateOf(kind: string | null, row: MintedColumns['mintedRow']): MintedState {
  const isConnected = kind === 'oauth2_authorization_code';
  if (row === null) return isConnected ? 'not_connected' : 'waiting';
  if (row.failure === 'not_connected') return 'not_connected';
  if (row.failure === 'invalid_grant') return 'reconnect_needed';
  if (row.failure !== null) return 'failing';
  if (!row.hasToken) return 'waiting';
  return row.isExpired ? 'expired' : 'active';
}
