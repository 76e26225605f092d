/**
 * Validates the credentials object of an account. Each error names the field and the expected form; no error contains a
 * value.
 */
import { InvalidInput } from '../../domain/errors.js';
import { type Credentials, isHostPart, listTemplateFields } from './credential-template.js';
import { MATCHED_CHARS_MAX, matchesLinearRegex } from './linear-regex.js';
import { listMethodFields, METHOD_MEMBER, splitEndpoint } from './mint-method.js';
import type { MintMethod } from './mint-method-schema.js';
import { parseGoogleKey, parsePrivateKey } from './parse-private-key.js';
import type { CredentialField, ProviderRules } from './provider-definition.js';

/** A secret is masked in responses, so it must be long enough not to occur there by chance. */
const SECRET_LENGTH_MIN = 8;
const LENGTH_MAX = 8_192;
/** Headers and signatures contain the value unchanged. */
const PRINTABLE_ASCII = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
/** Masking compares these bytes only, to decide where a secret may be split between two chunks. */
const GRAPHIC_ASCII = /^[\x21-\x7e]+$/;
const REGION = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;

/**
 * Throws {@link InvalidInput} for unknown, missing and malformed fields. Empty optional fields count as missing.
 * `method` names a method of the provider, whose fields then apply.
 */
export function parseCredentials(
  rules: Pick<ProviderRules, 'credentials' | 'origins'>,
  given: Readonly<Record<string, unknown>>,
): Credentials {
  const { origins } = rules;
  const method = parseMethod(rules, given);
  const fields = method === null ? rules.credentials.fields : listMethodFields(rules, method);
  const known = new Set(fields.map((field) => field.name));
  for (const name of Object.keys(given)) {
    if (!known.has(name) && (method === null || name !== METHOD_MEMBER))
      throw new InvalidInput(`unknown field ${JSON.stringify(name)} in credentials: ${allowed(fields)}`);
  }
  const hostParts = new Set([...listHostFields(origins), ...(method === null ? [] : listEndpointHostFields(method))]);
  const credentials: Record<string, string> = method === null ? {} : { [METHOD_MEMBER]: method.name };
  for (const field of fields) {
    const value = Object.hasOwn(given, field.name) ? given[field.name] : undefined;
    if (value === undefined || (value === '' && !field.required)) {
      if (field.required) throw new InvalidInput(`credentials.${field.name} is required: ${allowed(fields)}`);
      continue;
    }
    if (field.kind === 'google_key') Object.assign(credentials, parseGoogleKey(`credentials.${field.name}`, value));
    else credentials[field.name] = parseField(field, value, hostParts.has(field.name));
  }
  return credentials;
}

function parseMethod(
  { credentials: { methods = [] } }: Pick<ProviderRules, 'credentials'>,
  given: object,
): MintMethod | null {
  if (methods.length === 0 || !Object.hasOwn(given, METHOD_MEMBER)) return null;
  const name = (given as Record<string, unknown>)[METHOD_MEMBER];
  const method = methods.find((one) => one.name === name);
  if (method === undefined)
    throw new InvalidInput(`credentials.method must be one of ${methods.map((one) => one.name).join(', ')}`);
  return method;
}

const listEndpointHostFields = ({ token: { url } }: MintMethod): string[] =>
  url === undefined || url.startsWith('{') ? [] : listTemplateFields(splitEndpoint(url).host);

/** Fields that are a part of a host. Fields of kind url are whole addresses. */
function listHostFields(origins: ProviderRules['origins']): ReadonlySet<string> {
  const addresses = Object.values(origins).flatMap((origin) =>
    typeof origin === 'string' ? origin : origin.map(({ url }) => url),
  );
  return new Set(addresses.filter((address) => !address.startsWith('{')).flatMap(listTemplateFields));
}

function parseField(field: CredentialField, value: unknown, isPartOfHost: boolean): string {
  const name = `credentials.${field.name}`;
  if (typeof value !== 'string') throw new InvalidInput(`${name} must be string`);
  if (field.kind === 'private_key') return parsePrivateKey(name, value);
  const lengthMax = field.pattern === undefined ? LENGTH_MAX : MATCHED_CHARS_MAX;
  if (value.length > lengthMax) throw new InvalidInput(`${name} must have at most ${lengthMax} characters`);
  if (field.secret && value.length < SECRET_LENGTH_MIN) {
    throw new InvalidInput(`${name} must have at least ${SECRET_LENGTH_MIN} characters`);
  }
  if (field.secret && !GRAPHIC_ASCII.test(value)) {
    throw new InvalidInput(`${name} must be printable ASCII text without spaces`);
  }
  if (field.kind === 'region' && !REGION.test(value)) {
    throw new InvalidInput(`${name} must be a region such as us-east-1, or auto`);
  }
  if (!PRINTABLE_ASCII.test(value)) {
    throw new InvalidInput(`${name} must be printable ASCII text without spaces at its ends, and not empty`);
  }
  if (field.values !== undefined) {
    if (!field.values.includes(value)) throw new InvalidInput(`${name} must be one of ${field.values.join(', ')}`);
  } else if (isPartOfHost && !isHostPart(value)) {
    throw new InvalidInput(`${name} must be a part of a host name: at most 63 characters of a-z, 0-9 and -`);
  }
  if (field.pattern !== undefined && !matchesLinearRegex(field.pattern, value)) {
    throw new InvalidInput(`${name} must look like ${field.looksLike}`);
  }
  return value;
}

function allowed(fields: readonly CredentialField[]): string {
  if (fields.length === 0) return 'this provider takes no credentials';
  return `this provider takes ${fields.map(({ name, required }) => (required ? name : `${name}?`)).join(', ')}`;
}
