/** Encrypts and decrypts the credentials of provider accounts and shared credentials. */
import { type Logger, maskSecrets } from '@acg/base/log';
import type { Credentials } from '../providers/catalogue/credential-template.js';
import type { EncryptedSecret, Vault } from '../vault/aes-gcm-vault.js';

/** The owner of the credentials: one account, or a shared credential. */
interface CredentialsOwner {
  readonly purpose: 'account' | 'credential';
  readonly orgId: string;
  readonly id: string;
}

export const encryptCredentials = (vault: Vault, owner: CredentialsOwner, credentials: Credentials): EncryptedSecret =>
  vault.encrypt(owner, JSON.stringify(credentials));

/** Ciphertext and nonce are base64, because they come from JSON rows. */
interface EncodedCredentials {
  /** Id of the account; null when the shared credential is read on its own. */
  readonly id: string | null;
  /** Id of the shared credential; null when the account has its own credentials. */
  readonly credentialId: string | null;
  readonly keyId: string;
  readonly nonce: string;
  readonly ciphertext: string;
}

/**
 * Returns null and logs an error when the credentials cannot be decrypted, so that one damaged account does not affect
 * the agent's other accounts.
 */
export function decryptCredentials(
  vault: Vault,
  log: Logger,
  orgId: string,
  account: EncodedCredentials,
): Credentials | null {
  const sealed = {
    keyId: account.keyId,
    nonce: Buffer.from(account.nonce, 'base64'),
    ciphertext: Buffer.from(account.ciphertext, 'base64'),
  };
  const { id, credentialId } = account;
  const owner: CredentialsOwner =
    credentialId === null ? { purpose: 'account', orgId, id: id! } : { purpose: 'credential', orgId, id: credentialId };
  try {
    return JSON.parse(vault.decrypt(owner, sealed)) as Credentials;
  } catch (error) {
    log.error({ accountId: id, credentialId, orgId }, maskSecrets((error as Error).message));
    return null;
  }
}
