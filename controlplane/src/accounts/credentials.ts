/** The credentials of an account between JSON and ciphertext. */
import { type Logger, maskSecrets } from '@acg/base/log';
import type { Credentials } from '../providers/catalogue/provider.js';
import type { Sealed, Vault } from './vault.js';

export function sealCredentials(vault: Vault, orgId: string, accountId: string, credentials: Credentials): Sealed {
  return vault.seal({ purpose: 'account', orgId, id: accountId }, JSON.stringify(credentials));
}

/** Base64, as the bytes come out of JSON rows. */
interface EncodedSeal {
  readonly id: string;
  readonly keyId: string;
  readonly nonce: string;
  readonly ciphertext: string;
}

/** Null when they cannot be decrypted: logged, and one damaged account does not take the agent's others with it. */
export function openCredentials(vault: Vault, log: Logger, orgId: string, account: EncodedSeal): Credentials | null {
  const sealed = {
    keyId: account.keyId,
    nonce: Buffer.from(account.nonce, 'base64'),
    ciphertext: Buffer.from(account.ciphertext, 'base64'),
  };
  try {
    return JSON.parse(vault.open({ purpose: 'account', orgId, id: account.id }, sealed)) as Credentials;
  } catch (error) {
    log.error({ accountId: account.id, orgId }, maskSecrets((error as Error).message));
    return null;
  }
}
