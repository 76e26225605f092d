/**
 * The Transit secrets engine of HashiCorp Vault (and OpenBao) by its HTTP API: `POST /v1/{mount}/encrypt/{key}` and
 * `decrypt/{key}`. The token needs `update` on these two paths; a control plane needs the second only.
 */
import type { Secret } from '@acg/base/secret';
import { decodeUnwrappedKey, type KeyService, KeyServiceError, postToKeyService, toOneLine } from './key-service.js';

interface VaultTransitSettings {
  /** VAULT_ADDR without a trailing slash. */
  readonly address: string;
  readonly token: Secret;
  /** Null: the root namespace. */
  readonly namespace: string | null;
  /** Path of the secrets engine. */
  readonly mount: string;
}

const NAME = 'Vault';
/** `{key}/vault:v{version}:{base64}`. */
const WRAPPED = /^([A-Za-z0-9._-]+)\/(vault:v\d+:[A-Za-z0-9+/=]+)$/;

export class VaultTransit implements KeyService {
  constructor(readonly settings: VaultTransitSettings) {}

  async wrap(serviceKey: string, _id: string, key: Secret<Buffer>): Promise<string> {
    const { ciphertext } = await this.#call('encrypt', serviceKey, { plaintext: key.reveal().toString('base64') });
    const wrapped = `${serviceKey}/${String(ciphertext)}`;
    if (!WRAPPED.test(wrapped)) throw new KeyServiceError(`${NAME} returned no ciphertext`, false);
    return wrapped;
  }

  async unwrap(_id: string, wrapped: string): Promise<Secret<Buffer>> {
    const [, serviceKey, ciphertext] = WRAPPED.exec(wrapped) ?? [];
    if (serviceKey === undefined) throw new KeyServiceError('not a key that Vault wrapped: copy it again', false);
    const { plaintext } = await this.#call('decrypt', serviceKey, { ciphertext });
    return decodeUnwrappedKey(NAME, plaintext);
  }

  async #call(operation: 'encrypt' | 'decrypt', serviceKey: string, body: object): Promise<Record<string, unknown>> {
    const { address, token, namespace, mount } = this.settings;
    const path = `${mount.split('/').map(encodeURIComponent).join('/')}/${operation}/${encodeURIComponent(serviceKey)}`;
    const { status, answer } = await postToKeyService({
      describedAs: NAME,
      url: `${address}/v1/${path}`,
      headers: {
        'content-type': 'application/json',
        'x-vault-token': token.reveal(),
        'x-vault-request': 'true',
        ...(namespace === null ? {} : { 'x-vault-namespace': namespace }),
      },
      body: JSON.stringify(body),
    });
    const { data, errors } = answer;
    if (status === 200 && typeof data === 'object' && data !== null) return data as Record<string, unknown>;
    const said = toOneLine(Array.isArray(errors) ? errors.map(String).join(', ') : '');
    // 503: sealed; 429, 472 and 473: a standby.
    throw new KeyServiceError(
      `${NAME} rejected ${operation} with the key ${serviceKey} (${status} ${said}): check VAULT_ADDR, VAULT_TOKEN and its policy`,
      status >= 500 || status === 429 || status === 472 || status === 473,
    );
  }
}
