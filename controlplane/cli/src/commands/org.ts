/** `acg org`: a session acts in one organization at a time. */
import type { Command } from 'commander';
import { given } from '../api/given.js';
import { identityLine, whoIs } from '../api/identity.js';
import { isId, pickOne } from '../api/lookup.js';
import { connect } from '../invocation/connect.js';
import { usage } from '../terminal/failure.js';
import { money } from '../terminal/format.js';
import { dollarsToCents, nullIfNone, type OrNone, orNone } from './options.js';
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
            { title: 'ROLE', cell: (org) => org.role },
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
}
