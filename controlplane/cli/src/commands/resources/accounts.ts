/** `acg accounts`: manages which providers an agent may use, and with which credentials. */
import { iterateAllRows } from '@acg/client/auto-paging';
import { Argument, type Command, Option } from 'commander';
import { findAgentId, requireAgentName } from '../../api/find-agent.js';
import { collectRows, findProjectId, isUuid, type PageQuery } from '../../api/find-by-name.js';
import { omitUndefined } from '../../api/omit-undefined.js';
import { printCredentialTest } from '../../api/print-credential-test.js';
import { fetchCredentialFields, readCredentials } from '../../api/read-credentials.js';
import type { CommandContext } from '../../invocation/command-context.js';
import type { Invocation } from '../../invocation/invocation.js';
import { addCredentialOptions, type CredentialOptions, toCredentialInput } from '../../options/credential-options.js';
import { addPageOptions, type PageOptions, printRemainingRows, toPageQuery } from '../../options/parse-options.js';
import { CliError, EXIT_CODES, usage } from '../../terminal/cli-error.js';
import { formatDay } from '../../terminal/format.js';
import { requireConfirmation } from '../../terminal/prompt.js';

interface AgentOption {
  readonly agent?: string;
}
const ACCOUNT_ARGUMENT = ['<account>', 'id, or the slug of its provider'] as const;

export function registerAccountCommands(group: Command, tree: CommandContext): void {
  registerListCommand(group, tree);
  registerAddCommand(group, tree);
  registerChangeCommands(group, tree);
}

interface ListOptions extends PageOptions, AgentOption {
  readonly provider?: string;
  readonly status?: 'active' | 'needs_credentials';
}

function registerListCommand(group: Command, { begin }: CommandContext): void {
  addPageOptions(group.command('ls').description('list accounts'))
    .option('--agent <agent>', 'only those of one agent')
    .option('--provider <slug>', 'only those of one provider')
    .addOption(new Option('--status <status>', 'only those').choices(['active', 'needs_credentials']))
    .action(async (options: ListOptions) => {
      const run = begin();
      const client = await run.getClient();
      const { project } = run.settings;
      const within =
        options.agent !== undefined
          ? { agentId: await findAgentId(run, options.agent) }
          : project !== null
            ? { projectId: await findProjectId(client, project) }
            : {};
      const answer = await client.get('/v1/providers/accounts', {
        params: {
          query: {
            ...within,
            ...omitUndefined({ status: options.status, providerSlug: options.provider }),
            ...toPageQuery(options),
          },
        },
      });
      run.printResult(answer, () =>
        run.printTable(
          [
            { title: 'PROVIDER', cell: ({ providerSlug }) => providerSlug },
            { title: 'STATUS', cell: ({ status }) => status },
            { title: 'AGENT', cell: ({ agentName }) => agentName },
            { title: 'KEY', cell: ({ credentialId }) => (credentialId === null ? 'own' : `shared ${credentialId}`) },
            { title: 'SENSITIVE', cell: ({ allowSensitivePaths }) => (allowSensitivePaths ? 'allowed' : 'rejected') },
            { title: 'CREATED', cell: ({ createdAt }) => formatDay(createdAt) },
            { title: 'ID', cell: ({ id }) => id },
          ],
          answer.accounts,
        ),
      );
      printRemainingRows(run, answer.accounts.length, answer);
    });
}

interface AddOptions extends CredentialOptions, AgentOption {
  readonly test?: true;
  readonly allowSensitivePaths?: true;
}

function registerAddCommand(group: Command, { begin }: CommandContext): void {
  const command = group
    .command('add')
    .description('let an agent use a provider; prompts for the key without showing it')
    .argument('<provider>', 'its slug, e.g. openai')
    .option('--agent <agent>', 'whose it is')
    .option('--test', 'ask the provider first whether it takes the key')
    .option('--allow-sensitive-paths', 'let calls pass that hand out credentials');
  addCredentialOptions(command).action(
    async (providerSlug: string, { agent, test, allowSensitivePaths, ...key }: AddOptions) => {
      const run = begin();
      const client = await run.getClient();
      const agentId = await findAgentId(run, requireAgentName(run, agent));
      const credentials = await readCredentials(
        run,
        await fetchCredentialFields(client, providerSlug),
        toCredentialInput(key),
      );
      if (test === true) {
        const { ok, hint } = await client.post('/v1/providers/accounts/test', { body: { providerSlug, credentials } });
        if (!ok)
          throw new CliError(
            EXIT_CODES.failed,
            `${providerSlug} does not accept the key${hint === null ? '' : `: ${hint}`}`,
          );
      }
      const body = { agentId, providerSlug, credentials, ...omitUndefined({ allowSensitivePaths }) };
      const answer = await client.post('/v1/providers/accounts', { body });
      run.printResult(answer, () => run.printSuccess(`${answer.account.providerSlug}  ${answer.account.id}`));
      run.printNote(`try it: acg accounts test ${answer.account.id}`);
    },
  );
}

