/** `acg sessions`: where this user is logged in. */
import type { Command } from 'commander';
import { confirmed } from '../terminal/ask.js';
import { ago, day } from '../terminal/format.js';
import { noteRest, type PageOptions, paged, pageOf } from './options.js';
import type { Tree } from './tree.js';

export function sessionCommands(group: Command, { begin }: Tree): void {
  paged(group.command('ls').description('list them')).action(async (options: PageOptions) => {
    const run = begin();
    const answer = await (await run.client()).get('/v1/sessions', { params: { query: pageOf(options) } });
    run.show(answer, () =>
      run.table(
        [
          { title: 'SESSION', cell: ({ id, current }) => `${current ? '* ' : '  '}${id}` },
          { title: 'KIND', cell: ({ kind, roleMax }) => (roleMax === null ? kind : `${kind} (${roleMax})`) },
          { title: 'ADDRESS', cell: ({ ip }) => ip },
          { title: 'PROGRAM', cell: ({ userAgent }) => userAgent },
          { title: 'LAST SEEN', cell: ({ lastSeenAt }) => ago(lastSeenAt, Date.now()) },
          { title: 'ENDS', cell: ({ expiresAt }) => day(expiresAt) },
        ],
        answer.sessions,
      ),
    );
    noteRest(run, answer.sessions.length, answer);
  });
  group
    .command('end')
    .description('end one')
    .argument('<session>', 'its id')
    .action(async (id: string) => {
      const run = begin();
      const client = await run.client();
      await confirmed(run, `End the session ${id} at ${run.settings.url}?`);
      const answer = await client.delete('/v1/sessions/{id}', { params: { path: { id } } });
      run.show(answer, () => run.done(`${id} has ended`));
    });
  group
    .command('end-others')
    .description('end all but this one')
    .action(async () => {
      const run = begin();
      const client = await run.client();
      await confirmed(run, `End all other sessions of this user at ${run.settings.url}?`);
      const answer = await client.delete('/v1/sessions');
      run.show(answer, () => run.done('all other sessions have ended'));
    });
}
