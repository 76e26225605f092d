/** `acg credentials`: one key of a provider for the accounts of many agents, replaced for all of them at once. */
import type { Client } from '@acg/client/client';
import { everyRow } from '@acg/client/every-row';
import { type Command, Option } from 'commander';
import { findAgent } from '../api/agents.js';
import { credentialFieldsOf, readCredentials } from '../api/credentials.js';
import { given } from '../api/given.js';
import { collected, findProject, type PageQuery } from '../api/lookup.js';
import { findCredential, listCredentials, type SharedCredential } from '../api/shared-credentials.js';
import { showTest } from '../api/show-test.js';
import type { Invocation } from '../invocation/invocation.js';
import { confirmed } from '../terminal/ask.js';
import { count, day } from '../terminal/format.js';
import { printableJson } from '../terminal/printable.js';
import { addKeyOptions, givenKey, type KeyOptions } from './key-options.js';
import { noteRest, type PageOptions, paged, pageOf } from './options.js';
import type { Tree } from './tree.js';

const NAMED = ['<credential>', 'name or id'] as const;

export function credentialCommands(group: Command, tree: Tree): void {
  listCommand(group, tree);
  addCommand(group, tree);
  attachCommand(group, tree);
  changeCommands(group, tree);
}

interface ListOptions extends PageOptions {
  readonly provider?: string;
  readonly search?: string;
  readonly status?: SharedCredential['status'];
}

function listCommand(group: Command, { begin }: Tree): void {
  paged(group.command('ls').description('list them; the keys themselves are never shown'))
    .option('--provider <slug>', 'only those of one provider')
    .option('--search <text>', 'part of the name')
    .addOption(new Option('--status <status>', 'only those').choices(['active', 'needs_credentials']))
    .action(async (options: ListOptions) => {
      const run = begin();
      const client = await run.client();
      const { project } = run.settings;
      const projectId = project === null ? undefined : await findProject(client, project);
      const filter = given({
        projectId,
        providerSlug: options.provider,
        status: options.status,
        search: options.search,
      });
      const answer = await listCredentials(client, { ...filter, ...pageOf(options) });
      run.show(answer, () =>
        run.table(
          [
            { title: 'CREDENTIAL', cell: ({ name }) => name },
            { title: 'PROVIDER', cell: ({ providerSlug }) => providerSlug },
            { title: 'STATUS', cell: ({ status }) => status },
            { title: 'ACCOUNTS', cell: ({ accounts }) => count(accounts), right: true },
            { title: 'PROJECT', cell: (row) => row.projectId ?? 'all' },
            { title: 'ROTATED', cell: ({ rotatedAt }) => day(rotatedAt) },
            { title: 'ID', cell: ({ id }) => id },
          ],
          answer.credentials,
        ),
      );
      noteRest(run, answer.credentials.length, answer);
    });
}

interface AddOptions extends KeyOptions {
  readonly name: string;
  readonly onlyProject?: string;
}

function addCommand(group: Command, { begin }: Tree): void {
  const command = group
    .command('add')
    .description('store a key that is asked for without showing it')
    .argument('<provider>', 'its slug, e.g. openai')
    .requiredOption('--name <name>', 'what it is called')
    .option('--only-project <project>', 'only agents of this one may use it');
  addKeyOptions(command).action(async (providerSlug: string, options: AddOptions) => {
    const run = begin();
    const client = await run.client();
    const { name, onlyProject } = options;
    const projectId = onlyProject === undefined ? undefined : await findProject(client, onlyProject);
    const credentials = await readCredentials(run, await credentialFieldsOf(client, providerSlug), givenKey(options));
    const body = { name, providerSlug, credentials, ...given({ projectId }) };
    const answer = await client.post('/v1/credentials', { body });
    run.show(answer, () => run.done(`${answer.credential.name}  ${answer.credential.id}`));
    run.note(`let agents use it: acg credentials attach ${answer.credential.id} <agents…>`);
  });
}

function attachCommand(group: Command, { begin }: Tree): void {
  group
    .command('attach')
    .description('let agents use it; those that do already stay as they are. With --json one account a line')
    .argument(...NAMED)
    .argument('<agents...>', 'name, slug or id')
    .action(async (text: string, agents: readonly string[]) => {
      const run = begin();
      const client = await run.client();
      const credential = await findCredential(client, text);
      // All of them before the first change: a typing error changes nothing.
      const found = [];
      for (const agent of agents) found.push(await findAgent(run, agent));
      for (const agent of found) await attach(run, client, credential, agent);
    });
}

async function attach(
  run: Invocation,
  client: Client,
  { id: credentialId, name, providerSlug }: SharedCredential,
  agent: { readonly id: string; readonly slug: string },
): Promise<void> {
  const load = (page: PageQuery) =>
    client.get('/v1/providers/accounts', { params: { query: { agentId: agent.id, ...page } } });
  const accounts = await collected(everyRow(load, (page) => page.accounts));
  if (accounts.some((account) => account.credentialId === credentialId)) {
    run.note(`${agent.slug} uses ${name} already`);
    return;
  }
  const body = { agentId: agent.id, providerSlug, credentialId };
  const answer = await client.post('/v1/providers/accounts', { body });
  if (run.json) run.out(printableJson(answer));
  else run.done(`${agent.slug} uses ${name} for ${providerSlug}`);
}

function changeCommands(group: Command, { begin }: Tree): void {
  const rotate = group
    .command('rotate')
    .description('replace the key for all agents that use it')
    .argument(...NAMED);
  addKeyOptions(rotate).action(async (text: string, options: KeyOptions) => {
    const run = begin();
    const client = await run.client();
    const { id, providerSlug } = await findCredential(client, text);
    const credentials = await readCredentials(run, await credentialFieldsOf(client, providerSlug), givenKey(options));
    const params = { path: { id } };
    const answer = await client.post('/v1/credentials/{id}/rotate', { params, body: { credentials } });
    const { name, accounts } = answer.credential;
    run.show(answer, () => run.done(`${name} has another key, for ${count(accounts)} accounts`));
  });
  group
    .command('test')
    .description('make one call with its key')
    .argument(...NAMED)
    .action(async (text: string) => {
      const run = begin();
      const client = await run.client();
      const { id, name } = await findCredential(client, text);
      showTest(run, name, await client.post('/v1/credentials/{id}/test', { params: { path: { id } } }));
    });
  group
    .command('rename')
    .description('give it another name')
    .argument(...NAMED)
    .argument('<name>', 'the new one')
    .action(async (text: string, name: string) => {
      const run = begin();
      const client = await run.client();
      const { id } = await findCredential(client, text);
      const answer = await client.patch('/v1/credentials/{id}', { params: { path: { id } }, body: { name } });
      run.show(answer, () => run.done(`${answer.credential.name}`));
    });
  group
    .command('rm')
    .description('delete one that no account uses')
    .argument(...NAMED)
    .action(async (text: string) => {
      const run = begin();
      const client = await run.client();
      const { id, name } = await findCredential(client, text);
      await confirmed(run, `Delete the shared credential ${name} at ${run.settings.url}?`);
      const answer = await client.delete('/v1/credentials/{id}', { params: { path: { id } } });
      run.show(answer, () => run.done(`${name} is deleted`));
    });
}
