/**
 * An external key service wraps master keys (envelope encryption): MASTER_KEYS holds `id:service:wrapped key`, and the
 * service unwraps it at startup. The key then stays in memory, so an outage of the service affects starts only.
 */
import { Secret } from '@acg/base/secret';
import { request } from 'undici';

export const KEY_SERVICE_NAMES = ['aws-kms', 'vault-transit'] as const;
export type KeyServiceName = (typeof KEY_SERVICE_NAMES)[number];

export interface KeyService {
  /** Encrypts a master key with the service's key. `id`: of the master key, bound to the result where the service can. */
  wrap(serviceKey: string, id: string, key: Secret<Buffer>): Promise<string>;
  /** Rejects with {@link KeyServiceError}. */
  unwrap(id: string, wrapped: string): Promise<Secret<Buffer>>;
}

/** `message` is one line that says what to do, without secrets. */
export class KeyServiceError extends Error {
  constructor(
    message: string,
    /** A later attempt may succeed. */
    readonly isTransient: boolean,
  ) {
    super(message);
    this.name = 'KeyServiceError';
  }
}

const TIMEOUT_MS = 5_000;
const ANSWER_BYTES_MAX = 65_536;

interface KeyServiceCall {
  /** Name and variables for messages, e.g. `AWS KMS (AWS_REGION)`. */
  readonly describedAs: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Posts JSON. A response that is not a JSON object counts as an empty one. Rejects when there is none. */
export async function postToKeyService(
  call: KeyServiceCall,
): Promise<{ readonly status: number; readonly answer: Readonly<Record<string, unknown>> }> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const { statusCode, body } = await request(call.url, {
      method: 'POST',
      headers: call.headers,
      body: call.body,
      signal,
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX) throw new Error('its response is too long');
      chunks.push(chunk);
    }
    return { status: statusCode, answer: parseObject(Buffer.concat(chunks).toString('utf8')) };
  } catch (error) {
    const { code, name, message } = error as NodeJS.ErrnoException;
    const cause = name === 'TimeoutError' ? `no response within ${TIMEOUT_MS / 1_000} s` : (code ?? message);
    throw new KeyServiceError(`${call.describedAs} at ${new URL(call.url).host} cannot be reached: ${cause}`, true);
  }
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

const KEY_BYTES = 32;

/** Decodes a master key of 32 bytes in base64. */
export function decodeUnwrappedKey(describedAs: string, base64: unknown): Secret<Buffer> {
  const key = typeof base64 === 'string' ? Buffer.from(base64, 'base64') : Buffer.alloc(0);
  if (key.length !== KEY_BYTES)
    throw new KeyServiceError(
      `${describedAs} returned no key of ${KEY_BYTES} bytes: create one with wrap-master-key`,
      false,
    );
  return new Secret(key);
}

/** Joins what a service said about a failure into part of one line. */
export const toOneLine = (text: string): string =>
  text
    .replace(/[^\x20-\x7e]+/g, ' ')
    .trim()
    .slice(0, 200);
