import { type Logger, maskSecrets } from '@acg/base/log';
import type { Credentials } from '../providers/catalogue/credential-template.js';
import type { Vault } from '../vault/aes-gcm-vault.js';

interface SealedMinted {
  readonly id: string;
  readonly keyId: string | null;
  /** Base64. */
  readonly nonce: string | null;
  readonly ciphertext: string | null;
}

/** The minted fields of a row. Null: nothing is minted, or it cannot be decrypted, which is logged. */
export function openMinted(vault: Vault, log: Logger, orgId: string, row: SealedMinted | null): Credentials | null {
  if (row === null || row.keyId === null || row.nonce === null || row.ciphertext === null) return null;
  const { id, keyId, nonce, ciphertext } = row;
  const sealed = { keyId, nonce: Buffer.from(nonce, 'base64'), ciphertext: Buffer.from(ciphertext, 'base64') };
  try {
    return JSON.parse(vault.decrypt({ purpose: 'minted', orgId, id }, sealed)) as Credentials;
  } catch (error) {
    log.error({ mintedId: id, orgId }, maskSecrets((error as Error).message));
    return null;
  }
}
