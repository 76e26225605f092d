/** `acg org`: manages organizations. A session acts in one organization at a time. */
import type { Command } from 'commander';
import { isUuid, selectByName } from '../../api/find-by-name.js';
import { fetchIdentity, formatIdentity } from '../../api/identity.js';
import { omitUndefined } from '../../api/omit-undefined.js';
import { createApiClient } from '../../invocation/api-client.js';
import type { CommandContext } from '../../invocation/command-context.js';
import {
  addPageOptions,
  noneToNull,
  type OrNone,
  type PageOptions,
  parseDollarsAsCents,
  parseOrNone,
  printRemainingRows,
  toPageQuery,
} from '../../options/parse-options.js';
import { usage } from '../../terminal/cli-error.js';
import { formatCents, formatDay } from '../../terminal/format.js';
import { requireConfirmation } from '../../terminal/prompt.js';
import { readPassword } from '../../terminal/read-password.js';

export function registerOrgCommands(group: Command, { begin }: CommandContext): void {
  group
    .command('ls')
    .description('list organizations')
    .action(async () => {
      const run = begin();
      const me = await fetchIdentity(await run.getClient());
      run.printResult(me, () =>
        run.printTable(
          [
            { title: 'ORGANIZATION', cell: (org) => `${org.id === me.orgId ? '* ' : '  '}${org.slug}` },
            { title: 'NAME', cell: (org) => org.name },
            { title: 'ROLE', cell: (org) => (org.purgeAt === undefined ? org.role : 'being deleted') },
            { title: 'ID', cell: (org) => org.id },
          ],
          me.orgs,
        ),
      );
    });
  group
    .command('use')
    .description('switch to another organization')
    .argument('<org>', 'name, slug or id')
    .action(async (text: string) => {
      const run = begin();
      const { session, profile, url } = run.settings;
      if (session === null) throw usage('only a saved login can go over to another organization', 'acg login');
      const { orgs } = await fetchIdentity(await run.getClient());
      const orgId = isUuid(text) ? text : selectByName(orgs, text, 'organization', 'acg org ls').id;
      const { token } = await (await run.getClient()).post('/v1/auth/switch-org', { body: { orgId } });
      const me = await fetchIdentity(createApiClient({ url, token }));
      const org = me.orgs.find(({ id }) => id === orgId)?.slug ?? orgId;
      run.profiles.saveSession(profile, { url, token, orgId, org });
      run.printResult(me, () => run.printSuccess(`${formatIdentity(me)}`));
    });
  group
    .command('set')
    .description('change the current organization')
    .option('--name <name>', 'its name')
    .option('--budget <usd>', 'US dollars a month over all agents, or none', parseOrNone(parseDollarsAsCents))
    .action(async ({ name, budget }: { name?: string; budget?: OrNone<number> }) => {
      const run = begin();
      const client = await run.getClient();
      const { orgId } = await fetchIdentity(client);
      const body = omitUndefined({ name, budgetCentsMonthly: noneToNull(budget) });
      const answer = await client.patch('/v1/orgs/{id}', { params: { path: { id: orgId } }, body });
      run.printResult(answer, () => run.printSuccess(`${answer.org.name}`));
    });
  group
    .command('get')
    .description('show the current organization')
    .action(async () => {
      const run = begin();
      const client = await run.getClient();
      const { orgId } = await fetchIdentity(client);
      const answer = await client.get('/v1/orgs/{id}', { params: { path: { id: orgId } } });
      const { id, name, slug, role, budgetCentsMonthly } = answer.org;
      const budget = budgetCentsMonthly === null ? 'none' : `${formatCents(budgetCentsMonthly)} a month`;
      run.printResult(answer, () => run.printFields({ organization: slug, name, id, role, budget }));
    });
  group
    .command('create')
    .description('create an organization with this user as its owner')
    .argument('<name>', 'its name')
    .action(async (name: string) => {
      const run = begin();
      const answer = await (await run.getClient()).post('/v1/orgs', { body: { name } });
      run.printResult(answer, () => run.printSuccess(`${answer.org.slug}  ${answer.org.id}`));
      run.printNote(`go over to it: acg org use ${answer.org.slug}`);
    });
  group
    .command('delete')
    .description('delete the current organization in seven days')
    .option('--password-stdin', 'read your password from stdin')
    .action(async ({ passwordStdin }: { passwordStdin?: true }) => {
      const run = begin();
      const client = await run.getClient();
      const { orgId, orgs } = await fetchIdentity(client);
      const name = orgs.find(({ id }) => id === orgId)?.slug ?? orgId;
      await requireConfirmation(
        run,
        `Revoke all gateway tokens of ${name} at ${run.settings.url} now, and delete it in seven days?`,
      );
      const password = await readPassword(run, 'Your password', passwordStdin);
      const answer = await client.delete('/v1/orgs/{id}', { params: { path: { id: orgId } }, body: { password } });
      run.printResult(answer, () => run.printSuccess(`${name} is being deleted`));
      run.printNote(`until then an owner restores it: acg org restore ${orgId}`);
    });
  group
    .command('restore')
    .description('restore an organization that is being deleted')
    .argument('<org>', 'name, slug or id')
    .action(async (text: string) => {
      const run = begin();
      const client = await run.getClient();
      const { orgs } = await fetchIdentity(client);
      const id = isUuid(text) ? text : selectByName(orgs, text, 'organization', 'acg org ls').id;
      const answer = await client.post('/v1/orgs/{id}/restore', { params: { path: { id } } });
      run.printResult(answer, () =>
        run.printSuccess(`${text} is restored; its keys and management tokens stay revoked`),
      );
    });
  addPageOptions(group.command('deleted').description('list deletions and restorations')).action(
    async (options: PageOptions) => {
      const run = begin();
      const answer = await (await run.getClient()).get('/v1/deleted-orgs', { params: { query: toPageQuery(options) } });
      run.printResult(answer, () =>
        run.printTable(
          [
            { title: 'ORGANIZATION', cell: ({ slug }) => slug },
            { title: 'STATUS', cell: ({ status }) => status },
            { title: 'BY', cell: ({ requestedBy }) => requestedBy.email },
            { title: 'REQUESTED', cell: ({ requestedAt }) => formatDay(requestedAt) },
            { title: 'DELETED ON', cell: ({ purgeAt }) => formatDay(purgeAt) },
            { title: 'ID', cell: ({ orgId }) => orgId },
          ],
          answer.deletions,
        ),
      );
      printRemainingRows(run, answer.deletions.length, answer);
    },
  );
}
