/** `acg credentials`: manages provider credentials that many agents share and that are rotated in one place. */

import { iterateAllRows } from '@acg/client/auto-paging';
import type { Client } from '@acg/client/management-api-client';
import { type Command, Option } from 'commander';
import { findAgent } from '../../api/find-agent.js';
import { collectRows, findProjectId, type PageQuery } from '../../api/find-by-name.js';
import {
  findSharedCredential,
  listSharedCredentials,
  type SharedCredential,
} from '../../api/find-shared-credential.js';
import { omitUndefined } from '../../api/omit-undefined.js';
import { printCredentialTest } from '../../api/print-credential-test.js';
import { fetchCredentialFields, readCredentials } from '../../api/read-credentials.js';
import type { CommandContext } from '../../invocation/command-context.js';
import type { Invocation } from '../../invocation/invocation.js';
import { addCredentialOptions, type CredentialOptions, toCredentialInput } from '../../options/credential-options.js';
import { addPageOptions, type PageOptions, printRemainingRows, toPageQuery } from '../../options/parse-options.js';
import { formatCount, formatDay } from '../../terminal/format.js';
import { toPrintableJson } from '../../terminal/printable.js';
import { requireConfirmation } from '../../terminal/prompt.js';

const CREDENTIAL_ARGUMENT = ['<credential>', 'name or id'] as const;

export function registerCredentialCommands(group: Command, tree: CommandContext): void {
  registerListCommand(group, tree);
  registerAddCommand(group, tree);
  registerAttachCommand(group, tree);
  registerChangeCommands(group, tree);
}

interface ListOptions extends PageOptions {
  readonly provider?: string;
  readonly search?: string;
  readonly status?: SharedCredential['status'];
}

function registerListCommand(group: Command, { begin }: CommandContext): void {
  addPageOptions(group.command('ls').description('list shared credentials; the keys are never shown'))
    .option('--provider <slug>', 'only those of one provider')
    .option('--search <text>', 'part of the name')
    .addOption(new Option('--status <status>', 'only those').choices(['active', 'needs_credentials']))
    .action(async (options: ListOptions) => {
      const run = begin();
      const client = await run.getClient();
      const { project } = run.settings;
      const projectId = project === null ? undefined : await findProjectId(client, project);
      const filter = omitUndefined({
        projectId,
        providerSlug: options.provider,
        status: options.status,
        search: options.search,
      });
      const answer = await listSharedCredentials(client, { ...filter, ...toPageQuery(options) });
      run.printResult(answer, () =>
        run.printTable(
          [
            { title: 'CREDENTIAL', cell: ({ name }) => name },
            { title: 'PROVIDER', cell: ({ providerSlug }) => providerSlug },
            { title: 'STATUS', cell: ({ status }) => status },
            { title: 'ACCOUNTS', cell: ({ accounts }) => formatCount(accounts), alignRight: true },
            { title: 'PROJECT', cell: (row) => row.projectId ?? 'all' },
            { title: 'ROTATED', cell: ({ rotatedAt }) => formatDay(rotatedAt) },
            { title: 'ID', cell: ({ id }) => id },
          ],
          answer.credentials,
        ),
      );
      printRemainingRows(run, answer.credentials.length, answer);
    });
}

interface AddOptions extends CredentialOptions {
  readonly name: string;
  readonly onlyProject?: string;
}

function registerAddCommand(group: Command, { begin }: CommandContext): void {
  const command = group
    .command('add')
    .description('store a key; prompts for it without showing it')
    .argument('<provider>', 'its slug, e.g. openai')
    .requiredOption('--name <name>', 'what it is called')
    .option('--only-project <project>', 'only agents of this one may use it');
  addCredentialOptions(command).action(async (providerSlug: string, options: AddOptions) => {
    const run = begin();
    const client = await run.getClient();
    const { name, onlyProject } = options;
    const projectId = onlyProject === undefined ? undefined : await findProjectId(client, onlyProject);
    const credentials = await readCredentials(
      run,
      await fetchCredentialFields(client, providerSlug),
      toCredentialInput(options),
    );
    const body = { name, providerSlug, credentials, ...omitUndefined({ projectId }) };
    const answer = await client.post('/v1/credentials', { body });
    run.printResult(answer, () => run.printSuccess(`${answer.credential.name}  ${answer.credential.id}`));
    run.printNote(`let agents use it: acg credentials attach ${answer.credential.id} <agents…>`);
  });
}

