/** What is remembered between commands, when several run at once and days go by. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createSigner } from 'fast-jwt';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { useControlPlane } from '../fixtures/control-plane.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { AcgCommand } from './acg-command.js';

const DAY_S = 86_400;
const plane = useControlPlane();
let acg: AcgCommand;
beforeEach(() => {
  acg = new AcgCommand({ ACG_URL: plane().url });
});
afterEach(() => acg.removeHome());

const savedToken = (): string => JSON.parse(readFileSync(acg.credentialsPath, 'utf8')).sessions.default.token;

/** Of an owner. */
const newSession = async (): Promise<string> => (await plane().createMember('owner')).token;

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());

/** The same session, as if its token had been issued `ageDays` ago. */
function aged(token: string, ageDays: number): string {
  const claims = claimsOf(token);
  const iat = claims.iat - ageDays * DAY_S;
  const sign = createSigner({ key: plane().config.jwtSecrets[0]!.reveal(), algorithm: 'HS256' });
  return sign({ ...claims, iat, exp: iat + 7 * DAY_S });
}

const login = (token: string, ...args: readonly string[]) =>
  acg.runOk(['login', '--with-token', ...args], { input: token });
const ageOf = (token: string): number => Date.now() / 1_000 - claimsOf(token).iat;

test('every command keeps a session of 3 days and renews one of 4 days', async () => {
  const token = await newSession();
  await login(aged(token, 3));
  await acg.runOk(['projects', 'ls']);
  expect(savedToken()).toBe(aged(token, 3));
  await login(token);
  const old = aged(token, 4);
  // Simulates the passing of days: a fresh login would not renew.
  await login(old);
  await acg.runOk(['projects', 'ls']);
  expect(savedToken()).not.toBe(old);
  expect(ageOf(savedToken())).toBeLessThan(DAY_S);
  expect((await acg.runOk(['whoami', '--json'])).json.role).toBe('owner');
});

test('commands at once renew one session, and none of them is logged out', async () => {
  const token = await newSession();
  await login(aged(token, 5));
  const outcomes = await Promise.all(
    Array.from({ length: 4 }, () => acg.run(['projects', 'ls', '--json'], { asProcess: true })),
  );
  expect(outcomes.map(({ code, stderr }) => [code, stderr])).toEqual(Array(4).fill([0, '']));
  expect(ageOf(savedToken())).toBeLessThan(DAY_S);
  await acg.runOk(['whoami']);
});

test('a running command continues after another one has renewed its session', async () => {
  const token = await newSession();
  const answered: string[] = [];
  const server = createServer(async (request, response) => {
    const { authorization = '' } = request.headers;
    const answer = await fetch(plane().url + request.url, { headers: { authorization } });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
    if (request.url!.startsWith('/v1/events'))
      answered.push(`${answer.status} ${authorization.slice('Bearer '.length)}`);
  }).listen(0, '127.0.0.1');
  await waitUntil('it listens', () => server.listening);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await login(token, '--url', url);
  const { code } = await acg.run(['events', '-f', '--url', url], {
    onStart: async (child) => {
      await waitUntil('it runs', () => answered.includes(`200 ${token}`));
      const { token: next } = (await plane().call('POST', '/v1/auth/refresh', { token })).body;
      await login(next, '--url', url);
      await plane().database.sql`update sessions set previous_until = null`; // the minute of the old token is over
      await waitUntil('the new token is taken', () => answered.includes(`200 ${next}`));
      // A retired token would have ended the session.
      expect(answered.filter((one) => one.startsWith('401'))).toEqual([]);
      child.kill('SIGINT');
    },
  });
  expect(code).toBe(null); // it ended by the signal, not by a rejection
  await new Promise((resolve) => server.close(resolve));
});

test('a revoked session stays revoked: exit 4, and nothing is saved', async () => {
  const token = await newSession();
  const old = aged(token, 6);
  await login(old);
  await plane().call('POST', '/v1/auth/logout', { token: old });
  expect((await acg.run(['projects', 'ls'])).code).toBe(4);
  expect(savedToken()).toBe(old);
});

/**
 * Runs in separate processes, as commands do. On a busy machine a process may not be scheduled within a command's time.
 */
const SAVER = `
  const { ProfilesAndSavedTokens } = await import(process.argv[1]);
  const { home, first, count } = JSON.parse(process.argv[2]);
  const profiles = new ProfilesAndSavedTokens({ env: {}, platform: process.platform, home }, () => {});
  const save = (work) => {
    try {
      work();
    } catch (error) {
      if (!error.message.endsWith('is held by another acg')) throw error;
      save(work);
    }
  };
  for (let n = first; n < first + count; n++) {
    save(() => profiles.saveGatewayToken('default', 'agent-' + n, { token: 'token', keyId: 'key' }));
    save(() => profiles.saveProfile('profile-' + n, { url: 'http://127.0.0.1' }));
  }`;

test('what commands save at the same time is all there', async () => {
  const program = new URL('../../../controlplane/cli/dist/settings/profiles-and-saved-tokens.js', import.meta.url).href;
  const count = 60;
  const savers = [0, 1, 2, 3].map((n) => {
    const place = JSON.stringify({ home: acg.homeDirectory, first: n * count, count });
    return promisify(execFile)(process.execPath, ['--input-type=module', '-e', SAVER, program, place]);
  });
  await Promise.all(savers);
  const read = (name: string) => JSON.parse(readFileSync(join(acg.homeDirectory, '.config', 'acg', name), 'utf8'));
  expect(Object.keys(read('credentials.json').gatewayTokens.default)).toHaveLength(4 * count);
  expect(Object.keys(read('config.json').profiles)).toHaveLength(4 * count);
  expect(readdirSync(join(acg.homeDirectory, '.config', 'acg')).sort()).toEqual(['config.json', 'credentials.json']);
});

const TO = { full: '/dev/full', pipe: '| head -c 1' } as const;
test('a closed pipe ends the command without an error; a full disk is reported in one line', async () => {
  await login(await newSession());
  const shell = (line: string) =>
    promisify(execFile)('/bin/sh', ['-c', line], { env: acg.environment }).catch((error) => error);
  const command = `"${process.execPath}" "${acg.program}" projects ls --json`;
  const head = await shell(`{ ${command}; echo $? >&2; } ${TO.pipe}`);
  expect([head.stdout, head.stderr]).toEqual(['{', '0\n']);
  if (!existsSync(TO.full)) return; // Linux has it
  const full = await shell(`${command} > ${TO.full}`);
  expect([full.code, full.stderr.split('\n').length]).toEqual([1, 2]);
  expect(full.stderr).toContain('ENOSPC');
});
