/**
 * `npm run rotate-master-key`: re-encrypts all stored secrets with the first key of MASTER_KEYS, while the gateway
 * runs. docs/operations.md lists the settings before and after it, so that every control plane has the keys it needs.
 */
import { ConfigError, EnvReader } from '@acg/base/env-reader';
import { maskSecrets } from '@acg/base/log';
import { readDatabaseUrl } from '../db/database-url.js';
import { openPool } from '../db/postgres-client.js';
import { Vault } from '../vault/aes-gcm-vault.js';
import { MasterKeyUnwrapper, readMasterKeyRing } from '../vault/key-services/master-key-ring.js';
import { checkMasterKeys } from '../vault/master-key-check.js';
import { reencryptAll } from '../vault/reencrypt.js';

const EXIT_CONFIG = 78;
const EXIT_UNAVAILABLE = 69;
const EXIT_UNREADABLE = 65;

async function rotateMasterKey(): Promise<void> {
  const read = new EnvReader(process.env);
  const url = readDatabaseUrl(read, 'the postgres:// URL of the running gateway');
  const ring = readMasterKeyRing(read);
  read.throwIfInvalid();
  const vault = new Vault(await new MasterKeyUnwrapper().unwrapAll(ring));
  const sql = openPool(url, { connectionsMax: 1, applicationName: 'acg-rotate-master-key' });
  try {
    await checkMasterKeys(sql, vault);
    const { written, unreadable } = await reencryptAll(sql, vault);
    const counts = Object.entries(written).map(([table, count]) => `${count} of ${table}`);
    process.stdout.write(`re-encrypted with key ${vault.currentKeyId}: ${counts.join(', ')}\n`);
    for (const row of unreadable)
      process.stderr.write(`rotate-master-key: no key decrypts ${row}: it was left unchanged\n`);
    if (unreadable.length > 0) process.exitCode = EXIT_UNREADABLE;
    const old = vault.keyIds.filter((id) => id !== vault.currentKeyId);
    if (old.length > 0 && unreadable.length === 0)
      process.stdout.write(`MASTER_KEYS no longer needs: ${old.join(', ')}\n`);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

try {
  await rotateMasterKey();
} catch (error) {
  const problems = error instanceof ConfigError ? error.problems : [(error as Error).message];
  for (const problem of problems) process.stderr.write(`rotate-master-key: ${maskSecrets(problem)}\n`);
  process.exitCode = error instanceof ConfigError ? EXIT_CONFIG : EXIT_UNAVAILABLE;
}
