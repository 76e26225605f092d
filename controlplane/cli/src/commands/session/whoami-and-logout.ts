/** `acg whoami` and `acg logout`. */
import { ApiError } from '@acg/client/api-errors';
import type { Command } from 'commander';
import { fetchIdentity, formatIdentity } from '../../api/identity.js';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import { CliError, EXIT_CODES, notLoggedInError } from '../../terminal/cli-error.js';
import { formatMinute } from '../../terminal/format-numbers-and-times.js';

export function registerWhoamiCommand(command: Command, { begin }: ProgramInterface): void {
  command.action(async () => {
    const run = begin();
    const me = await fetchIdentity(await run.getClient());
    const { url, profile, session } = run.settings;
    run.printResult(me, () =>
      run.printFields({
        who: formatIdentity(me),
        token: me.token === null ? null : `${me.token.name} (${me.token.tokenPrefix})`,
        expires:
          me.token === null ? null : me.token.expiresAt === null ? 'never' : `${formatMinute(me.token.expiresAt)} UTC`,
        gateway: url,
        profile: session === null ? 'none: ACG_TOKEN' : profile,
        organizations: me.orgs.map(({ slug, role }) => `${slug} (${role})`).join(', '),
      }),
    );
  });
}

export function registerLogoutCommand(command: Command, { begin }: ProgramInterface): void {
  command.action(async () => {
    const run = begin();
    const { session, profile, url, token } = run.settings;
    if (session === null) {
      if (token === null) throw notLoggedInError(`not logged in at ${url} (profile ${profile})`);
      throw new CliError(EXIT_CODES.usage, 'the token comes from ACG_TOKEN: nothing is saved', {
        hint: 'unset ACG_TOKEN',
      });
    }
    // A management token is no user session: it is only removed here. `acg tokens revoke` revokes it.
    const body = session.token.startsWith('acgm_')
      ? { ok: true }
      : await (await run.getClient()).post('/v1/auth/logout').catch(ignoreEndedSession);
    run.profiles.saveSession(profile, null);
    run.printResult(body, () => run.printSuccess(`logged out of ${url}, profile ${profile}`));
  });
}

function ignoreEndedSession(error: unknown): { ok: true } {
  if (error instanceof ApiError && error.status === 401) return { ok: true };
  throw error;
}
