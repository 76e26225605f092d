/** `acg run`: unmodified programs through the gateway, their environment, their exit, and the fate of their token. */
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OpenAiStandIn } from '@acg/stand-in-provider/openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Stack, TENANT_PASSWORD, type Tenant } from '../fixtures/stack.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { AnthropicStandIn } from '../stand-in-providers/anthropic.js';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';
import { AcgCommand } from './acg-command.js';

const openai = new OpenAiStandIn();
const anthropic = new AnthropicStandIn();
/** Where a program finds the SDKs. */
const cwd = fileURLToPath(new URL('../..', import.meta.url));
let stack: Stack;
let tenant: Tenant;
let agent: { id: string; slug: string };
let acg: AcgCommand;

beforeAll(async () => {
  await Promise.all([openai.start(), anthropic.start()]);
  stack = await Stack.start({ providers: { openai: openai.origin, anthropic: anthropic.origin } });
  tenant = await stack.signUpTenant();
  agent = await tenant.createAgent({ name: 'Support bot', rpmLimit: 10_000 });
  await tenant.createAccount(agent.id, 'openai', { apiKey: PROVIDER_CREDENTIALS.openai });
  await tenant.createAccount(agent.id, 'anthropic', { apiKey: PROVIDER_CREDENTIALS.anthropic });
  const { url } = await stack.addDataPlane();
  acg = new AcgCommand({ ACG_URL: stack.apiUrl, ACG_TOKEN: tenant.session, ACG_GATEWAY_URL: url });
});
afterAll(async () => {
  acg?.removeHome();
  await stack?.stop();
  await Promise.all([openai.close(), anthropic.close()]);
});

const keys = async (): Promise<{ id: string; expiresAt: string }[]> =>
  (await tenant.call('GET', `/v1/api-keys?agentId=${agent.id}`)).body.keys;
const node = (source: string) => [process.execPath, '--input-type=module', '-e', source];
const run = (command: readonly string[], env: Readonly<Record<string, string>> = {}, options: readonly string[] = []) =>
  acg.run(['run', '--agent', 'support-bot', ...options, '--', ...command], { cwd, env });

test('the official SDKs work unmodified, with no key of their own', async () => {
  const outcome = await run(
    node(`
      import OpenAI from 'openai';
      import Anthropic from '@anthropic-ai/sdk';
      const chat = await new OpenAI().chat.completions.create({
        model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Say hello' }] });
      const message = await new Anthropic().messages.create({
        model: 'claude-haiku-4-5', max_tokens: 100, messages: [{ role: 'user', content: 'Say hello' }] });
      console.log(JSON.stringify([chat.choices[0].message.content, message.content[0].text]));`),
    { OPENAI_API_KEY: 'sk-of-the-parent', ANTHROPIC_AUTH_TOKEN: 'token-of-the-parent' },
  );
  expect(outcome.stderr).toContain('support-bot → ');
  expect(outcome.stderr).toContain('removed ');
  expect(outcome.stderr).toContain('OPENAI_API_KEY');
  expect(outcome.stderr).not.toContain('sk-of-the-parent');
  expect(outcome.json).toEqual([openai.answerWords.join(''), expect.stringContaining('Hello')]);
  expect(outcome.code).toBe(0);
});

test('the child has the parent’s variables, but none of acg’s own and no key of a provider', async () => {
  const outcome = await run(node('console.log(JSON.stringify(process.env))'), {
    OPENAI_API_KEY: 'sk-of-the-parent',
    RESEND_API_KEY: 're_of_the_parent',
    ANTHROPIC_AUTH_TOKEN: 'token-of-the-parent',
    ACG_PROFILE: 'default',
    ACG_WHATEVER: 'mine',
    NO_PROXY: 'localhost',
    ORDINARY: 'stays',
  });
  const env: Record<string, string> = outcome.json;
  expect(env).toMatchObject({ NO_PROXY: 'localhost', ORDINARY: 'stays', HOME: acg.homeDirectory });
  expect(Object.keys(env).filter((name) => name.startsWith('ACG_'))).toEqual([
    'ACG_GATEWAY_URL',
    'ACG_GATEWAY_TOKEN',
    'ACG_AGENT',
    'ACG_ANTHROPIC_BASE_URL',
    'ACG_OPENAI_BASE_URL',
  ]);
  expect(env.ACG_GATEWAY_TOKEN).toMatch(/^acg_[0-9a-f]{64}$/);
  expect(env.OPENAI_API_KEY).toBe(env.ACG_GATEWAY_TOKEN);
  expect(env.RESEND_API_KEY).toBeUndefined();
  expect(env.ANTHROPIC_AUTH_TOKEN).toBeUndefined();
  expect(outcome.stdout).not.toContain(tenant.session);
  expect(outcome.stdout).not.toContain('of-the-parent');
  expect(outcome.stdout).not.toContain('of_the_parent');
});

