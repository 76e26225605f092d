/** Reads MASTER_KEYS and the settings of key services, and unwraps the keys that a service has wrapped. */
import type { EnvReader } from '@acg/base/env-reader';
import { Secret } from '@acg/base/secret';
import type { MasterKey } from '../aes-gcm-vault.js';
import { AwsKms } from './aws-kms.js';
import { type KeyService, KeyServiceError, type KeyServiceName } from './key-service.js';
import { VaultTransit } from './vault-transit.js';

interface WrappedMasterKey {
  readonly id: string;
  readonly service: KeyServiceName;
  readonly wrapped: string;
}

/** Keys in the order of MASTER_KEYS: the first one encrypts, all decrypt. */
export interface MasterKeyRing {
  readonly entries: readonly (MasterKey | WrappedMasterKey)[];
  /** Null: the variables of that service are not set. */
  readonly services: Readonly<Record<KeyServiceName, KeyService | null>>;
}

export const MASTER_KEY_ID = /^[A-Za-z0-9._-]{1,40}$/;
const PLAIN_KEY = /^([A-Za-z0-9._-]{1,40}):([A-Za-z0-9+/]{43}=)$/;
const WRAPPED_KEY = /^([A-Za-z0-9._-]{1,40}):(aws-kms|vault-transit):([\x21-\x7e]{1,8192})$/;
const FORMAT = 'id:base64key or id:service:wrapped key, comma separated';
const REQUIRED_VARIABLES: Readonly<Record<KeyServiceName, string>> = {
  'aws-kms': 'AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  'vault-transit': 'VAULT_ADDR and VAULT_TOKEN',
};

export const isWrapped = (entry: MasterKey | WrappedMasterKey): entry is WrappedMasterKey => 'wrapped' in entry;

/** Returns an empty ring, and records the problem, when MASTER_KEYS cannot be used. */
export function readMasterKeyRing(read: EnvReader): MasterKeyRing {
  const services = readKeyServices(read);
  const raw = read.required('MASTER_KEYS', `${FORMAT}, with 32-byte keys`);
  const parts = raw === '' ? [] : raw.split(',');
  const entries = parts.map((part) => parseEntry(part.trim()));
  if (entries.includes(null)) {
    read.addProblem(`MASTER_KEYS must be ${FORMAT}, each base64key 32 bytes in base64`);
    return { entries: [], services };
  }
  const ring = { entries: entries as MasterKeyRing['entries'], services };
  if (new Set(ring.entries.map(({ id }) => id)).size !== entries.length)
    read.addProblem('MASTER_KEYS contains a key id twice: use each id once');
  for (const service of new Set(ring.entries.filter(isWrapped).map((entry) => entry.service)))
    if (services[service] === null)
      read.addProblem(`MASTER_KEYS has a key of ${service}, which needs ${REQUIRED_VARIABLES[service]}`);
  return ring;
}

function parseEntry(text: string): MasterKey | WrappedMasterKey | null {
  const plain = PLAIN_KEY.exec(text);
  if (plain !== null) return { id: plain[1]!, key: new Secret(Buffer.from(plain[2]!, 'base64')) };
  const wrapped = WRAPPED_KEY.exec(text);
  return wrapped === null ? null : { id: wrapped[1]!, service: wrapped[2] as KeyServiceName, wrapped: wrapped[3]! };
}

/** The service for a command that was given its name; a problem is recorded when its variables are missing. */
export function readKeyService(read: EnvReader, name: KeyServiceName): KeyService | null {
  const service = readKeyServices(read)[name];
  if (service === null) read.addProblem(`${name} needs ${REQUIRED_VARIABLES[name]}`);
  return service;
}

function readKeyServices(read: EnvReader): MasterKeyRing['services'] {
  return { 'aws-kms': readAwsKms(read), 'vault-transit': readVaultTransit(read) };
}

const AWS_REGION = /^[a-z0-9-]{1,40}$/;

function readAwsKms(read: EnvReader): AwsKms | null {
  const region = read.optional('AWS_REGION');
  const accessKeyId = read.optional('AWS_ACCESS_KEY_ID');
  const secretAccessKey = read.optional('AWS_SECRET_ACCESS_KEY');
  const sessionToken = read.optional('AWS_SESSION_TOKEN');
  const endpoint = readServiceUrl(read, 'AWS_ENDPOINT_URL_KMS');
  if (region === null || accessKeyId === null || secretAccessKey === null) return null;
  if (!AWS_REGION.test(region)) {
    read.addProblem('AWS_REGION must be the name of a region, such as eu-central-1');
    return null;
  }
  return new AwsKms({
    endpoint: endpoint?.origin ?? `https://kms.${region}.amazonaws.com`,
    region,
    accessKeyId,
    secretAccessKey: new Secret(secretAccessKey),
    sessionToken: sessionToken === null ? null : new Secret(sessionToken),
  });
}

function readVaultTransit(read: EnvReader): VaultTransit | null {
  const address = readServiceUrl(read, 'VAULT_ADDR');
  const token = read.optional('VAULT_TOKEN');
  const namespace = read.optional('VAULT_NAMESPACE');
  const mount = read.string('VAULT_TRANSIT_MOUNT', 'transit').replace(/^\/+|\/+$/g, '');
  if (address === null || token === null) return null;
  return new VaultTransit({ address: address.href.replace(/\/+$/, ''), token: new Secret(token), namespace, mount });
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Keys cross this connection: without TLS on loopback only. */
function readServiceUrl(read: EnvReader, name: string): URL | null {
  const url = read.optionalUrl(name, ['https', 'http']);
  if (url !== null && url.protocol === 'http:' && !LOOPBACK.test(url.hostname)) {
    read.addProblem(`${name} must begin with https:// unless it is on loopback`);
    return null;
  }
  return url;
}

const ATTEMPTS = 4;
const FIRST_DELAY_MS = 1_000;

/**
 * Unwraps the keys of a ring. Keeps each key in memory, so that a ring that is read again needs the service for new keys
 * only.
 */
export class MasterKeyUnwrapper {
  readonly #unwrapped = new Map<string, Secret<Buffer>>();

  constructor(readonly firstDelayMs = FIRST_DELAY_MS) {}

  /** Rejects with {@link KeyServiceError}; transient failures are tried again for some 7 s. */
  async unwrapAll({ entries, services }: MasterKeyRing): Promise<readonly MasterKey[]> {
    return await Promise.all(
      entries.map(async (entry) =>
        isWrapped(entry) ? { id: entry.id, key: await this.#unwrap(entry, services[entry.service]!) } : entry,
      ),
    );
  }

  async #unwrap(entry: WrappedMasterKey, service: KeyService): Promise<Secret<Buffer>> {
    const name = `${entry.id}:${entry.service}:${entry.wrapped}`;
    const known = this.#unwrapped.get(name);
    if (known !== undefined) return known;
    for (let attempt = 1; ; attempt++) {
      try {
        const key = await service.unwrap(entry.id, entry.wrapped);
        this.#unwrapped.set(name, key);
        return key;
      } catch (error) {
        if (!(error instanceof KeyServiceError)) throw error;
        if (!error.isTransient || attempt === ATTEMPTS)
          throw new KeyServiceError(
            `the master key ${entry.id} cannot be unwrapped: ${error.message}`,
            error.isTransient,
          );
        await new Promise((resolve) => setTimeout(resolve, this.firstDelayMs * 2 ** (attempt - 1)));
      }
    }
  }
}
