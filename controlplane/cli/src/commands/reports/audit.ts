/** `acg audit`: lists the audit trail. */
import type { Command } from 'commander';
import { omitUndefined } from '../../api/omit-undefined.js';
import type { CommandContext } from '../../invocation/command-context.js';
import { addPageOptions, type PageOptions, printRemainingRows, toPageQuery } from '../../options/parse-options.js';
import { formatMinute } from '../../terminal/format.js';

interface AuditOptions extends PageOptions {
  readonly actor?: string;
  readonly action?: string;
  readonly start?: string;
  readonly end?: string;
}

export function registerAuditCommand(command: Command, { begin }: CommandContext): void {
  addPageOptions(command)
    .option('--actor <id>', 'only of this user or management token')
    .option('--action <action>', 'only these, e.g. agent.update')
    .option('--start <day>', 'first day, YYYY-MM-DD, UTC')
    .option('--end <day>', 'last day')
    .action(async (options: AuditOptions) => {
      const run = begin();
      const { actor, action, start, end } = options;
      const query = { ...omitUndefined({ actorId: actor, action, start, end }), ...toPageQuery(options) };
      const answer = await (await run.getClient()).get('/v1/audit', { params: { query } });
      run.printResult(answer, () =>
        run.printTable(
          [
            { title: 'AT (UTC)', cell: ({ at }) => formatMinute(at) },
            { title: 'WHO', cell: (entry) => ('email' in entry.actor ? entry.actor.email : entry.actor.name) },
            { title: 'ACTION', cell: (entry) => entry.action },
            { title: 'TARGET', cell: ({ target }) => `${target.type} ${target.id}` },
            { title: 'CHANGES', cell: ({ changes }) => formatChanges(changes) },
          ],
          answer.entries,
        ),
      );
      printRemainingRows(run, answer.entries.length, answer);
    });
}

const formatChanges = (changes: Readonly<Record<string, readonly unknown[]>>): string =>
  Object.entries(changes)
    .map(([field, [before, after]]) => `${field}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`)
    .join(', ');
