/**
 * The requests of Entra ID and Okta, in the order and form of their public references: Microsoft Learn, "Develop and
 * plan provisioning for a SCIM endpoint in Microsoft Entra ID", and Okta Developer, "SCIM 2.0 Protocol Reference".
 */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { useControlPlane } from '../fixtures/control-plane.js';
import { connectDirectory, ENTRA_DISABLE, OKTA_DEACTIVATE, patchOf } from './scim-client.js';

const plane = useControlPlane();
const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const LIST = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
const encode = encodeURIComponent;

test('Entra ID: test connection, create, match, update, disable, delete of users; create, rename, members, delete of groups', async () => {
  const owner = await plane().createMember('owner');
  const { call } = await connectDirectory(plane(), owner);
  const probe = await call('GET', `/Users?filter=${encode(`userName eq "${randomUUID()}"`)}`);
  expect(probe).toMatchObject({
    status: 200,
    contentType: 'application/scim+json; charset=utf-8',
    body: { schemas: [LIST], totalResults: 0, startIndex: 1, itemsPerPage: 0, Resources: [] },
  });
  const created = await call('POST', '/Users', {
    schemas: [USER, 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'],
    externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
    userName: 'Test_User_00aa',
    active: true,
    emails: [{ primary: true, type: 'work', value: 'Test_User_11bb@testuser.com' }],
    meta: { resourceType: 'User' },
    name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
    roles: [],
  });
  const id: string = created.body.id;
  const user = {
    schemas: [USER],
    id,
    externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
    userName: 'Test_User_00aa',
    name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
    active: true,
    emails: [{ value: 'test_user_11bb@testuser.com', type: 'work', primary: true }],
    meta: {
      resourceType: 'User',
      created: expect.stringMatching(/Z$/),
      lastModified: expect.stringMatching(/Z$/),
      location: `${plane().config.publicUrl}/scim/v2/Users/${id}`,
    },
  };
  expect(created).toMatchObject({ status: 201, body: user });
  expect(Object.values(created.body)).not.toContain(null);
  expect(await call('GET', `/Users/${id}`)).toMatchObject({ status: 200, body: user });
  for (const filter of [
    'userName eq "test_user_00AA"',
    'externalId eq "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef"',
    'externalId eq 0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
    'emails[type eq "work"].value eq "Test_User_11bb@testuser.com"',
  ])
    expect({ filter, ...(await call('GET', `/Users?filter=${encode(filter)}`)) }).toMatchObject({
      status: 200,
      body: { totalResults: 1, itemsPerPage: 1, Resources: [user] },
    });
  expect(await call('GET', '/Users/5171a35d82074e068ce2')).toMatchObject({
    status: 404,
    body: { schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'], status: '404' },
  });
  const updated = await call(
    'PATCH',
    `/Users/${id}`,
    patchOf(
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updatedEmail@microsoft.com' },
      { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
    ),
  );
  expect(updated).toMatchObject({
    status: 200,
    body: {
      emails: [{ value: 'updatedemail@microsoft.com' }],
      name: { familyName: 'updatedFamilyName', givenName: 'givenName' },
    },
  });
  const renamed = await call('PATCH', `/Users/${id}`, patchOf({ op: 'Replace', path: 'userName', value: 'new@t.com' }));
  expect(renamed).toMatchObject({ status: 200, body: { userName: 'new@t.com', active: true } });
  expect(await call('PATCH', `/Users/${id}`, ENTRA_DISABLE)).toMatchObject({ status: 200, body: { active: false } });
  // Before its flag `aadOptscim062020`, Entra ID sent booleans as text.
  for (const [value, active] of [
    ['True', true],
    ['False', false],
  ] as const)
    expect((await call('PATCH', `/Users/${id}`, patchOf({ op: 'Replace', path: 'active', value }))).body.active).toBe(
      active,
    );
  const found = await call('GET', `/Users?filter=${encode('userName eq "new@t.com"')}`);
  expect(found.body.Resources).toMatchObject([{ id, active: false }]);

  const group = await call('POST', '/Groups', {
    schemas: [GROUP, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
    externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
    displayName: 'displayName',
    meta: { resourceType: 'Group' },
  });
  expect(group).toMatchObject({ status: 201, body: { schemas: [GROUP], displayName: 'displayName', members: [] } });
  const groupPath = `/Groups/${group.body.id}`;
  const without = await call('GET', `${groupPath}?excludedAttributes=members`);
  expect(without.body).toMatchObject({ id: group.body.id, displayName: 'displayName' });
  expect(without.body).not.toHaveProperty('members');
  const byName = await call(
    'GET',
    `/Groups?excludedAttributes=members&filter=${encode('displayName eq "displayName"')}`,
  );
  expect(byName.body).toMatchObject({ totalResults: 1, Resources: [{ id: group.body.id }] });
  await call('PATCH', groupPath, patchOf({ op: 'Replace', path: 'displayName', value: 'updatedDisplayName' }));
  const added = await call(
    'PATCH',
    groupPath,
    patchOf({ op: 'Add', path: 'members', value: [{ $ref: null, value: id }] }),
  );
  expect(added.body).toMatchObject({ displayName: 'updatedDisplayName', members: [{ value: id }] });
  const isMember = await call('GET', `/Groups?filter=${encode(`id eq "${group.body.id}" and members eq "${id}"`)}`);
  expect(isMember.body.totalResults).toBe(1);
  const removed = await call(
    'PATCH',
    groupPath,
    patchOf({ op: 'Remove', path: 'members', value: [{ $ref: null, value: id }] }),
  );
  expect(removed.body.members).toEqual([]);
  expect(await call('DELETE', groupPath)).toEqual({ status: 204, body: null, contentType: '' });
  expect(await call('DELETE', `/Users/${id}`)).toMatchObject({ status: 204, body: null });
  expect((await call('GET', `/Users/${id}`)).status).toBe(404);
});

test('Okta: test, find, create, PUT, deactivate and activate users; push, rename and members of groups', async () => {
  const owner = await plane().createMember('owner');
  const { call } = await connectDirectory(plane(), owner);
  expect((await call('GET', '/Users?startIndex=1&count=2')).body).toMatchObject({ schemas: [LIST], totalResults: 0 });
  const filter = encode('userName eq "test.user@okta.local"');
  expect((await call('GET', `/Users?filter=${filter}&startIndex=1&count=100`)).body.totalResults).toBe(0);
  const sent = {
    schemas: [USER],
    userName: 'test.user@okta.local',
    name: { givenName: 'Test', familyName: 'User' },
    emails: [{ primary: true, value: 'test.user@okta.local', type: 'work' }],
    displayName: 'Test User',
    locale: 'en-US',
    externalId: '00ujl29u0le5T6Aj10h7',
    groups: [],
    password: '1mz050nq',
    active: true,
  };
  const created = await call('POST', '/Users', sent);
  const { password: _, locale: _locale, groups: _groups, ...kept } = sent;
  expect(created).toMatchObject({ status: 201, body: kept });
  expect(JSON.stringify(created.body)).not.toContain('1mz050nq');
  expect(await call('POST', '/Users', { ...sent, userName: 'Test.User@okta.local' })).toMatchObject({
    status: 409,
    body: { scimType: 'uniqueness', status: '409', detail: expect.stringContaining('Test.User@okta.local') },
  });
  const id: string = created.body.id;
  const replaced = await call('PUT', `/Users/${id}`, {
    ...created.body,
    name: { givenName: 'Another', middleName: 'Excited', familyName: 'User' },
  });
  expect(replaced).toMatchObject({ status: 200, body: { id, name: { givenName: 'Another' }, active: true } });
  expect(await call('PATCH', `/Users/${id}`, OKTA_DEACTIVATE)).toMatchObject({ status: 200, body: { active: false } });
  expect((await call('PATCH', `/Users/${id}`, patchOf({ op: 'replace', value: { active: true } }))).body.active).toBe(
    true,
  );
  // Integrations of the App Integration Wizard deactivate by PUT.
  expect((await call('PUT', `/Users/${id}`, { ...sent, active: false })).body.active).toBe(false);

  const second = await call('POST', '/Users', { ...sent, userName: 'second@okta.local', externalId: 'b', emails: [] });
  const pushed = await call('POST', '/Groups', { schemas: [GROUP], displayName: 'Test SCIMv2', members: [] });
  const path = `/Groups/${pushed.body.id}`;
  const rename = { op: 'replace', value: { id: pushed.body.id, displayName: 'Test SCIMv20' } };
  expect((await call('PATCH', path, patchOf(rename))).body.displayName).toBe('Test SCIMv20');
  const replace = { op: 'replace', path: 'members', value: [{ value: id, display: 'x' }, { value: second.body.id }] };
  expect((await call('PATCH', path, patchOf(replace))).body.members).toHaveLength(2);
  const swapped = await call(
    'PATCH',
    path,
    patchOf(
      { op: 'remove', path: `members[value eq "${second.body.id}"]` },
      { op: 'add', path: 'members', value: [{ value: id, display: 'test.user@okta.local' }] },
    ),
  );
  expect(swapped.body.members).toEqual([{ value: id, display: 'test.user@okta.local' }]);
  const put = await call('PUT', path, { schemas: [GROUP], displayName: 'Other', members: [{ value: second.body.id }] });
  expect(put.body).toMatchObject({ displayName: 'Other', members: [{ value: second.body.id }] });
  // Pages of 100 in the order of creation.
  const first = await call('GET', '/Users?startIndex=1&count=1');
  const next = await call('GET', '/Users?startIndex=2&count=1');
  expect([first.body.Resources[0].id, next.body.Resources[0].id]).toEqual([id, second.body.id]);
  expect(next.body).toMatchObject({ totalResults: 2, startIndex: 2, itemsPerPage: 1 });
  expect((await call('GET', '/Groups?startIndex=1&count=100')).body).toMatchObject({ totalResults: 1 });
});

test('discovery: service provider configuration, resource types and schemas', async () => {
  const { call } = await connectDirectory(plane(), await plane().createMember('owner'));
  expect((await call('GET', '/ServiceProviderConfig')).body).toMatchObject({
    patch: { supported: true },
    bulk: { supported: false },
    filter: { supported: true, maxResults: 200 },
    authenticationSchemes: [{ type: 'oauthbearertoken' }],
  });
  const types = await call('GET', '/ResourceTypes');
  expect(types.body.Resources.map(({ endpoint }: { endpoint: string }) => endpoint)).toEqual(['/Users', '/Groups']);
  const schemas = await call('GET', '/Schemas');
  expect(schemas.body).toMatchObject({ totalResults: 2, Resources: [{ id: USER }, { id: GROUP }] });
  expect((await call('GET', `/Schemas/${USER}`)).body.name).toBe('User');
  expect((await call('GET', '/ResourceTypes/Group')).body.schema).toBe(GROUP);
  for (const path of ['/Schemas/none', '/ResourceTypes/none', '/Nothing', '/Bulk'])
    expect(await call(path === '/Bulk' ? 'POST' : 'GET', path)).toMatchObject({ status: 404, body: { status: '404' } });
});
