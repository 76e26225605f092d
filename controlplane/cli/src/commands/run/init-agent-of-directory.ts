/** `acg init`: records the agent of this directory in `.acg.json`; creates one when there is none. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { findAgent } from '../../api/find-agent.js';
import { findProjectId } from '../../api/find-by-name.js';
import { fetchCredentialForms, readProviderCredentials } from '../../api/provider-credential-input.js';
import type { Invocation } from '../../invocation/invocation.js';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import { parseDollarsAsCents } from '../../options/page-options-and-value-parsers.js';
import { PROJECT_FILE } from '../../settings/project-file.js';
import { usage } from '../../terminal/cli-error.js';
import { promptChoice, promptText, requireConfirmation } from '../../terminal/prompt.js';

interface InitOptions {
  readonly agent?: string;
}
interface AgentChoice {
  readonly id: string;
  readonly slug: string;
}
/** Value of the choice that creates an agent; no slug can be equal to it. */
const NEW_AGENT = '+';

export function registerInitCommand(command: Command, { begin }: ProgramInterface): void {
  command
    .option('--agent <agent>', 'the agent of this directory: name, slug or id')
    .action(async ({ agent: wanted }: InitOptions) => {
      const run = begin();
      const path = join(run.terminal.cwd, PROJECT_FILE);
      const agent = wanted === undefined ? await chooseAgent(run) : await findAgent(run, wanted);
      if (existsSync(path)) await requireConfirmation(run, `Write ${path} anew?`);
      const { project } = run.settings;
      const content = { ...(project === null ? {} : { project }), agent: agent.slug };
      writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`);
      run.printResult({ file: path, content }, () => {
        run.printSuccess(`${path}: ${agent.slug}`);
        run.printLine('  acg run -- <command>');
      });
      run.printNote('it holds no secret: commit it');
    });
}

async function chooseAgent(run: Invocation): Promise<AgentChoice> {
  const { agents, total } = await (await run.getClient()).get('/v1/usage/agents', {
    params: { query: { limit: 100 } },
  });
  const only = agents[0];
  if (total === 1 && only !== undefined) return only;
  if (total === 0) return createAgent(run);
  const choices = agents.map(({ id, slug, projectName }) => ({ value: id, label: `${slug} (${projectName})` }));
  const question = { message: 'Which agent?', flag: '--agent' };
  const id = await promptChoice(run, question, [...choices, { value: NEW_AGENT, label: 'a new one' }]);
  return agents.find((agent) => agent.id === id) ?? createAgent(run);
}

/** Creates an agent: prompts for its name, its budget and the key of its first provider. */
async function createAgent(run: Invocation): Promise<AgentChoice> {
  const client = await run.getClient();
  const name = await promptText(run, { message: 'Name of the agent', flag: 'acg agents create' });
  const budget = await promptText(run, {
    message: 'US dollars per month (empty: the project’s default)',
    flag: '--budget',
  });
  const projectId = await findProjectId(client, run.settings.project);
  const limit = budget === '' ? {} : { budgetCentsMonthly: parseBudgetCents(budget) };
  const { agent } = await client.post('/v1/agents', { body: { projectId, name, ...limit } });
  const { providers } = await client.get('/v1/providers');
  const choices = providers.map(({ slug, displayName }) => ({ value: slug, label: displayName }));
  const providerSlug = await promptChoice(run, { message: 'Its provider', flag: 'acg accounts add' }, choices);
  const credentials = await readProviderCredentials(run, await fetchCredentialForms(client, providerSlug), {
    fields: [],
  });
  await client.post('/v1/providers/accounts', { body: { agentId: agent.id, providerSlug, credentials } });
  return agent;
}

function parseBudgetCents(text: string): number {
  try {
    return parseDollarsAsCents(text);
  } catch (error) {
    throw usage((error as Error).message);
  }
}
