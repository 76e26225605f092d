/** `acg run --trust-rule`: programs of CI jobs and pods that hold no secret, and the renewal of their token. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { OpenAiStandIn } from '@acg/stand-in-provider/openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Stack, type Tenant } from '../fixtures/stack.js';
import { createTestDatabase, type TestDatabase } from '../fixtures/test-database.js';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';
import { CONDITIONS } from '../trust-rules/exchange-token.js';
import { StandInIssuer, workloadClaims } from '../trust-rules/stand-in-issuer.js';
import { AcgCommand } from './acg-command.js';

const openai = new OpenAiStandIn();
let database: TestDatabase;
let issuer: StandInIssuer;
/** The endpoint of GitHub Actions that gives jobs their tokens. */
let github: Server;
let githubUrl = '';
let stack: Stack;
let tenant: Tenant;
let acg: AcgCommand;
let agentId: string;

beforeAll(async () => {
  await openai.start();
  issuer = await StandInIssuer.start();
  github = createServer((request, response) => {
    const audience = new URL(request.url!, 'http://x').searchParams.get('audience')!;
    if (request.headers.authorization !== 'Bearer the-request-token') response.writeHead(401).end();
    else response.end(JSON.stringify({ value: sign(audience) }));
  });
  await new Promise<void>((resolve) => github.listen(0, '127.0.0.1', resolve));
  githubUrl = `http://127.0.0.1:${(github.address() as AddressInfo).port}/token?api-version=2.0`;
  database = await createTestDatabase();
  stack = await Stack.start({ database, providers: { openai: openai.origin } });
  tenant = await stack.signUpTenant();
  agentId = (await tenant.createAgent({ name: 'CI' })).id;
  await tenant.createAccount(agentId, 'openai', { apiKey: PROVIDER_CREDENTIALS.openai });
  const { url } = await stack.addDataPlane();
  acg = new AcgCommand({ ACG_URL: stack.apiUrl, ACG_GATEWAY_URL: url });
});
afterAll(async () => {
  acg?.removeHome();
  await stack?.stop();
  await issuer.stop();
  github.close();
  await openai.close();
});

const sign = (audience: string) => issuer.keys[0]!.sign(workloadClaims(issuer.url, audience));
const createRule = async (): Promise<{ id: string; audience: string }> => {
  const input = { name: 'CI', agentId, issuer: issuer.url, conditions: CONDITIONS };
  const { id } = (await tenant.call('POST', '/v1/trust-rules', input)).body.rule;
  // The control plane does not know its public URL here; in production ACG_URL is that URL.
  const audience = `${stack.apiUrl}/trust-rules/${id}`;
  await database.sql`update trust_rules set audience = ${audience} where id = ${id}`;
  return { id, audience };
};
/** Prints what the provider answers, with nothing but the variables of `acg run`. */
const CALL = [
  process.execPath,
  '-e',
  `fetch(process.env.OPENAI_BASE_URL + '/models', { headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY } })
     .then((response) => console.log(response.status + ' ' + process.env.OPENAI_API_KEY))`,
];
const run = (ruleId: string, env: Readonly<Record<string, string>>, options: readonly string[] = [], command = CALL) =>
  acg.run(['run', '--trust-rule', ruleId, ...options, '--', ...command], { env });

test('GitHub Actions, GitLab, SPIFFE and files: the platform’s token becomes a gateway token, and no disk has one', async () => {
  const { id, audience } = await createRule();
  const file = join(acg.homeDirectory, 'token');
  writeFileSync(file, `${sign(audience)}\n`);
  const sources: readonly (readonly [Readonly<Record<string, string>>, readonly string[]])[] = [
    [{ ACTIONS_ID_TOKEN_REQUEST_URL: githubUrl, ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'the-request-token' }, []],
    [{ ACG_ID_TOKEN: sign(audience) }, []],
    [{ ACG_ID_TOKEN_FILE: file }, []],
    [{}, ['--token-file', file]],
  ];
  for (const [env, options] of sources) {
    const { code, stdout, stderr } = await run(id, env, options);
    expect({ code, stdout, stderr }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^200 acg_[0-9a-f]{64}\n$/),
    });
    expect(stderr).toContain('token: exchanged');
    const token = stdout.slice(4).trim();
    for (const path of readdirSync(acg.homeDirectory, { recursive: true, encoding: 'utf8' })) {
      const full = join(acg.homeDirectory, path);
      if (existsSync(full) && !readdirSyncOrNull(full)) expect(readFileSync(full, 'utf8')).not.toContain(token);
    }
  }
});

const readdirSyncOrNull = (path: string): readonly string[] | null => {
  try {
    return readdirSync(path);
  } catch {
    return null;
  }
};

test('the child does not get the platform’s token, and a missing or rejected one says what to do', async () => {
  const { id, audience } = await createRule();
  const nothing = await run(id, {});
  expect(nothing.code).not.toBe(0);
  expect(nothing.stderr).toContain('no token of a platform');
  const wrong = await run(id, { ACG_ID_TOKEN: sign('https://example.com') });
  expect(wrong.stderr).toContain('aud of the token');
  expect(wrong.stderr).toContain(`acg trust-rules show ${id}`);
  const token = sign(audience);
  const print = [process.execPath, '-e', 'console.log(JSON.stringify(process.env))'];
  const { stdout } = await run(id, { ACG_ID_TOKEN: token }, [], print);
  expect(stdout).not.toContain(token);
});

test('a program that runs longer than the token: the token is renewed and stays the same', {
  timeout: 120_000,
}, async () => {
  const { id } = await createRule();
  // Shorter than the API accepts, so that the renewal comes within the test.
  await database.sql`alter table trust_rules drop constraint trust_rules_key_lifetime_s_check`;
  await database.sql`update trust_rules set key_lifetime_s = 6 where id = ${id}`;
  const env = { ACTIONS_ID_TOKEN_REQUEST_URL: githubUrl, ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'the-request-token' };
  const marker = join(acg.homeDirectory, 'renewed');
  const wait = [
    process.execPath,
    '-e',
    `const { existsSync } = require('node:fs');
     const timer = setInterval(async () => {
       if (!existsSync(${JSON.stringify(marker)})) return;
       clearInterval(timer);
       const response = await fetch(process.env.OPENAI_BASE_URL + '/models', {
         headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY } });
       console.log(response.status);
     }, 50);`,
  ];
  const running = run(id, env, [], wait);
  for (;;) {
    const [row] = await database.sql<{ n: number }[]>`
      select count(*)::int as n from audit_entries
       where action = 'trust_rule.exchange' and target_id = ${id} and changes -> 'keyPrefix' ->> 0 is not null`;
    if (row!.n >= 3) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  writeFileSync(marker, '');
  expect(await running).toMatchObject({ code: 0, stdout: '200\n' });
  expect(await database.sql`select 1 from trust_rule_keys where rule_id = ${id}`).toHaveLength(1);
});
