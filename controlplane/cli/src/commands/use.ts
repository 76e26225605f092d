/** `acg use`: the saved logins, and which of them is meant. */
import type { Command } from 'commander';
import { EXIT, Failure } from '../terminal/failure.js';
import type { Tree } from './tree.js';

export function useCommand(command: Command, { begin }: Tree): void {
  command.argument('[profile]', 'the one to go over to').action((name: string | undefined) => {
    const run = begin();
    const { profiles, current: before } = run.profiles.config();
    if (name !== undefined) {
      if (!Object.hasOwn(profiles, name)) {
        throw new Failure(EXIT.notFound, `no profile is called ${name}`, {
          hint: `acg login --profile ${name} --url …`,
        });
      }
      run.profiles.setCurrent(name);
    }
    const current = name ?? before;
    const { sessions } = run.profiles.credentials();
    const rows = Object.entries(profiles).map(([profile, { url, project }]) => ({
      name: profile,
      current: profile === current,
      url: url ?? null,
      org: sessions[profile]?.org ?? null,
      project: project ?? null,
      loggedIn: Object.hasOwn(sessions, profile),
    }));
    run.show({ current, profiles: rows }, () =>
      run.table(
        [
          { title: 'PROFILE', cell: (row) => `${row.current ? '* ' : '  '}${row.name}` },
          { title: 'GATEWAY', cell: (row) => row.url ?? '–' },
          { title: 'ORGANIZATION', cell: (row) => row.org ?? '–' },
          { title: 'PROJECT', cell: (row) => row.project ?? '–' },
        ],
        rows,
      ),
    );
    if (rows.length === 0) run.note('nothing is saved yet: acg login');
  });
}
