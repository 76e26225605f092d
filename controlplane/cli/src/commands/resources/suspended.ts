/**
 * `acg suspended`: reviews resources that were created before the founder of the organization verified the account's
 * e-mail address.
 */
import type { Command } from 'commander';
import type { CommandContext } from '../../invocation/command-context.js';
import { addPageOptions, type PageOptions, printRemainingRows, toPageQuery } from '../../options/parse-options.js';
import { formatDay } from '../../terminal/format.js';
import { requireConfirmation } from '../../terminal/prompt.js';

export function registerSuspendedCommands(group: Command, { begin }: CommandContext): void {
  addPageOptions(group.command('ls').description('list items that need a review')).action(
    async (options: PageOptions) => {
      const run = begin();
      const answer = await (await run.getClient()).get('/v1/suspended-items', {
        params: { query: toPageQuery(options) },
      });
      run.printResult(answer, () =>
        run.printTable(
          [
            { title: 'KIND', cell: ({ kind }) => kind },
            { title: 'NAME', cell: ({ name }) => name },
            { title: 'DETAIL', cell: ({ detail }) => detail },
            { title: 'CREATED', cell: ({ createdAt }) => formatDay(createdAt) },
            { title: 'ID', cell: ({ id }) => id },
          ],
          answer.items,
        ),
      );
      printRemainingRows(run, answer.items.length, answer);
    },
  );
  group
    .command('keep')
    .description('restore an item')
    .argument('<id>', 'of acg suspended ls')
    .action(async (id: string) => {
      const run = begin();
      const answer = await (await run.getClient()).post('/v1/suspended-items/{id}/keep', { params: { path: { id } } });
      run.printResult(answer, () => run.printSuccess(`${answer.item.name} works again`));
    });
  group
    .command('revoke')
    .description('delete an item permanently')
    .argument('<id>', 'of acg suspended ls')
    .action(async (id: string) => {
      const run = begin();
      await requireConfirmation(run, `Revoke the suspended item ${id} at ${run.settings.url}?`);
      const answer = await (await run.getClient()).delete('/v1/suspended-items/{id}', { params: { path: { id } } });
      run.printResult(answer, () => run.printSuccess(`${id} is revoked`));
    });
}
