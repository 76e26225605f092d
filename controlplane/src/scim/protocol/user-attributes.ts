/**
 * Reads users from requests: whole ones (POST, PUT) and the operations of PATCH, in the forms of Entra ID and Okta. Pure.
 * Attributes that the gateway does not use are ignored, as RFC 7644 §3.3 allows. `active` is never ignored: a value that
 * is neither true nor false is an error, so that no leaver stays active.
 */
import { invalidValue } from './errors.js';
import { normaliseAttribute } from './filter.js';
import { readOperations, unwrapValue } from './operations.js';

export interface UserAttributes {
  readonly userName: string;
  readonly externalId: string | null;
  /** In lower case; null: the user name is the address. */
  readonly email: string | null;
  readonly displayName: string | null;
  readonly givenName: string | null;
  readonly familyName: string | null;
  readonly formattedName: string | null;
  readonly active: boolean;
}

type Changes = { -readonly [K in keyof UserAttributes]?: UserAttributes[K] };

const TEXT_CHARS_MAX = 254;
const EMPTY: Omit<UserAttributes, 'userName'> = {
  externalId: null,
  email: null,
  displayName: null,
  givenName: null,
  familyName: null,
  formattedName: null,
  active: true,
};

/** A whole user: an attribute that is missing has no value, and `active` is true then. */
export function readUser(body: unknown): UserAttributes {
  const changes: Changes = {};
  assignAll(changes, body, 'the user');
  const { userName } = changes;
  if (userName === undefined) throw invalidValue('userName is required');
  return { ...EMPTY, ...changes, userName };
}

/** The attributes that the operations of a PATCH change. */
export function readUserChanges(body: unknown): Changes {
  const changes: Changes = {};
  for (const { op, path, value } of readOperations(body)) {
    if (path === null) assignAll(changes, value, 'value');
    else assign(changes, path, op === 'remove' ? null : value);
  }
  return changes;
}

function assignAll(changes: Changes, value: unknown, what: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidValue(`${what} must be a JSON object of attributes`);
  for (const [name, part] of Object.entries(value)) assign(changes, name, part);
}

const TEXTS: Readonly<Record<string, 'externalId' | 'displayName' | 'givenName' | 'familyName' | 'formattedName'>> = {
  externalid: 'externalId',
  displayname: 'displayName',
  'name.givenname': 'givenName',
  'name.familyname': 'familyName',
  'name.formatted': 'formattedName',
};
/** An address for work, or the primary one. */
const ADDRESS = /^emails(?:\[\s*(?:type\s+eq\s+"work"|primary\s+eq\s+"?true"?)\s*\])?(?:\.value)?$/;

/** `value` null removes the attribute. */
function assign(changes: Changes, path: string, value: unknown): void {
  const name = normaliseAttribute(path);
  if (name === 'active') changes.active = readBoolean(value);
  else if (name === 'username') changes.userName = readText(path, value) ?? reject('userName must not be empty');
  else if (name === 'name') assignName(changes, value);
  else if (ADDRESS.test(name)) changes.email = readAddress(path, value);
  else {
    const field = TEXTS[name];
    if (field !== undefined) changes[field] = readText(path, value);
  }
}

function assignName(changes: Changes, value: unknown): void {
  if (value === null) Object.assign(changes, { givenName: null, familyName: null, formattedName: null });
  else if (typeof value !== 'object' || Array.isArray(value)) reject('name must be a JSON object');
  else for (const [part, text] of Object.entries(value)) assign(changes, `name.${part}`, text);
}

/** Entra ID has sent `"False"`, and values in a list. */
function readBoolean(value: unknown): boolean {
  const plain = unwrapValue(value);
  const text = typeof plain === 'string' ? plain.toLowerCase() : plain;
  if (text === true || text === 'true') return true;
  if (text === false || text === 'false') return false;
  return reject('active must be true or false');
}

function readText(path: string, value: unknown): string | null {
  const plain = unwrapValue(value);
  if (plain === null || plain === undefined) return null;
  if (typeof plain !== 'string' || plain.length > TEXT_CHARS_MAX)
    return reject(`${path} must be a string of at most ${TEXT_CHARS_MAX} characters`);
  return plain.trim() === '' ? null : plain.trim();
}

interface ListedAddress {
  readonly value?: unknown;
  readonly type?: unknown;
  readonly primary?: unknown;
}

/** Of a list the primary address, else one for work, else the first. */
function readAddress(path: string, value: unknown): string | null {
  if (!Array.isArray(value)) return readText(path, value)?.toLowerCase() ?? null;
  const addresses = value.filter((item): item is ListedAddress => typeof item === 'object' && item !== null);
  const chosen =
    addresses.find(({ primary }) => primary === true || primary === 'true' || primary === 'True') ??
    addresses.find(({ type }) => type === 'work') ??
    addresses[0];
  return readText(path, chosen?.value)?.toLowerCase() ?? null;
}

function reject(message: string): never {
  throw invalidValue(message);
}
