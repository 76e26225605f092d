/** `acg tokens`: manages management tokens, with which programs call /v1. */
import { iterateAllRows } from '@acg/client/auto-paging';
import { type Command, Option } from 'commander';
import { collectRows, findProjectId, isUuid, type PageQuery, selectByName } from '../../api/find-by-name.js';
import { omitUndefined } from '../../api/omit-undefined.js';
import type { CommandContext } from '../../invocation/command-context.js';
import { parseDuration } from '../../options/parse-duration.js';
import { addPageOptions, type PageOptions, printRemainingRows, toPageQuery } from '../../options/parse-options.js';
import { formatAgo, formatDay } from '../../terminal/format.js';
import { requireConfirmation } from '../../terminal/prompt.js';

interface CreateOptions {
  readonly name: string;
  readonly role: 'viewer' | 'member' | 'admin';
  readonly onlyProject?: string;
  readonly expires?: string;
}

export function registerTokenCommands(group: Command, { begin }: CommandContext): void {
  addPageOptions(group.command('ls').description('list management tokens')).action(async (options: PageOptions) => {
    const run = begin();
    const answer = await (await run.getClient()).get('/v1/management-tokens', {
      params: { query: toPageQuery(options) },
    });
    run.printResult(answer, () =>
      run.printTable(
        [
          { title: 'TOKEN', cell: ({ tokenPrefix }) => tokenPrefix },
          { title: 'NAME', cell: ({ name }) => name },
          { title: 'ROLE', cell: ({ role }) => role },
          { title: 'PROJECT', cell: ({ projectId }) => projectId ?? 'all' },
          { title: 'LAST USED', cell: ({ lastUsedAt }) => formatAgo(lastUsedAt, Date.now()) },
          { title: 'EXPIRES', cell: ({ expiresAt }) => formatDay(expiresAt) },
          { title: 'ID', cell: ({ id }) => id },
        ],
        answer.tokens,
      ),
    );
    printRemainingRows(run, answer.tokens.length, answer);
  });
  group
    .command('create')
    .description('create a management token; prints only the token, once, on stdout')
    .requiredOption('--name <name>', 'what it is for')
    .addOption(new Option('--role <role>', 'what it may do').choices(['viewer', 'member', 'admin']).default('viewer'))
    .option('--only-project <project>', 'it sees and changes this one only')
    .option('--expires <span>', 'when it ends, e.g. 90d; never, if left out')
    .action(async ({ name, role, onlyProject, expires }: CreateOptions) => {
      const run = begin();
      const client = await run.getClient();
      const projectId = onlyProject === undefined ? undefined : await findProjectId(client, onlyProject);
      const expiresAt =
        expires === undefined ? undefined : new Date(Date.now() + parseDuration(expires, '--expires')).toISOString();
      const body = { name, role, ...omitUndefined({ projectId, expiresAt }) };
      const answer = await client.post('/v1/management-tokens', { body });
      run.printResult(answer, () => run.printLine(answer.secretToken));
      run.printNote(
        `shown once; expires ${formatDay(expiresAt ?? null)}; revoke: acg tokens revoke ${answer.token.id}`,
      );
    });
  group
    .command('revoke')
    .description('revoke a management token')
    .argument('<token>', 'id, prefix or name')
    .action(async (text: string) => {
      const run = begin();
      const client = await run.getClient();
      const load = (page: PageQuery) => client.get('/v1/management-tokens', { params: { query: page } });
      const tokens = isUuid(text) ? [] : await collectRows(iterateAllRows(load, (page) => page.tokens));
      const byPrefix = tokens.find(({ tokenPrefix }) => tokenPrefix === text);
      const id = isUuid(text) ? text : (byPrefix?.id ?? selectByName(tokens, text, 'token', 'acg tokens ls').id);
      await requireConfirmation(run, `Revoke the management token ${text} at ${run.settings.url}?`);
      const answer = await client.delete('/v1/management-tokens/{id}', { params: { path: { id } } });
      run.printResult(answer, () => run.printSuccess(`${text} is revoked`));
    });
}
