/** Deletions during a call never cause a 500: the call succeeds, is rejected, or is 503 with Retry-After. */
import { expect, test } from 'vitest';
import { callExample, exampleOf, routesWithExample } from '../controlplane/route-examples/index.js';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { countLockWaiters } from '../fixtures/hold-postgres-lock.js';
import { waitUntil } from '../fixtures/wait-until.js';

const plane = useControlPlane();

/** Deletes the organization in a transaction that commits when the returned function is called. */
async function deleteInOpenTransaction(orgId: string): Promise<() => Promise<void>> {
  let commit = (): void => {};
  const wanted = new Promise<void>((go) => {
    commit = go;
  });
  let begun = false;
  const transaction = plane().database.sql.begin(async (tx) => {
    await tx`delete from organizations where id = ${orgId}`;
    begun = true;
    await wanted;
  });
  await waitUntil('the organization is deleted', () => begun);
  return async () => {
    commit();
    await transaction;
  };
}

test.each([
  ['invites', '/v1/members', { email: 'x@example.org', role: 'viewer' }, 404],
  ['creates a project', '/v1/projects', { name: 'P' }, 409],
] as const)('an organization that is deleted while its owner %s', async (_what, path, body, status) => {
  const owner = await plane().createMember('owner');
  const end = await deleteInOpenTransaction(owner.orgId);
  const call = owner.call('POST', path, body);
  await expect.poll(() => countLockWaiters(plane().database.sql)).toBe(1);
  await end();
  expect((await call).status).toBe(status);
});

test('switching to an organization during its deletion: 404', async () => {
  const owner = await plane().createMember('owner');
  const there = await plane().createMember('owner');
  await plane().database.sql`
    insert into memberships (org_id, user_id, role) values (${there.orgId}, ${owner.userId}, 'viewer')`;
  const end = await deleteInOpenTransaction(there.orgId);
  const call = owner.call('POST', '/v1/auth/switch-org', { orgId: there.orgId });
  await expect.poll(() => countLockWaiters(plane().database.sql)).toBe(1);
  await end();
  expect((await call).status).toBe(404);
});

test('accepting an invitation during the deletion of its organization: 400', async () => {
  const owner = await plane().createMember('owner');
  const email = `${owner.userId}@example.org`;
  await owner.call('POST', '/v1/members', { email, role: 'viewer' });
  const { token } = await plane().waitForMail(email, 'Invitation');
  const end = await deleteInOpenTransaction(owner.orgId);
  const body = { token, name: 'New', password: 'a long enough password' };
  const call = plane().call('POST', '/v1/invitations/accept', { body });
  await expect.poll(() => countLockWaiters(plane().database.sql)).toBe(1);
  await end();
  expect((await call).status).toBe(400);
});

const ROUNDS = 3;

test('every write route while its organization, member or session is deleted: no 5xx but 503', async () => {
  const { sql } = plane().database;
  const writes = routesWithExample(plane().service.app.routeTable).filter(({ method }) => method !== 'GET');
  const deletions: readonly ((owner: Member, caller: Member) => Promise<unknown>)[] = [
    ({ orgId }) => sql`delete from organizations where id = ${orgId}`,
    (owner, { userId }) => owner.call('DELETE', `/v1/members/${userId}`),
    (_owner, { userId }) => sql`delete from sessions where user_id = ${userId}`,
  ];
  const failed: unknown[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const owner = await plane().createMember('owner');
    const caller = await plane().createMember('owner', owner.orgId);
    const calls = [];
    for (const route of writes) {
      const call = await exampleOf(route).prepare({ plane: plane(), owner, caller });
      calls.push(async () => {
        const { status, body } = await callExample(caller, route, call);
        if (status >= 500 && status !== 503)
          failed.push({ round, route: `${route.method} ${route.url}`, status, body });
      });
    }
    const all = calls.map((call) => call());
    const deletion = deletions[round % deletions.length]!(owner, caller).then(
      () => null,
      (error: unknown) => error,
    );
    await Promise.all(all);
    await deletion;
  }
  expect(failed).toEqual([]);
});
