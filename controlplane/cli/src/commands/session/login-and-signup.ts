/** `acg login`: logs in by a code that is approved in a browser, by a token on stdin, or by e-mail and password. */
import { hostname } from 'node:os';
import { ApiError, UnreachableError } from '@acg/client/api-errors';
import type { Client } from '@acg/client/typed-api-client-throwing-errors';
import type { Command } from 'commander';
import { fetchIdentity, formatIdentity } from '../../api/identity.js';
import { createApiClient } from '../../invocation/api-client-with-timeout-and-retry.js';
import { GATEWAY_TOKEN } from '../../invocation/data-plane-client.js';
import type { Invocation } from '../../invocation/invocation.js';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import { VERSION } from '../../invocation/version.js';
import { decodeTokenLifetime } from '../../settings/decode-token-lifetime.js';
import { CliError, EXIT_CODES, usage } from '../../terminal/cli-error.js';
import { escapeControlCharacters } from '../../terminal/escape-control-characters.js';
import { formatDay } from '../../terminal/format-numbers-and-times.js';
import { promptSecret } from '../../terminal/prompt.js';
import { readPassword } from '../../terminal/read-password.js';
import { readStdin } from '../../terminal/secret-input.js';

interface LoginOptions {
  readonly withToken?: true;
  readonly email?: string;
  readonly passwordStdin?: true;
  readonly code?: string;
  readonly open?: true;
}

export function registerLoginCommand(command: Command, { begin }: ProgramInterface): void {
  command
    .option('--with-token', 'read a management token, or a session, from stdin')
    .option('--email <address>', 'log in with a password, asked for without showing it')
    .option('--password-stdin', 'with --email: read the password from stdin')
    .option('--code <code>', 'with --email: a code of the second factor; asked for, if left out')
    .option('--open', 'open the page in a browser')
    .action(async (options: LoginOptions) => {
      const run = begin();
      const { session, profile } = run.settings;
      if (session !== null)
        run.printNote(
          `profile ${profile} is logged in to ${session.org} already; this replaces it (--profile keeps both)`,
        );
      await saveLogin(run, await obtainToken(run, options));
    });
}

interface SignupOptions {
  readonly email: string;
  readonly name?: string;
  readonly orgName: string;
  readonly passwordStdin?: true;
}

export function registerSignupCommand(command: Command, { begin }: ProgramInterface): void {
  command
    .requiredOption('--email <address>', 'your e-mail address')
    .requiredOption('--org-name <name>', 'name of the new organization')
    .option('--name <name>', 'your name; by default the part of the e-mail address before the @')
    .option('--password-stdin', 'read the password from stdin')
    .action(async ({ email, name, orgName, passwordStdin }: SignupOptions) => {
      const run = begin();
      const password = await readPassword(run, 'A password, 10 characters or more', passwordStdin);
      const body = { email, password, name: name ?? email.split('@')[0]!, orgName };
      await saveLogin(run, (await run.createPublicClient().post('/v1/auth/signup', { body })).token);
    });
}

/** Saves the session, whichever way the user logged in. */
async function saveLogin(run: Invocation, token: string): Promise<void> {
  const { url, profile } = run.settings;
  const me = await fetchIdentity(createApiClient({ url, token }));
  const org = me.orgs.find(({ id }) => id === me.orgId)?.slug ?? me.orgId;
  run.profiles.saveProfile(profile, { url });
  run.profiles.saveSession(profile, { url, token, orgId: me.orgId, org });
  run.profiles.setCurrent(profile);
  run.printResult(me, () => run.printSuccess(`${formatIdentity(me)}`));
  const life = decodeTokenLifetime(token);
  const until =
    life === null ? '' : `, good until ${formatDay(new Date(life.expiresAtMs).toISOString())} and renewed by use`;
  run.printNote(`Saved in ${run.profiles.credentialsPath} (0600), profile ${profile}${until}`);
}

async function obtainToken(run: Invocation, options: LoginOptions): Promise<string> {
  const { withToken, email, passwordStdin, code } = options;
  if (withToken === true && email !== undefined) throw usage('--with-token and --email exclude each other');
  if (withToken === true) return readToken(run);
  const client = run.createPublicClient();
  if (email === undefined) return requestDeviceToken(run, client, options);
  const password = await readPassword(run, `Password of ${email}`, passwordStdin);
  const logIn = async (factor: { readonly code?: string }) =>
    (await client.post('/v1/auth/login', { body: { email, password, ...factor } })).token;
  try {
    return await logIn(code === undefined ? {} : { code });
  } catch (error) {
    if (!(error instanceof ApiError) || !error.secondFactor || code !== undefined) throw error;
    return logIn({ code: await promptSecret(run, { message: 'Code of the second factor', flag: '--code' }) });
  }
}

async function readToken(run: Invocation): Promise<string> {
  const token = run.terminal.stdin.isTTY
    ? await promptSecret(run, { message: 'Token', flag: 'acg login --with-token < file' })
    : await readStdin(run.terminal);
  // The token becomes a header value. `fetch` rejects other characters with a message that would quote the token.
  if (!/^[\x21-\x7e]+$/.test(token)) throw usage('the text on stdin is not a token');
  if (GATEWAY_TOKEN.test(token))
    throw usage('this is a gateway token, with which agents call providers', 'a management token: acg tokens create');
  return token;
}

async function requestDeviceToken(run: Invocation, client: Client, { open }: LoginOptions): Promise<string> {
  const host = hostname()
    .replaceAll(/[^A-Za-z0-9._-]/g, '-')
    .slice(0, 253);
  const body = { client: `acg ${VERSION}`, ...(host === '' ? {} : { hostname: host }) };
  const { deviceCode, userCode, verificationUrl, expiresIn, interval } = await client.post('/v1/auth/device', { body });
  // Printed even with --quiet, because the login needs it.
  const { stderr } = run.terminal;
  stderr.write(
    // The URL comes last: terminals treat following text as part of the link.
    `Code ${run.applyStyle('bold', escapeControlCharacters(userCode))} – log in and type it at ${escapeControlCharacters(verificationUrl)}\n`,
  );
  if (open === true) await (await import('../../terminal/open-browser.js')).openInBrowser(run, verificationUrl);
  run.printNote(`Waiting for ${Math.round(expiresIn / 60)} minutes at most; Ctrl-C ends it.`);
  return pollForApproval(client, deviceCode, { intervalMs: interval * 1_000, endMs: Date.now() + expiresIn * 1_000 });
}

const DEVICE_LOGIN_REJECTIONS: Readonly<Record<string, string>> = {
  access_denied: 'the login was denied in the browser',
  expired_token: 'the code was not approved in time',
};

async function pollForApproval(
  client: Client,
  deviceCode: string,
  { intervalMs, endMs }: { intervalMs: number; endMs: number },
): Promise<string> {
  for (let waitMs = intervalMs; Date.now() < endMs; ) {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    try {
      return (await client.post('/v1/auth/device/token', { body: { deviceCode } })).token;
    } catch (error) {
      if (error instanceof UnreachableError) continue; // a network failure must not lose the approval
      if (!(error instanceof ApiError)) throw error;
      const rejection = DEVICE_LOGIN_REJECTIONS[error.error];
      if (rejection !== undefined) throw new CliError(EXIT_CODES.unauthenticated, rejection, { hint: 'acg login' });
      if (error.error === 'slow_down') waitMs += intervalMs;
      else if (error.error !== 'authorization_pending') throw error;
    }
  }
  throw new CliError(EXIT_CODES.unauthenticated, DEVICE_LOGIN_REJECTIONS.expired_token!, { hint: 'acg login' });
}
