/** What POST /v1/agents/:id/call-check answers is what the data plane does with the same call. */
import { OpenAiStandIn } from '@acg/stand-in-provider/openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Stack, type Tenant } from '../fixtures/stack.js';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';

const openai = new OpenAiStandIn();
let stack: Stack;
let tenant: Tenant;
let gateway = '';
let agentId = '';
let token = '';

beforeAll(async () => {
  await openai.start();
  stack = await Stack.start({ providers: { openai: openai.origin } });
  gateway = (await stack.addDataPlane()).url;
  tenant = await stack.signUpTenant();
  const policy = {
    openai: {
      calls: ['POST /v1/chat/completions', 'GET /v1/models', 'POST /v1/realtime/**'],
      models: { allow: ['gpt-5*'] },
    },
  };
  agentId = (await tenant.createAgent({ name: 'Checked', policy })).id;
  await tenant.createAccount(agentId, 'openai', { apiKey: PROVIDER_CREDENTIALS.openai });
  token = await tenant.createToken(agentId);
});
afterAll(async () => {
  await stack?.stop();
  await openai.close();
});

const check = async (body: object) => (await tenant.call('POST', `/v1/agents/${agentId}/call-check`, body)).body;

async function callStatus(providerSlug: string, call: string, model: string | undefined): Promise<number> {
  const [method, path] = call.split(' ') as [string, string];
  const response = await fetch(`${gateway}/v1/proxy/${providerSlug}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(method === 'POST' ? { body: JSON.stringify({ model, messages: [] }) } : {}),
  });
  await response.body?.cancel();
  return response.status;
}

test.each([
  ['openai', 'GET /v1/models', undefined, null, 200],
  ['openai', 'POST /v1/chat/completions', 'gpt-5-mini', null, 200],
  ['openai', 'POST /v1/chat/completions', 'o3', 'denied_model', 403],
  ['openai', 'GET /v1/files', undefined, 'denied_call', 403],
  ['openai', 'GET /v1//models', undefined, 'denied_call', 403],
  ['openai', 'POST /v1/realtime/client_secrets', 'gpt-5', 'sensitive_path', 403],
  ['anthropic', 'POST /v1/messages', 'claude', 'not_assigned', 403],
  ['nobody', 'GET /x', undefined, 'unknown_provider', 404],
])('%s, %s with the model %s: %s', async (providerSlug, call, model, reason, status) => {
  const body = { providerSlug, call, ...(model === undefined ? {} : { model }) };
  expect(await check(body)).toEqual({ allowed: reason === null, reason });
  expect(await callStatus(providerSlug, call, model)).toBe(status);
});

test('a policy that is not in force yet is checked instead, and validated', async () => {
  const body = { providerSlug: 'openai', call: 'GET /v1/files' };
  expect(await check({ ...body, policy: { openai: {} } })).toEqual({ allowed: true, reason: null });
  expect(await check({ ...body, policy: null })).toEqual({ allowed: true, reason: null });
  expect(await check({ ...body, policy: {} })).toEqual({ allowed: false, reason: 'denied_call' });
  const wrong = { ...body, policy: { openai: { calls: ['files'] } } };
  expect((await tenant.call('POST', `/v1/agents/${agentId}/call-check`, wrong)).status).toBe(400);
});
