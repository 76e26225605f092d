/** `acg login`: by a code that is approved in a browser anywhere, by a token on stdin, or by e-mail and password. */
import { hostname } from 'node:os';
import { ApiError, Unreachable } from '@acg/client/api-error';
import type { Client } from '@acg/client/client';
import type { Command } from 'commander';
import { identityLine, whoIs } from '../api/identity.js';
import { connect } from '../invocation/connect.js';
import type { Invocation } from '../invocation/invocation.js';
import { VERSION } from '../invocation/version.js';
import { tokenLife } from '../settings/token-life.js';
import { askSecret } from '../terminal/ask.js';
import { EXIT, Failure, usage } from '../terminal/failure.js';
import { day } from '../terminal/format.js';
import { readPassword } from '../terminal/password.js';
import { printable } from '../terminal/printable.js';
import { readStdin } from '../terminal/secret-input.js';
import type { Tree } from './tree.js';

interface LoginOptions {
  readonly withToken?: true;
  readonly email?: string;
  readonly passwordStdin?: true;
  readonly open?: true;
}

export function loginCommand(command: Command, { begin }: Tree): void {
  command
    .option('--with-token', 'read a management token, or a session, from stdin')
    .option('--email <address>', 'log in with a password, asked for without showing it')
    .option('--password-stdin', 'with --email: read the password from stdin')
    .option('--open', 'open the page in a browser')
    .action(async (options: LoginOptions) => {
      const run = begin();
      await remember(run, await obtainToken(run, options));
    });
}

interface SignupOptions {
  readonly email: string;
  readonly name?: string;
  readonly orgName: string;
  readonly passwordStdin?: true;
}

export function signupCommand(command: Command, { begin }: Tree): void {
  command
    .requiredOption('--email <address>', 'yours')
    .requiredOption('--org-name <name>', 'of the organization that is made')
    .option('--name <name>', 'yours; what stands before the @, if left out')
    .option('--password-stdin', 'read the password from stdin')
    .action(async ({ email, name, orgName, passwordStdin }: SignupOptions) => {
      const run = begin();
      const password = await readPassword(run, 'A password, 10 characters or more', passwordStdin);
      const body = { email, password, name: name ?? email.split('@')[0]!, orgName };
      await remember(run, (await run.publicClient().post('/v1/auth/signup', { body })).token);
    });
}

/** Whoever it is, is logged in from now on. */
async function remember(run: Invocation, token: string): Promise<void> {
  const { url, profile } = run.settings;
  const me = await whoIs(connect({ url, token }));
  const org = me.orgs.find(({ id }) => id === me.orgId)?.slug ?? me.orgId;
  run.profiles.saveProfile(profile, { url });
  run.profiles.saveSession(profile, { url, token, orgId: me.orgId, org });
  run.profiles.setCurrent(profile);
  run.show(me, () => run.done(`${identityLine(me)}`));
  const life = tokenLife(token);
  const until = life === null ? '' : `, good until ${day(new Date(life.untilMs).toISOString())} and renewed by use`;
  run.note(`Saved in ${run.profiles.credentialsPath} (0600), profile ${profile}${until}`);
}

async function obtainToken(run: Invocation, options: LoginOptions): Promise<string> {
  const { withToken, email, passwordStdin } = options;
  if (withToken === true && email !== undefined) throw usage('--with-token and --email exclude each other');
  if (withToken === true) return pastedToken(run);
  const client = run.publicClient();
  if (email === undefined) return approvedToken(run, client, options);
  const password = await readPassword(run, `Password of ${email}`, passwordStdin);
  return (await client.post('/v1/auth/login', { body: { email, password } })).token;
}

async function pastedToken(run: Invocation): Promise<string> {
  const token = run.terminal.stdin.isTTY
    ? await askSecret(run, { message: 'Token', flag: 'acg login --with-token < file' })
    : await readStdin(run.terminal);
  // It becomes a header, whose other characters fetch refuses with a message that quotes them.
  if (!/^[\x21-\x7e]+$/.test(token)) throw usage('what stdin holds is no token');
  return token;
}

async function approvedToken(run: Invocation, client: Client, { open }: LoginOptions): Promise<string> {
  const host = hostname()
    .replaceAll(/[^A-Za-z0-9._-]/g, '-')
    .slice(0, 253);
  const body = { client: `acg ${VERSION}`, ...(host === '' ? {} : { hostname: host }) };
  const { deviceCode, userCode, verificationUrl, expiresIn, interval } = await client.post('/v1/auth/device', { body });
  // Not a remark: without it nobody can go on, so --quiet keeps it.
  const { stderr } = run.terminal;
  stderr.write(
    // The address last: terminals take what follows it for a part of the link.
    `Code ${run.paint('bold', printable(userCode))} – log in and type it at ${printable(verificationUrl)}\n`,
  );
  if (open === true) await (await import('../terminal/browser.js')).openInBrowser(run, verificationUrl);
  run.note(`Waiting for ${Math.round(expiresIn / 60)} minutes at most; Ctrl-C ends it.`);
  return pollForApproval(client, deviceCode, { intervalMs: interval * 1_000, endMs: Date.now() + expiresIn * 1_000 });
}

const REFUSALS: Readonly<Record<string, string>> = {
  access_denied: 'the login was refused in the browser',
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
      if (error instanceof Unreachable) continue; // a network that comes back must not cost the approval
      if (!(error instanceof ApiError)) throw error;
      const refusal = REFUSALS[error.error];
      if (refusal !== undefined) throw new Failure(EXIT.unauthenticated, refusal, { hint: 'acg login' });
      if (error.error === 'slow_down') waitMs += intervalMs;
      else if (error.error !== 'authorization_pending') throw error;
    }
  }
  throw new Failure(EXIT.unauthenticated, REFUSALS.expired_token!, { hint: 'acg login' });
}
