/**
 * PRICES_FILE from the operator's disk to the budget: the whole stack as processes, with the spend that the agent sees.
 */

import { OpenAiStandIn } from '@acg/stand-in-provider/openai';
import { jsonResponse } from '@acg/stand-in-provider/stand-in-response';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Stack, type Tenant, waitForCondition } from '../fixtures/stack.js';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';
import { ResendStandIn } from '../stand-in-providers/resend.js';

let openai: OpenAiStandIn;
let resend: ResendStandIn;
let stack: Stack;
let tenant: Tenant;
let data: Awaited<ReturnType<Stack['addDataPlane']>>;

beforeAll(async () => {
  openai = await new OpenAiStandIn().start();
  resend = await new ResendStandIn().start();
  stack = await Stack.start({
    providers: { openai: openai.origin, resend: resend.origin },
    prices: {
      resend: { perRequestUsd: 0.0004 },
      openai: { models: { 'my-model': { inputPerMTok: 1000, outputPerMTok: 4000, cachedInputPerMTok: 100 } } },
    },
  });
  tenant = await stack.signUpTenant();
  data = await stack.addDataPlane();
});
afterAll(async () => {
  await stack?.stop();
  await Promise.all([openai?.close(), resend?.close()]);
});

async function createAgentWithAccount(slug: 'openai' | 'resend', apiKey: string): Promise<string> {
  const agent = await tenant.createAgent({ name: slug, budgetCentsMonthly: 5 });
  await tenant.createAccount(agent.id, slug, { apiKey });
  return tenant.createToken(agent.id);
}

async function post(token: string, path: string, body: unknown): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'user-agent': 'test' };
  const response = await fetch(`${data.url}/v1/proxy${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return response;
}

test('price file: a model of the file is charged at its price, to the cent', async () => {
  const token = await createAgentWithAccount('openai', PROVIDER_CREDENTIALS.openai);
  const usage = { prompt_tokens: 30, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 10 } };
  openai.failNext({ answer: jsonResponse(200, { model: 'my-model', choices: [], usage }) });
  const first = await post(token, '/openai/v1/chat/completions', { model: 'my-model', messages: [] });
  await first.text();
  // 20 × $1000 + 10 × $100 + 5 × $4000 per million = 4.1 cents
  openai.failNext({ answer: jsonResponse(200, { model: 'my-model', choices: [], usage }) });
  const second = await post(token, '/openai/v1/chat/completions', { model: 'my-model', messages: [] });
  expect(second.status).toBe(200);
  await second.text();
  const third = await post(token, '/openai/v1/chat/completions', { model: 'my-model', messages: [] });
  expect(third.status).toBe(429);
  expect(await third.json()).toMatchObject({ limitType: 'budget', spentCents: 8, budgetCents: 5 });
});

test('price file: e-mails are charged per e-mail', async () => {
  const token = await createAgentWithAccount('resend', PROVIDER_CREDENTIALS.resend);
  const mail = { from: 'a@example.com', to: 'b@example.com', subject: 's', text: 't' };
  const batch = await post(token, '/resend/emails/batch', Array(130).fill(mail));
  expect(batch.status).toBe(200);
  await batch.text();
  // 130 × $0.0004 = 5.2 cents
  const rejected = await post(token, '/resend/emails', mail);
  expect(rejected.status).toBe(429);
  expect(await rejected.json()).toMatchObject({ limitType: 'budget', spentCents: 5, budgetCents: 5 });
});

const expectEventually = (condition: () => Promise<boolean> | boolean, what: string) =>
  waitForCondition(condition, what, 30_000);

const metric = async (name: string): Promise<number> => {
  const text = await (await fetch(`${stack.apiUrl}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
};

/** Cost of one call with 1 MTok of `my-model`, in cents. */
async function costOf(token: string, agentId: string): Promise<number> {
  const before = await listCalls(agentId);
  openai.failNext({
    answer: jsonResponse(200, {
      model: 'my-model',
      choices: [],
      usage: { prompt_tokens: 1_000_000, completion_tokens: 0 },
    }),
  });
  const answer = await post(token, '/openai/v1/chat/completions', { model: 'my-model', messages: [] });
  await answer.text();
  await expectEventually(async () => (await listCalls(agentId)).length > before.length, 'the call is in the ledger');
  return (await listCalls(agentId))[0].costCents;
}

const listCalls = async (agentId: string) => (await tenant.call('GET', `/v1/usage/logs?agentId=${agentId}`)).body.logs;

