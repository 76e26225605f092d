import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readUser, readUserChanges } from './user-attributes.js';

const change = (path: string | null, value: unknown, op = 'replace') =>
  readUserChanges({ Operations: [path === null ? { op, value } : { op, path, value }] });
const message = (work: () => unknown): string => {
  try {
    return `no error: ${JSON.stringify(work())}`;
  } catch (error) {
    return (error as Error).message;
  }
};
const NOTHING = {
  externalId: null,
  email: null,
  displayName: null,
  givenName: null,
  familyName: null,
  formattedName: null,
  active: true,
};

test('a whole user: missing attributes have no value, active is true, unknown ones are ignored', () => {
  expect(readUser({ userName: ' ada ', password: 'x', schemas: [], meta: {} })).toEqual({
    ...NOTHING,
    userName: 'ada',
  });
  expect(
    readUser({
      UserName: 'ada',
      externalId: '00u1',
      displayName: 'Ada L.',
      name: { givenName: 'Ada', familyName: 'Lovelace', formatted: 'Ada Lovelace', middleName: 'K' },
      emails: [{ value: 'Ada@Example.com', type: 'work', primary: true }],
      active: false,
    }),
  ).toEqual({
    userName: 'ada',
    externalId: '00u1',
    displayName: 'Ada L.',
    givenName: 'Ada',
    familyName: 'Lovelace',
    formattedName: 'Ada Lovelace',
    email: 'ada@example.com',
    active: false,
  });
});

test('a body that is no object, and a user without a name, are rejected', () => {
  for (const body of [null, 'x', 7, [], undefined])
    expect(message(() => readUser(body))).toBe('the user must be a JSON object of attributes');
  expect(message(() => readUser({}))).toBe('userName is required');
  for (const userName of ['', ' ', null])
    expect(message(() => readUser({ userName }))).toBe('userName must not be empty');
  for (const value of [null, 'x', [], 7])
    expect(message(() => change(null, value))).toBe('value must be a JSON object of attributes');
});

test('active: true and false in every form of directories, and nothing else', () => {
  for (const value of [false, 'false', 'False', 'FALSE', [false], [{ value: 'False' }], { value: false }])
    expect(change('active', value)).toEqual({ active: false });
  for (const value of [true, 'true', 'True', [{ value: true }]])
    expect(change('Active', value)).toEqual({ active: true });
  for (const value of [0, 1, '', 'no', 'perhaps', null, [], [true, false], {}])
    expect(message(() => change('active', value))).toBe('active must be true or false');
  expect(message(() => readUserChanges({ Operations: [{ op: 'remove', path: 'active' }] }))).toContain('active');
});

test('texts are trimmed; empty ones, null and a removal have no value; other types and long ones are rejected', () => {
  for (const [path, field] of [
    ['externalId', 'externalId'],
    ['displayName', 'displayName'],
    ['name.givenName', 'givenName'],
    ['name.familyName', 'familyName'],
    ['urn:ietf:params:scim:schemas:core:2.0:User:name.formatted', 'formattedName'],
  ] as const) {
    expect(change(path, ' x ')).toEqual({ [field]: 'x' });
    expect(change(path, [{ value: 'x' }])).toEqual({ [field]: 'x' });
    for (const empty of ['', '  ', null]) expect(change(path, empty)).toEqual({ [field]: null });
    expect(readUserChanges({ Operations: [{ op: 'remove', path, value: 'x' }] })).toEqual({ [field]: null });
    expect(change(path, 'x'.repeat(254))).toEqual({ [field]: 'x'.repeat(254) });
    for (const wrong of [7, true, {}, ['a', 'b'], 'x'.repeat(255)])
      expect(message(() => change(path, wrong))).toBe(`${path} must be a string of at most 254 characters`);
  }
});

test('the name: parts, removal of all, and no other type', () => {
  expect(change('name', { givenName: 'Ada', familyName: null })).toEqual({ givenName: 'Ada', familyName: null });
  const none = { givenName: null, familyName: null, formattedName: null };
  expect(change('name', null)).toEqual(none);
  expect(readUserChanges({ Operations: [{ op: 'remove', path: 'name' }] })).toEqual(none);
  for (const wrong of ['x', 7, []]) expect(message(() => change('name', wrong))).toBe('name must be a JSON object');
});

test('addresses: the primary one, else one for work, else the first; in lower case', () => {
  const home = { value: 'Home@x', type: 'home' };
  const work = { value: 'Work@x', type: 'work' };
  for (const primary of [true, 'true', 'True'])
    expect(change('emails', [home, work, { value: 'Primary@x', primary }])).toEqual({ email: 'primary@x' });
  for (const primary of [false, 'false', 1])
    expect(change('emails', [home, { ...work, primary }, { value: 'other@x' }])).toEqual({ email: 'work@x' });
  expect(change('emails', [home, { value: 'other@x', type: 'other' }])).toEqual({ email: 'home@x' });
  expect(change('emails', ['text', null, work])).toEqual({ email: 'work@x' });
  for (const none of [[], [{}], ['text'], [null], null, '', [{ value: null }]])
    expect(change('emails', none)).toEqual({ email: null });
  for (const path of [
    'emails',
    'emails.value',
    'emails[type eq "work"]',
    'emails[type eq "work"].value',
    'Emails[ Type  eq  "work" ].Value',
    'emails[primary eq true].value',
    'emails[primary eq "true"].value',
  ])
    expect(change(path, 'A@X')).toEqual({ email: 'a@x' });
  for (const path of ['emails[type eq "home"].value', 'emails.type', 'xemails', 'emails[type eq "work"].display'])
    expect(change(path, 'A@X')).toEqual({});
  expect(message(() => change('emails', [{ value: 7 }]))).toBe('emails must be a string of at most 254 characters');
});

test('operations apply in their order: the last one counts', () => {
  const replace = (value: boolean) => ({ op: 'replace', path: 'active', value });
  expect(readUserChanges({ Operations: [replace(true), replace(false)] })).toEqual({ active: false });
  expect(readUserChanges({ Operations: [replace(false), { op: 'add', value: { active: true } }] })).toEqual({
    active: true,
  });
});

test('no value makes a leaver active: a change of active is true, false or an error', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = message(() => change('active', value));
      expect(text).toMatch(/^no error: \{"active":(?:true|false)\}$|^active must be true or false$/);
      if (text.includes('"active":true')) expect(JSON.stringify(value).toLowerCase()).toContain('true');
    }),
  );
});
