/** The write quota of an organization in the management API, and the callers that it affects. */
import { expect, test } from 'vitest';
import { useControlPlane } from '../fixtures/control-plane.js';

const plane = useControlPlane();

/** Nearly all that a body may have. */
const LARGE = ' '.repeat(1_000_000);

test('a member that writes endlessly gets 429 but can read, delete and leave; colleagues and other organizations are not affected', async () => {
  const [greedy, other] = [await plane().createMember('owner'), await plane().createMember('owner')];
  const write = async (by: typeof greedy) => {
    const authorization = `Bearer ${by.token}`;
    const headers = { authorization, 'content-type': 'application/json' };
    return fetch(`${plane().url}/v1/projects`, { method: 'POST', headers, body: `{"name":"Large"${LARGE}}` });
  };
  const colleague = await plane().createMember('admin', greedy.orgId);
  const { id } = (await greedy.call('POST', '/v1/projects', { name: 'Mine' })).body.project;
  let answer = await write(greedy);
  for (; answer.status === 201; answer = await write(greedy)) await answer.arrayBuffer();
  expect(answer.status).toBe(429);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await answer.json()).toEqual({ error: expect.stringMatching(/sends too many changes\. Retry in \d+ s/) });
  expect((await write(colleague)).status).toBe(201);
  expect((await write(other)).status).toBe(201);
  expect((await greedy.call('GET', '/v1/projects')).status).toBe(200);
  expect((await greedy.call('DELETE', `/v1/projects/${id}`)).status).toBe(200);
  expect((await greedy.call('POST', '/v1/auth/logout')).status).toBe(200);
});
