import { expect, test } from 'vitest';
import { invalidFilter, invalidValue, notUnique, toScimError } from './errors.js';
import {
  presentGroup,
  presentList,
  presentResourceTypes,
  presentSchemas,
  presentServiceProviderConfig,
  presentUser,
} from './resources.js';

const BASE = 'https://gateway.example.com/scim/v2';
const TIMES = { createdAt: new Date('2026-01-02T03:04:05Z'), updatedAt: new Date('2026-02-03T04:05:06Z') };
const META = { created: '2026-01-02T03:04:05.000Z', lastModified: '2026-02-03T04:05:06.000Z' };
const USER = {
  ...TIMES,
  id: 'u1',
  userName: 'ada',
  externalId: '00u1',
  email: 'ada@example.com',
  displayName: 'Ada L.',
  givenName: 'Ada',
  familyName: 'Lovelace',
  formattedName: 'Ada Lovelace',
  active: true,
};

test('a user with all attributes', () => {
  expect(presentUser(BASE, USER)).toEqual({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    id: 'u1',
    externalId: '00u1',
    userName: 'ada',
    displayName: 'Ada L.',
    name: { formatted: 'Ada Lovelace', familyName: 'Lovelace', givenName: 'Ada' },
    emails: [{ value: 'ada@example.com', type: 'work', primary: true }],
    active: true,
    meta: { resourceType: 'User', ...META, location: `${BASE}/Users/u1` },
  });
});

test('a user without optional attributes: none of them, and no null', () => {
  const none = { externalId: null, email: null, displayName: null, givenName: null, familyName: null };
  const user = presentUser(BASE, { ...USER, ...none, formattedName: null, active: false });
  expect(Object.keys(user)).toEqual(['schemas', 'id', 'userName', 'active', 'meta']);
  expect(user).toMatchObject({ active: false });
  expect(presentUser(BASE, { ...USER, ...none, formattedName: 'A' })).toMatchObject({ name: { formatted: 'A' } });
});

test('groups with and without members, and lists', () => {
  const group = { ...TIMES, id: 'g1', displayName: 'Engineers', externalId: null };
  expect(presentGroup(BASE, group, null)).toEqual({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
    id: 'g1',
    displayName: 'Engineers',
    meta: { resourceType: 'Group', ...META, location: `${BASE}/Groups/g1` },
  });
  expect(presentGroup(BASE, { ...group, externalId: 'x' }, [])).toMatchObject({ externalId: 'x', members: [] });
  expect(presentList([{ id: 'a' }, { id: 'b' }], 7, 3)).toEqual({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: 7,
    startIndex: 3,
    itemsPerPage: 2,
    Resources: [{ id: 'a' }, { id: 'b' }],
  });
});

test('what a directory discovers: features, resource types and the attributes that it may send', () => {
  expect(presentServiceProviderConfig(BASE)).toMatchObject({
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: 200 },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: false },
    authenticationSchemes: [{ type: 'oauthbearertoken', primary: true }],
    meta: { location: `${BASE}/ServiceProviderConfig` },
  });
  expect(presentResourceTypes(BASE)).toMatchObject([
    { id: 'User', endpoint: '/Users', meta: { location: `${BASE}/ResourceTypes/User` } },
    { id: 'Group', endpoint: '/Groups', meta: { location: `${BASE}/ResourceTypes/Group` } },
  ]);
  const schemas = presentSchemas(BASE) as unknown as {
    id: string;
    attributes: { name: string; required: boolean; uniqueness: string; multiValued: boolean; caseExact: boolean }[];
    meta: { location: string };
  }[];
  expect(schemas.map(({ id, meta }) => [id, meta.location])).toEqual(
    ['User', 'Group'].map((name) => {
      const id = `urn:ietf:params:scim:schemas:core:2.0:${name}`;
      return [id, `${BASE}/Schemas/${id}`];
    }),
  );
  const listed = (test: (attribute: (typeof schemas)[0]['attributes'][0]) => boolean) =>
    schemas.flatMap(({ attributes }) => attributes.filter(test).map(({ name }) => name));
  expect(listed(() => true)).toEqual([
    ...['userName', 'externalId', 'displayName', 'name', 'emails', 'active'],
    ...['displayName', 'externalId', 'members'],
  ]);
  expect(listed(({ required }) => required)).toEqual(['userName', 'displayName']);
  expect(listed(({ uniqueness }) => uniqueness === 'server')).toEqual(['userName', 'displayName']);
  expect(listed(({ multiValued }) => multiValued)).toEqual(['emails', 'members']);
  expect(listed(({ caseExact }) => caseExact)).toEqual([]);
});

test('errors have the type of their rule, and the text of the management API', () => {
  expect([invalidValue('a'), invalidFilter('b'), notUnique('c')]).toMatchObject([
    { code: 'invalid_input', message: 'a', details: { scimType: 'invalidValue' } },
    { code: 'invalid_input', message: 'b', details: { scimType: 'invalidFilter' } },
    { code: 'conflict', message: 'c', details: { scimType: 'uniqueness' } },
  ]);
  const schemas = ['urn:ietf:params:scim:api:messages:2.0:Error'];
  expect(toScimError(409, { error: 'taken', scimType: 'uniqueness' })).toEqual({
    schemas,
    status: '409',
    scimType: 'uniqueness',
    detail: 'taken',
  });
  expect(toScimError(404, { error: 'no user' })).toEqual({ schemas, status: '404', detail: 'no user' });
  expect(toScimError(500, { error: { text: 'x' } })).toEqual({ schemas, status: '500', detail: 'the request failed' });
});
