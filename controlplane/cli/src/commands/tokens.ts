/** `acg tokens`: management tokens, with which programs call /v1. */
import { everyRow } from '@acg/client/every-row';
import { type Command, Option } from 'commander';
import { given } from '../api/given.js';
import { collected, findProject, isId, type PageQuery, pickOne } from '../api/lookup.js';
import { confirmed } from '../terminal/ask.js';
import { ago, day } from '../terminal/format.js';
import { parseDuration } from './duration.js';
import { noteRest, type PageOptions, paged, pageOf } from './options.js';
import type { Tree } from './tree.js';

interface CreateOptions {
  readonly name: string;
  readonly role: 'viewer' | 'member' | 'admin';
  readonly onlyProject?: string;
  readonly expires?: string;
}

export function tokenCommands(group: Command, { begin }: Tree): void {
  paged(group.command('ls').description('list them')).action(async (options: PageOptions) => {
    const run = begin();
    const answer = await (await run.client()).get('/v1/management-tokens', { params: { query: pageOf(options) } });
    run.show(answer, () =>
      run.table(
        [
          { title: 'TOKEN', cell: ({ tokenPrefix }) => tokenPrefix },
          { title: 'NAME', cell: ({ name }) => name },
          { title: 'ROLE', cell: ({ role }) => role },
          { title: 'PROJECT', cell: ({ projectId }) => projectId ?? 'all' },
          { title: 'LAST USED', cell: ({ lastUsedAt }) => ago(lastUsedAt, Date.now()) },
          { title: 'EXPIRES', cell: ({ expiresAt }) => day(expiresAt) },
          { title: 'ID', cell: ({ id }) => id },
        ],
        answer.tokens,
      ),
    );
    noteRest(run, answer.tokens.length, answer);
  });
  group
    .command('create')
    .description('make one: the token alone on stdout, once')
    .requiredOption('--name <name>', 'what it is for')
    .addOption(new Option('--role <role>', 'what it may do').choices(['viewer', 'member', 'admin']).default('viewer'))
    .option('--only-project <project>', 'it sees and changes this one only')
    .option('--expires <span>', 'when it ends, e.g. 90d; never, if left out')
    .action(async ({ name, role, onlyProject, expires }: CreateOptions) => {
      const run = begin();
      const client = await run.client();
      const projectId = onlyProject === undefined ? undefined : await findProject(client, onlyProject);
      const expiresAt =
        expires === undefined ? undefined : new Date(Date.now() + parseDuration(expires, '--expires')).toISOString();
      const body = { name, role, ...given({ projectId, expiresAt }) };
      const answer = await client.post('/v1/management-tokens', { body });
      run.show(answer, () => run.out(answer.secretToken));
      run.note(`shown once; expires ${day(expiresAt ?? null)}; revoke: acg tokens revoke ${answer.token.id}`);
    });
  group
    .command('revoke')
    .description('end one')
    .argument('<token>', 'id, prefix or name')
    .action(async (text: string) => {
      const run = begin();
      const client = await run.client();
      const load = (page: PageQuery) => client.get('/v1/management-tokens', { params: { query: page } });
      const tokens = isId(text) ? [] : await collected(everyRow(load, (page) => page.tokens));
      const byPrefix = tokens.find(({ tokenPrefix }) => tokenPrefix === text);
      const id = isId(text) ? text : (byPrefix?.id ?? pickOne(tokens, text, 'token', 'acg tokens ls').id);
      await confirmed(run, `Revoke the management token ${text} at ${run.settings.url}?`);
      const answer = await client.delete('/v1/management-tokens/{id}', { params: { path: { id } } });
      run.show(answer, () => run.done(`${text} is revoked`));
    });
}
