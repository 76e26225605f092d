/** Private keys in credentials, as people paste or upload them. No error quotes a key. */
import { createPrivateKey } from 'node:crypto';
import { InvalidInput } from '../../domain/errors.js';

const PEM_CHARS_MAX = 16_384;
/** Bits; a shorter RSA key is not secure (NIST SP 800-131A). */
const RSA_BITS_MIN = 2_048;

/** A key in PEM form, as base64 of PKCS #8, which has no spaces. A stored value passes again. */
export function parsePrivateKey(name: string, value: string): string {
  if (value.length > PEM_CHARS_MAX) throw new InvalidInput(`${name} must have at most ${PEM_CHARS_MAX} characters`);
  try {
    const key = value.includes('-----')
      ? createPrivateKey(withLineBreaks(value))
      : createPrivateKey({ key: Buffer.from(value, 'base64'), format: 'der', type: 'pkcs8' });
    const { modulusLength = RSA_BITS_MIN, namedCurve = 'prime256v1' } = key.asymmetricKeyDetails ?? {};
    const isUsable = key.asymmetricKeyType === 'rsa' || key.asymmetricKeyType === 'ec';
    if (isUsable && modulusLength >= RSA_BITS_MIN && namedCurve === 'prime256v1')
      return key.export({ format: 'der', type: 'pkcs8' }).toString('base64');
  } catch {
    // The error of the library may quote the key.
  }
  throw new InvalidInput(
    `${name} must be a private key in PEM form, without a passphrase: RSA of 2048 bits or more, or EC P-256`,
  );
}

/** A form field for one line drops the line breaks of a pasted key. */
const withLineBreaks = (pem: string): string =>
  pem.replace(/(-----BEGIN [A-Z ]+-----)\s*([A-Za-z0-9+/=\s]+?)\s*(-----END [A-Z ]+-----)/, '$1\n$2\n$3\n');

const CLIENT_EMAIL = /^[a-z0-9.@_-]{3,200}\.gserviceaccount\.com$/;
const KEY_ID = /^[A-Za-z0-9]{1,100}$/;

/**
 * The JSON key of a Google service account. Its URLs are ignored: `token_uri` of an uploaded file could lead assertions
 * to another host.
 */
export function parseGoogleKey(name: string, value: unknown): Record<string, string> {
  const key = typeof value === 'string' ? parseJson(value) : value;
  const { type, client_email: email, private_key: pem, private_key_id: id } = (key ?? {}) as Record<string, unknown>;
  const isKey = type === 'service_account' && typeof pem === 'string';
  if (!isKey || typeof email !== 'string' || !CLIENT_EMAIL.test(email) || typeof id !== 'string' || !KEY_ID.test(id))
    throw new InvalidInput(`${name} must be the JSON key of a service account, as Google Cloud creates it`);
  return { clientEmail: email, privateKey: parsePrivateKey(`${name}.private_key`, pem), privateKeyId: id };
}

function parseJson(text: string): unknown {
  try {
    return text.length > 2 * PEM_CHARS_MAX ? null : JSON.parse(text);
  } catch {
    return null;
  }
}
