/** `acg init`: says in `.acg.json` which agent is meant in this directory; makes one where there is none. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { findAgent } from '../api/agents.js';
import { credentialFieldsOf, readCredentials } from '../api/credentials.js';
import { findProject } from '../api/lookup.js';
import type { Invocation } from '../invocation/invocation.js';
import { PROJECT_FILE } from '../settings/project-file.js';
import { askChoice, askText, confirmed } from '../terminal/ask.js';
import { usage } from '../terminal/failure.js';
import { dollarsToCents } from './options.js';
import type { Tree } from './tree.js';

interface InitOptions {
  readonly agent?: string;
}
interface Chosen {
  readonly id: string;
  readonly slug: string;
}
/** What nobody is called, for "make a new one". */
const NEW = '+';

export function initCommand(command: Command, { begin }: Tree): void {
  command.option('--agent <agent>', 'which is meant here').action(async ({ agent: wanted }: InitOptions) => {
    const run = begin();
    const path = join(run.terminal.cwd, PROJECT_FILE);
    const agent = wanted === undefined ? await chooseAgent(run) : await findAgent(run, wanted);
    if (existsSync(path)) await confirmed(run, `Write ${path} anew?`);
    const { project } = run.settings;
    const content = { ...(project === null ? {} : { project }), agent: agent.slug };
    writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`);
    run.show({ file: path, content }, () => {
      run.done(`${path}: ${agent.slug}`);
      run.out('  acg run -- <command>');
    });
    run.note('it holds no secret: commit it');
  });
}

async function chooseAgent(run: Invocation): Promise<Chosen> {
  const { agents, total } = await (await run.client()).get('/v1/usage/agents', { params: { query: { limit: 100 } } });
  const only = agents[0];
  if (total === 1 && only !== undefined) return only;
  if (total === 0) return makeAgent(run);
  const choices = agents.map(({ id, slug, projectName }) => ({ value: id, label: `${slug} (${projectName})` }));
  const question = { message: 'Which agent?', flag: '--agent' };
  const id = await askChoice(run, question, [...choices, { value: NEW, label: 'a new one' }]);
  return agents.find((agent) => agent.id === id) ?? makeAgent(run);
}

/** Its name, its budget, and the key of its first provider. */
async function makeAgent(run: Invocation): Promise<Chosen> {
  const client = await run.client();
  const name = await askText(run, { message: 'Name of the agent', flag: 'acg agents create' });
  const budget = await askText(run, { message: 'US dollars a month (empty: no budget)', flag: '--budget' });
  const projectId = await findProject(client, run.settings.project);
  const limit = budget === '' ? {} : { budgetCentsMonthly: cents(budget) };
  const { agent } = await client.post('/v1/agents', { body: { projectId, name, ...limit } });
  const { providers } = await client.get('/v1/providers');
  const choices = providers.map(({ slug, displayName }) => ({ value: slug, label: displayName }));
  const providerSlug = await askChoice(run, { message: 'Its provider', flag: 'acg accounts add' }, choices);
  const credentials = await readCredentials(run, await credentialFieldsOf(client, providerSlug), { fields: [] });
  await client.post('/v1/providers/accounts', { body: { agentId: agent.id, providerSlug, credentials } });
  return agent;
}

function cents(text: string): number {
  try {
    return dollarsToCents(text);
  } catch (error) {
    throw usage((error as Error).message);
  }
}
