/** SQL of data planes' own identities. Tokens are stored as SHA-256 only. */
import { createHash, randomBytes } from 'node:crypto';
import { HOUR_MS } from '@acg/base/time-and-money-units';
import { isUniqueViolation, type Sql, type Tx } from '../db/postgres-client.js';

export interface DataPlaneIdentity {
  readonly name: string;
  /** SHA-256, hex: the token, and after a rotation also the previous one. */
  readonly tokenHashes: readonly string[];
  /** Common name of the certificate that it must present; null: any. */
  readonly certificateName: string | null;
  readonly isRevoked: boolean;
}

interface IdentitySummary {
  readonly name: string;
  readonly certificateName: string | null;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
  /** Data planes that are connected with it now. */
  readonly connected: number;
  readonly organizations: number;
}

interface IdentityChange {
  readonly at: Date;
  readonly identity: string;
  readonly action: 'create' | 'rotate' | 'revoke';
  readonly changedBy: string;
}

export const IDENTITY_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;
/** Time in which the data planes of an identity get the new token. */
const PREVIOUS_TOKEN_VALID_MS = 24 * HOUR_MS;

export const hashDataPlaneToken = (token: string): Buffer => createHash('sha256').update(token).digest();
const createToken = (): string => `acgd_${randomBytes(32).toString('hex')}`;

const recordChange = (tx: Tx, identity: string, action: IdentityChange['action'], changedBy: string) =>
  tx`insert into data_plane_identity_changes (identity, action, changed_by) values (${identity}, ${action}, ${changedBy})`;

/** Returns the token, null without one. Throws an error with a text for the operator if the name or certificate is used. */
export async function createIdentity(
  sql: Sql,
  identity: { readonly name: string; readonly certificateName: string | null; readonly hasToken: boolean },
  changedBy: string,
): Promise<string | null> {
  const token = identity.hasToken ? createToken() : null;
  const { name, certificateName } = identity;
  try {
    await sql.begin(async (tx) => {
      await tx`
        insert into data_plane_identities (name, token_hash, certificate_name)
        values (${name}, ${token === null ? null : hashDataPlaneToken(token)}, ${certificateName})`;
      await recordChange(tx, name, 'create', changedBy);
    });
  } catch (error) {
    if (isUniqueViolation(error, 'data_plane_identities_pkey'))
      throw new Error(`${name} exists already, perhaps revoked: choose another name`);
    if (isUniqueViolation(error, 'data_plane_identities_certificate_name_key'))
      throw new Error(`another identity has the certificate name ${certificateName}`);
    throw error;
  }
  return token;
}

/** Returns the new token; the previous one stays valid for {@link PREVIOUS_TOKEN_VALID_MS}. Null: no such identity. */
export function rotateIdentityToken(sql: Sql, name: string, changedBy: string): Promise<string | null> {
  const token = createToken();
  return sql.begin(async (tx) => {
    const rotated = await tx`
      update data_plane_identities
         set previous_token_hash = token_hash, token_hash = ${hashDataPlaneToken(token)},
             previous_until = now() + ${PREVIOUS_TOKEN_VALID_MS} * interval '1 millisecond'
       where name = ${name} and revoked_at is null`;
    if (rotated.count === 0) return null;
    await recordChange(tx, name, 'rotate', changedBy);
    return token;
  });
}

/** False: no such identity, or it was revoked before. */
export function revokeIdentity(sql: Sql, name: string, changedBy: string): Promise<boolean> {
  return sql.begin(async (tx) => {
    const revoked = await tx`
      update data_plane_identities set revoked_at = now() where name = ${name} and revoked_at is null`;
    if (revoked.count > 0) await recordChange(tx, name, 'revoke', changedBy);
    return revoked.count > 0;
  });
}

export async function loadIdentities(sql: Sql): Promise<readonly DataPlaneIdentity[]> {
  return sql<DataPlaneIdentity[]>`
    select name, certificate_name as "certificateName", revoked_at is not null as "isRevoked",
           array_remove(array[encode(token_hash, 'hex'),
                              case when previous_until > now() then encode(previous_token_hash, 'hex') end], null)
             as "tokenHashes"
      from data_plane_identities`;
}

export async function listIdentities(sql: Sql): Promise<readonly IdentitySummary[]> {
  return sql<IdentitySummary[]>`
    select name, certificate_name as "certificateName", created_at as "createdAt", revoked_at as "revokedAt",
           (select count(*) from data_planes d where d.identity = i.name) as connected,
           (select count(*) from data_plane_organizations o where o.identity = i.name) as organizations
      from data_plane_identities i order by name`;
}

export async function listIdentityChanges(sql: Sql): Promise<readonly IdentityChange[]> {
  return sql<IdentityChange[]>`
    select at, identity, action, changed_by as "changedBy" from data_plane_identity_changes order by id`;
}