test('--keep, --set and --providers override it', async () => {
  const outcome = await run(
    node('console.log(JSON.stringify(process.env))'),
    { RESEND_API_KEY: 're_of_the_parent', OPENAI_API_KEY: 'sk-of-the-parent' },
    ['--keep', 'RESEND_API_KEY', '--set', 'MODE=trial', '--providers', 'anthropic'],
  );
  const env: Record<string, string> = outcome.json;
  expect(env).toMatchObject({ RESEND_API_KEY: 're_of_the_parent', MODE: 'trial' });
  expect(env.ANTHROPIC_BASE_URL).toContain('/v1/proxy/anthropic');
  expect(env.OPENAI_BASE_URL).toBeUndefined();
  expect(env.OPENAI_API_KEY).toBeUndefined();
});

test('--shell expands in the child', async () => {
  const outcome = await acg.run(['run', '--agent', agent.id, '--shell', 'echo "$OPENAI_BASE_URL"'], { cwd });
  expect(outcome.stdout).toMatch(/\/v1\/proxy\/openai\/v1\n$/);
});

test.each([
  ['its own', node('process.exit(7)'), 7],
  ['128 and the number of the signal that ended it', node('process.kill(process.pid, "SIGTERM")'), 143],
  ['127 where there is none', ['no-such-command-anywhere'], 127],
])('the exit code of a command is %s', async (_what, command, code) => {
  expect((await run(command)).code).toBe(code);
});

test('126 where it may not be executed, 125 for what is wrong with the call itself', async () => {
  const script = join(acg.homeDirectory, 'script');
  writeFileSync(script, '#!/bin/sh\n', { mode: 0o600 });
  expect((await run([script])).code).toBe(126);
  for (const args of [
    ['run', '--', 'true'],
    ['run', '--agent', 'support-bot'],
    ['run', '--agent', 'nobody', '--', 'true'],
    ['run', '--agent', 'support-bot', '--no-such-option', '--', 'true'],
    ['run', '--agent', 'support-bot', '--providers', 'vercel', '--', 'true'],
    ['run', '--agent', 'support-bot', '--ttl', 'soon', '--', 'true'],
  ]) {
    expect([args, (await acg.run(args)).code]).toEqual([args, 125]);
  }
  expect(await keys()).toEqual([]);
});

/** A program that reports its start and the signals it receives. */
const PATIENT = (file: string) => `
  import { writeFileSync } from 'node:fs';
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {
    writeFileSync(${JSON.stringify(file)} + '.signal', signal);
    process.exit(signal === 'SIGINT' ? 3 : 4);
  });
  setInterval(() => {}, 1000);
  writeFileSync(${JSON.stringify(file)}, String(process.pid), { flag: 'wx' });`;

/** Runs the program that reports its start; calls `onRunning` once it has. */
const runPatient = (file: string, options: readonly string[], onRunning: (acg: ChildProcess) => Promise<void>) =>
  acg.run(['run', '--agent', 'support-bot', ...options, '--', ...node(PATIENT(file))], {
    cwd,
    onStart: async (child) => {
      await waitUntil('the command runs', () => existsSync(file) && readFileSync(file, 'utf8') !== '');
      await onRunning(child);
    },
  });

test.each([
  ['SIGTERM', 4],
  ['SIGINT', 3],
  ['SIGHUP', 4],
] as const)('%s reaches the command, whose exit code stands, and the token ends', async (signal, code) => {
  mkdirSync(acg.homeDirectory, { recursive: true });
  const file = join(acg.homeDirectory, `started-${signal}`);
  const outcome = await runPatient(file, [], async (child) => {
    expect(await keys()).toHaveLength(1);
    child.kill(signal);
  });
  expect(outcome.code).toBe(code);
  expect(readFileSync(`${file}.signal`, 'utf8')).toBe(signal);
  expect(await keys()).toEqual([]);
});

test('a command that is killed leaves no token', async () => {
  expect((await run(node('process.kill(process.pid, "SIGKILL")'))).code).toBe(137);
  expect(await keys()).toEqual([]);
});

test('acg itself killed: its token expires by --ttl', async () => {
  const file = join(acg.homeDirectory, 'started-kill');
  const before = Date.now();
  await runPatient(file, ['--ttl', '30m'], async (child) => {
    child.kill('SIGKILL');
    const [key] = await keys();
    expect(Date.parse(key!.expiresAt) - before).toBeGreaterThan(29 * 60_000);
    expect(Date.parse(key!.expiresAt) - before).toBeLessThan(31 * 60_000);
    await tenant.call('DELETE', `/v1/api-keys/${key!.id}`);
    process.kill(Number(readFileSync(file, 'utf8')), 'SIGTERM');
  });
});

