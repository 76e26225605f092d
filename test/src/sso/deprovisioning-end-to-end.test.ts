/**
 * The end of a membership over real processes: what a member holds in the organization works until the directory, an admin
 * or the project's setting ends it, and the stream that runs is aborted. `PRINT_FIGURES=1` prints the times.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Stack, TENANT_PASSWORD, type Tenant, waitForCondition } from '../fixtures/stack.js';
import { callScim, ENTRA_DISABLE } from './scim-client.js';

const streams = new Set<ServerResponse>();
/** Begins a stream and never ends it. */
const provider = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"choices":[{"delta":{"content":"a"}}]}\n\n');
    streams.add(response);
    response.on('close', () => streams.delete(response));
  });
});
let stack: Stack;
let gateway = '';
let tenant: Tenant;
let projectId = '';

beforeAll(async () => {
  provider.listen(0, '127.0.0.1');
  await once(provider, 'listening');
  stack = await Stack.start({
    providers: { openai: `http://127.0.0.1:${(provider.address() as AddressInfo).port}` },
  });
  gateway = (await stack.addDataPlane()).url;
  tenant = await stack.signUpTenant();
  projectId = tenant.projectId;
  const credential = await tenant.call('POST', '/v1/credentials', {
    name: 'Team',
    providerSlug: 'openai',
    credentials: { apiKey: 'sk-test-0123456789' },
  });
  await allowPersonalAgents([credential.body.credential.id]);
});
afterAll(async () => {
  provider.closeAllConnections();
  await stack?.stop();
  provider.close();
});

let credentialIds: readonly string[] = [];
async function allowPersonalAgents(ids: readonly string[] | null) {
  credentialIds = ids ?? credentialIds;
  const personalAgents = ids === null ? null : { credentialIds: ids };
  const { status } = await tenant.call('PATCH', `/v1/projects/${projectId}`, { personalAgents });
  expect(status).toBe(200);
}

async function joinMember(email: string) {
  const invited = await tenant.call('POST', '/v1/members', { email, role: 'member' });
  const token = new URL(invited.body.invitationUrl).hash.replace(/^#(token=)?/, '');
  const accepted = { token, name: 'Ada Lovelace', password: TENANT_PASSWORD };
  expect((await stack.call('POST', '/v1/invitations/accept', null, accepted)).status).toBe(200);
  const login = await stack.call('POST', '/v1/auth/login', null, { email, password: TENANT_PASSWORD });
  const session: string = login.body.token;
  const device = await stack.call('POST', '/v1/auth/device', null, { client: 'acg', hostname: 'laptop' });
  const { userCode, deviceCode } = device.body;
  const approval = { userCode, orgId: tenant.orgId, role: 'member' };
  expect((await stack.call('POST', '/v1/auth/device/approve', session, approval)).status).toBe(200);
  const { body } = await stack.call('POST', '/v1/auth/device/token', null, { deviceCode });
  return { userId: body.user.id as string, session, device: body.token as string };
}

const callProvider = (token: string) =>
  fetch(`${gateway}/v1/proxy/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o', messages: [], stream: true, max_completion_tokens: 5 }),
  });

/** A running stream of the member's personal agent. */
async function openPersonalStream(device: string) {
  const created = await stack.call('POST', '/v1/personal-agents/keys', device, { projectId, name: 'laptop' });
  expect(created.status).toBe(201);
  const token: string = created.body.secretKey;
  const before = streams.size;
  const response = await callProvider(token);
  expect(response.status).toBe(200);
  await waitForCondition(() => streams.size === before + 1, 'the stream at the provider');
  const ended = response.text().then(
    () => 'whole',
    () => 'aborted',
  );
  return { token, ended, agentId: created.body.agent.id as string };
}

/** Runs `end` and waits until the stream is aborted and each of the tokens is rejected. */
async function measureEnd(
  what: string,
  { token, ended }: { readonly token: string; readonly ended: Promise<string> },
  sessions: readonly string[],
  end: () => Promise<unknown>,
): Promise<void> {
  const startMs = performance.now();
  await end();
  const [outcome, streamMs] = [await ended, performance.now() - startMs];
  expect(outcome).toBe('aborted');
  await waitForCondition(async () => (await callProvider(token)).status === 401, 'the gateway token is rejected');
  await waitForCondition(() => streams.size === 0, 'the call of the provider has ended');
  const tokenMs = performance.now() - startMs;
  for (const session of sessions) expect((await stack.call('GET', '/v1/projects', session)).status).toBe(401);
  const sessionsMs = performance.now() - startMs;
  if (process.env.PRINT_FIGURES === '1') console.info({ what, streamMs, tokenMs, sessionsMs });
}

test('active: false of the directory ends session, device login, personal key and running stream', async () => {
  const email = `${crypto.randomUUID()}@example.com`;
  const { session, device } = await joinMember(email);
  const stream = await openPersonalStream(device);
  const { body } = await tenant.call('POST', '/v1/scim/tokens', { name: 'Entra' });
  const scim = (method: string, path: string, content: unknown) =>
    callScim(stack.apiUrl, body.secretToken, method, path, content);
  const user = await scim('POST', '/Users', { userName: email });
  expect(user.status).toBe(201);
  await measureEnd('scim', stream, [session, device], () => scim('PATCH', `/Users/${user.body.id}`, ENTRA_DISABLE));
});

test('the removal of the member does, and the switch of the project ends agents and nothing else', async () => {
  const { userId, session, device } = await joinMember(`${crypto.randomUUID()}@example.com`);
  const first = await openPersonalStream(device);
  await measureEnd('project', first, [], () => allowPersonalAgents(null));
  expect((await stack.call('GET', '/v1/projects', device)).status).toBe(200);
  await allowPersonalAgents(credentialIds);
  const second = await openPersonalStream(device);
  expect(second.agentId).toBe(first.agentId);
  await measureEnd('removal', second, [session, device], () => tenant.call('DELETE', `/v1/members/${userId}`));
});
