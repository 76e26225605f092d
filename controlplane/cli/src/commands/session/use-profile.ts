/** `acg use`: lists saved profiles and selects the current one. */
import type { Command } from 'commander';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import { CliError, EXIT_CODES } from '../../terminal/cli-error.js';

export function registerUseCommand(command: Command, { begin }: ProgramInterface): void {
  command.argument('[profile]', 'the one to go over to').action((name: string | undefined) => {
    const run = begin();
    const { profiles, current: before } = run.profiles.readConfig();
    if (name !== undefined) {
      if (!Object.hasOwn(profiles, name)) {
        throw new CliError(EXIT_CODES.notFound, `there is no profile ${name}`, {
          hint: `acg login --profile ${name} --url …`,
        });
      }
      run.profiles.setCurrent(name);
    }
    const current = name ?? before;
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