test('a saved token that was revoked elsewhere is forgotten, and a new one takes its place', async () => {
  const saved = await acg.runOk(['keys', 'create', '--agent', 'support-bot', '--name', 'kept', '--save', '--json']);
  expect(readFileSync(acg.credentialsPath, 'utf8')).toContain(saved.json.secretKey);
  await tenant.call('DELETE', `/v1/api-keys/${saved.json.key.id}`);
  const first = await run(node('process.exit(7)'));
  expect([first.code, first.stderr]).toEqual([7, expect.stringContaining('a new one takes its place')]);
  expect(readFileSync(acg.credentialsPath, 'utf8')).not.toContain(saved.json.secretKey);
  expect((await run(node('process.exit(7)'))).stderr).not.toContain('takes its place');

  const second = await acg.runOk(['keys', 'create', '--agent', 'support-bot', '--name', 'kept', '--save', '--json']);
  await acg.runOk(['keys', 'revoke', second.json.key.id, '--yes']);
  expect(readFileSync(acg.credentialsPath, 'utf8')).not.toContain(second.json.secretKey);
  const env = await acg.runOk(['env', '--agent', 'support-bot', '--format', 'json']);
  expect(env.json.ACG_GATEWAY_TOKEN).toMatch(/^acg_/);
  for (const { id } of await keys()) await tenant.call('DELETE', `/v1/api-keys/${id}`);
});

test('with a gateway token and nothing else, no session is needed', async () => {
  const token = await tenant.createToken(agent.id);
  const args = ['run', '--', ...node('console.log(process.env.OPENAI_API_KEY)')];
  const outcome = await acg.run(args, { cwd, env: { ACG_TOKEN: '', ACG_GATEWAY_TOKEN: token } });
  expect(outcome.stdout).toBe(`${token}\n`);
  const other = await acg.run(['run', '--agent', 'other', '--', 'true'], { env: { ACG_GATEWAY_TOKEN: token } });
  expect([other.code, other.stderr]).toEqual([125, expect.stringContaining('not of other')]);
});

test('acg env prints the same for a shell and names the command that revokes its token', async () => {
  const outcome = await acg.runOk(['env', '--agent', 'support-bot', '--ttl', '1h'], {
    env: { RESEND_API_KEY: 're_parent' },
  });
  expect(outcome.stdout).toContain('unset RESEND_API_KEY\n');
  expect(outcome.stdout).toMatch(/^export OPENAI_API_KEY='acg_[0-9a-f]{64}'$/m);
  expect(outcome.stderr).toContain('acg keys revoke');
});

test('a member’s own agent: the first run creates it, its token ends with the program, the project may end it', async () => {
  const email = `${crypto.randomUUID()}@example.com`;
  const invited = await tenant.call('POST', '/v1/members', { email, role: 'member' });
  const token = new URL(invited.body.invitationUrl).hash.replace(/^#(token=)?/, '');
  const joined = { token, name: 'Ada Lovelace', password: TENANT_PASSWORD };
  await stack.call('POST', '/v1/invitations/accept', null, joined);
  const login = await stack.call('POST', '/v1/auth/login', null, { email, password: TENANT_PASSWORD });
  const env = { ACG_TOKEN: login.body.token as string };
  const runOwn = (...args: readonly string[]) =>
    acg.run(['run', ...args, '--', ...node('console.log(process.env.OPENAI_API_KEY)')], { cwd, env });
  const denied = await runOwn('--personal');
  expect([denied.code, denied.stderr]).toEqual([125, expect.stringContaining('no project allows personal agents')]);
  expect((await runOwn()).stderr).toContain('which agent?');
  const credentials = { apiKey: PROVIDER_CREDENTIALS.openai };
  await tenant.call('POST', '/v1/credentials', { name: 'Team', providerSlug: 'openai', credentials });
  await acg.runOk(['projects', 'set', 'default', '--personal-agents', 'Team']);
  for (const args of [['--personal'], [], ['--agent', 'ada-lovelace']]) {
    const outcome = await runOwn(...args);
    expect([outcome.code, outcome.stderr]).toEqual([0, expect.stringContaining('ada-lovelace → openai')]);
    expect(outcome.stdout).toMatch(/^acg_[0-9a-f]{64}\n$/);
  }
  const { body } = await stack.call('GET', '/v1/personal-agents', env.ACG_TOKEN);
  const own = body.personalAgents[0].agent;
  expect((await tenant.call('GET', `/v1/api-keys?agentId=${own.id}`)).body.total).toBe(0);
  const both = await runOwn('--personal', '--agent', 'support-bot');
  expect([both.code, both.stderr]).toEqual([125, expect.stringContaining('exclude each other')]);
  const foreign = await runOwn('--agent', 'support-bot');
  expect([foreign.code, foreign.stderr]).toEqual([125, expect.stringContaining('cannot create gateway tokens')]);
  await acg.runOk(['projects', 'set', 'default', '--personal-agents', 'none']);
  expect((await runOwn('--personal')).code).toBe(125);
  expect((await tenant.call('GET', `/v1/agents/${own.id}`)).body.agent.status).toBe('revoked');
});
