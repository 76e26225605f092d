/** `acg suspended`: what was made before the founder of the organization proved to read the mailbox of the account. */
import type { Command } from 'commander';
import { confirmed } from '../terminal/ask.js';
import { day } from '../terminal/format.js';
import { noteRest, type PageOptions, paged, pageOf } from './options.js';
import type { Tree } from './tree.js';

export function suspendedCommands(group: Command, { begin }: Tree): void {
  paged(group.command('ls').description('list what waits for a review')).action(async (options: PageOptions) => {
    const run = begin();
    const answer = await (await run.client()).get('/v1/suspended-items', { params: { query: pageOf(options) } });
    run.show(answer, () =>
      run.table(
        [
          { title: 'KIND', cell: ({ kind }) => kind },
          { title: 'NAME', cell: ({ name }) => name },
          { title: 'DETAIL', cell: ({ detail }) => detail },
          { title: 'CREATED', cell: ({ createdAt }) => day(createdAt) },
          { title: 'ID', cell: ({ id }) => id },
        ],
        answer.items,
      ),
    );
    noteRest(run, answer.items.length, answer);
  });
  group
    .command('keep')
    .description('let an item work again')
    .argument('<id>', 'of acg suspended ls')
    .action(async (id: string) => {
      const run = begin();
      const answer = await (await run.client()).post('/v1/suspended-items/{id}/keep', { params: { path: { id } } });
      run.show(answer, () => run.done(`${answer.item.name} works again`));
    });
  group
    .command('revoke')
    .description('delete an item for good')
    .argument('<id>', 'of acg suspended ls')
    .action(async (id: string) => {
      const run = begin();
      await confirmed(run, `Revoke the suspended item ${id} at ${run.settings.url}?`);
      const answer = await (await run.client()).delete('/v1/suspended-items/{id}', { params: { path: { id } } });
      run.show(answer, () => run.done(`${id} is revoked`));
    });
}
