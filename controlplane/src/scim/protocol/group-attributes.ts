/** Reads groups from requests: whole ones (POST, PUT) and the operations of PATCH. Pure. */
import { UUID_PATTERN_ANY_CASE } from '@acg/base/uuid-patterns';
import { invalidValue } from './errors.js';
import { normaliseAttribute } from './filter.js';
import { readOperations } from './operations.js';

interface GroupAttributes {
  readonly displayName: string;
  readonly externalId: string | null;
  /** Ids of users. */
  readonly members: readonly string[];
}

/** Changes of a group in their order. `replace` and `remove` with null: all members. */
export type GroupChange =
  | { readonly kind: 'displayName'; readonly value: string }
  | { readonly kind: 'externalId'; readonly value: string | null }
  | { readonly kind: 'add' | 'replace'; readonly members: readonly string[] }
  | { readonly kind: 'remove'; readonly members: readonly string[] | null };

const TEXT_CHARS_MAX = 254;
const ONE_MEMBER = /^members\[\s*value\s+eq\s+"([^"]*)"\s*\]$/i;

export function readGroup(body: unknown): GroupAttributes {
  const { displayName, externalId, members } = body as Record<string, unknown>;
  return {
    displayName: readName(displayName),
    externalId: readExternalId(externalId),
    members: members === undefined || members === null ? [] : readMembers(members),
  };
}

export function readGroupChanges(body: unknown): readonly GroupChange[] {
  return readOperations(body).flatMap(({ op, path, value }) => {
    if (path !== null) return readChange(op, path, value);
    if (typeof value !== 'object' || value === null) throw invalidValue('value must be a JSON object of attributes');
    return Object.entries(value).flatMap(([name, part]) => readChange(op, name, part));
  });
}

function readChange(op: 'add' | 'replace' | 'remove', path: string, value: unknown): readonly GroupChange[] {
  const one = ONE_MEMBER.exec(path)?.[1];
  if (one !== undefined) {
    if (op !== 'remove') throw invalidValue('members[…] can only be removed: add with the path members');
    return [{ kind: 'remove', members: readMembers([one]) }];
  }
  const name = normaliseAttribute(path);
  if (name === 'displayname') return [{ kind: 'displayName', value: readName(value) }];
  if (name === 'externalid') return [{ kind: 'externalId', value: op === 'remove' ? null : readExternalId(value) }];
  if (name !== 'members') return [];
  if (op !== 'remove') return [{ kind: op, members: readMembers(value) }];
  return [{ kind: 'remove', members: value === undefined || value === null ? null : readMembers(value) }];
}

function readName(value: unknown): string {
  const text = typeof value === 'string' ? value.trim() : '';
  if (text === '' || text.length > TEXT_CHARS_MAX)
    throw invalidValue(`displayName must have 1 to ${TEXT_CHARS_MAX} characters`);
  return text;
}

function readExternalId(value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value !== 'string' || value.length > TEXT_CHARS_MAX)
    throw invalidValue(`externalId must be a string of at most ${TEXT_CHARS_MAX} characters`);
  return value;
}

/** `[{value}]`, as RFC 7643 has it, or plain ids. */
function readMembers(value: unknown): readonly string[] {
  const list = Array.isArray(value) ? value : [value];
  const ids = list.map((item: unknown) => {
    const id = typeof item === 'object' && item !== null ? (item as { value?: unknown }).value : item;
    if (typeof id !== 'string' || !UUID_PATTERN_ANY_CASE.test(id))
      throw invalidValue('members must be objects with the id of a user as value');
    return id.toLowerCase();
  });
  return [...new Set(ids)];
}
