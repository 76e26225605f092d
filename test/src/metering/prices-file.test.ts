/** PRICES_FILE from the operator's disk to the budget: the whole stack as processes, spend seen by the agent. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { json } from '../providers/answer.js';
import { REAL } from '../providers/credentials.js';
import { OpenAiStandIn } from '../providers/openai.js';
import { ResendStandIn } from '../providers/resend.js';
import { Stack, type Tenant } from '../stack.js';

let openai: OpenAiStandIn;
let resend: ResendStandIn;
let stack: Stack;
let tenant: Tenant;
let proxy: string;

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
  tenant = await stack.tenant();
  proxy = (await stack.addDataPlane()).url;
});
afterAll(async () => {
  await stack?.stop();
  await Promise.all([openai?.close(), resend?.close()]);
});

async function agentWith(slug: 'openai' | 'resend', apiKey: string): Promise<string> {
  const agent = await tenant.agent({ name: slug, budgetCentsMonthly: 5 });
  await tenant.account(agent.id, slug, { apiKey });
  return tenant.token(agent.id);
}

async function post(token: string, path: string, body: unknown): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'user-agent': 'test' };
  const response = await fetch(`${proxy}/v1/proxy${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return response;
}

test('a model of the price file is charged at its price, to the cent', async () => {
  const token = await agentWith('openai', REAL.openai);
  const usage = { prompt_tokens: 30, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 10 } };
  openai.failNext({ answer: json(200, { model: 'my-model', choices: [], usage }) });
  const first = await post(token, '/openai/v1/chat/completions', { model: 'my-model', messages: [] });
  await first.text();
  // 20 × $1000 + 10 × $100 + 5 × $4000 per million = 4.1 cents
  openai.failNext({ answer: json(200, { model: 'my-model', choices: [], usage }) });
  const second = await post(token, '/openai/v1/chat/completions', { model: 'my-model', messages: [] });
  expect(second.status).toBe(200);
  await second.text();
  const third = await post(token, '/openai/v1/chat/completions', { model: 'my-model', messages: [] });
  expect(third.status).toBe(429);
  expect(await third.json()).toMatchObject({ limitType: 'budget', spentCents: 8, budgetCents: 5 });
});

test('e-mails are charged by the piece', async () => {
  const token = await agentWith('resend', REAL.resend);
  const mail = { from: 'a@example.com', to: 'b@example.com', subject: 's', text: 't' };
  const batch = await post(token, '/resend/emails/batch', Array(130).fill(mail));
  expect(batch.status).toBe(200);
  await batch.text();
  // 130 × $0.0004 = 5.2 cents
  const refused = await post(token, '/resend/emails', mail);
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({ limitType: 'budget', spentCents: 5, budgetCents: 5 });
});
