/** `acg whoami` and `acg logout`. */
import { ApiError } from '@acg/client/api-error';
import type { Command } from 'commander';
import { identityLine, whoIs } from '../api/identity.js';
import { EXIT, Failure, notLoggedIn } from '../terminal/failure.js';
import type { Tree } from './tree.js';

export function whoamiCommand(command: Command, { begin }: Tree): void {
  command.action(async () => {
    const run = begin();
    const me = await whoIs(await run.client());
    const { url, profile, session } = run.settings;
    run.show(me, () =>
      run.facts({
        who: identityLine(me),
        gateway: url,
        profile: session === null ? 'none: ACG_TOKEN' : profile,
        organizations: me.orgs.map(({ slug, role }) => `${slug} (${role})`).join(', '),
      }),
    );
  });
}

export function logoutCommand(command: Command, { begin }: Tree): void {
  command.action(async () => {
    const run = begin();
    const { session, profile, url, token } = run.settings;
    if (session === null) {
      if (token === null) throw notLoggedIn(`not logged in at ${url} (profile ${profile})`);
      throw new Failure(EXIT.usage, 'the token comes from ACG_TOKEN: nothing is saved', { hint: 'unset ACG_TOKEN' });
    }
    // A management token is not the session of anybody: it is forgotten here, and ends with `acg tokens revoke`.
    const body = session.token.startsWith('acgm_')
      ? { ok: true }
      : await (await run.client()).post('/v1/auth/logout').catch(endedAlready);
    run.profiles.saveSession(profile, null);
    run.show(body, () => run.done(`logged out of ${url}, profile ${profile}`));
  });
}

function endedAlready(error: unknown): { ok: true } {
  if (error instanceof ApiError && error.status === 401) return { ok: true };
  throw error;
}