function registerChangeCommands(group: Command, { begin }: CommandContext): void {
  const rotate = group
    .command('rotate')
    .description('replace its key')
    .argument(...ACCOUNT_ARGUMENT)
    .option('--agent <agent>', 'whose it is');
  addCredentialOptions(rotate).action(async (text: string, options: CredentialOptions & AgentOption) => {
    const run = begin();
    const client = await run.getClient();
    const { id, providerSlug } = await findAccount(run, text, options.agent);
    const credentials = await readCredentials(
      run,
      await fetchCredentialFields(client, providerSlug),
      toCredentialInput(options),
    );
    const params = { path: { id } };
    const answer = await client.post('/v1/providers/accounts/{id}/rotate', { params, body: { credentials } });
    run.printResult(answer, () => run.printSuccess(`${providerSlug} has another key`));
  });
  group
    .command('test')
    .description('test its key with one call')
    .argument(...ACCOUNT_ARGUMENT)
    .option('--agent <agent>', 'whose it is')
    .action(async (text: string, { agent }: AgentOption) => {
      const run = begin();
      const { id, providerSlug } = await findAccount(run, text, agent);
      const client = await run.getClient();
      printCredentialTest(
        run,
        providerSlug,
        await client.post('/v1/providers/accounts/{id}/test', { params: { path: { id } } }),
      );
    });
  group
    .command('set')
    .description('change its permissions')
    .argument(...ACCOUNT_ARGUMENT)
    .addArgument(new Argument('<sensitive-paths>', 'calls that hand out credentials').choices(['allow', 'refuse']))
    .option('--agent <agent>', 'whose it is')
    .action(async (text: string, what: 'allow' | 'refuse', { agent }: AgentOption) => {
      const run = begin();
      const { id } = await findAccount(run, text, agent);
      const answer = await (await run.getClient()).patch('/v1/providers/accounts/{id}', {
        params: { path: { id } },
        body: { allowSensitivePaths: what === 'allow' },
      });
      run.printResult(answer, () => run.printSuccess(`${answer.account.providerSlug}`));
    });
  group
    .command('rm')
    .description('remove the provider from the agent and delete its key')
    .argument(...ACCOUNT_ARGUMENT)
    .option('--agent <agent>', 'whose it is')
    .action(async (text: string, { agent }: AgentOption) => {
      const run = begin();
      const { id } = await findAccount(run, text, agent);
      await requireConfirmation(run, `Delete the account ${text} and its credentials at ${run.settings.url}?`);
      const answer = await (await run.getClient()).delete('/v1/providers/accounts/{id}', { params: { path: { id } } });
      run.printResult(answer, () => run.printSuccess(`${text} is deleted`));
    });
}

/** Finds an account by id, or by its provider among the accounts of one agent. */
async function findAccount(
  run: Invocation,
  text: string,
  agent: string | undefined,
): Promise<{ readonly id: string; readonly providerSlug: string }> {
  const client = await run.getClient();
  const within = isUuid(text) ? {} : { agentId: await findAgentId(run, requireAgentName(run, agent)) };
  const load = (page: PageQuery) => client.get('/v1/providers/accounts', { params: { query: { ...within, ...page } } });
  const found = (await collectRows(iterateAllRows(load, (page) => page.accounts))).filter(
    ({ id, providerSlug }) => id === text.toLowerCase() || (!isUuid(text) && providerSlug === text),
  );
  if (found.length > 1) throw usage(`${found.length} accounts are of ${text}`, 'use the id: acg accounts ls');
  if (found[0] !== undefined) return found[0];
  throw new CliError(EXIT_CODES.notFound, `account not found: ${text}`, { status: 404, hint: 'acg accounts ls' });
}
