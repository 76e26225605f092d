/**
 * A database as commit 1822593 left it, whose schema ended with migration 53. Its organization has custom providers
 * called `github` and `groq`; both slugs are built in now.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Secret } from '@acg/base/secret';
import { uuidv7 } from '@acg/base/uuidv7';
import { openPool } from '@acg/controlplane/db/postgres-client';
import { encryptCredentials } from '@acg/controlplane/provider-accounts/credential-encryption';
import { Vault } from '@acg/controlplane/vault/aes-gcm-vault';
import postgres from 'postgres';
import { inject } from 'vitest';
import type { TestDatabase } from '../fixtures/test-database.js';

const LAST_MIGRATION = 53;
/** Of the credentials in the database. */
export const MASTER_KEY = { id: 'test', key: new Secret(Buffer.alloc(32, 7)) };
const newId = (): string => uuidv7(Date.now());

interface OldCustomProvider {
  readonly slug: string;
  readonly baseUrl: string;
  readonly authType: string;
  readonly usageFormat: string | null;
}

export interface OldTenant {
  readonly orgId: string;
  readonly agentId: string;
  readonly secretKey: string;
  /** Ids of the custom providers, by slug. */
  readonly providers: Readonly<Record<string, string>>;
}

export async function createOldDatabase(): Promise<TestDatabase> {
  const server = inject('databaseServerUrl');
  const name = `old_${randomBytes(6).toString('hex')}`;
  const admin = postgres(server, { max: 1, onnotice: () => {} });
  await admin.unsafe(`create database ${name}`);
  const url = new Secret(server.replace(/\/postgres$/, `/${name}`));
  const sql = openPool(url, { connectionsMax: 4, applicationName: 'test' });
  const folder = fileURLToPath(new URL('../../../controlplane/src/db/migrations', import.meta.url));
  await sql`create table schema_migrations (
    version integer primary key, name text not null, applied_at timestamptz not null default now())`;
  for (const file of readdirSync(folder).sort()) {
    const version = Number(file.slice(0, 4));
    if (version > LAST_MIGRATION) break;
    await sql.unsafe(readFileSync(join(folder, file), 'utf8'));
    await sql`insert into schema_migrations (version, name) values (${version}, ${file})`;
  }
  return {
    url,
    sql,
    async drop() {
      await sql.end({ timeout: 1 });
      await admin.unsafe(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}

/** Rows as the old release wrote them. */
export async function insertOldTenant(
  { sql }: TestDatabase,
  customProviders: readonly OldCustomProvider[],
): Promise<OldTenant> {
  const [orgId, projectId, agentId] = [newId(), newId(), newId()];
  const secretKey = `acg_${randomBytes(32).toString('hex')}`;
  await sql`insert into organizations (id, name, slug) values (${orgId}, 'Old', ${orgId})`;
  await sql`insert into projects (id, org_id, name, slug) values (${projectId}, ${orgId}, 'P', 'p')`;
  const policy = { github: { calls: ['GET /repos/**'] }, groq: { models: { allow: ['llama-*'] } } };
  await sql`
    insert into agents (id, org_id, project_id, name, slug, policy)
    values (${agentId}, ${orgId}, ${projectId}, 'Bot', 'bot', ${sql.json(policy)})`;
  await sql`
    insert into api_keys (id, org_id, agent_id, name, key_prefix, token_hash, scope)
    values (${newId()}, ${orgId}, ${agentId}, 'k', ${secretKey.slice(0, 12)},
            ${createHash('sha256').update(secretKey).digest()}, 'agent')`;
  const vault = new Vault([MASTER_KEY]);
  const providers: Record<string, string> = {};
  for (const { slug, baseUrl, authType, usageFormat } of customProviders) {
    const [providerId, accountId] = [newId(), newId()];
    providers[slug] = providerId;
    const sealed = encryptCredentials(
      vault,
      { purpose: 'account', orgId, id: accountId },
      { apiKey: `own-${slug}-key` },
    );
    await sql`
      insert into custom_providers (id, org_id, slug, display_name, base_url, auth_type, auth_name, usage_format,
                                    sensitive_paths)
      values (${providerId}, ${orgId}, ${slug}, ${`Our ${slug}`}, ${baseUrl}, ${authType},
              ${authType === 'header' ? 'X-Token' : null}, ${usageFormat}, ${['* /admin/**']}::text[])`;
    await sql`
      insert into provider_accounts (id, org_id, agent_id, provider_slug, custom_provider_id, key_id, nonce, ciphertext)
      values (${accountId}, ${orgId}, ${agentId}, ${slug}, ${providerId}, ${sealed.keyId}, ${sealed.nonce},
              ${sealed.ciphertext})`;
  }
  return { orgId, agentId, secretKey, providers };
}
