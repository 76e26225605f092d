import { expect, test } from 'vitest';
import { useControlPlane } from '../fixtures/control-plane.js';

const plane = useControlPlane();

test('projects: created, listed newest first, renamed, deleted; invisible to other organizations', async () => {
  const admin = await plane().createMember('admin');
  const stranger = await plane().createMember('owner');
  const first = await admin.call('POST', '/v1/projects', { name: 'Support Bots' });
  expect(first.status).toBe(201);
  expect(first.body.project).toMatchObject({ name: 'Support Bots', slug: 'support-bots' });
  const second = await admin.call('POST', '/v1/projects', { name: 'Support bots!' });
  expect(second.body.project.slug).toBe('support-bots-2');

  const list = await admin.call('GET', '/v1/projects?limit=1');
  const { budgets, agentDefaults, personalAgents, ...listed } = second.body.project;
  expect([budgets, agentDefaults, personalAgents]).toEqual([[], null, null]);
  expect(list.body).toEqual({ projects: [listed], total: 2, limit: 1, offset: 0 });

  const id = first.body.project.id;
  expect((await stranger.call('GET', `/v1/projects/${id}`)).status).toBe(404);
  expect((await stranger.call('DELETE', `/v1/projects/${id}`)).status).toBe(404);
  const theirs = await stranger.call('POST', '/v1/projects', { name: 'Support Bots' });
  expect(theirs.body.project.slug).toBe('support-bots'); // its slug does not reveal other organizations
  expect((await admin.call('PATCH', `/v1/projects/${id}`, { name: 'Renamed' })).body.project.name).toBe('Renamed');
  expect((await admin.call('DELETE', `/v1/projects/${id}`)).body).toEqual({ deleted: true });
  expect((await admin.call('GET', `/v1/projects/${id}`)).status).toBe(404);
});

test('projects: 100 concurrent creations with one name get 100 slugs', async () => {
  const admin = await plane().createMember('admin');
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => admin.call('POST', '/v1/projects', { name: 'Same' })),
  );
  expect(new Set(answers.map((a) => a.status))).toEqual(new Set([201]));
  expect(new Set(answers.map((a) => a.body.project.slug)).size).toBe(100);
});

test.each([
  ['nope', 'POST', '/v1/projects', {}, 400, 'name is required'],
  ['extra', 'POST', '/v1/projects', { name: 'a', owner: 1 }, 400, 'unknown field "owner"'],
  ['type', 'POST', '/v1/projects', { name: 7 }, 400, 'name must be a string'],
  ['limit', 'GET', '/v1/projects?limit=101', undefined, 400, 'limit must be <= 100'],
  ['id', 'GET', '/v1/projects/not-a-uuid', undefined, 400, 'id must match format "uuid"'],
  ['route', 'GET', '/v1/nothing', undefined, 404, 'no such endpoint: GET /v1/nothing'],
])('errors name what is wrong: %s', async (_name, method, path, body, status, error) => {
  const admin = await plane().createMember('admin');
  const answer = await admin.call(method, path, body);
  expect(answer).toMatchObject({ status, body: { error } });
});

test('access: no token 401, a viewer cannot write', async () => {
  expect((await plane().call('GET', '/v1/projects')).status).toBe(401);
  const viewer = await plane().createMember('viewer');
  expect((await viewer.call('POST', '/v1/projects', { name: 'x' })).status).toBe(403);
});
