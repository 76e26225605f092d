/** Rows of clients that the gateway has registered at authorization servers. */
import { uuidv7 } from '@acg/base/uuidv7';
import type { Sql } from '../db/postgres-client.js';
import type { EncryptedSecret } from '../vault/aes-gcm-vault.js';
import type { ClientAuthentication } from './discovered-server.js';

/** Whose client it is. A client of one issuer or redirect URI is used with no other. */
export interface RegistrationScope {
  readonly orgId: string;
  readonly issuer: string;
  readonly redirectUri: string;
}

export interface RegisteredClient {
  readonly id: string;
  readonly clientId: string;
  readonly authentication: ClientAuthentication;
}

interface NewRegistration extends RegistrationScope, Omit<RegisteredClient, 'id'> {
  /** Unix time, seconds; null: the secret never expires. */
  readonly secretExpiresAtS: number | null;
}

/** `encrypt` gets the id of the new row. Returns it. */
export async function insertClient(
  sql: Sql,
  { orgId, issuer, redirectUri, clientId, authentication, secretExpiresAtS }: NewRegistration,
  encrypt: (id: string) => EncryptedSecret,
): Promise<string> {
  const id = uuidv7(Date.now());
  const { keyId, nonce, ciphertext } = encrypt(id);
  await sql`
    insert into oauth_clients (id, org_id, issuer, redirect_uri, client_id, authentication, key_id, nonce, ciphertext,
                               secret_expires_at)
    values (${id}, ${orgId}, ${issuer}, ${redirectUri}, ${clientId}, ${authentication}, ${keyId}, ${nonce}, ${ciphertext},
            to_timestamp(${secretExpiresAtS}))`;
  return id;
}

/** A client of the last ten minutes, so that repeated attempts register one client only. Null: there is none. */
export async function findRecentClient(
  sql: Sql,
  { orgId, issuer, redirectUri }: RegistrationScope,
): Promise<RegisteredClient | null> {
  const [row] = await sql<RegisteredClient[]>`
    select id, client_id as "clientId", authentication from oauth_clients
     where org_id = ${orgId} and issuer = ${issuer} and redirect_uri = ${redirectUri}
       and created_at > now() - interval '10 minutes' and coalesce(secret_expires_at, 'infinity') > now() + interval '1 hour'
     order by created_at desc limit 1`;
  return row ?? null;
}

/** The sealed secret of a client. Null: the row is gone. */
export async function loadClientSecret(sql: Sql, orgId: string, id: string): Promise<EncryptedSecret | null> {
  const [row] = await sql<EncryptedSecret[]>`
    select key_id as "keyId", nonce, ciphertext from oauth_clients where org_id = ${orgId} and id = ${id}`;
  return row ?? null;
}

const PRUNED_PER_RUN = 1_000;

/** Deletes clients older than a day that no grant uses. */
export async function pruneClients(sql: Sql): Promise<void> {
  await sql`
    delete from oauth_clients where id in (
      select c.id from oauth_clients c
       where c.created_at < now() - interval '1 day'
         and not exists (select from oauth_grants g where g.registration_id = c.id)
         and not exists (select from oauth_connects s where s.registration_id = c.id)
       order by c.created_at limit ${PRUNED_PER_RUN})`;
}