function registerAttachCommand(group: Command, { begin }: CommandContext): void {
  group
    .command('attach')
    .description('let agents use it; agents that already use it are not changed. --json prints one account per line')
    .argument(...CREDENTIAL_ARGUMENT)
    .argument('<agents...>', 'name, slug or id')
    .action(async (text: string, agents: readonly string[]) => {
      const run = begin();
      const client = await run.getClient();
      const credential = await findSharedCredential(client, text);
      // Looks up all agents before the first change, so that a typing error changes nothing.
      const found = [];
      for (const agent of agents) found.push(await findAgent(run, agent));
      for (const agent of found) await attachCredential(run, client, credential, agent);
    });
}

async function attachCredential(
  run: Invocation,
  client: Client,
  { id: credentialId, name, providerSlug }: SharedCredential,
  agent: { readonly id: string; readonly slug: string },
): Promise<void> {
  const load = (page: PageQuery) =>
    client.get('/v1/providers/accounts', { params: { query: { agentId: agent.id, ...page } } });
  const accounts = await collectRows(iterateAllRows(load, (page) => page.accounts));
  if (accounts.some((account) => account.credentialId === credentialId)) {
    run.printNote(`${agent.slug} uses ${name} already`);
    return;
  }
  const body = { agentId: agent.id, providerSlug, credentialId };
  const answer = await client.post('/v1/providers/accounts', { body });
  if (run.isJson) run.printLine(toPrintableJson(answer));
  else run.printSuccess(`${agent.slug} uses ${name} for ${providerSlug}`);
}

function registerChangeCommands(group: Command, { begin }: CommandContext): void {
  const rotate = group
    .command('rotate')
    .description('replace the key for all agents that use it')
    .argument(...CREDENTIAL_ARGUMENT);
  addCredentialOptions(rotate).action(async (text: string, options: CredentialOptions) => {
    const run = begin();
    const client = await run.getClient();
    const { id, providerSlug } = await findSharedCredential(client, text);
    const credentials = await readCredentials(
      run,
      await fetchCredentialFields(client, providerSlug),
      toCredentialInput(options),
    );
    const params = { path: { id } };
    const answer = await client.post('/v1/credentials/{id}/rotate', { params, body: { credentials } });
    const { name, accounts } = answer.credential;
    run.printResult(answer, () => run.printSuccess(`${name} has another key, for ${formatCount(accounts)} accounts`));
  });
  group
    .command('test')
    .description('test its key with one call')
    .argument(...CREDENTIAL_ARGUMENT)
    .action(async (text: string) => {
      const run = begin();
      const client = await run.getClient();
      const { id, name } = await findSharedCredential(client, text);
      printCredentialTest(run, name, await client.post('/v1/credentials/{id}/test', { params: { path: { id } } }));
    });
  group
    .command('rename')
    .description('rename it')
    .argument(...CREDENTIAL_ARGUMENT)
    .argument('<name>', 'the new one')
    .action(async (text: string, name: string) => {
      const run = begin();
      const client = await run.getClient();
      const { id } = await findSharedCredential(client, text);
      const answer = await client.patch('/v1/credentials/{id}', { params: { path: { id } }, body: { name } });
      run.printResult(answer, () => run.printSuccess(`${answer.credential.name}`));
    });
  group
    .command('rm')
    .description('delete an unused shared credential')
    .argument(...CREDENTIAL_ARGUMENT)
    .action(async (text: string) => {
      const run = begin();
      const client = await run.getClient();
      const { id, name } = await findSharedCredential(client, text);
      await requireConfirmation(run, `Delete the shared credential ${name} at ${run.settings.url}?`);
      const answer = await client.delete('/v1/credentials/{id}', { params: { path: { id } } });
      run.printResult(answer, () => run.printSuccess(`${name} is deleted`));
    });
}
