/** `acg accounts`: which providers an agent may use, and with which credentials. */
import { everyRow } from '@acg/client/every-row';
import { Argument, type Command, Option } from 'commander';
import { findAgentId, wantedAgent } from '../api/agents.js';
import { credentialFieldsOf, readCredentials } from '../api/credentials.js';
import { given } from '../api/given.js';
import { collected, findProject, isId, type PageQuery } from '../api/lookup.js';
import { showTest } from '../api/show-test.js';
import type { Invocation } from '../invocation/invocation.js';
import { confirmed } from '../terminal/ask.js';
import { EXIT, Failure, usage } from '../terminal/failure.js';
import { day } from '../terminal/format.js';
import { addKeyOptions, givenKey, type KeyOptions } from './key-options.js';
import { noteRest, type PageOptions, paged, pageOf } from './options.js';
import type { Tree } from './tree.js';

interface OfAgent {
  readonly agent?: string;
}
const NAMED = ['<account>', 'id, or the slug of its provider'] as const;

export function accountCommands(group: Command, tree: Tree): void {
  listCommand(group, tree);
  addCommand(group, tree);
  changeCommands(group, tree);
}

interface ListOptions extends PageOptions, OfAgent {
  readonly provider?: string;
  readonly status?: 'active' | 'needs_credentials';
}

function listCommand(group: Command, { begin }: Tree): void {
  paged(group.command('ls').description('list them'))
    .option('--agent <agent>', 'only those of one agent')
    .option('--provider <slug>', 'only those of one provider')
    .addOption(new Option('--status <status>', 'only those').choices(['active', 'needs_credentials']))
    .action(async (options: ListOptions) => {
      const run = begin();
      const client = await run.client();
      const { project } = run.settings;
      const within =
        options.agent !== undefined
          ? { agentId: await findAgentId(run, options.agent) }
          : project !== null
            ? { projectId: await findProject(client, project) }
            : {};
      const answer = await client.get('/v1/providers/accounts', {
        params: {
          query: {
            ...within,
            ...given({ status: options.status, providerSlug: options.provider }),
            ...pageOf(options),
          },
        },
      });
      run.show(answer, () =>
        run.table(
          [
            { title: 'PROVIDER', cell: ({ providerSlug }) => providerSlug },
            { title: 'STATUS', cell: ({ status }) => status },
            { title: 'AGENT', cell: ({ agentName }) => agentName },
            { title: 'KEY', cell: ({ credentialId }) => (credentialId === null ? 'own' : `shared ${credentialId}`) },
            { title: 'SENSITIVE', cell: ({ allowSensitivePaths }) => (allowSensitivePaths ? 'allowed' : 'refused') },
            { title: 'CREATED', cell: ({ createdAt }) => day(createdAt) },
            { title: 'ID', cell: ({ id }) => id },
          ],
          answer.accounts,
        ),
      );
      noteRest(run, answer.accounts.length, answer);
    });
}

interface AddOptions extends KeyOptions, OfAgent {
  readonly test?: true;
  readonly allowSensitivePaths?: true;
}

function addCommand(group: Command, { begin }: Tree): void {
  const command = group
    .command('add')
    .description('let an agent use a provider, with a key that is asked for without showing it')
    .argument('<provider>', 'its slug, e.g. openai')
    .option('--agent <agent>', 'whose it is')
    .option('--test', 'ask the provider first whether it takes the key')
    .option('--allow-sensitive-paths', 'let calls pass that hand out credentials');
  addKeyOptions(command).action(
    async (providerSlug: string, { agent, test, allowSensitivePaths, ...key }: AddOptions) => {
      const run = begin();
      const client = await run.client();
      const agentId = await findAgentId(run, wantedAgent(run, agent));
      const credentials = await readCredentials(run, await credentialFieldsOf(client, providerSlug), givenKey(key));
      if (test === true) {
        const { ok, hint } = await client.post('/v1/providers/accounts/test', { body: { providerSlug, credentials } });
        if (!ok)
          throw new Failure(EXIT.failed, `${providerSlug} does not take the key${hint === null ? '' : `: ${hint}`}`);
      }
      const body = { agentId, providerSlug, credentials, ...given({ allowSensitivePaths }) };
      const answer = await client.post('/v1/providers/accounts', { body });
      run.show(answer, () => run.done(`${answer.account.providerSlug}  ${answer.account.id}`));
      run.note(`try it: acg accounts test ${answer.account.id}`);
    },
  );
}

