/**
 * Stand-ins of AWS KMS and of Vault's Transit engine, written from their public API references: they verify signature or
 * token, and encrypt with a key of their own.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { type ReceivedRequest, StandInProvider } from '@acg/stand-in-provider/stand-in-provider';
import type { StandInResponse } from '@acg/stand-in-provider/stand-in-response';
import { verifySignature } from '../stand-in-providers/s3-signature.js';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** One AES-256-GCM key that never leaves the service. */
class ServiceKey {
  readonly #key = randomBytes(32);

  encrypt(plaintext: Buffer, context: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce).setAAD(Buffer.from(context));
    return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
  }

  /** Null: not of this key, or of another context. */
  decrypt(blob: Buffer, context: string): Buffer | null {
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#key, blob.subarray(0, NONCE_BYTES))
        .setAAD(Buffer.from(context))
        .setAuthTag(blob.subarray(-TAG_BYTES));
      return Buffer.concat([decipher.update(blob.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    } catch {
      return null;
    }
  }
}

const json = (status: number, body: object, type = 'application/json'): StandInResponse => ({
  status,
  headers: [['content-type', type]],
  body: Buffer.from(JSON.stringify(body)),
});

/** Fields of Encrypt and Decrypt. */
interface KmsRequest {
  readonly KeyId: string;
  readonly Plaintext: string;
  readonly CiphertextBlob: string;
  readonly EncryptionContext: Readonly<Record<string, string>>;
}

export class StandInKms extends StandInProvider {
  readonly credentials = {
    accessKeyId: 'AKIDSTANDIN000000001',
    secretAccessKey: 'stand-in/secret+access/key',
    region: 'eu-central-1',
    sessionToken: 'stand-in-session-token',
    service: 'kms',
  };
  readonly #keys = new Map([['alias/gateway', new ServiceKey()]]);
  /** The key's policy permits decryption. */
  permitsDecrypt = true;

  env(): Record<string, string> {
    const { accessKeyId, secretAccessKey, region, sessionToken } = this.credentials;
    return {
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_SESSION_TOKEN: sessionToken,
      AWS_ENDPOINT_URL_KMS: this.origin,
    };
  }

  protected respond(request: ReceivedRequest): StandInResponse {
    const verified = verifySignature(request, this.credentials, Date.now());
    if (Array.isArray(verified)) return this.#fail(verified[0] as string, verified[1] as string);
    const { KeyId, Plaintext, CiphertextBlob, EncryptionContext } = JSON.parse(request.body.toString()) as KmsRequest;
    const context = JSON.stringify(EncryptionContext);
    switch (request.headers['x-amz-target']) {
      case 'TrentService.Encrypt': {
        const key = this.#keys.get(KeyId);
        if (key === undefined) return this.#fail('NotFoundException', `Alias ${KeyId} is not found.`);
        const blob = key.encrypt(Buffer.from(Plaintext, 'base64'), context);
        return this.#succeed({ CiphertextBlob: blob.toString('base64'), KeyId });
      }
      case 'TrentService.Decrypt': {
        if (!this.permitsDecrypt) return this.#fail('AccessDeniedException', 'not authorized to perform: kms:Decrypt');
        for (const [KeyId, key] of this.#keys) {
          const plaintext = key.decrypt(Buffer.from(CiphertextBlob, 'base64'), context);
          if (plaintext !== null) return this.#succeed({ KeyId, Plaintext: plaintext.toString('base64') });
        }
        return this.#fail('InvalidCiphertextException', '');
      }
      default:
        return this.#fail('UnknownOperationException', '');
    }
  }

  #succeed = (body: object): StandInResponse => json(200, body, 'application/x-amz-json-1.1');
  #fail = (type: string, message: string): StandInResponse =>
    json(400, { __type: `com.amazonaws.kms#${type}`, message }, 'application/x-amz-json-1.1');
}

export class StandInVault extends StandInProvider {
  readonly token = 'hvs.stand-in-token';
  readonly #key = new ServiceKey();
  isSealed = false;

  env(): Record<string, string> {
    return { VAULT_ADDR: this.origin, VAULT_TOKEN: this.token, VAULT_NAMESPACE: 'team' };
  }

  protected respond({ method, path, headers, body }: ReceivedRequest): StandInResponse {
    if (this.isSealed) return json(503, { errors: ['Vault is sealed'] });
    if (headers['x-vault-token'] !== this.token || headers['x-vault-namespace'] !== 'team')
      return json(403, { errors: ['permission denied'] });
    const { plaintext, ciphertext } = JSON.parse(body.toString()) as Record<string, string>;
    if (method === 'POST' && path === '/v1/transit/encrypt/gateway') {
      const blob = this.#key.encrypt(Buffer.from(plaintext!, 'base64'), '');
      return json(200, { data: { ciphertext: `vault:v1:${blob.toString('base64')}`, key_version: 1 } });
    }
    if (method === 'POST' && path === '/v1/transit/decrypt/gateway') {
      const opened = this.#key.decrypt(Buffer.from(ciphertext!.replace(/^vault:v1:/, ''), 'base64'), '');
      if (opened === null) return json(400, { errors: ['invalid ciphertext: unable to decrypt'] });
      return json(200, { data: { plaintext: opened.toString('base64') } });
    }
    return json(404, { errors: ['no handler for route'] });
  }
}
