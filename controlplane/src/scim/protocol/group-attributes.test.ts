import { expect, test } from 'vitest';
import { readGroup, readGroupChanges } from './group-attributes.js';

const A = '0193d4a0-0000-7000-8000-00000000000a';
const B = '0193d4a0-0000-7000-8000-00000000000b';
const change = (...Operations: readonly object[]) => readGroupChanges({ Operations });
const message = (work: () => unknown): string => {
  try {
    return `no error: ${JSON.stringify(work())}`;
  } catch (error) {
    return (error as Error).message;
  }
};

test('a whole group: members as objects or ids, each once, in lower case', () => {
  expect(readGroup({ displayName: ' A ', externalId: 'x', members: [{ value: A.toUpperCase() }, B, A] })).toEqual({
    displayName: 'A',
    externalId: 'x',
    members: [A, B],
  });
  for (const members of [undefined, null, []])
    expect(readGroup({ displayName: 'A', members })).toEqual({ displayName: 'A', externalId: null, members: [] });
});

test('names, ids of the directory and members that break a rule are rejected by name', () => {
  for (const displayName of [undefined, null, '', ' ', 7, 'x'.repeat(255)])
    expect(message(() => readGroup({ displayName }))).toBe('displayName must have 1 to 254 characters');
  expect(readGroup({ displayName: 'x'.repeat(254) }).displayName).toHaveLength(254);
  for (const externalId of ['', null]) expect(readGroup({ displayName: 'A', externalId }).externalId).toBeNull();
  expect(readGroup({ displayName: 'A', externalId: 'x'.repeat(254) }).externalId).toHaveLength(254);
  for (const externalId of [7, {}, 'x'.repeat(255)])
    expect(message(() => readGroup({ displayName: 'A', externalId }))).toBe(
      'externalId must be a string of at most 254 characters',
    );
  for (const member of [7, null, 'x', {}, { value: 7 }, { value: `${A}x` }])
    expect(message(() => readGroup({ displayName: 'A', members: [member] }))).toBe(
      'members must be objects with the id of a user as value',
    );
});

test('operations with a path', () => {
  expect(
    change(
      { op: 'Replace', path: 'displayName', value: 'B' },
      { op: 'replace', path: 'externalId', value: 'y' },
      { op: 'remove', path: 'externalId', value: 'y' },
      { op: 'add', path: 'members', value: [{ value: A }] },
      { op: 'replace', path: 'urn:ietf:params:scim:schemas:core:2.0:Group:members', value: { value: B } },
      { op: 'remove', path: 'members' },
      { op: 'remove', path: 'members', value: null },
      { op: 'remove', path: 'members', value: [{ value: A }] },
      { op: 'remove', path: `Members[ value eq "${A.toUpperCase()}" ]` },
      { op: 'add', path: 'unknown', value: 1 },
    ),
  ).toEqual([
    { kind: 'displayName', value: 'B' },
    { kind: 'externalId', value: 'y' },
    { kind: 'externalId', value: null },
    { kind: 'add', members: [A] },
    { kind: 'replace', members: [B] },
    { kind: 'remove', members: null },
    { kind: 'remove', members: null },
    { kind: 'remove', members: [A] },
    { kind: 'remove', members: [A] },
  ]);
});

test('operations without a path change each attribute of the value', () => {
  expect(change({ op: 'replace', value: { id: A, displayName: 'B', members: [A] } })).toEqual([
    { kind: 'displayName', value: 'B' },
    { kind: 'replace', members: [A] },
  ]);
  for (const value of [null, 'x', 7])
    expect(message(() => change({ op: 'replace', value }))).toBe('value must be a JSON object of attributes');
});

test('one member is removed by its id only', () => {
  for (const op of ['add', 'replace'])
    expect(message(() => change({ op, path: `members[value eq "${A}"]`, value: 1 }))).toBe(
      'members[…] can only be removed: add with the path members',
    );
  expect(message(() => change({ op: 'remove', path: 'members[value eq "x"]' }))).toContain('id of a user');
  expect(change({ op: 'remove', path: `members[value ne "${A}"]` })).toEqual([]);
  expect(change({ op: 'remove', path: `xmembers[value eq "${A}"]` })).toEqual([]);
  expect(change({ op: 'remove', path: `members[value eq "${A}"].display` })).toEqual([]);
});
