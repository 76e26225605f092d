import { uuidv7 } from '@acg/base/uuidv7';
import type { Sql, Tx } from '../db/postgres-client.js';
import type { DiscoveredServer } from '../minting/discovered-server.js';
import type { MintOwner } from '../minting/minted-credential-store.js';
import type { GrantServer } from '../minting/oauth-grant-store.js';

export interface PendingConnect {
  readonly orgId: string;
  readonly accountId: string | null;
  readonly credentialId: string | null;
  readonly userId: string;
  readonly codeVerifier: string;
  readonly redirectUri: string;
  /** What discovery found; null: the provider's file states the endpoints. */
  readonly found: PendingServer | null;
}

export interface PendingServer extends GrantServer {
  /** The answer must have `iss`. */
  readonly statesIssuer: boolean;
}

interface NewConnect extends PendingConnect {
  readonly stateHash: Buffer;
  readonly browserHash: Buffer;
  readonly lifetimeS: number;
}

interface ConnectRow extends Omit<PendingConnect, 'found'> {
  readonly server: (DiscoveredServer & { readonly statesIssuer: boolean }) | null;
  readonly registrationId: string | null;
}

export async function insertConnect(sql: Sql, connect: NewConnect): Promise<void> {
  const { found } = connect;
  const server = found === null ? null : sql.json({ ...found.server, statesIssuer: found.statesIssuer });
  await sql`
    insert into oauth_connects (state_hash, org_id, account_id, credential_id, user_id, browser_hash, code_verifier,
                                redirect_uri, server, registration_id, expires_at)
    values (${connect.stateHash}, ${connect.orgId}, ${connect.accountId}, ${connect.credentialId}, ${connect.userId},
            ${connect.browserHash}, ${connect.codeVerifier}, ${connect.redirectUri}, ${server},
            ${found?.registrationId ?? null}, now() + make_interval(secs => ${connect.lifetimeS}))`;
}

/** Deletes the row; null when it is unknown, used, expired, or of another organization, user, browser or redirect URI. */
export async function consumeConnect(
  sql: Sql,
  bound: Pick<NewConnect, 'stateHash' | 'orgId' | 'userId' | 'browserHash' | 'redirectUri'>,
): Promise<PendingConnect | null> {
  const [row] = await sql<ConnectRow[]>`
    delete from oauth_connects
     where state_hash = ${bound.stateHash} and org_id = ${bound.orgId} and user_id = ${bound.userId}
       and browser_hash = ${bound.browserHash} and redirect_uri = ${bound.redirectUri} and expires_at > now()
    returning org_id as "orgId", account_id as "accountId", credential_id as "credentialId", user_id as "userId",
              code_verifier as "codeVerifier", redirect_uri as "redirectUri", server,
              registration_id as "registrationId"`;
  if (row === undefined) return null;
  const { server, registrationId, ...connect } = row;
  if (server === null) return { ...connect, found: null };
  const { statesIssuer, ...stored } = server;
  return { ...connect, found: { server: stored, registrationId, statesIssuer } };
}

export async function pruneConnects(sql: Sql): Promise<void> {
  await sql`delete from oauth_connects where expires_at < now()`;
}

/** The row from which credentials of the owner are minted, new and without a credential. */
export async function replaceMintedRow(tx: Tx, owner: MintOwner): Promise<string> {
  const id = uuidv7(Date.now());
  const column = owner.accountId === null ? 'credential_id' : 'account_id';
  await tx`delete from minted_credentials where ${tx(column)} = ${owner.accountId ?? owner.credentialId}`;
  await tx`
    insert into minted_credentials (id, org_id, account_id, credential_id)
    values (${id}, ${owner.orgId}, ${owner.accountId}, ${owner.credentialId})`;
  return id;
}
