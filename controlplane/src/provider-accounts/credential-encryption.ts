/** The credentials of an account between JSON and ciphertext. */
import { type Logger, maskSecrets } from '@acg/base/log';
import type { Credentials } from '../providers/catalogue/built-in-provider.js';
import type { EncryptedSecret, Vault } from '../vault/vault.js';

/** Whose they are: one account's, or shared. */
interface CredentialsOwner {
  readonly purpose: 'account' | 'credential';
  readonly orgId: string;
  readonly id: string;
}

export const encryptCredentials = (vault: Vault, owner: CredentialsOwner, credentials: Credentials): EncryptedSecret =>
  vault.encrypt(owner, JSON.stringify(credentials));

/** Base64, as the bytes come out of JSON rows. */
interface EncodedCredentials {
  /** Of the account; null: of no account in particular. */
  readonly id: string | null;
  /** Of the shared credential; null: they are the account's own. */
  readonly credentialId: string | null;
  readonly keyId: string;
  readonly nonce: string;
  readonly ciphertext: string;
}

/** Null when they cannot be decrypted: logged, and one damaged account does not take the agent's others with it. */
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
