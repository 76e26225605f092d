/** Output for users, and for scripts without `--json`: values as the API defines them, and next steps that work. */

import { OpenAiStandIn } from '@acg/stand-in-provider/openai';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Stack, type Tenant } from '../fixtures/stack.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { AcgCommand } from './acg-command.js';

const openai = new OpenAiStandIn();
let stack: Stack;
let tenant: Tenant;
let acg: AcgCommand;
let gateway = '';

beforeAll(async () => {
  await openai.start();
  stack = await Stack.start({ providers: { openai: openai.origin } });
  gateway = (await stack.addDataPlane()).url;
});
beforeEach(async () => {
  tenant = await stack.signUpTenant();
  acg?.removeHome();
  acg = new AcgCommand({ ACG_URL: stack.apiUrl, ACG_GATEWAY_URL: gateway, ACG_TOKEN: tenant.session });
});
afterAll(async () => {
  acg?.removeHome();
  await stack?.stop();
  await openai.close();
});

/** The cell under that title in the tab-separated row that starts with this text. */
async function cell(args: readonly string[], row: string, title: string): Promise<string | undefined> {
  const [titles, ...rows] = (await acg.runOk(args)).stdout.split('\n').map((line) => line.split('\t'));
  return rows.find(([first]) => first === row)?.[titles!.indexOf(title)];
}

test('none removes every kind of limit, also for a new agent', async () => {
  const limits = ['--budget', '5', '--rpm', '5', '--rpd', '6', '--tpm', '7', '--threshold', '50'];
  await acg.runOk(['agents', 'create', 'limited', ...limits]);
  const none = limits.map((word) => (word.startsWith('--') ? word : 'none'));
  await acg.runOk(['agents', 'set', 'limited', ...none]);
  await acg.runOk(['agents', 'create', 'free', ...none]);
  for (const name of ['limited', 'free']) {
    const { agent } = (await acg.runOk(['agents', 'get', name, '--json'])).json;
    expect(agent).toMatchObject({ budgetCentsMonthly: null, tpmLimit: null, usageThresholds: [] });
    expect(agent).toMatchObject({ rpmLimit: 60, rpdLimit: 10_000 });
  }
  await acg.runOk(['projects', 'set', 'default', '--budget', '5']);
  const project = await acg.runOk(['projects', 'set', 'default', '--budget', 'none', '--json']);
  expect(project.json.project.budgetCentsMonthly).toBe(null);
  await acg.runOk(['org', 'set', '--budget', '5']);
  expect((await acg.runOk(['org', 'set', '--budget', 'none', '--json'])).json.org.budgetCentsMonthly).toBe(null);
});

test('a hard budget is shown with its reservation', async () => {
  await acg.runOk('agents create strict --budget 1 --budget-mode hard --on-store-loss refuse'.split(' '));
  const { stdout } = await acg.runOk(['agents', 'get', 'strict']);
  expect(stdout).toContain('budget\t$1.00 a month, hard\n');
  expect(stdout).toContain('reserved without a maximum\t4096 output tokens\n');
  expect(stdout).toContain('when limits are not checked\tits calls are rejected\n');
  const { code, stderr } = await acg.run(['agents', 'get']);
  expect([code, stderr]).toEqual([2, 'acg: which agent?\n     → acg agents get <agent>, ACG_AGENT, or acg init\n']);
});

test('a set without anything to set says so', async () => {
  await acg.runOk(['agents', 'create', 'same']);
  const { code, stderr } = await acg.run(['agents', 'set', 'same']);
  expect([code, stderr]).toEqual([
    2,
    'acg: nothing to change: give at least one option\n     → acg agents set --help\n',
  ]);
});

test('when every call failed every view shows 100 %, and each rejection appears under its reason', async () => {
  const agent = await tenant.createAgent({ name: 'Failing' });
  await tenant.createAccount(agent.id, 'openai', { apiKey: 'sk-proj-not-the-one-it-takes' });
  const headers = { authorization: `Bearer ${await tenant.createToken(agent.id)}` };
  expect((await fetch(`${gateway}/v1/proxy/openai/v1/models`, { headers })).status).toBe(401);
  expect((await fetch(`${gateway}/v1/proxy/nobody/x`, { headers })).status).toBe(404);
  await waitUntil('both are on record', async () => {
    const { body } = await tenant.call('GET', '/v1/usage/summary');
    return body.requests === 1 && body.rejectedRequests === 1;
  });
  expect((await acg.runOk(['usage'])).stdout).toContain('errors\t100 %\n');
  expect(await cell(['usage', '--by', 'provider'], 'openai', 'ERRORS')).toBe('100 %');
  expect(await cell(['usage', 'compare', 'failing'], 'failing', 'ERRORS')).toBe('100 %');
  expect(await cell(['agents', 'ls'], 'failing', 'ERRORS')).toBe('100 %');
  expect(await cell(['top', '--once'], 'failing', 'ERRORS')).toBe('100 %');
  expect(await cell(['usage', '--by', 'reason'], 'unknown_provider', 'REJECTED')).toBe('1');
});

test('the next step of attention is a command as it is', async () => {
  const agent = await tenant.createAgent({ name: 'Unbounded' });
  const next = await cell(['attention'], 'no budget', 'NEXT');
  expect(next).toBe(`acg agents set ${agent.id} --budget USD`);
  await acg.runOk(next!.replace('USD', '5').split(' ').slice(1));
  expect(await cell(['attention'], 'no budget', 'NEXT')).toBe(undefined);
});
