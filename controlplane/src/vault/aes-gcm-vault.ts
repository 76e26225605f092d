/**
 * Encrypts secrets at rest (docs/contract.md#credential-protection): AES-256-GCM with a random 96-bit nonce. The
 * purpose of the row, its organization and its id are additional data, so a ciphertext copied to another row does not
 * decrypt. This is the only module that imports ciphers.
 *
 * With random nonces one key is good for 2^32 encryptions (NIST SP 800-38D §8.3); rotation replaces it long before.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Secret } from '@acg/base/secret';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** One AES-256 key of the key ring. */
export interface MasterKey {
  readonly id: string;
  /** 32 bytes. */
  readonly key: Secret<Buffer>;
}

/** Identifies the row that holds a ciphertext. */
export interface SecretIdentity {
  readonly purpose:
    | 'account'
    | 'credential'
    | 'webhook'
    | 'billing'
    | 'second_factor'
    | 'sso'
    | 'minted'
    | 'issuer'
    | 'grant'
    | 'oauth_client'
    | 'rotation'
    | 'check';
  readonly orgId: string;
  readonly id: string;
}

export interface EncryptedSecret {
  /** Id of the master key. */
  readonly keyId: string;
  readonly nonce: Buffer;
  /** Ends with the 16-byte authentication tag. */
  readonly ciphertext: Buffer;
}

/** The ciphertext was altered, belongs to another row, or its master key is not in the ring. */
export class DecryptionError extends Error {
  constructor(identity: SecretIdentity, keyId: string, cause: string) {
    super(`cannot decrypt the secret of ${identity.purpose} ${identity.id} with master key ${keyId}: ${cause}`);
    this.name = 'DecryptionError';
  }
}

export class Vault {
  #keys!: ReadonlyMap<string, MasterKey>;
  #currentKey!: MasterKey;

  /** The first key encrypts, all keys decrypt. */
  constructor(keys: readonly MasterKey[]) {
    this.replaceKeys(keys);
  }

  /** Uses these keys from the next secret on. The caller has checked them against the database. */
  replaceKeys(keys: readonly MasterKey[]): void {
    if (keys[0] === undefined) throw new Error('the key ring is empty');
    this.#currentKey = keys[0];
    this.#keys = new Map(keys.map((key) => [key.id, key]));
  }

  get currentKeyId(): string {
    return this.#currentKey.id;
  }

  get keyIds(): readonly string[] {
    return [...this.#keys.keys()];
  }

  /** A `keyId` other than the current one is used only to check the key ring. */
  encrypt(identity: SecretIdentity, plaintext: string, keyId = this.#currentKey.id): EncryptedSecret {
    const nonce = randomBytes(NONCE_BYTES);
    const key = this.#keys.get(keyId)!.key.reveal();
    const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(additionalData(identity));
    const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return { keyId, nonce, ciphertext };
  }

  /** A key for one purpose that cannot be traced back to the master key; base64url. Changes with the current master key. */
  deriveKey(purpose: string): string {
    const key = hkdfSync('sha256', this.#currentKey.key.reveal(), '', purpose, 32);
    return Buffer.from(key).toString('base64url');
  }

  /** Throws {@link DecryptionError}. */
  decrypt(identity: SecretIdentity, sealed: EncryptedSecret): string {
    const key = this.#keys.get(sealed.keyId);
    if (key === undefined) throw new DecryptionError(identity, sealed.keyId, 'MASTER_KEYS lacks it');
    if (sealed.ciphertext.length < TAG_BYTES || sealed.nonce.length !== NONCE_BYTES) {
      throw new DecryptionError(identity, sealed.keyId, 'the row is damaged');
    }
    const tagAt = sealed.ciphertext.length - TAG_BYTES;
    try {
      const decipher = createDecipheriv(ALGORITHM, key.key.reveal(), sealed.nonce, { authTagLength: TAG_BYTES })
        .setAAD(additionalData(identity))
        .setAuthTag(sealed.ciphertext.subarray(tagAt));
      return Buffer.concat([decipher.update(sealed.ciphertext.subarray(0, tagAt)), decipher.final()]).toString('utf8');
    } catch {
      throw new DecryptionError(identity, sealed.keyId, 'wrong key, altered, or copied from another row');
    }
  }
}

const additionalData = ({ purpose, orgId, id }: SecretIdentity): Buffer =>
  Buffer.from(`acg1|${purpose}|${orgId}|${id}`);