function changeCommands(group: Command, { begin }: Tree): void {
  const rotate = group
    .command('rotate')
    .description('give it another key')
    .argument(...NAMED)
    .option('--agent <agent>', 'whose it is');
  addKeyOptions(rotate).action(async (text: string, options: KeyOptions & OfAgent) => {
    const run = begin();
    const client = await run.client();
    const { id, providerSlug } = await findAccount(run, text, options.agent);
    const credentials = await readCredentials(run, await credentialFieldsOf(client, providerSlug), givenKey(options));
    const params = { path: { id } };
    const answer = await client.post('/v1/providers/accounts/{id}/rotate', { params, body: { credentials } });
    run.show(answer, () => run.done(`${providerSlug} has another key`));
  });
  group
    .command('test')
    .description('make one call with its key')
    .argument(...NAMED)
    .option('--agent <agent>', 'whose it is')
    .action(async (text: string, { agent }: OfAgent) => {
      const run = begin();
      const { id, providerSlug } = await findAccount(run, text, agent);
      const client = await run.client();
      showTest(run, providerSlug, await client.post('/v1/providers/accounts/{id}/test', { params: { path: { id } } }));
    });
  group
    .command('set')
    .description('change what its calls may do')
    .argument(...NAMED)
    .addArgument(new Argument('<sensitive-paths>', 'calls that hand out credentials').choices(['allow', 'refuse']))
    .option('--agent <agent>', 'whose it is')
    .action(async (text: string, what: 'allow' | 'refuse', { agent }: OfAgent) => {
      const run = begin();
      const { id } = await findAccount(run, text, agent);
      const answer = await (await run.client()).patch('/v1/providers/accounts/{id}', {
        params: { path: { id } },
        body: { allowSensitivePaths: what === 'allow' },
      });
      run.show(answer, () => run.done(`${answer.account.providerSlug}`));
    });
  group
    .command('rm')
    .description('take the provider from the agent, and delete its key')
    .argument(...NAMED)
    .option('--agent <agent>', 'whose it is')
    .action(async (text: string, { agent }: OfAgent) => {
      const run = begin();
      const { id } = await findAccount(run, text, agent);
      await confirmed(run, `Delete the account ${text} and its credentials at ${run.settings.url}?`);
      const answer = await (await run.client()).delete('/v1/providers/accounts/{id}', { params: { path: { id } } });
      run.show(answer, () => run.done(`${text} is deleted`));
    });
}

/** By its id, or by its provider among those of one agent. */
async function findAccount(
  run: Invocation,
  text: string,
  agent: string | undefined,
): Promise<{ readonly id: string; readonly providerSlug: string }> {
  const client = await run.client();
  const within = isId(text) ? {} : { agentId: await findAgentId(run, wantedAgent(run, agent)) };
  const load = (page: PageQuery) => client.get('/v1/providers/accounts', { params: { query: { ...within, ...page } } });
  const found = (await collected(everyRow(load, (page) => page.accounts))).filter(
    ({ id, providerSlug }) => id === text.toLowerCase() || (!isId(text) && providerSlug === text),
  );
  if (found.length > 1) throw usage(`${found.length} accounts are of ${text}`, 'use the id: acg accounts ls');
  if (found[0] !== undefined) return found[0];
  throw new Failure(EXIT.notFound, `account not found: ${text}`, { status: 404, hint: 'acg accounts ls' });
}
