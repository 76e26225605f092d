/** `acg org`: a session acts in one organization at a time. */
import type { Command } from 'commander';
import { given } from '../api/given.js';
import { identityLine, whoIs } from '../api/identity.js';
import { isId, pickOne } from '../api/lookup.js';
import { connect } from '../invocation/connect.js';
import { confirmed } from '../terminal/ask.js';
import { usage } from '../terminal/failure.js';
import { day, money } from '../terminal/format.js';
import { readPassword } from '../terminal/password.js';
import {
  dollarsToCents,
  noteRest,
  nullIfNone,
  type OrNone,
  orNone,
  type PageOptions,
  paged,
  pageOf,
} from './options.js';
import type { Tree } from './tree.js';

export function orgCommands(group: Command, { begin }: Tree): void {
  group
    .command('ls')
    .description('list them')
    .action(async () => {
      const run = begin();
      const me = await whoIs(await run.client());
      run.show(me, () =>
        run.table(
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
    .description('go over to another one')
    .argument('<org>', 'name, slug or id')
    .action(async (text: string) => {
      const run = begin();
      const { session, profile, url } = run.settings;
      if (session === null) throw usage('only a saved login can go over to another organization', 'acg login');
      const { orgs } = await whoIs(await run.client());
      const orgId = isId(text) ? text : pickOne(orgs, text, 'organization', 'acg org ls').id;
      const { token } = await (await run.client()).post('/v1/auth/switch-org', { body: { orgId } });
      const me = await whoIs(connect({ url, token }));
      const org = me.orgs.find(({ id }) => id === orgId)?.slug ?? orgId;
      run.profiles.saveSession(profile, { url, token, orgId, org });
      run.show(me, () => run.done(`${identityLine(me)}`));
    });
  group
    .command('set')
    .description('change the one of this session')
    .option('--name <name>', 'its name')
    .option('--budget <usd>', 'US dollars a month over all agents, or none', orNone(dollarsToCents))
    .action(async ({ name, budget }: { name?: string; budget?: OrNone<number> }) => {
      const run = begin();
      const client = await run.client();
      const { orgId } = await whoIs(client);
      const body = given({ name, budgetCentsMonthly: nullIfNone(budget) });
      const answer = await client.patch('/v1/orgs/{id}', { params: { path: { id: orgId } }, body });
      run.show(answer, () => run.done(`${answer.org.name}`));
    });
  group
    .command('get')
    .description('show the one of this session')
    .action(async () => {
      const run = begin();
      const client = await run.client();
      const { orgId } = await whoIs(client);
      const answer = await client.get('/v1/orgs/{id}', { params: { path: { id: orgId } } });
      const { id, name, slug, role, budgetCentsMonthly } = answer.org;
      const budget = budgetCentsMonthly === null ? 'none' : `${money(budgetCentsMonthly)} a month`;
      run.show(answer, () => run.facts({ organization: slug, name, id, role, budget }));
    });
  group
    .command('create')
    .description('make another one, with this user as its owner')
    .argument('<name>', 'its name')
    .action(async (name: string) => {
      const run = begin();
      const answer = await (await run.client()).post('/v1/orgs', { body: { name } });
      run.show(answer, () => run.done(`${answer.org.slug}  ${answer.org.id}`));
      run.note(`go over to it: acg org use ${answer.org.slug}`);
    });
  group
    .command('delete')
    .description('delete the one of this session, in seven days')
    .option('--password-stdin', 'read your password from stdin')
    .action(async ({ passwordStdin }: { passwordStdin?: true }) => {
      const run = begin();
      const client = await run.client();
      const { orgId, orgs } = await whoIs(client);
      const name = orgs.find(({ id }) => id === orgId)?.slug ?? orgId;
      await confirmed(run, `Revoke all keys of ${name} at ${run.settings.url} now, and delete it in seven days?`);
      const password = await readPassword(run, 'Your password', passwordStdin);
      const answer = await client.delete('/v1/orgs/{id}', { params: { path: { id: orgId } }, body: { password } });
      run.show(answer, () => run.done(`${name} is being deleted`));
      run.note(`until then an owner restores it: acg org restore ${orgId}`);
    });
  group
    .command('restore')
    .description('restore one that is being deleted')
    .argument('<org>', 'name, slug or id')
    .action(async (text: string) => {
      const run = begin();
      const client = await run.client();
      const { orgs } = await whoIs(client);
      const id = isId(text) ? text : pickOne(orgs, text, 'organization', 'acg org ls').id;
      const answer = await client.post('/v1/orgs/{id}/restore', { params: { path: { id } } });
      run.show(answer, () => run.done(`${text} is restored; its keys and management tokens stay revoked`));
    });
  paged(group.command('deleted').description('list who deleted or restored which')).action(
    async (options: PageOptions) => {
      const run = begin();
      const answer = await (await run.client()).get('/v1/deleted-orgs', { params: { query: pageOf(options) } });
      run.show(answer, () =>
        run.table(
          [
            { title: 'ORGANIZATION', cell: ({ slug }) => slug },
            { title: 'STATUS', cell: ({ status }) => status },
            { title: 'BY', cell: ({ requestedBy }) => requestedBy.email },
            { title: 'REQUESTED', cell: ({ requestedAt }) => day(requestedAt) },
            { title: 'DELETED ON', cell: ({ purgeAt }) => day(purgeAt) },
            { title: 'ID', cell: ({ orgId }) => orgId },
          ],
          answer.deletions,
        ),
      );
      noteRest(run, answer.deletions.length, answer);
    },
  );
}