test('price file: a changed file applies without a restart on all planes; an invalid one is logged and changes nothing', async () => {
  const agent = await tenant.createAgent({ name: 'reread' });
  await tenant.createAccount(agent.id, 'openai', { apiKey: PROVIDER_CREDENTIALS.openai });
  const token = await tenant.createToken(agent.id);
  expect(await costOf(token, agent.id)).toBe(100_000);
  const price = (inputPerMTok: number) => ({ openai: { models: { 'my-model': { inputPerMTok, outputPerMTok: 1 } } } });
  const shown = async () => {
    const { body } = await tenant.call('GET', '/v1/prices?model=my-model&provider=openai');
    return body.prices[0];
  };

  stack.writePrices(`\n\n${JSON.stringify(price(5))}`);
  await expectEventually(async () => (await shown()).prices.inputPerMTok === 5, 'the file is read when it changes');
  expect(await shown()).toMatchObject({ source: 'file', file: { line: 3, fields: ['inputPerMTok', 'outputPerMTok'] } });
  await expectEventually(async () => (await costOf(token, agent.id)) === 500, 'the data plane has the new price');

  stack.writePrices('{"openai": {"models": {"my-model": {"inputPerMTok": "7"}}}}');
  await expectEventually(async () => (await metric('gateway_prices_file_rejected')) === 1, 'the bad file is seen');
  expect(stack.controlPlane.output).toMatch(/PRICES_FILE cannot be used: line 1: openai.models.*must be a number/);
  expect(await costOf(token, agent.id)).toBe(500);

  stack.controlPlane.reload(); // the invalid file must neither stop the process nor drop the prices
  await expectEventually(
    () => stack.controlPlane.output.split('PRICES_FILE cannot be used').length > 2,
    'it was read again',
  );
  stack.writePrices(JSON.stringify(price(9)));
  stack.controlPlane.reload();
  await expectEventually(async () => (await shown()).prices.inputPerMTok === 9, 'SIGHUP reads the file');
  expect(await metric('gateway_prices_file_rejected')).toBe(0);
  expect(stack.controlPlane.isRunning).toBe(true);
});

test('price file: SIGHUP does not stop a data plane', async () => {
  data.plane.reload();
  await expectEventually(() => data.plane.output.includes('SIGHUP'), 'SIGHUP is logged');
  expect((await fetch(`${data.metricsUrl}/healthz`)).status).toBe(200);
});

test('price file: an organization sees the prices of its own providers only', async () => {
  stack.writePrices(
    JSON.stringify({
      'house-llm': { models: { big: { inputPerMTok: 3, outputPerMTok: 4 } } },
      anthropic: { models: { 'claude-opus-5-5': { cacheWrite1hPerMTok: 6 } } },
    }),
  );
  const [own, other] = [await stack.signUpTenant(), await stack.signUpTenant()];
  const provider = { slug: 'house-llm', displayName: 'House', baseUrl: 'http://127.0.0.1:9/v1', authType: 'bearer' };
  expect((await own.call('POST', '/v1/custom-providers', provider)).status).toBe(201);
  const models = async (of: Tenant, query: string) => (await of.call('GET', `/v1/prices?${query}`)).body.prices;
  await expectEventually(
    async () => (await models(own, 'source=file&provider=anthropic')).length === 1,
    'the file is read',
  );
  expect((await models(own, 'source=file')).map((row: { provider: string }) => row.provider)).toEqual([
    'anthropic',
    'house-llm',
  ]);
  expect((await models(other, 'source=file')).map((row: { provider: string }) => row.provider)).toEqual(['anthropic']);
  const [opus] = await models(own, 'source=file&provider=anthropic');
  // Only the given price differs from the list: 4 / 20, writes 5, hits 0.2
  expect(opus).toMatchObject({
    file: { line: 1, fields: ['cacheWrite1hPerMTok'] },
    prices: { inputPerMTok: 4, outputPerMTok: 20, cacheWritePerMTok: 5, cacheWrite1hPerMTok: 6, batchPercent: 50 },
  });
  const [unknown] = await models(own, 'provider=openai&model=gpt-99');
  expect(unknown).toMatchObject({ source: 'fallback', prices: { inputPerMTok: 30, outputPerMTok: 180 }, file: null });
  const [sol] = await models(own, 'provider=openai&model=gpt-6-sol');
  expect(sol).toMatchObject({ bands: [{ aboveTokensIn: 272_000, inputPerMTok: 4, outputPerMTok: 15 }] });
});
