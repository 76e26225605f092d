/** `acg providers`: what is built in. */
import type { Command } from 'commander';
import { noteRest, type PageOptions, paged, pageOf } from './options.js';
import type { Tree } from './tree.js';

export function providerCommands(group: Command, { begin }: Tree): void {
  paged(group.command('ls').description('list them, and what their credentials are')).action(
    async (options: PageOptions) => {
      const run = begin();
      const answer = await (await run.client()).get('/v1/providers', { params: { query: pageOf(options) } });
      run.show(answer, () =>
        run.table(
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
      noteRest(run, answer.providers.length, answer);
    },
  );
}
