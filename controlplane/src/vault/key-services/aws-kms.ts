/**
 * AWS Key Management Service by its HTTP API (AWS KMS API Reference, Encrypt and Decrypt; JSON 1.1, Signature Version 4).
 * The id of the master key is the encryption context: a wrapped key does not unwrap under another id, and CloudTrail
 * records the id with each use.
 */
import type { Secret } from '@acg/base/secret';
import aws4 from 'aws4';
import { decodeUnwrappedKey, type KeyService, KeyServiceError, postToKeyService, toOneLine } from './key-service.js';

interface AwsKmsSettings {
  /** Origin of the service. */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
  /** Null: the access key is a permanent one. */
  readonly sessionToken: Secret | null;
}

const NAME = 'AWS KMS';
/** Errors of AWS that a later attempt may not have. */
const TRANSIENT = new Set(['ThrottlingException', 'DependencyTimeoutException', 'KMSInternalException']);

export class AwsKms implements KeyService {
  constructor(readonly settings: AwsKmsSettings) {}

  async wrap(serviceKey: string, id: string, key: Secret<Buffer>): Promise<string> {
    const { CiphertextBlob: blob } = await this.#call('Encrypt', {
      KeyId: serviceKey,
      Plaintext: key.reveal().toString('base64'),
      EncryptionContext: encryptionContext(id),
    });
    if (typeof blob !== 'string') throw new KeyServiceError(`${NAME} returned no CiphertextBlob`, false);
    return blob;
  }

  async unwrap(id: string, wrapped: string): Promise<Secret<Buffer>> {
    const answer = await this.#call('Decrypt', { CiphertextBlob: wrapped, EncryptionContext: encryptionContext(id) });
    return decodeUnwrappedKey(NAME, answer.Plaintext);
  }

  async #call(operation: 'Encrypt' | 'Decrypt', body: object): Promise<Readonly<Record<string, unknown>>> {
    const { endpoint, region, accessKeyId, secretAccessKey, sessionToken } = this.settings;
    const text = JSON.stringify(body);
    const signed = aws4.sign(
      {
        method: 'POST',
        host: new URL(endpoint).host,
        path: '/',
        service: 'kms',
        region,
        body: text,
        headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': `TrentService.${operation}` },
      },
      {
        accessKeyId,
        secretAccessKey: secretAccessKey.reveal(),
        ...(sessionToken === null ? {} : { sessionToken: sessionToken.reveal() }),
      },
    );
    const headers = Object.fromEntries(
      Object.entries(signed.headers ?? {}).flatMap(([header, value]) =>
        ['host', 'content-length'].includes(header.toLowerCase()) ? [] : [[header, String(value)]],
      ),
    );
    const { status, answer } = await postToKeyService({ describedAs: NAME, url: `${endpoint}/`, headers, body: text });
    if (status === 200) return answer;
    const type = String(answer.__type ?? '').replace(/^.*#/, '');
    const said = toOneLine(`${type} ${String(answer.message ?? answer.Message ?? '')}`);
    throw new KeyServiceError(
      `${NAME} rejected ${operation} (${status} ${said}): check the key's policy, AWS_REGION and the access key`,
      status >= 500 || TRANSIENT.has(type),
    );
  }
}

const encryptionContext = (id: string) => ({ 'agent-credential-gateway-master-key': id });
