/** `acg use`: lists saved profiles, selects the current one and forgets one. */
import type { Command } from 'commander';
import type { Invocation } from '../../invocation/invocation.js';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import { CliError, EXIT_CODES, usage } from '../../terminal/cli-error.js';
import { requireConfirmation } from '../../terminal/prompt.js';

export function registerUseCommand(command: Command, { begin }: ProgramInterface): void {
  command
    .argument('[profile]', 'the profile to switch to')
    .option('--forget', 'delete the profile with its login and saved gateway tokens')
    .action(async (name: string | undefined, { forget }: { readonly forget?: true }) => {
      const run = begin();
      if (forget === true && name === undefined) throw usage('which profile?', 'acg use <profile> --forget');
      if (name !== undefined) {
        if (!Object.hasOwn(run.profiles.readConfig().profiles, name)) {
          throw new CliError(EXIT_CODES.notFound, `there is no profile ${name}`, {
            hint: `acg login --profile ${name} --url …`,
          });
        }
        if (forget === true) await forgetProfile(run, name);
        else run.profiles.setCurrent(name);
      }
      const { profiles, current } = run.profiles.readConfig();
      const { sessions } = run.profiles.readCredentials();
      const rows = Object.entries(profiles).map(([profile, { url, project }]) => ({
        name: profile,
        current: profile === current,
        url: url ?? null,
        org: sessions[profile]?.org ?? null,
        project: project ?? null,
        loggedIn: Object.hasOwn(sessions, profile),
      }));
      run.printResult({ current, profiles: rows }, () =>
        run.printTable(
          [
            { title: 'PROFILE', cell: (row) => `${row.current ? '* ' : '  '}${row.name}` },
            { title: 'GATEWAY', cell: (row) => row.url ?? '–' },
            { title: 'ORGANIZATION', cell: (row) => row.org ?? '–' },
            { title: 'PROJECT', cell: (row) => row.project ?? '–' },
          ],
          rows,
        ),
      );
      if (rows.length === 0) run.printNote('nothing is saved yet: acg login');
    });
}

/** The session itself lives on until it expires: only `acg logout` revokes it. */
async function forgetProfile(run: Invocation, name: string): Promise<void> {
  if (Object.hasOwn(run.profiles.readCredentials().sessions, name))
    await requireConfirmation(
      run,
      `Forget the profile ${name}, which is logged in (acg logout --profile ${name} first)?`,
    );
  run.profiles.deleteProfile(name);
}
