/** `acg org`: manages organizations. A session acts in one organization at a time. */
import { type Command, Option } from 'commander';
import { isUuid, selectByName } from '../../api/find-by-name.js';
import { fetchIdentity, formatIdentity } from '../../api/identity.js';
import { createApiClient } from '../../invocation/api-client-with-timeout-and-retry.js';
import type { Invocation } from '../../invocation/invocation.js';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import { choiceField, mapField, parsedOrNoneField, textField } from '../../options/field.js';
import { parseDollarsAsCents } from '../../options/page-options-and-value-parsers.js';
import { usage } from '../../terminal/cli-error.js';
import { formatCents, formatDay } from '../../terminal/format-numbers-and-times.js';
import { readPassword } from '../../terminal/read-password.js';
import type { Target } from '../descriptors/operation-target-from-arguments.js';
import { listCommand } from '../descriptors/register-list-commands.js';
import { commandGroup, operationCommand } from '../descriptors/register-operation-commands.js';

const ORG_ARGUMENT = ['<org>', 'name, slug or id'] as const;
const CURRENT_ORG: Target<{ readonly id: string; readonly slug: string }> = {
  async find(run) {
    const { orgId, orgs } = await fetchIdentity(await run.getClient());
    return { id: orgId, slug: orgs.find(({ id }) => id === orgId)?.slug ?? orgId };
  },
};

export const registerOrgCommands = commandGroup(
  registerListAndUseCommands,
  operationCommand({
    name: 'set',
    description: 'change the current organization',
    operation: 'PATCH /v1/orgs/{id}',
    target: CURRENT_ORG,
    fields: {
      name: textField('--name <name>', 'name of the organization'),
      budgetCentsMonthly: parsedOrNoneField(
        '--budget <usd>',
        'US dollars a month over all agents, or none',
        parseDollarsAsCents,
      ),
      requireSecondFactor: mapField(
        choiceField('--require-second-factor <yes-or-no>', 'members without a second factor get 403', ['yes', 'no']),
        (choice) => choice === 'yes',
      ),
    },
    print: (run, { org }) => run.printSuccess(org.name),
  }),
  operationCommand({
    name: 'get',
    description: 'show the current organization',
    operation: 'GET /v1/orgs/{id}',
    target: CURRENT_ORG,
    print(run, { org: { id, name, slug, role, budgetCentsMonthly, requireSecondFactor } }) {
      const budget = budgetCentsMonthly === null ? 'none' : `${formatCents(budgetCentsMonthly)} a month`;
      run.printFields({
        organization: slug,
        name,
        id,
        role,
        budget,
        'second factor': requireSecondFactor ? 'required' : 'not required',
      });
    },
  }),
  operationCommand({
    name: 'create',
    description: 'create an organization with this user as its owner',
    operation: 'POST /v1/orgs',
    fields: { name: textField('<name>', 'name of the organization') },
    print: (run, { org }) => run.printSuccess(`${org.slug}  ${org.id}`),
    after: (run, { org }) => run.printNote(`switch to it: acg org use ${org.slug}`),
  }),
  operationCommand({
    name: 'delete',
    description: 'delete the current organization in seven days',
    operation: 'DELETE /v1/orgs/{id}',
    target: CURRENT_ORG,
    options: [new Option('--password-stdin', 'read your password from stdin')],
    confirm: ({ found, at }) => `Revoke all gateway tokens of ${found.slug} ${at} now, and delete it in seven days?`,
    body: async (run, { options }) => ({ password: await readPassword(run, 'Your password', options.passwordStdin) }),
    print: (run, _response, { found }) => run.printSuccess(`${found.slug} is being deleted`),
    after: (run, _response, { found }) =>
      run.printNote(`within seven days an owner can restore it: acg org restore ${found.id}`),
  }),
  operationCommand({
    name: 'restore',
    description: 'restore an organization that is being deleted',
    operation: 'POST /v1/orgs/{id}/restore',
    target: { argument: ORG_ARGUMENT, find: async (run, text) => ({ id: await findOrgId(run, text) }) },
    print: (run, _response, { text }) =>
      run.printSuccess(`${text} is restored; its keys and management tokens stay revoked`),
  }),
  listCommand({
    name: 'deleted',
    description: 'list deletions and restorations',
    operation: 'GET /v1/deleted-orgs',
    rows: 'deletions',
    columns: [
      { title: 'ORGANIZATION', cell: ({ slug }) => slug },
      { title: 'STATUS', cell: ({ status }) => status },
      { title: 'BY', cell: ({ requestedBy }) => requestedBy.email },
      { title: 'REQUESTED', cell: ({ requestedAt }) => formatDay(requestedAt) },
      { title: 'DELETED ON', cell: ({ purgeAt }) => formatDay(purgeAt) },
      { title: 'ID', cell: ({ orgId }) => orgId },
    ],
  }),
);

function registerListAndUseCommands(group: Command, { begin }: ProgramInterface): void {
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
    .argument(...ORG_ARGUMENT)
    .action(async (text: string) => {
      const run = begin();
      const { session, profile, url } = run.settings;
      if (session === null) throw usage('only a saved login can switch to another organization', 'acg login');
      const orgId = await findOrgId(run, text);
      const { token } = await (await run.getClient()).post('/v1/auth/switch-org', { body: { orgId } });
      const me = await fetchIdentity(createApiClient({ url, token }));
      const org = me.orgs.find(({ id }) => id === orgId)?.slug ?? orgId;
      run.profiles.saveSession(profile, { url, token, orgId, org });
      run.printResult(me, () => run.printSuccess(`${formatIdentity(me)}`));
    });
}

async function findOrgId(run: Invocation, text: string): Promise<string> {
  const { orgs } = await fetchIdentity(await run.getClient());
  return isUuid(text) ? text : selectByName(orgs, text, 'organization', 'acg org ls').id;
}
