import fc from 'fast-check';
import { expect, test } from 'vitest';
import { normaliseAttribute, parseFilter } from './filter.js';

const ATTRIBUTES = new Set(['username', 'externalid', 'emails', 'emails.value', 'members']);
const parse = (text: string) => parseFilter(text, ATTRIBUTES);
const rejected = (text: string) => {
  try {
    return parse(text);
  } catch (error) {
    return (error as { details: unknown; message: string }).message;
  }
};

test.each([
  ['userName eq "ada"', [{ attribute: 'username', value: 'ada' }]],
  ['  USERNAME   EQ   "Ada"  ', [{ attribute: 'username', value: 'Ada' }]],
  ['userName eq ada', [{ attribute: 'username', value: 'ada' }]],
  ['emails.value eq "a@b"', [{ attribute: 'emails.value', value: 'a@b' }]],
  ['emails[type eq "work"].value eq "a@b"', [{ attribute: 'emails.value', value: 'a@b' }]],
  ['emails[ TYPE eq "work" ] eq "a@b"', [{ attribute: 'emails', value: 'a@b' }]],
  ['urn:ietf:params:scim:schemas:core:2.0:User:userName eq "x"', [{ attribute: 'username', value: 'x' }]],
  ['urn:ietf:params:scim:schemas:core:2.0:Group:members eq "x"', [{ attribute: 'members', value: 'x' }]],
  ['userName eq "a \\"quoted\\" \\u00e9"', [{ attribute: 'username', value: 'a "quoted" é' }]],
  [
    'userName eq "a" AND externalId eq "and"',
    [
      { attribute: 'username', value: 'a' },
      { attribute: 'externalid', value: 'and' },
    ],
  ],
])('reads %s', (text, conditions) => {
  expect(parse(text)).toEqual(conditions);
});

test.each([
  '',
  'userName',
  'userName eq',
  'userName co "a"',
  'userName eq "a" or userName eq "b"',
  'userName eq "a" and',
  'userName eq "a" externalId eq "b"',
  'userName eq "a") or (userName eq "b"',
  '(userName eq "a")',
  'not userName eq "a"',
  'userName eq "a',
  '1 eq 1',
  'x userName eq "a"',
  'emails[type eq "home"].value eq "a"',
])('rejects %j, and quotes it', (text) => {
  expect(rejected(text)).toContain(JSON.stringify(text));
});

test('a value that is no JSON string, and an attribute that may not be used, are rejected by name', () => {
  expect(rejected('userName eq "a\\x"')).toBe(
    'filter has a value that is no JSON string; got "userName eq \\"a\\\\x\\""',
  );
  expect(rejected('password eq "a"')).toBe(
    'filter cannot use "password": use one of username, externalid, emails, emails.value, members',
  );
});

test('five conditions are read, a sixth is rejected, and long filters are quoted in part', () => {
  const conditions = (count: number) => Array.from({ length: count }, (_, n) => `userName eq "${n}"`).join(' and ');
  expect(parse(conditions(5)).map(({ value }) => value)).toEqual(['0', '1', '2', '3', '4']);
  expect(rejected(conditions(6))).toContain('at most 5 conditions');
  expect(String(rejected('x'.repeat(1_000))).length).toBeLessThan(300);
  expect(String(rejected('x'.repeat(1_000)))).toContain(`"${'x'.repeat(200)}"`);
});

test('every value comes back as it was written', () => {
  const name = fc.constantFrom(...ATTRIBUTES);
  const condition = fc.record({
    attribute: name,
    value: fc.string({ unit: fc.constantFrom('a', ' ', '"', '\\', '\n', 'é', '[', ')', '.') }),
  });
  fc.assert(
    fc.property(fc.array(condition, { minLength: 1, maxLength: 5 }), (conditions) => {
      const text = conditions.map(({ attribute, value }) => `${attribute} eq ${JSON.stringify(value)}`).join(' and ');
      expect(parse(text)).toEqual(conditions);
    }),
  );
});

test('names of attributes ignore case and the URN of the core schemas, and no other one', () => {
  expect(normaliseAttribute('urn:ietf:params:scim:schemas:core:2.0:User:Name.GivenName')).toBe('name.givenname');
  expect(normaliseAttribute('urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department')).toContain('urn:');
});
