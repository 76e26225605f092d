/** `acg providers`: lists the built-in providers. */
import type { Command } from 'commander';
import type { CommandContext } from '../../invocation/command-context.js';
import { addPageOptions, type PageOptions, printRemainingRows, toPageQuery } from '../../options/parse-options.js';

export function registerProviderCommands(group: Command, { begin }: CommandContext): void {
  addPageOptions(group.command('ls').description('list built-in providers and their credential fields')).action(
    async (options: PageOptions) => {
      const run = begin();
      const answer = await (await run.getClient()).get('/v1/providers', { params: { query: toPageQuery(options) } });
      run.printResult(answer, () =>
        run.printTable(
          [
            { title: 'PROVIDER', cell: ({ slug }) => slug },
            { title: 'NAME', cell: ({ displayName }) => displayName },
            {
              title: 'CREDENTIALS',
              cell: ({ credentialFields }) =>
                credentialFields.map(({ name, required }) => (required ? name : `[${name}]`)).join(' '),
            },
          ],
          answer.providers,
        ),
      );
      printRemainingRows(run, answer.providers.length, answer);
    },
  );
}
