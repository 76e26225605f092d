/** `acg audit`: who has changed what. */
import type { Command } from 'commander';
import { given } from '../api/given.js';
import { minute } from '../terminal/format.js';
import { noteRest, type PageOptions, paged, pageOf } from './options.js';
import type { Tree } from './tree.js';

interface AuditOptions extends PageOptions {
  readonly actor?: string;
  readonly action?: string;
  readonly start?: string;
  readonly end?: string;
}

export function auditCommand(command: Command, { begin }: Tree): void {
  paged(command)
    .option('--actor <id>', 'only of this user or management token')
    .option('--action <action>', 'only these, e.g. agent.update')
    .option('--start <day>', 'first day, YYYY-MM-DD, UTC')
    .option('--end <day>', 'last day')
    .action(async (options: AuditOptions) => {
      const run = begin();
      const { actor, action, start, end } = options;
      const query = { ...given({ actorId: actor, action, start, end }), ...pageOf(options) };
      const answer = await (await run.client()).get('/v1/audit', { params: { query } });
      run.show(answer, () =>
        run.table(
          [
            { title: 'AT (UTC)', cell: ({ at }) => minute(at) },
            { title: 'WHO', cell: (entry) => ('email' in entry.actor ? entry.actor.email : entry.actor.name) },
            { title: 'ACTION', cell: (entry) => entry.action },
            { title: 'TARGET', cell: ({ target }) => `${target.type} ${target.id}` },
            { title: 'CHANGES', cell: ({ changes }) => changesText(changes) },
          ],
          answer.entries,
        ),
      );
      noteRest(run, answer.entries.length, answer);
    });
}

const changesText = (changes: Readonly<Record<string, readonly unknown[]>>): string =>
  Object.entries(changes)
    .map(([field, [before, after]]) => `${field}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`)
    .join(', ');
