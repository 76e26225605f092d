/** Users and organizations created through the API only, as a customer would: signup, invitation by e-mail, login. */
import { randomBytes } from 'node:crypto';
import type { Role } from '@acg/controlplane/http/route-access';
import { expect } from 'vitest';
import type { ApiResponse } from '../fixtures/api-call.js';
import type { TestControlPlane } from '../fixtures/control-plane.js';

export const PASSWORD = 'a password of some length';
export const UUID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
export const TIMESTAMP = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
export const newEmail = (): string => `${randomBytes(6).toString('hex')}@example.com`;

interface ApiUser {
  readonly email: string;
  readonly token: string;
  readonly userId: string;
  readonly orgId: string;
  get(path: string): Promise<ApiResponse>;
  post(path: string, body?: unknown): Promise<ApiResponse>;
  patch(path: string, body: unknown): Promise<ApiResponse>;
  put(path: string, body: unknown): Promise<ApiResponse>;
  delete(path: string): Promise<ApiResponse>;
}

function createApiUser(plane: TestControlPlane, email: string, token: string, userId: string, orgId: string): ApiUser {
  const call = (method: string) => (path: string, body?: unknown) => plane.call(method, path, { token, body });
  return {
    email,
    token,
    userId,
    orgId,
    get: call('GET'),
    post: call('POST'),
    patch: call('PATCH'),
    put: call('PUT'),
    delete: call('DELETE'),
  };
}

/** The owner of a new organization. */
export async function signUp(plane: TestControlPlane, orgName = 'Conformance'): Promise<ApiUser> {
  const email = newEmail();
  const body = { email, password: PASSWORD, name: 'Tester', orgName };
  const answer = await plane.call('POST', '/v1/auth/signup', { body });
  expect(answer.status).toBe(201);
  return createApiUser(plane, email, answer.body.token, answer.body.user.id, answer.body.org.id);
}

/** A new member of the owner's organization, invited by mail. */
export async function inviteMember(plane: TestControlPlane, owner: ApiUser, role: Role): Promise<ApiUser> {
  const email = newEmail();
  expect((await owner.post('/v1/members', { email, role })).status).toBe(201);
  const { token } = await plane.waitForMail(email, 'Invitation');
  const body = { token, name: 'Invited', password: PASSWORD };
  const answer = await plane.call('POST', '/v1/invitations/accept', { body });
  expect(answer.status).toBe(200);
  return createApiUser(plane, email, answer.body.token, answer.body.user.id, owner.orgId);
}

/** The id of the organization's first project. */
export async function firstProjectId(of: ApiUser): Promise<string> {
  const { body } = await of.get('/v1/projects');
  return body.projects[0].id;
}

export async function createAgent(
  of: ApiUser,
  fields: Record<string, unknown> = {},
): Promise<{ id: string; name: string }> {
  const projectId = fields.projectId ?? (await firstProjectId(of));
  const answer = await of.post('/v1/agents', { projectId, name: 'Support Bot', ...fields });
  expect(answer.status).toBe(201);
  return answer.body.agent;
}
