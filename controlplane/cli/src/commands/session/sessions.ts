/** `acg sessions`: lists and revokes the sessions of this user. */
import type { Command } from 'commander';
import type { CommandContext } from '../../invocation/command-context.js';
import { addPageOptions, type PageOptions, printRemainingRows, toPageQuery } from '../../options/parse-options.js';
import { formatAgo, formatDay } from '../../terminal/format.js';
import { requireConfirmation } from '../../terminal/prompt.js';

export function registerSessionCommands(group: Command, { begin }: CommandContext): void {
  addPageOptions(group.command('ls').description('list sessions')).action(async (options: PageOptions) => {
    const run = begin();
    const answer = await (await run.getClient()).get('/v1/sessions', { params: { query: toPageQuery(options) } });
    run.printResult(answer, () =>
      run.printTable(
        [
          { title: 'SESSION', cell: ({ id, current }) => `${current ? '* ' : '  '}${id}` },
          { title: 'KIND', cell: ({ kind, roleMax }) => (roleMax === null ? kind : `${kind} (${roleMax})`) },
          { title: 'IP', cell: ({ ip }) => ip },
          { title: 'PROGRAM', cell: ({ userAgent }) => userAgent },
          { title: 'LAST SEEN', cell: ({ lastSeenAt }) => formatAgo(lastSeenAt, Date.now()) },
          { title: 'EXPIRES', cell: ({ expiresAt }) => formatDay(expiresAt) },
        ],
        answer.sessions,
      ),
    );
    printRemainingRows(run, answer.sessions.length, answer);
  });
  group
    .command('end')
    .description('revoke a session')
    .argument('<session>', 'its id')
    .action(async (id: string) => {
      const run = begin();
      const client = await run.getClient();
      await requireConfirmation(run, `End the session ${id} at ${run.settings.url}?`);
      const answer = await client.delete('/v1/sessions/{id}', { params: { path: { id } } });
      run.printResult(answer, () => run.printSuccess(`${id} has ended`));
    });
  group
    .command('end-others')
    .description('revoke all other sessions')
    .action(async () => {
      const run = begin();
      const client = await run.getClient();
      await requireConfirmation(run, `End all other sessions of this user at ${run.settings.url}?`);
      const answer = await client.delete('/v1/sessions');
      run.printResult(answer, () => run.printSuccess('all other sessions have ended'));
    });
}
